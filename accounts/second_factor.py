"""Whether a session has shown a second factor, and the gate in front of staff pages (ACC-8)."""

import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

Answer = Callable[[HttpRequest], HttpResponse]
View = Callable[..., HttpResponse]


def shown(request: HttpRequest) -> bool:
    """Tell whether this session has shown a second factor within STAFF_PROOF_HOURS."""
    since = time.time() - settings.STAFF_PROOF_HOURS * 3600
    records = get_authentication_records(request, cast(Any, request.user))
    return any(record.get("method") == "mfa" and record.get("at", 0) >= since for record in records)


def proved(request: HttpRequest) -> bool:
    """Tell whether this session may see what is for staff: it has shown a second factor, where one is asked for."""
    return not settings.STAFF_SECOND_FACTOR or shown(request)


def note_shown(request: HttpRequest) -> None:
    """Note that a factor was shown: whoever adds one has it at hand."""
    record_authentication(request, cast(Any, request.user), "mfa", added=True)


def staff_page(view: View) -> View:
    """Mark a view outside the admin as one for staff: the gate stands in front of it too."""
    view.staff_page = True  # type: ignore[attr-defined]  # a mark on a function, as Django's csrf_exempt
    return view


def staff_gate(answer: Answer) -> Answer:
    """Let staff into staff pages only with a second factor; where none is set up, lead to where one is."""

    def middleware(request: HttpRequest) -> HttpResponse:
        return answer(request)

    def process_view(request: HttpRequest, view: View, _args: Any, _kwargs: Any) -> HttpResponse | None:
        if not is_for_staff(request, view):
            return None
        if not (request.user.is_authenticated and request.user.is_staff) or proved(request):
            return None  # strangers meet the page's own gate
        types = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
        if not Authenticator.objects.filter(user=request.user, type__in=types).exists():
            return redirect("account_factor_needed")
        return redirect(f"{reverse('mfa_reauthenticate')}?{urlencode({'next': request.get_full_path()})}")

    middleware.process_view = process_view  # type: ignore[attr-defined]  # how Django finds the hook
    return middleware


def is_for_staff(request: HttpRequest, view: View) -> bool:
    """Tell whether a page is one of the administration or marked by `staff_page`."""
    match = request.resolver_match
    return bool(match and "admin" in match.namespaces) or getattr(view, "staff_page", False)
