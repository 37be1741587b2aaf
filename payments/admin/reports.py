"""The reports of a period in the reader's time zone: what came in, what it paid, what we owe; page and files."""

from collections.abc import Callable
from typing import cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.preferences import zone_of
from balance.models import Movement
from balance.reports import Books, books
from events.downloads import in_language
from events.spreadsheets import csv_file

from ..forms import PeriodForm
from ..reports import files
from ..reports.period import Period, whole
from ..reports.received import Received, by_method
from ..verify import snapshot

Kind = Movement.Kind
LEDGER = {
    Kind.TRANSFER: _("Transfers received"),
    Kind.TOLERANCE: _("Shortfalls accepted (tolerance)"),
    Kind.CAPTURE: _("Orders paid"),
    Kind.RETURN: _("Orders given back"),
    Kind.ADJUSTMENT: _("Adjustments by operators"),
    Kind.REVERSAL: _("Credits taken back (reversals)"),
    Kind.PAYOUT: _("Payouts and refunds"),
    Kind.UNSENT: _("Payouts that were not sent"),
}


def asked(request: HttpRequest) -> tuple[PeriodForm, Period]:
    """Return the form and the period that the address asks for: this month unless it is said and possible."""
    zone = zone_of(cast(User, request.user))
    today = timezone.now().astimezone(zone).date()
    form = PeriodForm(request.GET if "unit" in request.GET else None, initial={"unit": "month", "first": today})
    if not form.is_valid():
        return form, whole("month", today, zone)
    data = form.cleaned_data
    if data["unit"] == "range":
        return form, Period(data["first"], data["last"], zone)
    return form, whole(data["unit"], data["first"], zone)


def read(period: Period) -> tuple[list[Received], Books]:
    """Read the whole report from one moment of the database: its sums must agree with each other."""
    with snapshot():
        return by_method(period.start, period.end), books(period.start, period.end)


def for_readers(view: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Let those in who may see reports."""

    def checked(request: HttpRequest) -> HttpResponseBase:
        if not request.user.has_perm("payments.view_reports"):
            raise PermissionDenied
        return view(request)

    return require_safe(checked)


@for_readers
def report(request: HttpRequest) -> HttpResponse:
    """Show the report of a period."""
    form, period = asked(request)
    received, ledger = read(period)
    context = {
        **admin.site.each_context(request),
        "title": _("Reports"),
        "form": form,
        "period": period,
        "earlier": query(period.earlier),
        "later": query(period.later),
        "query": query(period),
        "received": received,
        "received_cents": sum(line.cents for line in received),
        "books": ledger,
        "flows": [(LEDGER[flow.kind], flow) for flow in ledger.flows],
        "zone_url": reverse("account_profile"),
    }
    with timezone.override(period.zone):
        return render(request, "payments/admin_report.html", context)


def query(period: Period) -> str:
    """Return the query that asks for a period."""
    return urlencode({"unit": period.unit, "first": period.first.isoformat(), "last": period.last.isoformat()})


@for_readers
def report_csv(request: HttpRequest) -> HttpResponseBase:
    """Return the report of a period as a file."""
    _form, period = asked(request)
    return csv_file(f"report_{period}.csv", files.summary(period, *read(period)))


@for_readers
def transfers_csv(request: HttpRequest) -> HttpResponseBase:
    """Return each transfer that became credit in a period as a file."""
    _form, period = asked(request)
    rows = in_language(translation.get_language(), files.detail(period))
    return csv_file(f"transfers_{period}.csv", rows)
