from datetime import date
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from catalog.models import Pause
from money.units import parse

from .models import Adjustment, HandSettlement, ReviewItem
from .networks.simulated_chain import LARGEST_AMOUNT
from .registry import method_name, methods


class ChooseForm(forms.Form):
    """A method for one order or top-up, and how it will be paid. `form_key` makes one showing of the page at most one
    promise."""

    method = forms.CharField(max_length=32)
    form_key = forms.UUIDField()
    exchange = forms.BooleanField(required=False)
    pay_if_late = forms.BooleanField(required=False)

    def clean_method(self) -> str:
        code = str(self.cleaned_data["method"])
        if code not in {method.code for method in methods()}:
            raise forms.ValidationError(_("Choose one of the methods shown."))
        return code


class TopUpForm(forms.Form):
    """An amount of the list. `form_key` makes one showing of the page at most one top-up."""

    amount_cents = forms.IntegerField()
    form_key = forms.UUIDField()


class PayForm(forms.Form):
    """A payment from the demo wallet, on one network."""

    method = forms.ChoiceField(label=_("Asset"))
    address = forms.CharField(label=_("Address"), max_length=128)
    amount = forms.CharField(label=_("Amount"), max_length=60)

    def __init__(self, network: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(m.code, method_name(m)) for m in methods() if m.family.network == network]
        cast(forms.ChoiceField, self.fields["method"]).choices = known

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        chosen = {m.code: m for m in methods()}.get(str(data.get("method")))
        if chosen is None:
            return data
        try:
            data["units"] = parse(str(data.get("amount", "")), chosen.asset.decimals)
        except ValueError:
            self.add_error("amount", _("Write the amount in digits with a full stop, such as 0.05."))
        else:
            if data["units"] == 0:
                self.add_error("amount", _("The amount must be more than zero."))
            if data["units"] > LARGEST_AMOUNT:
                self.add_error("amount", _("No network can carry an amount so large."))
        try:
            data["address"] = chosen.family.check_address(str(data.get("address", "")))
        except ValueError as error:
            self.add_error("address", str(error))
        return data


class InquiryForm(forms.Form):
    """A question to the payment doctor."""

    text = forms.CharField(
        label=_("Transaction id, link or address"),
        help_text=_("Copy it from your wallet, your exchange or an explorer. A whole link is fine."),
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off"}),
        error_messages={"max_length": _("That is too long: paste one transaction id, one link or one address.")},
    )


class DecisionForm(forms.Form):
    """What an operator decides about a review item."""

    outcome = forms.ChoiceField(choices=ReviewItem.Outcome.choices)
    reason = forms.CharField(max_length=ReviewItem._meta.get_field("decision").max_length)


class ByHandForm(forms.Form):
    """The grounds on which an operator settles an order."""

    reason = forms.CharField(
        label=_("Why"),
        max_length=HandSettlement._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    evidence = forms.CharField(
        label=_("What proves it: a receipt, a statement, a conversation"),
        max_length=HandSettlement._meta.get_field("evidence").max_length,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ReopenForm(forms.Form):
    """Why a decided item is opened anew."""

    reason = forms.CharField(max_length=ReviewItem._meta.get_field("decision").max_length)


class CounterForm(forms.Form):
    """Why an entry is undone."""

    reason = forms.CharField(
        label=_("Why, in a sentence: it stands in the statement, and is kept with your name"),
        max_length=Adjustment._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class GoodwillForm(CounterForm):
    """How much is given. `form_key` makes one showing of the page at most one credit."""

    usd = forms.DecimalField(
        label=_("US dollars"), min_value=Decimal("0.01"), max_digits=9, decimal_places=2, localize=False
    )
    form_key = forms.UUIDField(widget=forms.HiddenInput)
    field_order = ("usd", "reason", "form_key")

    def cents(self) -> int:
        return int(self.cleaned_data["usd"] * 100)


class ResumeForm(forms.Form):
    """Why something is open again."""

    reason = forms.CharField(
        label=_("Why: kept with your name, for the staff"), max_length=Pause._meta.get_field("reason").max_length
    )


class PauseForm(ResumeForm):
    """Why something is paused, and what customers read about it in each language; nothing, if that is left empty."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for code, name in settings.LANGUAGES:
            label = _("What customers read, in %(language)s") % {"language": name}
            self.fields[f"sentence_{code}"] = forms.CharField(label=label, max_length=300, required=False)

    @staticmethod
    def named(sentences: dict[str, str]) -> dict[str, str]:
        """Return sentences by language under the names of the fields."""
        return {f"sentence_{code}": text for code, text in sentences.items()}

    def sentences(self) -> dict[str, str]:
        return {code: self.cleaned_data[f"sentence_{code}"] for code, _name in settings.LANGUAGES}


class PeriodForm(forms.Form):
    """The days of a report: the day, week or month that holds `first`, or all from `first` to `last`."""

    UNITS = (("day", _("Day")), ("week", _("Week")), ("month", _("Month")), ("range", _("From – to")))
    unit = forms.ChoiceField(label=_("Period"), choices=UNITS)
    first = forms.DateField(label=_("Day, or from"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    last = forms.DateField(
        label=pgettext_lazy("a day", "To"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        first, last = data.get("first"), data.get("last")
        if first and not date(1970, 1, 2) <= first <= date(9000, 1, 1):
            self.add_error("first", _("There is nothing to report about this day."))
        if data.get("unit") == "range" and first:
            if not last:
                self.add_error("last", _("Say until which day."))
            elif not first <= last <= date(9000, 1, 1):
                self.add_error("last", _("The last day comes before the first one."))
        return data
