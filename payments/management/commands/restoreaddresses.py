"""After a back-up was restored: give nobody an address that may have been given to somebody in the lost hours."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.actions.reserve import restore_addresses
from payments.models import NetworkCursor


class Command(BaseCommand):
    help = "Retire the ready addresses of a network after a restored back-up. Harmless if repeated; needs no key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", help="such as ethereum")
        parser.add_argument(
            "--below", type=int, help="retire those with a lower index, also the ones that are made later; else all"
        )

    def handle(self, *_: Any, network: str, below: int | None, **__: Any) -> None:
        if below is not None and not 0 < below < 2**31:
            raise CommandError("--below must be an index from 1 to 2147483647.")
        try:
            count = restore_addresses(network, below=below)
        except NetworkCursor.DoesNotExist as error:
            raise CommandError(f"Nothing of a network {network} is stored here.") from error
        self.stdout.write(
            f"{count} addresses of {network} were free and are given to nobody any more; all stay watched."
        )
