import uuid

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.forms import NameField
from accounts.models import User

from .choice import Contact


class CheckForm(forms.Form):
    """The last look before saving: the contact data, pre-filled with the account's (ACC-2)."""

    first_name = NameField(label=_("First name"), autocomplete="given-name")
    last_name = NameField(label=_("Last name"), autocomplete="family-name")
    # 254: what the column holds; Django's own limit for the field is longer.
    email = forms.EmailField(
        label=_("Contact email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    form_key = forms.UUIDField(widget=forms.HiddenInput)
    expected_total_cents = forms.IntegerField(widget=forms.HiddenInput, min_value=1, localize=False)

    @classmethod
    def fresh(cls, customer: User, total_cents: int, form_key: uuid.UUID) -> "CheckForm":
        """Return an unbound form. Its key makes one showing of the page at most one order."""
        return cls(
            initial={
                "first_name": customer.first_name,
                "last_name": customer.last_name,
                "email": customer.email,
                "form_key": form_key,
                "expected_total_cents": total_cents,
            }
        )

    def contact(self) -> Contact:
        data = self.cleaned_data
        return Contact(data["first_name"], data["last_name"], data["email"])
