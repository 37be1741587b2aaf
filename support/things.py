"""What the desk tells a story of: the whole table, by the name that a row has in events ("order:17")."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.actions import subject_of
from orders.models import Order
from payments.models import TopUp

Row = Order | TopUp | User


@dataclass(frozen=True, slots=True)
class Thing:
    """A kind of row: its model, what is read along with it, what it is called, and the one name of a row."""

    model: type[Model]
    related: tuple[str, ...]
    label: "str | Promise"
    called: Callable[[Any], str]


THINGS = {
    "order": Thing(Order, ("customer", "offer"), _("Order"), lambda order: order.number),
    "topup": Thing(TopUp, ("customer",), _("Top-up"), lambda topup: topup.number),
    "user": Thing(User, (), _("Customer"), lambda user: user.email),
}


@dataclass(frozen=True, slots=True)
class Named:
    """One row of a list of hits: `subject` is its name in events."""

    subject: str
    label: "str | Promise"
    called: str


def rows_of(subjects: Iterable[str]) -> dict[str, Row]:
    """Return the rows that names name, in their order, with one query for each kind; what is not there is left out."""
    wanted: dict[str, list[str]] = {}
    for subject in subjects:
        kind, _colon, key = subject.partition(":")
        if kind in THINGS and key.isdecimal() and len(key) < 19:
            wanted.setdefault(kind, []).append(key)
    found = {}
    for kind, keys in wanted.items():
        rows: Any = THINGS[kind].model._base_manager.filter(pk__in=keys)
        if THINGS[kind].related:
            rows = rows.select_related(*THINGS[kind].related)
        found.update({subject_of(row): row for row in rows})
    return {subject: found[subject] for subject in subjects if subject in found}


def row_of(subject: str) -> Row | None:
    return rows_of([subject]).get(subject)


def owner_of(row: Row) -> User:
    """Return whose it is."""
    return row if isinstance(row, User) else row.customer


def named(subjects: Sequence[str]) -> list[Named]:
    """Return what a list of hits says of each: what it is and its name, and nothing that would be a look at it."""
    return [name_of(row) for row in rows_of(subjects).values()]


def name_of(row: Row) -> Named:
    subject = subject_of(row)
    thing = THINGS[subject.partition(":")[0]]
    return Named(subject, thing.label, thing.called(row))
