"""Ten thousand steps of anything that may happen, with every invariant looked at after each.

GRIDLOT_STEPS asks for another number, GRIDLOT_SEED for other steps. The usual run takes the same steps each time; one
of another length takes new ones, and prints the seed that takes them again.
"""

import os
import secrets
from collections import Counter
from itertools import count

import pytest
from django.db import connection
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from invariants.machine import Shop
from invariants.world import Base

pytestmark = [pytest.mark.django_db, pytest.mark.invariants]
EVERY_DAY = 10_000 if connection.vendor == "sqlite" else 2_000
STEPS = int(os.environ.get("GRIDLOT_STEPS") or EVERY_DAY)
EVERY = """
intent.settled intent.credited intent.expired intent.late intent.over intent.partial intent.review intent.reversed
order.hand_settled order.waiting_for_stock order.returned topup.settled review.decided
transfer.replaced transfer.dropped transfer.orphaned transfer.seconded transfer.reversed
""".split()


@pytest.mark.timeout(0)
def test_the_invariants_hold_after_every_one_of_so_many_steps(
    base: Base, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Shop, "base", base, raising=False)
    monkeypatch.setattr(Shop, "done", Counter())
    first = int(os.environ.get("GRIDLOT_SEED") or (1 if STEPS == EVERY_DAY else secrets.randbelow(10**9)))
    for number in count(first):
        run_some(number)
        if Shop.done["steps"] >= STEPS:
            break
    with capsys.disabled():
        print(f"\n{Shop.done['steps']} steps from GRIDLOT_SEED={first}: {Shop.done['power cuts']} power cuts", end=", ")
        print(f"{Shop.done['refusals']} refusals, {Shop.done['transfer.credited']} credits", end=" ")
    assert Shop.done["steps"] >= STEPS
    missed = [kind for kind in EVERY if not Shop.done[kind]]
    assert STEPS < 10_000 or not missed, "it never came to this"


def run_some(number: int) -> None:
    """Run some examples from a seed: a thousand steps, or what is missing."""
    run_state_machine_as_test(
        seed(number)(Shop),
        settings=settings(
            max_examples=min(20, -(-(STEPS - Shop.done["steps"]) // 50)),
            stateful_step_count=50,
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
