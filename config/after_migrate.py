"""What must be true after every migrate. Each step is idempotent and may run beside a serving site."""

from accounts.actions.roles import ensure_roles
from balance.actions import ensure_house_accounts
from conversations.actions import ensure_canned_texts
from events import append_only
from orders.actions import ensure_environments

from .roles import ROLES


def run(using: str) -> None:
    append_only.install(using)
    ensure_house_accounts()
    ensure_environments()
    ensure_canned_texts()
    ensure_roles(ROLES)
