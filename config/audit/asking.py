"""What may be asked of the audit log: by whom, of which group, about what, when."""

import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import User
from events.actions import subject_of
from orders import numbers
from orders.models import Order
from payments.models import TopUp
from payments.reports.period import DAY, midnight

from .groups import EVERYTHING, GROUPS, WORDS

PEOPLE = 20  # so many accounts may fit what is typed as a person
THREAD = re.compile(r"[a-z]+:[0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Before:
    """Where the page before ended: everything that comes earlier in the order of time, source, key."""

    at: datetime
    source: str
    key: int | uuid.UUID

    @classmethod
    def parse(cls, text: str) -> "Before | None":
        """Read what `str` wrote; none for anything else."""
        try:
            at, source, key = text.split(",")
            return cls(datetime.fromisoformat(at), source, int(key) if key.isdecimal() else uuid.UUID(key))
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.at.isoformat()},{self.source},{self.key}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. None means any; `kinds` none: every event, whoever caused it. Times in UTC, `end` excluded."""

    kinds: Collection[str] | None = frozenset(WORDS)
    people: Collection[int] | None = None
    threads: Collection[str] | None = None
    start: datetime | None = None
    end: datetime | None = None


class AuditForm(forms.Form):
    """The filters above the log."""

    DATE = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    group = forms.ChoiceField(label=_("What"), required=False)
    person = forms.CharField(label=_("Who (email or a part of it)"), max_length=254, required=False)
    about = forms.CharField(label=_("About (order, top-up, email)"), max_length=254, required=False)
    first = forms.DateField(label=pgettext_lazy("a day", "From"), required=False, widget=DATE)
    last = forms.DateField(label=pgettext_lazy("a day", "To"), required=False, widget=DATE)

    def __init__(self, data: Any, *, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone = zone
        choices = [(code, label) for code, (label, _words) in GROUPS.items()]
        last = (EVERYTHING, _("Everything, of customers and networks too"))
        self.fields["group"].choices = [("", _("All that staff answers for")), *choices, last]  # type: ignore[attr-defined]

    def question(self) -> Question:
        """Return what is asked; filters that are no filters are left out, and the page shows why."""
        self.full_clean()
        data = self.cleaned_data
        first, last = (
            data.get(name) if data.get(name) and 1970 < data[name].year < 9000 else None for name in ("first", "last")
        )
        return Question(
            kinds=kinds_of(data.get("group", "")),
            people=people_of(data["person"]) if data.get("person") else None,
            threads=threads_of(data["about"]) if data.get("about") else None,
            start=midnight(first, self.zone) if first else None,
            end=midnight(last + DAY, self.zone) if last else None,
        )


def kinds_of(group: str) -> Collection[str] | None:
    if group == EVERYTHING:
        return None
    return frozenset(GROUPS[group][1] if group in GROUPS else WORDS)


def people_of(text: str) -> list[int]:
    return list(User.objects.filter(email__icontains=text.strip()).values_list("pk", flat=True)[:PEOPLE])


def threads_of(text: str) -> list[str]:
    """Return the threads of what is typed: a number in any spelling, an email, or a thread as events name it."""
    text = text.strip()
    found = [
        subject_of(row)
        for model, prefix in ((Order, settings.ORDER_NUMBER_PREFIX), (TopUp, settings.TOPUP_NUMBER_PREFIX))
        if (symbols := numbers.read(text, prefix)) and (row := model._base_manager.filter(symbols=symbols).first())
    ]
    if "@" in text:
        found += [subject_of(row) for row in User.objects.filter(email__iexact=text)]
    if THREAD.fullmatch(text):
        found.append(text)
    return found
