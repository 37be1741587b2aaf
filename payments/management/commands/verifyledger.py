"""Check the books and name every discrepancy; exit 1 if there is one."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from payments.verify import discrepancies


class Command(BaseCommand):
    help = "Recompute every balance and every link from the rows, and name each discrepancy."

    def handle(self, *_: Any, **__: Any) -> None:
        count = 0
        for count, found in enumerate(discrepancies(), start=1):  # noqa: B007
            self.stdout.write(str(found))
        if count:
            self.stderr.write(f"{count} discrepancies. Money may be wrong: stop handing out machines and look.")
            sys.exit(1)
        self.stdout.write("The books are right: balances, transfers, captures, promises and stock add up.")
