"""What operators are told of, in which words: the whole table.

No personal data and no sums leave the house: a number, a reason, and a link to the page that says the rest.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from events import notices
from events.models import Event
from payments.models import HandSettlement, ReviewItem
from payments.registry import families

Words = str | Promise


@dataclass(frozen=True, slots=True)
class News:
    """One line of a message: what it is about, what happened, where it is looked at."""

    kind: str
    about: str
    words: str
    url: str
    at: datetime


def always(event: Event) -> bool:
    return True


def by_system(event: Event) -> bool:
    """An operator who queues a rental again need not be told."""
    return event.actor_id is None


def by_customer(event: Event) -> bool:
    return event.actor is None or not event.actor.is_staff


def needs_second(event: Event) -> bool:
    """A small settlement is carried out at once; what the proposal was, its row says."""
    pk = event.subject.rpartition(":")[2]
    return HandSettlement.objects.filter(pk=pk, state=HandSettlement.State.PROPOSED).exists()


def not_of_stopped(event: Event) -> bool:
    """A network that stops has an event of its own."""
    return bool(event.data.get("reason") != ReviewItem.Reason.STOPPED)


ALARMS: dict[str, Words] = {
    "network": _("the network is not watched: payments on it are not seen"),
    "reserve": _("few receiving addresses are ready"),
    "price": _("no payment instructions are made in this asset"),
    "stock": _("more lots are held and in use than exist"),
    "books": _("chain and books differ or are not compared"),
}


def of_review(event: Event) -> Words:
    labels = dict(ReviewItem.Reason.choices)
    return labels.get(event.data.get("reason", ""), _("something needs a decision"))


def of_alarm(event: Event) -> Words:
    return ALARMS.get(str(event.data.get("key", "")).partition(":")[0], _("something needs a person"))


@dataclass(frozen=True, slots=True)
class Told:
    """The words for one kind of event, or what writes them; and whether this one is told at all."""

    words: Words | Callable[[Event], Words]
    when: Callable[[Event], bool] = always


TOLD: dict[str, Told] = {
    "review.opened": Told(of_review, not_of_stopped),
    "order.hand_proposed": Told(_("a settlement by hand waits for a second person"), needs_second),
    "order.waiting_for_stock": Told(_("paid, and no lots are left: it waits for stock")),
    "order.needs_help": Told(_("the network took its payment back: decide about the rental")),
    "rental.queued": Told(_("paid: its machine is to be prepared"), by_system),
    "network.stopped": Told(_("stopped: another chain, or a reorganisation too deep")),
    "alarm.raised": Told(of_alarm),
    "worker.resumed": Told(_("no worker had run for a while; one runs again")),
    "message.sent": Told(_("a customer wrote"), by_customer),
    "payout.requested": Told(_("a payout was asked for")),
}


def note(event: Event) -> None:
    """Let operators be told of an event that is in the table; runs in the relay's transaction."""
    if TOLD[event.kind].when(event):
        notices.note(event)


def news(events: Sequence[Event]) -> list[News]:
    """Return the lines for events, in as many queries for one as for many of the same kinds."""
    rows = named_rows(name for event in events for name in (event.subject, event.thread))
    return [line(event, rows) for event in events]


def line(event: Event, rows: dict[str, Model]) -> News:
    told = TOLD.get(event.kind)
    words = told.words if told else event.kind
    text = words(event) if callable(words) else words
    return News(event.kind, about(event, rows), str(text), address(event), event.at)


def about(event: Event, rows: dict[str, Model]) -> str:
    """Name what an event is about: the number of its order or top-up, a network, an asset. Never a person."""
    if event.kind.startswith("alarm."):
        name = str(event.data.get("key", "")).partition(":")[2]
        return families()[name].name if name in families() else name
    for name in (event.subject, event.thread):
        number = getattr(rows.get(name), "number", None)
        if number:
            return str(number)
    network = event.thread.rpartition(":")[2]
    return families()[network].name if network in families() else plain_name(event.subject)


def plain_name(subject: str) -> str:
    """Name a row by its kind and its key: "review item 7"."""
    model, _colon, pk = subject.partition(":")
    known = models_where(lambda one: one._meta.model_name == model)
    return f"{known[model]._meta.verbose_name if model in known else model} {pk}"


def named_rows(names: Iterable[str]) -> dict[str, Model]:
    """Return the rows that have a number of their own, by their names in events ("order:17"); one query for a model."""
    numbered = models_where(lambda model: hasattr(model, "number"))
    wanted: dict[type[Model], set[str]] = {}
    for name in names:
        model, _colon, pk = name.partition(":")
        if model in numbered:
            wanted.setdefault(numbered[model], set()).add(pk)
    return {
        f"{model._meta.model_name}:{row.pk}": row
        for model, keys in wanted.items()
        for row in model._default_manager.filter(pk__in=keys)
    }


def models_where(holds: Callable[[type[Model]], bool]) -> dict[str, type[Model]]:
    """Return our models by the name that events know them under."""
    return {str(model._meta.model_name): model for model in apps.get_models() if holds(model)}


def address(event: Event) -> str:
    """Return where an event is looked at: the page of its subject in the administration, else of its story, else the
    first page. The host is SITE_URL's."""
    shown = models_where(admin.site.is_registered)
    for name in (event.subject, event.thread):
        model, _colon, pk = name.partition(":")
        if model in shown and event.kind != "alarm.raised":
            meta = shown[model]._meta
            return f"{settings.SITE_URL}{reverse(f'admin:{meta.app_label}_{meta.model_name}_change', args=[pk])}"
    return home()


def home() -> str:
    return f"{settings.SITE_URL}{reverse('admin:index')}"
