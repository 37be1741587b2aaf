"""One page that shows every component in every state, so that a change of the look is seen whole."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import segno
from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
MEANINGS = (("waiting", _("Waiting")), ("good", _("Paid")), ("attention", _("Partly paid")), ("bad", _("Expired")))
ICONS = [
    "waiting",
    "good",
    "attention",
    "bad",
    "check",
    "copy",
    "plus",
    "minus",
    "close",
    "down",
    "up",
    "next",
    "back",
    "search",
    "user",
    "language",
    "lock",
    "key",
    "wallet",
    "block",
    "card",
    "list",
    "balance",
    "journal",
    "download",
    "refresh",
    "external",
    "print",
    "ethereum",
    "bitcoin",
    "litecoin",
    "tron",
    "solana",
]


class Example(forms.Form):
    """A form with one field of each kind."""

    name = forms.CharField(label=_("First name"))
    email = forms.EmailField(label=_("Email"), help_text=_("For this order only."))
    password = forms.CharField(
        label=_("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("15 to 128 characters, any language, spaces included."),
    )
    backend = forms.ChoiceField(label=_("Backend"), choices=[("cuda", "CUDA"), ("rocm", "ROCm"), ("metal", "Metal")])
    term = forms.ChoiceField(
        label=_("Term"), widget=forms.RadioSelect, choices=[("3", _("3 days")), ("7", _("7 days"))], initial="7"
    )
    wish = forms.CharField(label=_("Wish"), widget=forms.Textarea(attrs={"rows": 3}), required=False)
    exchange = forms.BooleanField(
        label=_("I pay from an exchange"), required=False, help_text=_("Transfers from exchanges take longer.")
    )


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of the example timeline."""

    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Memory:
    """An estimate, a measured peak and the limit of a card, in GiB."""

    estimate_gib: float = 20.6
    measured_gib: float = 21.9
    limit_gib: float = 23.5
    how: str = "allocated"


@require_safe
def gallery(request: HttpRequest) -> HttpResponse:
    """Show the components. Nothing here is stored or read.

    Not where money is real: a page of the shop with an address that nobody owns would be paid by somebody.
    """
    if settings.NETWORKS_KIND == "real" and not settings.DEBUG:
        raise Http404("the components are shown by demos")
    now = timezone.now()
    wrong = Example({"name": "", "email": "maria@", "password": "", "backend": "vulkan"})
    return render(
        request,
        "gallery.html",
        {
            "meanings": MEANINGS,
            "icons": ICONS,
            "form": Example(auto_id="good_%s"),
            "wrong": wrong,
            "address": ADDRESS,
            "qr": qr(ADDRESS),
            "expires_at": now + timedelta(minutes=14),
            "long_ago": datetime(2026, 1, 5, 9, 30, tzinfo=UTC),
            "events": timeline(now),
            "memory": Memory(),
        },
    )


def qr(text: str) -> SafeString:
    return mark_safe(segno.make(text, error="m").svg_inline(omitsize=True, border=2))  # noqa: S308  our own text


def timeline(now: datetime) -> list[Happening]:
    return [
        Happening(now - timedelta(minutes=1), "Transfer of 0.167334 ETH seen in block 24,118,202"),
        Happening(now - timedelta(minutes=3), "Payment instructions made: 0.167334 ETH on Ethereum"),
        Happening(now - timedelta(minutes=12), "Order saved, 2 lots held for 60 minutes"),
    ]
