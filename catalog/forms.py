"""What a visitor may ask of the list and of an offer. Both forms live in the address of the page."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from .figures import Figures
from .models import MAX_LOTS, MIN_LOTS, TERMS, Backend, Offer

MEMORY_STEPS = (16, 24, 32, 48, 80, 96, 128, 192)  # GB per card


def term_choices() -> list[tuple[int, str]]:
    return [(term, ngettext("%(days)d day", "%(days)d days", term) % {"days": term}) for term in TERMS]


def memory_choices() -> list[tuple[str, str]]:
    return [
        ("", gettext("Any")),
        *((str(gb), gettext("%(memory)d GB or more") % {"memory": gb}) for gb in MEMORY_STEPS),
    ]


class FilterForm(forms.Form):
    """Wishes about the list. A value that is not offered is ignored, so that an old link still shows cards."""

    vendor = forms.ChoiceField(label=_("Vendor"), required=False)
    backend = forms.ChoiceField(label=_("Backend"), required=False, choices=[("", _("Any")), *Backend.choices])
    memory = forms.TypedChoiceField(
        label=_("Memory per card"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=memory_choices,
    )
    term = forms.TypedChoiceField(
        label=_("Term"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=lambda: [("", _("Any")), *term_choices()],
    )
    sort = forms.ChoiceField(
        label=_("Sort by"),
        required=False,
        choices=[
            ("", _("Our order")),
            ("price", _("Price per lot")),
            ("memory", _("Memory per card")),
            ("name", _("Name")),
        ],
    )
    available = forms.BooleanField(label=_("Available now"), required=False)

    def __init__(self, *args: Any, vendors: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.ChoiceField, self.fields["vendor"]).choices = [
            ("", _("Any")),
            *[(vendor, vendor) for vendor in vendors],
        ]

    def wishes(self) -> dict[str, Any]:
        """Return the wishes that can be met, by name."""
        self.is_valid()
        return {name: wish for name, wish in self.cleaned_data.items() if wish}


class ChoiceForm(forms.Form):
    """The configurator's term and lots. Stock is not asked here: only taking it decides."""

    term = forms.TypedChoiceField(
        label=_("Term"),
        coerce=int,
        choices=term_choices,
        error_messages={
            "required": _("Choose a term: 3, 7 or 30 days."),
            "invalid_choice": _("There is no such term. Choose 3, 7 or 30 days."),
        },
    )
    lots = forms.IntegerField(
        label=_("Lots"),
        min_value=MIN_LOTS,
        max_value=MAX_LOTS,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"), _("An order takes 1 to 10 lots, as a whole number.")
        ),
    )

    def __init__(self, data: Any = None, *, offer: Offer) -> None:
        super().__init__(data)
        self.offer = offer

    def clean_term(self) -> int:
        term = int(self.cleaned_data["term"])
        if self.offer.unit_price_cents(term) is None:
            raise forms.ValidationError(_("This card is not offered for this term. Choose another one."))
        return term

    def figures(self) -> Figures | None:
        """Return the three figures of a valid choice, else None."""
        if not self.is_valid():
            return None
        term, lots = self.cleaned_data["term"], self.cleaned_data["lots"]
        cents = self.offer.unit_price_cents(term)
        return None if cents is None else Figures(term, lots, self.offer.cards_per_lot, cents)
