"""What operators can pause, in words: all new orders, the methods, the offers (OPS-8)."""

from dataclasses import dataclass

from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from catalog.models import Offer, Pause
from catalog.pausing import METHOD, OFFER, all_paused
from orders.models import Order

from .models import PaymentIntent
from .registry import method_name, methods


@dataclass(frozen=True, slots=True)
class Pausable:
    """A subject with its name; `pause` while it is paused. `offer` is set for an offer. `live`: what goes on of it."""

    subject: str
    name: str | Words
    pause: Pause | None = None
    offer: Offer | None = None
    live: int = 0

    @property
    def is_open(self) -> bool:
        return self.offer.published if self.offer else self.pause is None

    @property
    def is_method(self) -> bool:
        return self.subject.startswith(METHOD)


def pausables() -> list[Pausable]:
    """Return all of them: new orders first, then the methods, then the offers as customers see them."""
    on = all_paused("")
    live = list(PaymentIntent.objects.filter(ended_at=None).values_list("method", flat=True))
    orders = Order.objects.filter(state=Order.State.OPEN).count()
    found = [Pausable(Pause.ORDERS, _("All new orders"), on.get(Pause.ORDERS), live=orders)]
    for method in methods():
        subject = f"{METHOD}{method.code}"
        found.append(Pausable(subject, method_name(method), on.get(subject), live=live.count(method.code)))
    for offer in Offer.objects.order_by("position", "id"):
        subject = f"{OFFER}{offer.pk}"
        found.append(Pausable(subject, offer.name, on.get(subject), offer))
    return found


def chosen(subjects: list[str]) -> list[Pausable]:
    """Return those of these subjects that there are."""
    return [one for one in pausables() if one.subject in subjects]
