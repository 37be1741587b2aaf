"""Say what was measured: a table, each bound with what it came to, and the same as JSON."""

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """A bound: `value` must be at most `most` and at least `least`, as far as they are given."""

    what: str
    value: float
    most: float | None = None
    least: float | None = None

    @property
    def holds(self) -> bool:
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def __str__(self) -> str:
        bounds = [f"{sign} {bound:g}" for sign, bound in (("≤", self.most), ("≥", self.least)) if bound is not None]
        return f"{'ok     ' if self.holds else 'OUTSIDE'} {self.what}: {self.value:.4g} ({', '.join(bounds)})"


@dataclass(slots=True)
class Result:
    """What one run found: rows for the table, all with the same keys, and the bounds."""

    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"rows": list(self.rows), "checks": [asdict(check) for check in self.checks]}


def arguments(name: str, **options: tuple[Any, str]) -> argparse.Namespace:
    """Return what the command line says: --json, and the options given as name=(default, help)."""
    parser = argparse.ArgumentParser(prog=f"./run bench {name}")
    parser.add_argument("--json", type=Path, default=Path(settings.DATA_DIR) / "bench" / f"{name}.json")
    for option, (default, text) in options.items():
        parser.add_argument(f"--{option}", type=type(default), default=default, help=f"{text} ({default})")
    return parser.parse_args()


def show(title: str, result: Result) -> None:
    """Print one result."""
    print(f"\n{title}", flush=True)
    if result.rows:
        print_table(result.rows)
    for check in result.checks:
        print(check, flush=True)


def print_table(rows: Sequence[Row]) -> None:
    columns = list(rows[0])
    cells = [columns, *([text(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    for line in cells:
        first, *others = (cell.ljust(widths[0]) if not n else cell.rjust(widths[n]) for n, cell in enumerate(line))
        print("  ".join((first, *others)), flush=True)


def text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def finish(name: str, results: Mapping[str, Result], path: Path) -> int:
    """Write the JSON and return the exit status: 1 if any bound does not hold."""
    holds = all(check.holds for result in results.values() for check in result.checks)
    found = {title: result.as_json() for title, result in results.items()}
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"bench": name, "holds": holds, "machine": machine, "results": found}, indent=1))
    print(f"\n{'Inside its bounds' if holds else 'OUTSIDE its bounds'}. Written: {path}", flush=True)
    return 0 if holds else 1
