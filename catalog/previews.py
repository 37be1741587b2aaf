"""The changes of an offer in words: what each column was and will be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Field
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from money.usd import localised

from .models import Offer


@dataclass(frozen=True, slots=True)
class Line:
    label: "str | Promise"
    before: str
    after: str


def lines(offer: Offer, changes: Mapping[str, tuple[Any, Any]]) -> list[Line]:
    """Return a line for each change, prices in dollars."""
    return [Line(label_of(name), *(written(offer, name, value) for value in both)) for name, both in changes.items()]


def label_of(name: str) -> "str | Promise":
    if not name.startswith("price_"):
        return str(column(name).verbose_name).capitalize()
    days = int(name.removeprefix("price_"))
    return ngettext("Price of a lot, %(days)d day", "Price of a lot, %(days)d days", days) % {"days": days}


def written(offer: Offer, name: str, value: Any) -> str:
    if name.startswith("price_"):
        return gettext("not offered") if value is None else localised(value)
    choices = dict(column(name).flatchoices)
    return str(choices.get(value, _("none") if value in (None, "") else value))


def column(name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", Offer._meta.get_field(name))
