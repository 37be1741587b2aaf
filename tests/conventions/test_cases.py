"""The table of cases in docs/networks.md and the tests that bear their numbers agree."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
LINE = re.compile(r"^\| (\d+) \| .+ \| (`.+`) \|$", re.MULTILINE)
IDS = re.compile(r"case[-_](\d+)|_and_(\d+)|@?case\((\d+)")
# The numbers between 1 and 101 that were kept for later, and those that docs/networks.md leaves out with a reason.
LATER = {3, 6, 10, 16, 20, 24, 25, 30, 33, 36, 40, 44, 48, 51, 53, 57, 59, 63, 65, 70, 71, 73, 77, 80, 83, 86, 89, 91}
LATER |= {95, 97, 98} | {90, 92, 93, 94}

TABLE = {
    int(number): re.findall(r"`(.+?)`", files)
    for number, files in LINE.findall((ROOT / "docs/networks.md").read_text())
}


def test_every_case_stands_in_the_table() -> None:
    assert set(TABLE) == set(range(1, 102)) - LATER


@pytest.mark.parametrize("number", TABLE)
def test_the_named_files_hold_the_case(number: int) -> None:
    for name in TABLE[number]:
        text = (ROOT / name).read_text()
        found = {int(one) for groups in IDS.findall(text) for one in groups if one}
        assert number in found, name
