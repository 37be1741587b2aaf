from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.actions.people import reset_password
from accounts.models import User


class Command(BaseCommand):
    help = "Give the owner a new password, end the owner's sessions and print the password once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", help="Which owner, where there are several.")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = self.owner(options["email"])
        self.stdout.write(f"New password of {owner.email}, shown only now: {reset_password(owner.email)}")

    def owner(self, email: str | None) -> User:
        owners = User.objects.filter(is_superuser=True)
        found = list(owners.filter(email=email) if email else owners[:2])
        if not found:
            raise CommandError("There is no such owner." if email else "There is no owner yet.")
        if len(found) > 1:
            raise CommandError("There are several owners: name one with --email.")
        return found[0]
