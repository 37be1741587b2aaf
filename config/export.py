"""Everything held about a person, as JSON (ACC-7): a literal table of what, and of which columns.

A column that is not named is not in it: keys, digests, seeds and access information never are.
"""

from collections.abc import Callable
from typing import Any, cast

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.queries import history
from balance.queries import movements_of
from conversations.models import Message
from events.actions import subject_of
from events.models import Event
from journal.models import Card
from orders.models import Draft, Order
from payments.models import ChainTransfer, Inquiry, PaymentIntent, Payout, TopUp
from provisioning.models import Rental
from support.models import Lookup

BASE_UNITS = {"amount", "quoted_amount", "fee"}
Rows = Callable[[User], "QuerySet[Any]"]


def order_events(user: User) -> "QuerySet[Event]":
    threads = [subject_of(order) for order in Order.objects.filter(customer=user)]
    return Event.objects.filter(thread__in=threads).order_by("id")


SECTIONS: tuple[tuple[str, Rows, str], ...] = (
    (
        "account",
        lambda user: User.objects.filter(pk=user.pk),
        "id email first_name last_name language time_zone terms_version date_joined last_login",
    ),
    ("accepted_terms", lambda user: user.acceptances.order_by("id"), "version at"),
    ("sessions", lambda user: UserSession.objects.filter(user=user), "created_at ip user_agent"),
    (
        "second_factors",
        lambda user: Authenticator.objects.filter(user=user),
        "type data__name created_at last_used_at",
    ),
    ("recovery_codes", lambda user: user.recovery_codes.order_by("id"), "created_at used_at"),
    (
        "api_tokens",
        lambda user: user.api_tokens.order_by("id"),
        "name scopes ending created_at used_at revoked_at",
    ),
    ("recoveries", lambda user: user.recoveries.order_by("id"), "proof state opened_at due_at"),
    ("history", lambda user: history(user).order_by("id"), "at kind data"),
    (
        "kept_choices",
        lambda user: Draft.objects.filter(holder__user=user),
        "offer__name term_days lots environment_code environment_wish created_at",
    ),
    (
        "orders",
        lambda user: Order.objects.filter(customer=user).order_by("id"),
        "id symbols state payment offer_name cards_per_lot term_days lots unit_price_cents total_cents environment "
        "environment_wish first_name last_name email created_at settled_at",
    ),
    (
        "messages",
        lambda user: Message.objects.filter(order__customer=user).order_by("id"),
        "order_id at side kind topic body context",
    ),
    ("order_history", order_events, "thread at kind data"),
    (
        "payment_instructions",
        lambda user: PaymentIntent.objects.filter(customer=user).order_by("created_at"),
        "id order_id topup_id exchange pay_if_late method network amount usd_cents rate_e8 address__address created_at "
        "expires_at declared_at quote funding settlement",
    ),
    (
        "topups",
        lambda user: TopUp.objects.filter(customer=user).order_by("id"),
        "id symbols state amount_cents created_at settled_at",
    ),
    (
        "payment_questions",
        lambda user: Inquiry.objects.filter(customer=user).order_by("asked_at"),
        "text asked_at answer",
    ),
    (
        "transfers",
        lambda user: ChainTransfer.objects.filter(intent__customer=user).order_by("id"),
        "intent_id network txid position method contract amount status block_height block_time first_seen_at",
    ),
    (
        "payouts",
        lambda user: Payout.objects.filter(customer=user).order_by("id"),
        "id symbols kind state transfer_id method network address usd_cents quoted_amount quoted_rate_e8 amount fee "
        "rate_e8 requested_at approved_at sent_at txid seen_at block_height final_at closed_at decision",
    ),
    ("balance", lambda user: movements_of(user).order_by("id"), "id at kind reference reason amount_cents"),
    (
        "rentals",
        lambda user: Rental.objects.filter(Q(order__customer=user)).order_by("id"),
        "order_id state host planned_start_at planned_end_at started_at ends_at ended_at wiped_at",
    ),
    ("support_lookups", lambda user: Lookup.objects.filter(customer=user).order_by("at"), "at subject"),
    (
        "journal_cards",
        lambda user: Card.objects.filter(holder__user=user).order_by("id"),
        "id order_id question hypothesis control variants environment parameters data_version seeds observations "
        "conclusion decision created_at updated_at",
    ),
)


@login_required
@require_safe
@never_cache
def download(request: HttpRequest) -> HttpResponse:
    """Return the file. Amounts of coins are base units as text; times are UTC."""
    data = everything(cast(User, request.user))
    name = {"Content-Disposition": 'attachment; filename="account.json"'}
    return JsonResponse(data, headers=name, json_dumps_params={"indent": 2, "ensure_ascii": False})


def everything(user: User) -> dict[str, Any]:
    made: dict[str, Any] = {"made_at": timezone.now()}
    for section, rows, columns in SECTIONS:
        made[section] = [
            {name: plain(name, value) for name, value in row.items()} for row in rows(user).values(*columns.split())
        ]
    return made


def plain(name: str, value: Any) -> Any:
    """Write base units as text: a JSON number loses digits in many readers."""
    return str(value) if name in BASE_UNITS and value is not None else value
