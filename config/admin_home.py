"""The administration's first page: what needs a person, the calm facts, and below them all records."""

from typing import Any, cast

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User

from . import todo

records = admin.site.index


def index(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
    """List what needs a person, each with its age and a link to where it is done."""
    user, now = cast(User, request.user), timezone.now()
    last = todo.last_event()
    found = todo.sections(user, now)
    todo.keep_count(user, todo.counted(found), last)
    own = {"title": _("What needs a person"), "sections": found, "facts": todo.calm(user, now), "now": now}
    return records(request, {**own, **(extra_context or {})})
