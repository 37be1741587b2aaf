"""List the used addresses of a network for the operator's wallet, as CSV on the standard output."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.export import write_csv
from payments.registry import families

USUAL_GAP = 20


class Command(BaseCommand):
    help = "Write every used address with its derivation path and what arrived as CSV, and the gap limit it needs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", help="such as ethereum")

    def handle(self, *_: Any, network: str, **__: Any) -> None:
        if network not in families():
            raise CommandError(f"{network} is none of {', '.join(families())}.")
        needed = write_csv(network, self.stdout)
        self.stderr.write(f"Your wallet needs a gap limit of at least {max(needed, USUAL_GAP)} to find all of it.")
