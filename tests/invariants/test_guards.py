"""With a guard taken away, the machine finds a violation: what it looks for, it can see."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from invariants.machine import Shop
from invariants.world import Base, Violation

from payments import standing
from payments.actions import settling, watching
from payments.models import NetworkCursor
from payments.standing import Fact

pytestmark = [pytest.mark.django_db, pytest.mark.invariants]
LIMIT = 2000  # steps


def credited_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Neither the flag of a credited transfer nor the key of its live allocation keeps it from being credited again."""
    fact_of = settling.fact_of

    def never_credited(*arguments: Any) -> Fact:
        return replace(fact_of(*arguments), credited=False)

    patch.setattr(settling, "fact_of", never_credited)
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX allocation_one_live")


def clock_runs_while_nobody_watches(patch: pytest.MonkeyPatch) -> None:
    """A promise ends by the clock alone."""
    patch.setattr(settling, "watched_until", lambda _network: timezone.now())


def gone_money_stays_credited(patch: pytest.MonkeyPatch) -> None:
    """A transfer that disappears after it was final keeps its credit."""
    patch.setattr(settling, "lost_credit", lambda _intent: [])


def promised_rate_has_no_cap(patch: pytest.MonkeyPatch) -> None:
    """However much arrives counts at the promised rate."""
    patch.setattr(standing, "LOCKED_SHARE", (1000, 1))


def overtaken_watcher_writes(patch: pytest.MonkeyPatch) -> None:
    """A watcher that lost its turn writes its old facts over newer ones."""
    patch.setattr(watching, "my_turn", lambda network, _turn: NetworkCursor.objects.get(pk=network))


GUARDS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], str], ...] = (
    (credited_is_forgotten, "invariant 1"),
    (clock_runs_while_nobody_watches, "invariant 7"),
    (gone_money_stays_credited, "invariant [13]"),
    (promised_rate_has_no_cap, "at its rate"),
    (overtaken_watcher_writes, "lost its turn"),
)


@pytest.mark.parametrize(("take_away", "found"), GUARDS, ids=lambda value: getattr(value, "__name__", "found"))
def test_a_deliberately_broken_guard_is_caught(
    base: Base, monkeypatch: pytest.MonkeyPatch, take_away: Callable[[pytest.MonkeyPatch], None], found: str
) -> None:
    monkeypatch.setattr(Shop, "base", base, raising=False)
    monkeypatch.setattr(Shop, "done", Counter())
    take_away(monkeypatch)
    with pytest.raises(Violation, match=found):
        run_state_machine_as_test(seed(1)(Shop), settings=quickly())
    assert Shop.done["steps"] <= LIMIT


def quickly() -> settings:
    """Return settings for a search that ends with the first thing it finds and shrinks nothing."""
    return settings(
        max_examples=LIMIT // 50,
        stateful_step_count=50,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
