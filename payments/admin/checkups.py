"""The check-up of the installation as a page: the last one, its age, and a button that asks a worker for another."""

from typing import Any, ClassVar, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from events.admin import ReadOnlyAdmin
from events.columns import moment

from ..actions import checkups
from ..findings import ATTENTION, BAD, GOOD, Finding, by_area
from ..models import Checkup

WORDS = {GOOD: _("in order"), ATTENTION: _("look at it"), BAD: _("wrong")}


@admin.register(Checkup)
class CheckupAdmin(ReadOnlyAdmin):
    list_display = (moment("asked_at", _("asked")), "asked_by", moment("done_at", _("done")), "wrong")
    list_select_related = ("asked_by",)
    ordering = ("-id",)
    fields: ClassVar[Any] = ("asked_by",)
    change_form_template = "payments/admin_checkup_row.html"

    @admin.display(description=_("wrong"))
    def wrong(self, checkup: Checkup) -> str:
        levels = [finding["level"] for finding in checkup.findings]
        return f"{levels.count(BAD)} / {levels.count(ATTENTION)} / {len(levels)}"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("doctor/", view(self.doctor), name="doctor"),
            path("doctor/status/", view(self.status), name="doctor_status"),
            path("doctor/ask/", view(require_POST(self.ask)), name="doctor_ask"),
        ]
        return own + super().get_urls()

    def doctor(self, request: HttpRequest) -> HttpResponse:
        """Show the last check-up."""
        self.admit(request)
        context = {**self.admin_site.each_context(request), **page_of(newest()), "title": _("Check-up")}
        return render(request, "payments/admin_checkup.html", context)

    def status(self, request: HttpRequest) -> HttpResponse:
        """Return the part that changes by itself while a worker is at it."""
        self.admit(request)
        return render(request, "payments/_checkup.html", page_of(newest()))

    def ask(self, request: HttpRequest) -> HttpResponse:
        """Ask for a new one; POST only."""
        self.admit(request)
        checkups.ask(actor=cast(User, request.user))
        return HttpResponseRedirect(reverse("admin:doctor"))

    def admit(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        checkup = self.get_object(request, object_id)
        extra = {"checkup": checkup, "areas": areas_of(checkup)} if checkup else {}
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})


def newest() -> tuple[Checkup | None, Checkup | None]:
    """Return the last check-up that is done, and the one that is under way."""
    done = Checkup.objects.filter(waits=False).order_by("-pk").first()
    return done, Checkup.objects.filter(waits=True).first()


def page_of(found: tuple[Checkup | None, Checkup | None]) -> dict[str, Any]:
    done, waiting = found
    return {"checkup": done, "waiting": waiting, "areas": areas_of(done) if done else []}


def areas_of(checkup: Checkup) -> list[tuple[str, list[tuple[Finding, Any]]]]:
    """Return the findings by area, each with its level in a word."""
    areas = by_area(Finding.from_json(row) for row in checkup.findings)
    return [(title, [(finding, WORDS[finding.level]) for finding in found]) for title, found in areas.items()]
