"""What is open and what is paused, and how it is paused and resumed: at once, with a reason (OPS-8)."""

from collections.abc import Mapping
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from catalog import pausing
from catalog.models import Pause
from events.admin import ReadOnlyAdmin

from ..forms import PauseForm, ResumeForm
from ..pausable import Pausable, chosen, pausables


@admin.register(Pause)
class PauseAdmin(ReadOnlyAdmin):
    list_display = ("subject", "paused_at", "actor", "reason")

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("begin/", view(self.begin), name="pause_begin"),
            path("end/", view(self.end), name="pause_end"),
        ]
        return own + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        """List everything that can be paused, with one button each."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        every = pausables()
        groups = [
            (_("New orders and methods"), [one for one in every if one.offer is None]),
            (_("Offers"), [one for one in every if one.offer]),
        ]
        return self.page(request, "payments/admin_pauses.html", title=_("Open and paused"), groups=groups)

    def begin(self, request: HttpRequest) -> HttpResponse:
        """Show what pausing does, and do it."""
        found = asked(request)
        first = found[0].pause
        known = {"reason": first.reason, **PauseForm.named(first.sentences)} if first else None
        form = PauseForm(request.POST or None, initial=known)
        if request.method == "POST" and form.is_valid():
            pausing.pause(
                [one.subject for one in found],
                reason=form.cleaned_data["reason"],
                sentences=form.sentences(),
                actor=cast(User, request.user),
            )
            messages.success(request, _("Paused. It holds at once, in every process."))
            return back()
        return self.page(request, "payments/admin_pause.html", title=_("Pause"), found=found, form=form, pausing=True)

    def end(self, request: HttpRequest) -> HttpResponse:
        """Show who paused it and why, and open it again."""
        found = asked(request)
        form = ResumeForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            subjects = [one.subject for one in found]
            pausing.resume(subjects, reason=form.cleaned_data["reason"], actor=cast(User, request.user))
            messages.success(request, _("Open again. It holds at once, in every process."))
            return back()
        return self.page(request, "payments/admin_pause.html", title=_("Resume"), found=found, form=form)

    def page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        languages = [code for code, _name in settings.LANGUAGES]
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "languages": languages}
        return render(request, template, shared | context)


def asked(request: HttpRequest) -> list[Pausable]:
    """Return what the address or the form names; 404 if nothing of it is there."""
    if not request.user.has_perm("catalog.change_pause"):
        raise PermissionDenied
    found = chosen((request.POST if request.method == "POST" else request.GET).getlist("subject"))
    if not found:
        raise Http404("nothing to pause")
    return found


def back() -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:catalog_pause_changelist"))
