"""Keep pages of a person out of every cache: a shared one, and the browser's own after signing out."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

Answer = Callable[[HttpRequest], HttpResponse]


def private_pages(answer: Answer) -> Answer:
    """Forbid storing whatever was made for a browser with a session, unless the view has said how it may be stored.

    It looks at the cookie alone: the session itself is not read for it.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = answer(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response

    return middleware
