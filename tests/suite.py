"""Run the tests: once per database, then what needs the whole machine once. `./run test [pytest arguments]` calls it.

On two cores or more both databases take their turn at once: the output of PostgreSQL follows that of SQLite.
GRIDLOT_SIDE_BY_SIDE=0 has them one after the other, as --pdb and --trace do; 1 has them at once on one core too.
What cannot run here (no PostgreSQL, no Chromium, no node of a network) is left out and named at the end with the way
to get it; with GRIDLOT_CI=1 each missing part counts as a failure. The last line is `N passed, N failed, N skipped`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis
from psycopg import sql
from side_by_side import Child, ended_with_us

PROJECT = Path(__file__).resolve().parent.parent
LOCAL_POSTGRESQL = "127.0.0.1:5432"
LOCAL_REDIS = "redis://127.0.0.1:6379/15"  # not database 0: that may hold somebody's data
ANVIL = "npm/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
WHOLE_MACHINE = ("browser", "chains", "access")
NOTHING_COLLECTED = 5

# Settings that a test must not inherit from whoever starts it.
FOREIGN = (
    *("DATABASE_URL", "REDIS_URL", "NETWORKS", "DEBUG", "HTTPS", "ALLOWED_HOSTS"),
    *("RATE_SOURCES", "FIXED_RATES", "SECRET_KEY"),
)


@dataclass(frozen=True)
class Run:
    """One call of pytest."""

    title: str
    markers: str
    environment: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False


@dataclass
class Total:
    """What the runs came to, and the worst that happened."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    status: int = 0
    collected: bool = False

    def add(self, status: int, counts: Mapping[str, int]) -> None:
        """Add one run. A run that broke without saying which test did counts as one failure."""
        failed = counts.get("failed", 0)
        if status == NOTHING_COLLECTED:
            return
        self.collected = True
        self.passed += counts.get("passed", 0)
        self.failed += failed if failed or not status else 1
        self.skipped += counts.get("skipped", 0)
        self.status = 1 if status else self.status


def main(arguments: list[str]) -> int:
    chosen, rest = split_markers(arguments)
    missing: list[str] = []
    total = Total()
    beside = side_by_side(rest)
    with temporary_folder() as scratch, postgresql(missing) as database:
        tools = environment_of_tools(missing)
        try:
            for number, batch in enumerate(batches(planned(database, tools), beside)):
                take(batch, chosen, rest, tools, scratch / str(number), total, apart=beside)
        except KeyboardInterrupt:
            say("\nStopped.")
            total.status = 130
    return report(total, missing)


def side_by_side(rest: list[str]) -> bool:
    """Tell whether runs may go on at once: on two cores or more, and if nobody wants to talk to a debugger."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("GRIDLOT_SIDE_BY_SIDE") or str(int(cores > 1))
    return wanted != "0" and not {"--pdb", "--trace"}.intersection(rest)


def split_markers(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the person's marker expression ("" if none; the last one counts, as in pytest) and all other arguments."""
    chosen, rest = "", []
    left = iter(arguments)
    for argument in left:
        if argument == "-m":
            chosen = next(left, "")
        elif argument.startswith("-m") and not argument.startswith("--"):
            chosen = argument[2:].removeprefix("=")
        else:
            rest.append(argument)
    return chosen, rest


def planned(database: str, tools: Mapping[str, str]) -> Iterator[Run]:
    """Yield the runs: each database, then everything that needs the whole machine and can run here."""
    plain = " and ".join(f"not {marker}" for marker in WHOLE_MACHINE)
    yield Run("SQLite", plain)
    if database:
        yield Run("PostgreSQL", plain, {"DATABASE_URL": database})
    absent = {"browser"} if "CHROMIUM" not in tools else set()
    absent |= {"chains"} if "ANVIL" not in tools else set()
    able = [marker for marker in WHOLE_MACHINE if marker not in absent]
    if able:
        without = "".join(f" and not {marker}" for marker in sorted(absent))
        yield Run(", ".join(able), f"({' or '.join(able)}){without}", alone=True)


def batches(runs: Iterable[Run], beside: bool) -> Iterator[list[Run]]:
    """Yield the runs that may go on at once, together if that is wanted."""
    batch: list[Run] = []
    for run in runs:
        if batch and (run.alone or not beside):
            yield batch
            batch = []
        batch.append(run)
    if batch:
        yield batch


def take(
    batch: list[Run],
    chosen: str,
    rest: list[str],
    tools: Mapping[str, str],
    folder: Path,
    total: Total,
    *,
    apart: bool,
) -> None:
    """Let the runs of a batch go on at once, show one after the other, and add what each came to."""
    others = ", ".join(run.title for run in batch[1:])
    say(f"\n== {batch[0].title}" + (f" ({others} beside it, shown after it)" if others else ""))
    children: list[Child] = []
    with ended_with_us(children):
        for place, run in enumerate(batch):
            command = pytest(run, chosen, rest, colour=place > 0 and sys.stdout.isatty())
            environment = clean_environment() | {**tools, **run.environment}
            held = run.title if place else ""
            children.append(Child(command, environment, folder / str(place), held=held, apart=apart))
        for child in children:
            child.show()
            total.add(*child.result())


def pytest(run: Run, chosen: str, rest: list[str], *, colour: bool) -> list[str]:
    markers = f"({chosen}) and ({run.markers})" if chosen else run.markers
    return [sys.executable, "-m", "pytest", "-m", markers, *(["--color=yes"] if colour else []), *rest]


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in FOREIGN}


def report(total: Total, missing: list[str]) -> int:
    """Print what did not run and the closing line; return the exit status."""
    strict = os.environ.get("GRIDLOT_CI") == "1"
    if missing:
        say("\nMissing here, and a failure in continuous integration:" if strict else "\nNot run here:")
        for sentence in missing:
            say(f"  {sentence}")
    if strict and missing:
        total.failed += len(missing)
        total.status = total.status or 1
    if not total.collected and not total.status:
        say("\nNo test matches.")
        total.status = NOTHING_COLLECTED
    say(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return total.status


# --- what this machine has ------------------------------------------------------------------------------------------
def environment_of_tools(missing: list[str]) -> dict[str, str]:
    """Return CHROMIUM, TEST_REDIS_URL and the paths of nodes for the tests, as far as they are here; name the rest."""
    found = {}
    if chromium := first_program("CHROMIUM", "chromium", "chromium-browser", "google-chrome"):
        found["CHROMIUM"] = chromium
    else:
        missing.append("browser tests: no Chromium; ./run tools installs it")
    if anvil := first_program("ANVIL", str(tools_folder() / ANVIL), "anvil"):
        found["ANVIL"] = anvil
    else:
        missing.append("chain tests: no Ethereum node (anvil); ./run tools installs it")
    for variable, program in (("BITCOIND", "bitcoind"), ("LITECOIND", "litecoind")):
        if node := first_program(variable, str(tools_folder() / program / program)):
            found[variable] = node
        else:
            missing.append(f"tests on {program}: it is not here; ./run tools fetches it")
    url = os.environ.get("TEST_REDIS_URL") or LOCAL_REDIS
    try:
        redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3).ping()
        found["TEST_REDIS_URL"] = url
    except redis.RedisError as error:
        missing.append(f"tests on Redis: none answers ({error}); start one, or name it: TEST_REDIS_URL=redis://...")
    return found


def tools_folder() -> Path:
    """Return the folder that tests/tools/install.sh installs into."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/tmp")) / ".cache"  # noqa: S108
    return Path(os.environ.get("GRIDLOT_TOOLS") or Path(cache) / "gridlot")


def first_program(variable: str, *names: str) -> str:
    """Return the path of the first program that is here: the one that `variable` names, else one of `names`."""
    found = (shutil.which(name) for name in (os.environ.get(variable), *names) if name)
    return next((path for path in found if path), "")


@contextmanager
def postgresql(missing: list[str]) -> Iterator[str]:
    """Yield a URL under which Django can make a test database of this process's own, or "" if there is no server."""
    refusal = "nobody may make a database there"
    for url in postgresql_candidates():
        try:
            with psycopg.connect(urlunsplit(urlsplit(url)._replace(path="/postgres")), connect_timeout=3) as server:
                allowed = server.execute(
                    "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
                ).fetchone()
                if server.info.server_version < 150000:
                    refusal = "it is older than PostgreSQL 15"
                    continue
        except psycopg.OperationalError as error:
            refusal = str(error).strip().splitlines()[0]  # the others are advice
            continue
        if allowed and allowed[0]:
            try:
                yield url
            finally:
                drop_left_overs(url)
            return
    missing.append(
        f"tests on PostgreSQL: {refusal}; start PostgreSQL 15 or newer at {LOCAL_POSTGRESQL}, "
        "or name one: TEST_DATABASE_URL=postgres://user:password@host/name"
    )
    yield ""


def postgresql_candidates() -> Iterator[str]:
    """Yield the URLs to try. The name ends in our process id: two suites on one server do not meet."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        parts = urlsplit(given)
        yield urlunsplit(parts._replace(path=f"{parts.path.rstrip('/') or '/gridlot'}_{os.getpid()}"))
        return
    for user in dict.fromkeys((os.environ.get("PGUSER"), os.environ.get("USER"), "root", "postgres")):
        if user:
            yield f"postgres://{user}@{LOCAL_POSTGRESQL}/gridlot_{os.getpid()}"


def drop_left_overs(url: str) -> None:
    """Drop the test database that an interrupted run left behind."""
    parts = urlsplit(url)
    name = sql.Identifier(f"test_{parts.path.lstrip('/')}")
    with psycopg.connect(urlunsplit(parts._replace(path="/postgres")), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gridlot-tests-", ignore_cleanup_errors=True) as path:
        yield Path(path)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
