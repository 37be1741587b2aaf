"""One page that says what needs a person."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ..todo import sections


def todo(request: HttpRequest) -> HttpResponse:
    """List what needs a person, each with a link to where it is done."""
    if not request.user.has_perm("payments.view_reviewitem"):
        raise PermissionDenied
    context = {
        **admin.site.each_context(request),
        "title": _("What needs a person"),
        "sections": sections(timezone.now()),
    }
    return render(request, "payments/admin_todo.html", context)
