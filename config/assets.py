"""Collect the static files when one changed, in a process of its own: it takes seconds and memory that would stay."""

import hashlib
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders

from .preflight import CannotStart, disk_is_full

COMMAND = (sys.executable, "manage.py", "collectstatic", "--noinput", "--clear", "-v0")


def digest() -> str:
    """Return a digest over path, size and time of change of every static file."""
    seen = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            stat = Path(storage.path(path)).stat()
            seen.update(f"{path}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    return seen.hexdigest()


class Collecting:
    """A collection under way beside the caller's own work. `finish` waits for it."""

    def __init__(self) -> None:
        self.stamp = settings.DATA_DIR / "static.stamp"
        self.digest = digest()
        self.child: subprocess.Popen[str] | None = None

    def is_needed(self) -> bool:
        known = self.stamp.read_text() if self.stamp.is_file() else ""
        return known != self.digest or not settings.STATIC_ROOT.is_dir()

    def start(self) -> None:
        self.stamp.unlink(missing_ok=True)
        self.child = subprocess.Popen(  # noqa: S603
            COMMAND, cwd=settings.BASE_DIR, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )

    def finish(self) -> None:
        """Wait, and note what was collected. Raise CannotStart when it failed."""
        if not self.child:
            return
        _, errors = self.child.communicate()
        if "No space left on device" in errors or "File too large" in errors:
            raise CannotStart(disk_is_full())
        if self.child.returncode:
            last = errors.strip().rpartition("\n")[2]
            raise CannotStart(f"The static files could not be collected: {last or 'the process was ended'}")
        self.stamp.write_text(self.digest)

    def abandon(self) -> None:
        """End the child when the start was refused meanwhile."""
        if self.child and self.child.poll() is None:
            self.child.kill()
            self.child.communicate()
