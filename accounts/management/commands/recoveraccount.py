from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.actions import lost
from accounts.models import Recovery, User


class Command(BaseCommand):
    help = (
        "Recover an account whose person has lost every key. Open it with a proof (an order and the transaction that "
        "paid it); it becomes due after RECOVERY_HOURS, in which the account shows it and can cancel it; then complete "
        "it and hand over the one code that is printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("step", choices=["open", "show", "cancel", "complete"])
        parser.add_argument("--email", required=True, help="Whose account.")
        parser.add_argument("--actor", required=True, help="Your own address: an owner's. It is recorded.")
        parser.add_argument("--proof", default="", help="With `open`: what shows that the account is theirs.")

    def handle(self, *, step: str, email: str, actor: str, proof: str, **_: Any) -> None:
        user, owner = self.person(email), self.person(actor)
        if not owner.has_perm("accounts.recover_account"):
            raise CommandError(f"{owner} may not recover accounts.")
        try:
            self.stdout.write(getattr(self, step)(user, owner, proof))
        except lost.CannotRecover as error:
            raise CommandError(str(error)) from error

    def open(self, user: User, owner: User, proof: str) -> str:
        if not proof.strip():
            raise CommandError("Say with --proof what shows that the account is theirs.")
        recovery = lost.open_recovery(user, proof=proof, actor=owner)
        return f"Opened. Due {recovery.due_at:%Y-%m-%d %H:%M} UTC; the account shows it and can cancel it until then."

    def show(self, user: User, owner: User, proof: str) -> str:
        rows = Recovery.objects.filter(user=user).order_by("id")
        lines = [
            f"{row.opened_at:%Y-%m-%d %H:%M} {row.state}, due {row.due_at:%Y-%m-%d %H:%M}: {row.proof}" for row in rows
        ]
        return "\n".join(lines) or "There is none."

    def cancel(self, user: User, owner: User, proof: str) -> str:
        return "Cancelled." if lost.cancel_recovery(user, actor=owner) else "None is open."

    def complete(self, user: User, owner: User, proof: str) -> str:
        return f"Completed. Hand over this code, shown only now: {lost.complete_recovery(user, actor=owner)}"

    def person(self, email: str) -> User:
        try:
            return User.objects.get(email=email)
        except User.DoesNotExist as error:
            raise CommandError(f"{email} has no account.") from error
