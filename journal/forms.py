from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models import User
from orders.models import Order

from .models import Card


class OrderField(forms.ModelChoiceField[Order]):
    def label_from_instance(self, order: Order) -> str:
        term = ngettext("%(days)d day", "%(days)d days", order.term_days) % {"days": order.term_days}
        return f"{order.number} · {order.offer_name} · {term}"


class CardForm(forms.ModelForm[Card]):
    """A card as its owner writes it: only the question is needed, and only their own orders can be named."""

    class Meta:
        model = Card
        fields = [
            "question", "order", "hypothesis", "control", "variants", "environment", "parameters", "data_version",
            "seeds", "observations", "conclusion", "decision",
        ]  # fmt: skip
        field_classes = {"order": OrderField}
        help_texts = {
            "question": _("One question that one series of runs can answer."),
            "hypothesis": _("What you expect, and why. Write it before the first run."),
            "control": _("What the variants are compared with."),
            "variants": _("What you change, one thing at a time."),
            "environment": _("Driver, libraries, container image, code revision."),
            "parameters": _("Launch command and settings."),
            "observations": _("What happened, failures included."),
            "conclusion": _("What follows from it, and how sure you are."),
            "decision": _("What you do next."),
        }

    def __init__(self, *args: Any, owner: User | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if owner is None:
            del self.fields["order"]  # guests have none
        else:
            order = cast(OrderField, self.fields["order"])
            order.queryset = Order.objects.filter(customer=owner)
            order.empty_label = str(_("No order"))
        for field in self.fields.values():
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs["rows"] = 4
