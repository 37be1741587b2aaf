"""Ten thousand steps of anything that may happen, with every invariant looked at after each."""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from invariants.machine import Shop
from invariants.world import Base

pytestmark = [pytest.mark.django_db, pytest.mark.invariants]
EVERY_DAY = 10_000
STEPS = int(os.environ.get("GRIDLOT_STEPS") or EVERY_DAY)
EACH = 50  # steps of one example


@pytest.mark.timeout(0)
def test_the_invariants_hold_after_every_one_of_so_many_steps(
    base: Base, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Shop, "base", base, raising=False)
    for counter in ("steps", "kills", "refusals"):
        monkeypatch.setattr(Shop, counter, 0)
    monkeypatch.setattr(Shop, "told", Counter())
    run_state_machine_as_test(Shop, settings=length(STEPS))
    with capsys.disabled():
        print(f"\n{Shop.steps} steps were taken: {Shop.kills} cut off by a power cut, {Shop.refusals} refused")
        print(sorted(Shop.told.items()))
    assert Shop.steps >= STEPS


def length(steps: int) -> settings:
    """Return settings for so many steps: the usual run takes the same ones each time, a longer one new ones."""
    return settings(
        max_examples=-(-steps // EACH),
        stateful_step_count=EACH,
        deadline=None,
        database=None,
        derandomize=steps == EVERY_DAY,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
