"""Check the installation and print what was found. Exit status: 0 all is well, 1 something is wrong, 2 look at it."""

import sys
import textwrap
from typing import Any

from django.core.management.base import BaseCommand

from config.checkup import findings
from payments.findings import ATTENTION, BAD, GOOD, Finding, by_area, worst

MARKS = {GOOD: "ok", ATTENTION: "look", BAD: "WRONG"}
STATUS = {GOOD: 0, ATTENTION: 2, BAD: 1}
INDENT = " " * 8


class Command(BaseCommand):
    help = "Check settings, secrets, database, worker, clock, nodes, prices and addresses; say what is wrong and why."
    requires_system_checks = ()  # they are part of what is checked

    def handle(self, *_: Any, **__: Any) -> None:
        found = findings()
        for title, group in by_area(found).items():
            self.stdout.write(title)
            for finding in group:
                self.tell(finding)
        bad, look = (sum(finding.level == level for finding in found) for level in (BAD, ATTENTION))
        self.stdout.write(f"\n{bad} wrong, {look} to look at, {len(found)} checked.")
        sys.exit(STATUS[worst(found)])

    def tell(self, finding: Finding) -> None:
        self.stdout.write(f"  {MARKS[finding.level]:5} {finding.found}")
        for text in (finding.meaning, finding.to_do) if finding.level != GOOD or finding.addresses else ():
            if text:
                self.stdout.write(textwrap.fill(text, 100, initial_indent=INDENT, subsequent_indent=INDENT))
        for index, path, address in finding.addresses:
            self.stdout.write(f"{INDENT}{index}  {path}  {address}")
