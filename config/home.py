from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from catalog.queries import published


def home(request: HttpRequest) -> HttpResponse:
    """Say what this is and lead to the cards."""
    return render(request, "home.html", {"offers": published(), "hold_minutes": settings.HOLD_MINUTES})
