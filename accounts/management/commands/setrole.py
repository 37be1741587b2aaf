from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError

from accounts.actions.roles import set_role
from accounts.models import User


class Command(BaseCommand):
    help = "Give a registered person a role (support, operator, owner), or none. Their sessions end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("role", help="support, operator, owner, or none")
        parser.add_argument("--email", required=True, help="Whose role.")

    def handle(self, *, role: str, email: str, **_: Any) -> None:
        if role != "none" and not Group.objects.filter(name=role).exists():
            raise CommandError(f"There is no role {role}.")
        person = User.objects.filter(email=email, is_active=True).first()
        if person is None:
            raise CommandError(f"{email} has no account: register on the site first.")
        set_role(person, None if role == "none" else role, actor=None)
        self.stdout.write(f"{person}: {role}.")
