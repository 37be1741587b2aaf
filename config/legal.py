"""Terms, refund policy, and what is stored: pages that everybody may read before there is an account."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    return render(request, "legal/terms.html", {"version": settings.TERMS_VERSION})


@require_safe
def refunds(request: HttpRequest) -> HttpResponse:
    return render(request, "legal/refunds.html", {"version": settings.TERMS_VERSION})


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    """Say what is stored, what is not, and what that does not mean (ACC-9, ACC-10)."""
    return render(request, "legal/privacy.html", {"retention_days": settings.CONTACT_RETENTION_DAYS})
