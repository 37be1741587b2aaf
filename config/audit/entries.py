"""Rows of the audit log as people read them: words, what it was about with a link, and why. Few queries for a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.words import WORDS as ACCOUNT_WORDS
from config.wording import WORDS as STORY_WORDS
from events.models import Event
from money.usd import localised
from orders.models import Order
from payments.models import HandSettlement, Payout, ReviewItem, TopUp
from support.models import Lookup

from .groups import LOOKED_UP, WORDS

NAMED: Mapping[str, type[Model]] = {
    "order": Order,
    "topup": TopUp,
    "payout": Payout,
    "user": User,
}  # what threads are about mostly
LABELS = {
    "outcome": _("decision"),
    "role": _("role"),
    "evidence": _("evidence"),
    "count": _("number"),
    "before": _("before"),
    "error": _("error"),
    "height": _("height"),
    "lots": _("lots"),
    "second_factor": _("second factor"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. `who` is none for the system; `details` are facts in words, `reason` is a person's."""

    at: datetime
    who: User | None
    kind: str
    words: str | Promise
    about: str
    url: str
    reason: str
    details: str


def entries(rows: Iterable[tuple[str, Any]]) -> list[Entry]:
    """Return the lines of a page or a chunk."""
    found = [row for _name, row in rows]
    events = [row for row in found if isinstance(row, Event)]
    named = names([*(event.thread for event in events), *(row.subject for row in found if isinstance(row, Lookup))])
    reasons = reasons_of(events)
    return [entry_of(row, named, reasons) if isinstance(row, Event) else entry_of_lookup(row, named) for row in found]


def entry_of_lookup(lookup: Lookup, named: Mapping[str, str]) -> Entry:
    about = named.get(lookup.subject) or lookup.subject.replace(":", " ")
    details = f"{lookup.text}; {lookup.get_outcome_display()}"
    return Entry(lookup.at, lookup.actor, LOOKED_UP, WORDS[LOOKED_UP], about, url_of(lookup.subject), "", details)


def entry_of(event: Event, named: Mapping[str, str], reasons: Mapping[str, str]) -> Entry:
    words = WORDS.get(event.kind) or STORY_WORDS.get(event.kind) or ACCOUNT_WORDS.get(event.kind) or event.kind
    reason = event.data.get("reason") or reasons.get(event.subject, "")
    if event.kind == "review.opened":
        reason = ""  # its reason is a code, and no person gave it
    about = named.get(event.thread) or event.thread.replace(":", " ")
    return Entry(event.at, event.actor, event.kind, words, about, url_of(event.thread), str(reason), details_of(event))


def names(threads: Iterable[str]) -> dict[str, str]:
    """Return what people call the rows that threads name, in one query for each kind of row."""
    wanted: dict[str, list[str]] = {noun: [] for noun in NAMED}
    for thread in threads:
        noun, _colon, key = thread.partition(":")
        if noun in wanted and key.isdecimal():
            wanted[noun].append(key)
    return {
        f"{noun}:{row.pk}": getattr(row, "number", None) or str(row)
        for noun, keys in wanted.items()
        if keys
        for row in NAMED[noun]._base_manager.filter(pk__in=set(keys))
    }


def reasons_of(events: Iterable[Event]) -> dict[str, str]:
    """Return the reasons of settlements by hand: a proposal's event does not repeat it."""
    keys = [event.subject.partition(":")[2] for event in events if event.subject.startswith("handsettlement:")]
    rows = HandSettlement.objects.filter(pk__in=keys).values_list("pk", "reason") if keys else []
    return {f"handsettlement:{pk}": reason for pk, reason in rows}


def url_of(thread: str) -> str:
    """Return the page of the admin that shows a row, if there is one."""
    noun, _colon, key = thread.partition(":")
    for model in admin.site._registry:
        if model._meta.model_name == noun and apps.is_installed(model._meta.app_config.name):
            return reverse(f"admin:{model._meta.app_label}_{noun}_change", args=[key])
    return ""


def details_of(event: Event) -> str:
    """Write the facts of an event that say what was decided or changed."""
    data, found = event.data, []
    if isinstance(cents := data.get("usd_cents"), int):
        found.append(localised(cents))
    for name, value in data.items():
        if name in LABELS and value not in ("", None):
            found.append(f"{LABELS[name]}: {shown(name, value)}")
    for field, (before, after) in data.get("changes", {}).items():
        found.append(f"{field}: {before} → {after}")
    return "; ".join(found)


def shown(name: str, value: object) -> str:
    if name == "outcome" and value in ReviewItem.Outcome.values:
        return str(ReviewItem.Outcome(value).label)
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    return str(value)
