from django import forms
from django.utils.translation import gettext_lazy as _

from money.units import parse

from .networks.simulated_chain import LARGEST_AMOUNT
from .registry import methods


class ChooseForm(forms.Form):
    """A method for one order. `form_key` makes one showing of the page at most one promise."""

    method = forms.CharField(max_length=32)
    form_key = forms.UUIDField()

    def clean_method(self) -> str:
        code = str(self.cleaned_data["method"])
        if code not in {method.code for method in methods()}:
            raise forms.ValidationError(_("Choose one of the methods shown."))
        return code


class PayForm(forms.Form):
    """A payment from the demo wallet."""

    method = forms.ChoiceField(
        label=_("Asset and network"),
        choices=lambda: [(m.code, f"{m.asset.symbol} · {m.family.name}") for m in methods()],
    )
    address = forms.CharField(label=_("Address"), max_length=128)
    amount = forms.CharField(label=_("Amount"), max_length=60)

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
