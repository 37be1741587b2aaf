"""A nudge is a hint that costs a page nothing: sent once for many, by a thread of its own, and lost without harm."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from celery import Celery, current_app

from events.nudge import Caller, nudge

PATIENCE = 10.0


@pytest.fixture
def messages() -> Iterator[Any]:
    """Return the queue of tasks on the broker of this process, empty."""
    with current_app.connection_for_read() as broker, closing(broker.SimpleQueue("celery")) as queue:
        queue.clear()
        yield queue
        queue.clear()


@pytest.fixture
def caller() -> Caller:
    """Return one whose thread has nothing to do with what other tests have nudged."""
    return Caller()


def wait_for(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def has(queue: Any, count: int) -> bool:
    return bool(queue.qsize() == count)


def test_what_is_asked_for_often_is_sent_once(messages: Any, caller: Caller) -> None:
    """The first at once, those that come meanwhile together: a relay that runs sees all that was committed before."""
    for _ in range(500):
        caller.ask("events.tasks.relay")
    caller.ask("events.tasks.other")
    assert wait_for(lambda: messages.qsize() >= 2)
    time.sleep(0.2)
    names = [messages.get(timeout=1).headers["task"] for _ in range(messages.qsize())]
    assert names.count("events.tasks.other") == 1
    assert 1 <= names.count("events.tasks.relay") <= 3


def test_what_is_asked_for_later_is_sent_again(messages: Any, caller: Caller) -> None:
    for count in (1, 2, 3):
        caller.ask("events.tasks.relay")
        assert wait_for(partial(has, messages, count))


def test_a_broker_that_says_nothing_keeps_nobody_waiting() -> None:
    """It accepts and is silent: the asker goes on at once, and the next message finds its way when it speaks again."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(PATIENCE)
        caller = Caller(Celery(broker=f"redis://127.0.0.1:{silent.getsockname()[1]}/0", set_as_current=False))
        began = time.monotonic()
        for _ in range(100):
            caller.ask("events.tasks.relay")
        assert time.monotonic() - began < 0.5
        with silent.accept()[0]:
            time.sleep(1.5)  # longer than it is waited for
        caller.ask("events.tasks.relay")
        silent.accept()[0].close()
    assert caller.thread
    assert caller.thread.is_alive()


def test_a_system_without_another_thread_fails_nobody(
    messages: Any, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The asker goes on, and the next one starts the thread: also what was asked for before is sent then."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        caller.ask("events.tasks.other")
    assert caller.thread is None
    caller.ask("events.tasks.relay")
    assert wait_for(partial(has, messages, 2))


def test_a_forked_process_has_a_thread_of_its_own(messages: Any) -> None:
    """A thread does not come along when a server forks its workers: without one of their own nobody would be woken."""
    nudge("events.tasks.relay")
    assert wait_for(lambda: messages.qsize() >= 1)
    child = os.fork()
    if not child:
        from events import nudge as module  # in the child: what it sees

        alone = module.caller.thread is None
        module.nudge("events.tasks.relay")
        os._exit(0 if alone and module.caller.thread and module.caller.thread.is_alive() else 1)
    assert os.waitpid(child, 0)[1] == 0
