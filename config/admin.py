"""The audit log: the list of events in the admin, for operators and owners."""

from collections.abc import Iterator
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from accounts.preferences import zone_of
from events.admin import ReadOnlyAdmin
from events.downloads import LIMIT, in_language
from events.models import Event
from events.spreadsheets import csv_file

from .audit.asking import AuditForm, Before, Question
from .audit.entries import entries
from .audit.sources import chunks, end_of, newest

PER_PAGE = 50
HEADER = ("time_utc", "who", "kind", "words", "about", "reason", "details")


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """The list is the log; the page of one event shows its facts as they were recorded."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show who did what, when and why, newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        zone = zone_of(cast(User, request.user))
        form = AuditForm(request.GET, zone=zone)
        rows = newest(form.question(), Before.parse(request.GET.get("before", "")), PER_PAGE + 1)
        shown, more = rows[:PER_PAGE], len(rows) > PER_PAGE
        asked = {name: str(value) for name, value in request.GET.items() if name in form.fields and value}
        context = {
            **self.admin_site.each_context(request),
            "title": gettext_lazy("Audit log"),
            "form": form,
            "entries": list(zip(entries(shown), (row.pk for _name, row in shown), strict=True)),
            "zone": zone,
            "query": urlencode(asked),
            "further": urlencode({**asked, "before": str(end_of(shown))}) if more else "",
            "first_page": "before" not in request.GET,
            "download_url": reverse("admin:events_event_download"),
            "download_limit": LIMIT,
        }
        with timezone.override(zone):
            return render(request, "admin/audit.html", context | (extra_context or {}))

    def download(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with the log as it is filtered."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = AuditForm(request.GET, zone=zone_of(cast(User, request.user)))
        rows = in_language(translation.get_language(), lines(form.question()))
        return csv_file("audit.csv", rows)


def lines(question: Question) -> Iterator[list[object]]:
    yield list(HEADER)
    count = 0
    for chunk in chunks(question, LIMIT):
        count += len(chunk)
        for entry in entries(chunk):
            who = entry.who or _("the system")
            yield [entry.at, who, entry.kind, entry.words, entry.about, entry.reason, entry.details]
    if count == LIMIT:
        yield [_("More than %(limit)d rows: filter the list to have the others.") % {"limit": LIMIT}]
