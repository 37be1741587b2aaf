"""The clock that sends the timers of `config/schedule.py`."""

from datetime import timedelta

from celery import beat

from .schedule import SCHEDULE


class Scheduler(beat.Scheduler):
    """Keep the schedule in memory and send every entry once at the start.

    No file: a schedule that a power cut broke would have to be mended, and what ran when is in the database. At once:
    a site that was just started must not wait a minute for its first address reserve.
    """

    max_interval = 1  # seconds: so soon a stop is noticed

    def setup_schedule(self) -> None:
        self.merge_inplace(SCHEDULE)
        for entry in self.schedule.values():
            entry.last_run_at = entry.default_now() - timedelta(days=1)
