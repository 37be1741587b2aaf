"""Serve the site: look, prepare, listen. Without REDIS_URL the tasks run in the same process."""

import os
import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application
from gunicorn.app.base import BaseApplication

from accounts.actions.people import ensure_owner
from config import preflight
from config.assets import Collecting
from config.embedded import Tasks
from config.serving import gunicorn_settings
from payments import installation

OWNER = "owner@example.com"


class Command(BaseCommand):
    help = "Prepare database and static files, then serve the site and, without REDIS_URL, run its tasks."
    requires_system_checks = ()  # preflight runs them and says what is wrong in one sentence

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", help="host:port or unix:/path")
        parser.add_argument("--workers", type=int, default=1, help="web processes; more than one needs REDIS_URL")
        parser.add_argument("--demo", action="store_true", help="load the sample catalog and make an owner account")

    def handle(self, *_: Any, bind: str, workers: int, demo: bool, **__: Any) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # until gunicorn has its own
        if workers > 1 and settings.EMBEDDED_TASKS:
            self.say("More than one worker needs REDIS_URL: one is used.")
            workers = 1
        try:
            with preflight.in_one_sentence():
                lock = self.look(bind)
                self.prepare(demo=demo)
        except (preflight.CannotStart, installation.NotThisKind) as refusal:
            sys.exit(str(refusal))
        except KeyboardInterrupt:
            sys.exit("Stopped before serving.")
        preflight.leave_no_connection_to_inherit()
        Server(bind, workers, self.say).run()
        del lock

    def look(self, bind: str) -> Any:
        """Refuse what cannot work, before anything is changed. Return the lock on the data folder."""
        preflight.address(bind)
        preflight.data_folder(settings.DATA_DIR)
        preflight.own_settings()
        lock = preflight.only_one_here(settings.DATA_DIR) if settings.EMBEDDED_TASKS else None
        preflight.database_answers()
        preflight.redis_answers()
        preflight.same_kind()
        if settings.EMBEDDED_TASKS:
            preflight.nodes()
        return lock

    def prepare(self, *, demo: bool) -> None:
        """Bring database and static files up to date, side by side."""
        collecting = Collecting()
        try:
            if not settings.DEBUG and collecting.is_needed():
                self.say("Collecting static files ...")
                collecting.start()
            self.say("Preparing the database ...")
            call_command("migrate", interactive=False, verbosity=0)
            installation.birth()
            if demo:
                self.furnish()
            collecting.finish()
        finally:
            collecting.abandon()

    def furnish(self) -> None:
        """Fill a new installation: the sample catalog if it is a demo, and an owner, whose password is shown once."""
        if settings.NETWORKS_KIND == "simulated":
            call_command("loadcatalog", verbosity=0)
        password = ensure_owner(OWNER)
        if password:
            self.say(f"Owner account: {OWNER}\nIts password, shown only this once: {password}")

    def say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


class Server(BaseApplication):
    """Gunicorn with its settings in this process instead of a file."""

    def __init__(self, bind: str, workers: int, say: Any) -> None:
        self.bind = bind
        self.workers = workers
        self.say = say
        self.tasks: Tasks | None = None
        super().__init__()

    def load_config(self) -> None:
        hooks = {"post_worker_init": self.greet, "worker_exit": self.stop_tasks}
        served = gunicorn_settings(self.bind, self.workers, embedded=settings.EMBEDDED_TASKS)
        for name, value in (served | hooks).items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the WSGI application. Called in the worker process, so its threads belong to it."""
        if settings.EMBEDDED_TASKS:
            self.tasks = Tasks()
            self.tasks.start()
        return get_wsgi_application()  # only now: it looks at the collected static files

    def greet(self, worker: Any) -> None:
        if worker.age == 1:
            self.say(f"Gridlot is at http://{self.bind}/" if ":/" not in self.bind else f"Gridlot is at {self.bind}")

    def stop_tasks(self, arbiter: Any, worker: Any) -> None:
        if self.tasks and worker.pid == os.getpid():
            self.tasks.stop()
