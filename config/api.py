"""The API, version 1: every address of it, and JSON for what is not there."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import path, re_path

from accounts.api import Me


def not_found(request: HttpRequest, **_: Any) -> JsonResponse:
    return JsonResponse({"detail": "There is nothing at this address."}, status=404)


urlpatterns = [
    path("me", Me.as_view(), name="api_me"),
    re_path(r"^.*$", not_found, name="api_not_found"),
]
