"""Check the books and name every discrepancy; exit 1 if there is one."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from payments.verify import discrepancies, snapshot


class Command(BaseCommand):
    help = "Recompute every balance and every link from the rows, and name each discrepancy."

    def handle(self, *_: Any, **__: Any) -> None:
        with snapshot():
            found = [str(one) for one in discrepancies()]
        for sentence in found:
            self.stdout.write(sentence)
        if found:
            self.stderr.write(f"{len(found)} discrepancies. Money may be wrong: stop handing out machines and look.")
            sys.exit(1)
        self.stdout.write("The books are right: balances, transfers, captures, promises and stock add up.")
