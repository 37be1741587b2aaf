"""The check-up of the whole installation (`./run doctor`): the machine here, money's way in by `payments.examining`.

For workers and commands only: it asks nodes. Web pages show what a worker has kept.
"""

import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import WARNING, run_checks
from django.core.mail import mailers
from django.db import Error as DatabaseFailure
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from events import append_only
from events.heartbeat import is_old, last_beat
from payments import examining
from payments.examining.hush import hush
from payments.findings import ATTENTION, BAD, GOOD, Finding
from payments.installation import NotThisKind
from payments.registry import is_simulated
from provisioning.models import Rental

from . import preflight

SETTINGS, SECRETS, DATABASE = _("Settings"), _("Secrets"), _("Database")
BROKER, WORKER, CLOCK, DISK, EMAIL = _("Broker"), _("Worker"), _("Clock"), _("Disk"), _("Email")
# The files that `config.env.local_secret` makes, with the setting each is for and what is lost without it.
FILES = {
    "secret_key": ("SECRET_KEY", _("Without it sessions end and everybody signs in again.")),
    "field_key": ("FIELD_KEYS", _("Without it access information and second factors cannot be opened any more.")),
    "address_seal_key": ("ADDRESS_SEAL_KEY", _("Without it no address that is ready can be handed out.")),
    "receipt_key": (
        "RECEIPT_KEYS",
        _("Without it downloaded receipts can no longer be told from forged ones."),
    ),
}
SMTP = "django.core.mail.backends.smtp.EmailBackend"
MIB = 1 << 20
SKEW = timedelta(seconds=5)  # between database and machine; promises are counted in minutes
Check = Callable[[], Iterator[Finding]]


def findings() -> list[Finding]:
    """Look at everything. A check that fails says so and does not keep the others from looking."""
    checks: tuple[Check, ...] = (own_settings, secrets, database, broker, worker, clock, disk, email)
    found = [finding for check in checks for finding in guarded(check)]
    return found + list(guarded(examining.findings))


def guarded(check: Check) -> Iterator[Finding]:
    try:
        yield from check()
    except (DatabaseFailure, OSError) as error:
        yield Finding(
            SETTINGS,
            BAD,
            _("A check could not be made: %(error)s"),
            _("What it would have said is not known."),
            _("Put right what the other lines say, then check again."),
            {"error": hush(f"{type(error).__name__}: {error}")},
        )


def refused(look: Callable[[], object]) -> str:
    """Return the sentence with which `serve` would refuse to start, or nothing."""
    try:
        with preflight.in_one_sentence():
            look()
    except (preflight.CannotStart, NotThisKind) as refusal:
        return hush(str(refusal))
    return ""


# --- settings ---------------------------------------------------------------------------------------------------
def own_settings() -> Iterator[Finding]:
    """Say what `serve` would refuse, and what Django's own deployment checks warn of."""
    if sentence := refused(preflight.own_settings) or refused(preflight.same_kind):
        yield Finding(
            SETTINGS,
            BAD,
            "%(sentence)s",
            _("The site and its worker will not start again like this."),
            _("Change what the sentence names; docs/settings.md lists every setting."),
            {"sentence": sentence},
        )
    elif is_simulated():
        text = _("The settings fit. This installation is a demo: its money is made up and stays so for ever.")
        yield Finding(SETTINGS, GOOD, text)
    else:
        yield Finding(SETTINGS, GOOD, _("The settings fit. This installation takes real money."))
        yield from deployment()


def deployment() -> Iterator[Finding]:
    """Name what Django calls unsafe about a site that is open to the public."""
    found = run_checks(include_deployment_checks=True)
    unsafe = [one for one in found if one.level >= WARNING and not one.is_silenced() and str(one.id)[:8] == "security"]
    for one in unsafe:
        yield Finding(
            SETTINGS,
            ATTENTION,
            "%(message)s",
            _("A site on the open internet is safer with it."),
            _("Behind HTTPS set HTTPS=on; docs/security.md says what each header is for."),
            {"message": f"{one.msg} ({one.id})"},
        )


# --- secrets ----------------------------------------------------------------------------------------------------
def secrets() -> Iterator[Finding]:
    """Look at the files of the secrets and whether they open what was sealed with them. No secret is ever shown."""
    for name, (setting, loss) in FILES.items():
        yield of_file(settings.DATA_DIR / name, setting, loss)
    if sealed := Rental._base_manager.order_by("-pk").values_list("pk", flat=True).first():
        yield of_sealed(sealed)


def of_file(path: Path, setting: str, loss: str) -> Finding:
    facts = {"file": path.name, "setting": setting}
    if not path.exists():
        text = _("%(setting)s comes from the environment, not from a file in DATA_DIR.")
        return Finding(SECRETS, GOOD, text, loss, _("Keep it in a back-up apart from the database."), facts)
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        return Finding(
            SECRETS,
            BAD,
            _("Others on this machine may read the file %(file)s (mode %(mode)s)."),
            _("Whoever reads it can forge or open what it protects."),
            _("chmod 600 the file in DATA_DIR. If others use the machine, make a new %(setting)s."),
            facts | {"mode": f"{mode:o}"},
        )
    advice = _("Keep a copy apart from the back-up of the database.")
    return Finding(SECRETS, GOOD, _("%(file)s is there and only its owner may read it."), loss, advice, facts)


def of_sealed(rental_id: int) -> Finding:
    """Open the newest access information, and forget it."""
    try:
        Rental._base_manager.values_list("access", flat=True).get(pk=rental_id)
    except Exception as error:  # whatever the library of ciphers says, the answer is no
        return Finding(
            SECRETS,
            BAD,
            _("FIELD_KEYS does not open the access information that is stored (%(error)s)."),
            _("Customers cannot read how to reach their machines, and second factors fail."),
            _("Put the key back that sealed it: from the back-up of DATA_DIR/field_key."),
            {"error": type(error).__name__},
        )
    return Finding(SECRETS, GOOD, _("FIELD_KEYS opens what was sealed with it."))


# --- database, broker, worker -----------------------------------------------------------------------------------
def database() -> Iterator[Finding]:
    """Say whether the database answers, is up to date, and refuses to change history."""
    if sentence := refused(preflight.database_answers):
        means = _("Nothing works without it. No payment is lost: the networks are read on from where they stood.")
        advice = _("Start the database, or mend DATABASE_URL.")
        yield Finding(DATABASE, BAD, "%(sentence)s", means, advice, {"sentence": sentence})
        return
    yield Finding(DATABASE, GOOD, _("%(name)s answers."), facts={"name": connection.display_name})
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        yield Finding(
            DATABASE,
            BAD,
            _("%(count)d changes of the tables were not made yet."),
            _("Parts of this version will fail."),
            _("./run migrate, then start the site and the workers again."),
            {"count": len(waiting)},
        )
    yield triggers()


def triggers() -> Finding:
    absent = append_only.missing("default")
    if not absent:
        return Finding(DATABASE, GOOD, _("Events and ledger are append-only: the database refuses to change them."))
    return Finding(
        DATABASE,
        BAD,
        _("The database would let rows of history be changed: %(names)s is missing."),
        _("Whoever reaches the database could change the ledger without a trace."),
        _("./run migrate --skip-checks installs it again; then ./run verifyledger."),
        {"names": ", ".join(sorted(absent))},
    )


def broker() -> Iterator[Finding]:
    if settings.EMBEDDED_TASKS:
        yield Finding(BROKER, GOOD, _("No broker is needed: the web process runs the tasks itself."))
    elif sentence := refused(preflight.redis_answers):
        means = _("Workers get no messages: nothing is read, credited or reminded until they do. Nothing is lost.")
        yield Finding(BROKER, BAD, "%(sentence)s", means, _("Start Redis, or mend REDIS_URL."), {"sentence": sentence})
    else:
        yield Finding(BROKER, GOOD, _("Redis answers."))


def worker() -> Iterator[Finding]:
    seen = last_beat()
    means = _("Payments are not seen and orders do not go on. Nothing is lost: a worker catches up.")
    advice = _("Start it: ./run serve without REDIS_URL; else celery -A config worker, and one celery -A config beat.")
    if seen is None:
        yield Finding(WORKER, BAD, _("No worker has shown itself yet."), means, advice)
        return
    silence = timezone.now() - seen
    facts = {"seconds": round(silence.total_seconds())}
    if is_old(seen, timezone.now()):
        yield Finding(WORKER, BAD, _("The last sign of a worker is %(seconds)d seconds old."), means, advice, facts)
    else:
        yield Finding(WORKER, GOOD, _("A worker showed itself %(seconds)d seconds ago."), facts=facts)


# --- clock, disk, email -----------------------------------------------------------------------------------------
def clock() -> Iterator[Finding]:
    """Compare this machine's clock with the database's. The nodes' newest blocks are compared beside each network."""
    if connection.vendor == "sqlite":
        yield Finding(CLOCK, GOOD, _("The database is a file on this machine: there is one clock."))
        return
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        (there,) = cursor.fetchone()
    apart = abs(there - before)
    facts = {"seconds": f"{apart.total_seconds():.1f}"}
    if apart > SKEW:
        yield Finding(
            CLOCK,
            BAD,
            _("The clocks of this machine and of the database are %(seconds)s seconds apart."),
            _("Promises end too early or too late, and prices look older or newer than they are."),
            _("Set both clocks by NTP."),
            facts,
        )
    else:
        yield Finding(CLOCK, GOOD, _("The clocks of machine and database are %(seconds)s seconds apart."), facts=facts)


def disk() -> Iterator[Finding]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    facts = {"free": f"{free / (1 << 30):.1f} GiB"}
    if free > 1024 * MIB:
        yield Finding(DISK, GOOD, _("%(free)s are free where DATA_DIR lies."), facts=facts)
        return
    yield Finding(
        DISK,
        BAD if free < 200 * MIB else ATTENTION,
        _("Only %(free)s are free where DATA_DIR lies."),
        _("On a full disk nothing is written: no order, no credit. Nothing that was written is lost."),
        _("Make room, or move DATA_DIR."),
        facts,
    )


def email() -> Iterator[Finding]:
    """Knock at each mail server that is set; nothing is sent."""
    servers = [name for name, one in mailers.settings.items() if one.get("BACKEND", SMTP) == SMTP]
    if not servers:
        yield Finding(EMAIL, GOOD, _("No mail server is set. Nothing here needs one."))
    for name in servers:
        yield of_mailer(name)


def of_mailer(name: str) -> Finding:
    facts: dict[str, Any] = {"name": name}
    try:
        mail = mailers[name]
        mail.open()
        mail.close()
    except OSError as error:
        means = _("Messages by email do not go out. The site itself goes on.")
        text = _("The mail server %(name)s does not take messages: %(error)s")
        return Finding(
            EMAIL, ATTENTION, text, means, _("Check the email settings."), facts | {"error": hush(str(error))}
        )
    return Finding(EMAIL, GOOD, _("The mail server %(name)s answers."), facts=facts)
