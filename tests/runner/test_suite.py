"""The runner behind ./run test: what it asks of pytest, and how it counts."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings


@pytest.fixture(scope="module")
def suite() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gridlot_suite", Path(settings.BASE_DIR) / "tests" / "suite.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("arguments", "chosen", "rest"),
    [
        ([], "", []),
        (["-m", "races", "-x"], "races", ["-x"]),
        (["-mraces or faults", "tests/flows"], "races or faults", ["tests/flows"]),
        (["-m", "races", "-m", "faults"], "faults", []),
        (["-k", "stock", "--maxfail=1"], "", ["-k", "stock", "--maxfail=1"]),
    ],
)
def test_markers_are_taken_out(suite: ModuleType, arguments: list[str], chosen: str, rest: list[str]) -> None:
    assert suite.split_markers(arguments) == (chosen, rest)


def test_what_is_missing_is_deselected(suite: ModuleType) -> None:
    runs = list(suite.planned("postgres://x/y", {"CHROMIUM": "/c"}))
    assert [run.title for run in runs] == ["SQLite", "PostgreSQL", "browser, access"]
    assert runs[-1].markers == "(browser or access) and not chains"
    assert [run.title for run in suite.planned("", {"ANVIL": "/a"})] == ["SQLite", "chains, access"]
    assert [run.title for run in suite.planned("", {})] == ["SQLite", "access"]


def test_databases_share_a_batch_and_the_whole_machine_is_for_the_rest(suite: ModuleType) -> None:
    runs = list(suite.planned("postgres://x/y", {"CHROMIUM": "/c", "ANVIL": "/a"}))
    assert list(suite.batches(runs, beside=True)) == [runs[:2], runs[2:]]
    assert list(suite.batches(runs, beside=False)) == [[run] for run in runs]


@pytest.mark.parametrize(
    ("cores", "wanted", "rest", "beside"),
    [
        (1, "", [], False),
        (2, "", [], True),
        (8, "0", [], False),
        (1, "1", [], True),
        (2, "1", ["tests/flows", "--pdb"], False),
    ],
)
def test_side_by_side_takes_two_cores_or_a_person_who_wants_it(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, cores: int, wanted: str, rest: list[str], beside: bool
) -> None:
    monkeypatch.setenv("GRIDLOT_SIDE_BY_SIDE", wanted)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert suite.side_by_side(rest) == beside


def test_counts_are_summed(suite: ModuleType) -> None:
    total = suite.Total()
    total.add(0, {"passed": 3, "failed": 0, "skipped": 1})
    total.add(suite.NOTHING_COLLECTED, {})
    total.add(1, {"passed": 2, "failed": 1, "skipped": 0})
    assert (total.passed, total.failed, total.skipped, total.status) == (5, 1, 1, 1)


def test_broken_run_is_a_failure(suite: ModuleType) -> None:
    total = suite.Total()
    total.add(-11, {})
    assert (total.failed, total.status) == (1, 1)


def test_closing_line_and_missing_parts(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"passed": 4, "failed": 0, "skipped": 0}
    for strict, status, line in (("", 0, "4 passed, 0 failed, 0 skipped"), ("1", 1, "4 passed, 1 failed, 0 skipped")):
        monkeypatch.setenv("GRIDLOT_CI", strict)
        total = suite.Total()
        total.add(0, good)
        assert suite.report(total, ["browser tests: no Chromium; ./run tools installs it"]) == status
        said = capsys.readouterr().out.splitlines()
        assert said[-1] == line
        assert any("./run tools installs it" in each for each in said)


def test_nothing_collected_anywhere_is_said(suite: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    total = suite.Total()
    total.add(suite.NOTHING_COLLECTED, {})
    assert suite.report(total, []) == suite.NOTHING_COLLECTED
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed, 0 skipped"
