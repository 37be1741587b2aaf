"""Compare chain and books now, and say what differs; exit 1 if anything does."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from money.units import plain
from money.usd import plain as dollars
from payments.models import Reconciliation
from payments.proof import Sums
from payments.reconciling import reconcile, reconcile_ledger
from payments.registry import families, methods


class Command(BaseCommand):
    help = "Compare the sums of chain and books, and read transfers again at each network's node."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="read every transfer again, not only what is new")

    def handle(self, *_: Any, **options: Any) -> None:
        found = [reconcile(network, everything=options["all"]) for network in families()]
        for one in found:
            self.tell(one)
        books = reconcile_ledger()
        self.stdout.write(
            f"Ledger: credits {dollars(books.sums['credits'])}, received {dollars(books.sums['received'])}, "
            f"accepted shortfalls {dollars(books.sums['tolerance'])} USD."
        )
        if not all(one.agrees for one in (*found, books)):
            self.stderr.write("Chain and books differ: the review items say where.")
            sys.exit(1)

    def tell(self, one: Reconciliation) -> None:
        self.stdout.write(
            f"{one.network}: {one.checked} transfers read again, {one.missing} missing. {one.error}".strip()
        )
        decimals = {method.code: method.asset.decimals for method in methods()}
        for method, data in one.sums.items():
            sums = Sums.from_json(data)
            parts = {name: plain(getattr(sums, name), decimals.get(method, 0)) for name in SHOWN}
            self.stdout.write(f"  {method}: " + ", ".join(f"{name} {text}" for name, text in parts.items()))


SHOWN = ("received", "credited", "books", "review", "kept", "waiting", "dust")
