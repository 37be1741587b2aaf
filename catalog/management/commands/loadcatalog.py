from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from catalog.actions import load_sample_catalog


class Command(BaseCommand):
    help = "Load the sample catalog. Running it again adds what is missing and changes nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reset", action="store_true", help="Also undo what operators edited in sample offers.")

    def handle(self, *args: Any, **options: Any) -> None:
        added = load_sample_catalog(reset=options["reset"])
        if added:
            self.stdout.write(f"Added {added} sample offers.")
