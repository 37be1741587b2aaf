"""Look before starting: each thing that a person can put right ends in one clear sentence, and nothing is changed."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import psycopg
import redis
from django.conf import settings
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import Error as DatabaseFailure
from django.db import OperationalError, connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQL

from payments import installation
from payments.models import Installation
from payments.rates import check_sources, fixed_prices
from payments.registry import REAL, families, is_simulated, node, second_provider

PROBE_BYTES = 4 << 20  # with less room than this the first migration and the static files already fail half way
SHORTEST_KEY = 32  # characters: a shorter one can be guessed, and with it sessions, addresses, access are forged
HIGHEST_TOLERANCE = 500  # basis points of the due
SHORTEST_PERIOD = 0.1  # seconds: a timer that fires more often does nothing but fire
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What SQLite says when the disk, and not our code, is at fault.
DISK_TROUBLE = ("full", "readonly", "unable to open", "disk i/o error", "malformed", "not a database")


class CannotStart(Exception):
    """Carry the sentence for the person who started Gridlot."""


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn a full disk, a lost database and wrong settings into CannotStart; leave a fault of ours its traceback."""
    try:
        yield
    except ImproperlyConfigured as error:
        raise CannotStart(f"The settings are wrong: {error}") from error
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise CannotStart(disk_is_full()) from error
    except DatabaseFailure as error:
        raise CannotStart(database_sentence(error)) from error


def disk_is_full() -> str:
    return f"The disk that holds DATA_DIR {settings.DATA_DIR} is full. Make room, then start again; nothing is lost."


def database_sentence(error: DatabaseFailure) -> str:
    """Return what to tell about a database failure; raise it again when it is none of the machine's."""
    text = str(error).strip().partition("\n")[0]
    if connection.vendor == "sqlite":
        if not any(sign in text.lower() for sign in DISK_TROUBLE):
            raise error
        if "full" in text:
            return disk_is_full()
    elif not isinstance(error, OperationalError):
        raise error
    return f"The database cannot be used: {text}."


def address(bind: str) -> None:
    """Refuse an address that cannot be bound, above all a port that somebody else listens on."""
    if bind.startswith("unix:"):
        if not settings.ALLAUTH_TRUSTED_PROXY_COUNT:
            raise CannotStart(f"At {bind} every client is nameless and nobody could sign in: set TRUSTED_PROXY_COUNT.")
        return
    host, _, port = bind.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise CannotStart(f"{bind} is no address to serve at: the port must be a number from 1 to 65535.")
    host = host.strip("[]") or "0.0.0.0"  # noqa: S104  # what gunicorn makes of an empty host
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise CannotStart(address_sentence(error, host, int(port))) from error


def address_sentence(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 8000
        return f"Port {port} is already in use (perhaps another ./run). Stop it or choose another: PORT={other} ./run"
    return f"Port {port} of {host} cannot be used: {error.strerror}."


def data_folder(folder: Path) -> None:
    """Write and sync a real file in DATA_DIR, then remove it: permissions and free space cannot be read off."""
    probe = folder / f".probe.{os.getpid()}"
    try:
        with probe.open("wb") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in FULL:
            raise CannotStart(disk_is_full()) from error
        raise CannotStart(f"DATA_DIR {folder} cannot be written: {error.strerror}.") from error
    finally:
        if probe.exists():
            probe.unlink()


def only_one_here(folder: Path) -> IO[str]:
    """Lock the data folder and return the open lock: it ends with the last process that inherited it."""
    lock = (folder / "serve.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise CannotStart(
            f"Another Gridlot already serves the data folder {folder}. Stop it or choose another: DATA_DIR=/some/folder"
        ) from error
    return lock


def own_settings() -> None:
    """Refuse settings that Django's checks or our own call wrong."""
    if settings.NETWORKS_KIND not in ("simulated", "real"):
        raise CannotStart(
            f"The settings are wrong: NETWORKS must be simulated or real, not {settings.NETWORKS_KIND!r}."
        )
    own_values()
    wrong = [found for found in run_checks() if found.level >= ERROR and not found.is_silenced()]
    if wrong:
        hint = f" {wrong[0].hint}" if wrong[0].hint else ""
        raise CannotStart(f"The settings are wrong: {wrong[0].msg}{hint} ({wrong[0].id})")


def own_values() -> None:
    """Refuse values of the right type that cannot be meant: a pass every 0 seconds, a price that is none."""
    for name in ("WATCH_SECONDS", "SIMULATED_BLOCK_SECONDS"):
        if not SHORTEST_PERIOD <= getattr(settings, name) < float("inf"):
            raise CannotStart(f"The settings are wrong: {name} must be at least {SHORTEST_PERIOD} seconds.")
    for name, key in (
        ("SECRET_KEY", settings.SECRET_KEY),
        ("ADDRESS_SEAL_KEY", settings.ADDRESS_SEAL_KEY),
        *(("FIELD_KEYS", key) for key in settings.FIELD_KEYS),
        *(("RECEIPT_KEYS", key) for key in settings.RECEIPT_KEYS),
    ):
        if len(key) < SHORTEST_KEY:
            raise CannotStart(
                f"The settings are wrong: {name} needs at least {SHORTEST_KEY} characters that are random."
            )
    for name in ("TOLERANCE_VOLATILE", "TOLERANCE_STABLE"):
        if not 0 <= getattr(settings, name)[0] <= HIGHEST_TOLERANCE:
            raise CannotStart(f"The settings are wrong: {name} may be at most 5 %, or a shortfall is a discount.")
    news_to_operators()
    fixed_prices()
    try:
        families()
    except ValueError as error:
        names = ", ".join(setting for real in REAL.values() for setting in real.options.values())
        raise CannotStart(f"The settings of the networks ({names}) are wrong: {error}") from error
    check_sources()


def news_to_operators() -> None:
    """Refuse news to operators that could never arrive."""
    if settings.OPERATOR_EMAILS and not settings.EMAIL_URL:
        raise CannotStart("The settings are wrong: OPERATOR_EMAILS needs a mail server: EMAIL_URL=smtps://...")
    hook = urlsplit(settings.OPERATOR_WEBHOOK)
    if settings.OPERATOR_WEBHOOK and (hook.scheme not in ("http", "https") or not hook.hostname):
        raise CannotStart(
            "The settings are wrong: OPERATOR_WEBHOOK must begin with http:// or https:// and name a host."
        )


def same_kind() -> None:
    """Refuse data that were born as the other kind, simulated or real, before the first migration touches them."""
    if Installation._meta.db_table in connection.introspection.table_names():
        installation.birth()


def nodes() -> None:
    """Refuse real networks without the address of a node or with a key that is none. For processes that ask nodes."""
    if is_simulated():
        return
    if not any(real.has_node for real in REAL.values()):
        pairs = " or ".join(f"{real.url} and {real.key}" for real in REAL.values())
        raise CannotStart(f"The settings are wrong: NETWORKS=real needs at least one network: {pairs}.")
    for network in families():
        real = REAL[network]
        absent = [name for name in (real.url, real.key) if not getattr(settings, name)]
        if absent:
            raise CannotStart(f"The settings are wrong: the network {network} needs {' and '.join(absent)}.")
        for make in (node, second_provider):
            try:
                make(network)
            except ValueError as error:
                names = ", ".join((real.url, real.key, real.second))
                raise CannotStart(f"The settings of {network} ({names}) are wrong: {error}") from error


def fit_for_work() -> None:
    """Refuse to start a worker that could do harm: beside data of another kind, with wrong values, without a node."""
    own_settings()
    same_kind()
    nodes()
    leave_no_connection_to_inherit()


def leave_no_connection_to_inherit() -> None:
    """Close connections and pools: sockets and pool threads do not survive the fork of a worker process."""
    for one in connections.all(initialized_only=True):
        one.close()
        if isinstance(one, PostgreSQL):
            one.close_pool()


def database_answers() -> None:
    """Refuse a database server that does not answer. The pool is passed by: it tries for ten seconds and logs each."""
    if connection.vendor != "postgresql":
        return
    parameters = connection.get_connection_params() | {"connect_timeout": 5}
    try:
        psycopg.connect(**parameters).close()
    except psycopg.OperationalError as error:
        text = str(error).strip().partition("\n")[0]
        raise CannotStart(f"The database that DATABASE_URL names cannot be reached: {text}.") from error


def redis_answers() -> None:
    """Refuse a Redis that REDIS_URL names and that does not answer."""
    if not settings.REDIS_URL:
        return
    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=5, socket_timeout=5).ping()
    except redis.RedisError as error:
        text = str(error).rstrip(".")
        raise CannotStart(f"The Redis that REDIS_URL names cannot be reached: {text}.") from error
