from django import forms
from django.utils.translation import gettext_lazy as _

from .actions import LENGTH


class LookUpForm(forms.Form):
    """The one box. A longer text is cut, not refused: people paste whole messages."""

    text = forms.CharField(label=_("Look up"), max_length=4000)

    def clean_text(self) -> str:
        return str(self.cleaned_data["text"])[:LENGTH]
