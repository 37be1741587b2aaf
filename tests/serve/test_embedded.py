"""A thread of the embedded tasks that dies does not stay dead."""

import threading

import pytest

from config import embedded
from config.embedded import Keeper


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "RESTART_SECONDS", 0)


def test_work_that_fails_or_ends_is_started_again(caplog: pytest.LogCaptureFixture) -> None:
    stopping = threading.Event()
    ends = iter([RuntimeError("first"), None, SystemExit(1)])
    calls = 0

    def work() -> None:
        nonlocal calls
        calls += 1
        end = next(ends, stopping)
        if isinstance(end, BaseException):
            raise end
        if end is stopping:
            stopping.wait(10)

    keeper = Keeper("worker", work, stopping)
    keeper.start()
    while calls < 4:
        stopping.wait(0.01)
    stopping.set()
    keeper.join(10)
    assert not keeper.is_alive()
    assert caplog.text.count("The embedded worker failed") == 2
    assert caplog.text.count("it is started again") == 3
