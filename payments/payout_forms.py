"""Forms of money that goes out: what the customer asks for, what operators decide."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from money.units import parse

from .models import Payout
from .payouts import checked_address, doubt
from .registry import Method, methods

ADDRESS = {"spellcheck": "false", "autocapitalize": "off", "autocomplete": "off"}


class ReceiverForm(forms.Form):
    """An address of the method that `chosen` tells; of one that may be of another network a person must be sure."""

    address = forms.CharField(
        label=_("Address"),
        max_length=128,
        widget=forms.TextInput(attrs=ADDRESS),
        help_text=_("Copy it from the wallet that is to receive the coins, on the network chosen above."),
    )
    sure = forms.BooleanField(label=_("Yes, I am sure"), required=False)
    form_key = forms.UUIDField(widget=forms.HiddenInput)
    doubtful = False

    def chosen(self) -> Method | None:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        method, text = self.chosen(), str(data.get("address", ""))
        if method is None or not text:
            return data
        try:
            data["receiver"] = checked_address(method, text)
        except ValueError as error:
            self.add_error("address", str(error))
            return data
        if question := doubt(method, text):
            self.doubtful = True
            if not data.get("sure"):
                self.add_error("sure", str(question))
        return data


class PayoutForm(ReceiverForm):
    """What a customer wants of the balance, and where. `shown`: the base units that the page of figures showed."""

    method = forms.CharField(max_length=32)
    amount = forms.CharField(
        label=_("Amount in US dollars"),
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        help_text=_("Give an amount, or tick that it is all."),
    )
    everything = forms.BooleanField(label=_("All that is available"), required=False)
    shown = forms.CharField(required=False, max_length=78, widget=forms.HiddenInput)

    def __init__(self, available_cents: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.available_cents = available_cents

    def chosen(self) -> Method | None:
        code = self.cleaned_data.get("method")
        return next((method for method in methods() if method.code == code), None)

    def clean_method(self) -> str:
        if self.chosen() is None:
            raise forms.ValidationError(_("Choose one of the methods shown."))
        return str(self.cleaned_data["method"])

    def clean_shown(self) -> int:
        text = str(self.cleaned_data["shown"])
        return int(text) if text.isascii() and text.isdecimal() else 0

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        try:
            data["usd_cents"] = self.available_cents if data.get("everything") else cents(str(data.get("amount", "")))
        except ValueError:
            self.add_error("amount", _("Write the amount in digits with a full stop, such as 25.00."))
        return data


def cents(text: str) -> int:
    """Return the cents of a sum that a person typed; ValueError if it is none, or more than any balance holds."""
    found = parse(text.strip().removeprefix("$").strip(), 2)
    if not 0 < found < 10**15:
        raise ValueError(text)
    return found


class RefundForm(ReceiverForm):
    """How much of a transfer an operator sends back, where, and why."""

    amount = forms.CharField(label=_("Amount to take from the transfer"), max_length=60)
    house_pays_fee = forms.BooleanField(label=_("The house pays the fee: all of it arrives"), required=False)
    reason = forms.CharField(
        label=_("Why: the customer reads it too"),
        max_length=Payout._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    field_order = ("amount", "house_pays_fee", "address", "sure", "reason", "form_key")

    def __init__(self, method: Method, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of = method

    def chosen(self) -> Method | None:
        return self.of

    def clean_amount(self) -> int:
        try:
            return parse(str(self.cleaned_data["amount"]).strip(), self.of.asset.decimals)
        except ValueError:
            raise forms.ValidationError(_("Write the amount in digits with a full stop, such as 0.05.")) from None


STEPS = ("approve", "refuse", "sending", "stop", "sent", "back", "accept")


class PayoutDecisionForm(forms.Form):
    """A step of an operator, with what it needs: a reason, or the transaction."""

    step = forms.ChoiceField(choices=[(one, one) for one in STEPS])
    reason = forms.CharField(required=False, max_length=Payout._meta.get_field("decision").max_length)
    txid = forms.CharField(required=False, max_length=128)
