"""What customers and support write. Nothing here sends."""

import re
import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from orders.choice import printable
from orders.models import Order

from .models import BODY_LENGTH, CannedText, Message

Kind = Message.Kind
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # they let a line read otherwise than it is
TOO_LONG = ngettext_lazy(
    "That is too long by %(over)d character. A reduced example is enough.",
    "That is too long by %(over)d characters. A reduced example is enough.",
    "over",
)


class PlainText(forms.CharField):
    """Text of any script; what no person types is left out. No greatest length in the page: browsers cut a paste."""

    def __init__(self, *, rows: int = 0, code: bool = False, length: int = 200, **options: Any) -> None:
        attributes: dict[str, object] = {"rows": rows} if rows else {}
        if code:
            attributes |= {"class": "mono", "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off"}
        widget = forms.Textarea(attributes) if rows else forms.TextInput(attributes)
        super().__init__(widget=widget, **options)
        self.length = length

    def to_python(self, value: Any) -> str:
        return str(super().to_python(TURNING.sub("", printable(str(value or "")))))

    def validate(self, value: str) -> None:
        super().validate(value)
        if len(value) > self.length:
            raise forms.ValidationError(TOO_LONG % {"over": len(value) - self.length}, code="max_length")


class MessageForm(forms.Form):
    """A message of the customer. Only the text is needed; the fields about a run are for who has one (ORD-12)."""

    form_key = forms.UUIDField(widget=forms.HiddenInput)
    about = forms.CharField(widget=forms.HiddenInput, required=False)
    instructions = forms.CharField(widget=forms.HiddenInput, required=False, max_length=36)
    body = PlainText(label=_("Your message"), rows=6, length=BODY_LENGTH)
    deadline = PlainText(label=_("Needed by"), help_text=_("A date, and the hour if it matters."))
    gpu = PlainText(label=_("GPU"), required=False)
    time = PlainText(label=_("Time"), required=False, help_text=_("When it happened, with the time zone."))
    stage = PlainText(label=_("Stage"), required=False, help_text=_("Loading, first step, saving, export, …"))
    versions = PlainText(
        label=_("Library versions"),
        required=False,
        rows=3,
        code=True,
        length=4_000,
        help_text=_("Driver, CUDA or ROCm, Python, and the libraries that matter."),
    )
    command = PlainText(label=_("Command"), required=False, rows=2, code=True, length=2_000)
    input_format = PlainText(
        label=_("Input format"), required=False, help_text=_("What goes in, and how large. Not the data itself.")
    )
    error = PlainText(
        label=_("First complete error"),
        required=False,
        rows=6,
        code=True,
        length=BODY_LENGTH,
        help_text=_("The first one, from its first line to its last; later ones often follow from it."),
    )
    example = PlainText(
        label=_("Minimal example"),
        required=False,
        rows=4,
        code=True,
        length=4_000,
        help_text=_("A reduced example is enough."),
    )
    expected = PlainText(label=_("What was expected"), required=False, rows=2, length=1_000)

    RUN = ("gpu", "time", "stage", "versions", "command", "input_format", "error", "example", "expected")
    KINDS = {"": Kind.QUESTION, "change": Kind.CHANGE, "cancellation": Kind.CANCELLATION}

    def __init__(self, *args: Any, about: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = self.KINDS.get(about, Kind.QUESTION)
        if self.kind == Kind.CHANGE:
            self.fields["body"].label = _("What do you wish?")
        else:
            del self.fields["deadline"]
        if self.kind == Kind.CANCELLATION:
            self.fields["body"].label, self.fields["body"].required = _("Why"), False
        if self.kind != Kind.QUESTION:
            for name in self.RUN:
                del self.fields[name]

    @classmethod
    def fresh(cls, order: Order, *, about: str = "", instructions: str = "") -> "MessageForm":
        """Return an empty form; what we know is filled in already."""
        known = {"form_key": uuid.uuid4(), "about": about, "instructions": instructions, "gpu": gpu_of(order)}
        return cls(initial=known, about=about)

    @property
    def run(self) -> list[Any]:
        return [self[name] for name in self.RUN if name in self.fields]

    @property
    def run_is_open(self) -> bool:
        """Whether something about a run was filled in, so that it must be seen."""
        return self.is_bound and any(
            self[name].errors or self[name].value() for name in self.RUN[1:] if name in self.fields
        )

    def context(self, instructions: str) -> dict[str, str]:
        """Return the details that were filled in; the card alone, which we filled in, says nothing."""
        filled = {name: self.cleaned_data[name] for name in ("deadline", *self.RUN) if self.cleaned_data.get(name)}
        if set(filled) == {"gpu"}:
            filled = {}
        return ({"instructions": instructions} if instructions else {}) | filled

    def texts(self) -> Mapping[str, str]:
        """Return what was written, by field, for the look for secrets."""
        names = ("body", "deadline", *self.RUN)
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name)}


def gpu_of(order: Order) -> str:
    return f"{order.cards} × {order.offer_name}" if order.cards > 1 else order.offer_name


class AnswerForm(forms.Form):
    """An answer of support. `read_up_to` is the last message that its author has seen."""

    form_key = forms.UUIDField(widget=forms.HiddenInput)
    read_up_to = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**62)
    body = PlainText(label=_("Your answer"), rows=10, length=BODY_LENGTH)

    def texts(self) -> Mapping[str, str]:
        return {"body": self.cleaned_data["body"]}


class CannedForm(forms.Form):
    """Which prepared answer to insert."""

    canned = forms.ModelChoiceField(queryset=CannedText.objects.all())
