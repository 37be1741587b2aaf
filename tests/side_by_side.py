"""Runs of pytest beside each other: the first is shown as it goes, each other one is held in a file until its turn."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import NoReturn

LOOK_SECONDS = 0.2


class Terminated(KeyboardInterrupt):
    """Somebody asked this process alone to end, not the whole terminal."""


class Child:
    """A run under way. One that is `apart` hears no Ctrl-C of the terminal, so that it hears of it once, from us."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, *, held: str = "", apart: bool
    ) -> None:
        """Start it. `held` is the title under which its output is shown when its turn comes; without, it is live."""
        folder.mkdir(parents=True)
        self.title, self.apart, self.counts = held, apart, folder / "counts.json"
        output = folder / "output"
        with output.open("wb") if held else nullcontext() as said:
            self.process = subprocess.Popen(
                command,
                cwd=Path(__file__).parent.parent,
                env={**environment, "DATA_DIR": str(folder / "data"), "GRIDLOT_COUNTS": str(self.counts)},
                stdin=subprocess.DEVNULL if apart else None,
                stdout=said,
                stderr=said,
                process_group=0 if apart else None,
            )
        self.output = output.open("rb") if held else None

    def show(self) -> None:
        """Return when it has ended and everything it said has been shown."""
        if not self.output:
            self.process.wait()
            return
        if self.title:
            print(f"\n== {self.title}", flush=True)
            self.title = ""
        ended = False
        while not ended:
            ended = self.process.poll() is not None  # asked first: then its last words are in the file
            shutil.copyfileobj(self.output, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            time.sleep(0 if ended else LOOK_SECONDS)

    def result(self) -> tuple[int, dict[str, int]]:
        """Return the exit status and the counts that tests/conftest.py wrote."""
        return self.process.wait(), json.loads(self.counts.read_text()) if self.counts.exists() else {}

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to it; to what it started too if that is apart from us."""
        if self.process.poll() is None:
            (os.killpg if self.apart else os.kill)(self.process.pid, number)


@contextmanager
def ended_with_us(children: list[Child]) -> Iterator[None]:
    """End all children when we are interrupted: pytest ends its servers and databases. Kill them at anything worse."""
    # A background job of a script ignores SIGINT and passes that on: then pytest would not hear of its end.
    handlers = {signal.SIGTERM: terminate, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    except KeyboardInterrupt as why:
        for child in children:
            if child.apart or isinstance(why, Terminated):  # else the terminal told it too
                child.tell(signal.SIGINT)
        for child in children:
            child.show()
        raise
    finally:
        for child in children:
            child.tell(signal.SIGKILL)
        for number, handler in before.items():
            signal.signal(number, handler)


def terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated
