"""Answer the look of an open page with "nothing has changed" (304), for the price of one statement and no template.

A page's part carries a validator of what it was made from (ETag) and sends it along when it looks again. It holds all
that could make the answer another one: the facts (`polled`), the reader, and this installation's code, templates,
translations and settings. So a validator is made *before* what it goes with is read: what changes in between makes the
next look bring it once more. Missed would be only what is back as it was by that look; of all that is polled, nothing
but a transfer's confirmations can go and come back without an event, and the next block moves them on.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import get_conditional_response
from django.utils.crypto import salted_hmac

from .polled import Polled

KINDS = (".py", ".html", ".mo")


def validator_of(request: HttpRequest, polled: Polled) -> str:
    """Return the validator of what this reader is shown of these facts. Weak: what ticks differs in each answer."""
    told = repr((polled.facts, reader_of(request), edition()))
    return f'W/"{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}"'


def reader_of(request: HttpRequest) -> tuple[Any, ...]:
    """Return what of a reader changes the words and forms of a page: the language, the zone of its times, and the
    secret that its forms repeat."""
    return translation.get_language(), timezone.get_current_timezone_name(), request.META.get("CSRF_COOKIE")


def unchanged(request: HttpRequest, validator: str) -> HttpResponseBase | None:
    """Return the answer that nothing has changed, if the page holds what this validator stands for."""
    answer = get_conditional_response(request, etag=validator)
    if answer is not None:
        answer["ETag"] = validator
    return answer


def with_validator(answer: HttpResponse, validator: str) -> HttpResponse:
    answer["ETag"] = validator
    return answer


def asked_with(validator: str) -> str:
    """Return the attribute by which a page's part sends its validator along: no browser does it for what it may not
    store."""
    return json.dumps({"If-None-Match": validator})


@cache
def edition() -> str:
    """Return a mark of what this process serves: the same in all processes of one deployment, another one after it."""
    hashed = hashlib.blake2b(digest_size=16)
    for path in sources():
        hashed.update(path.read_bytes())
    known = {name: plain(getattr(settings, name)) for name in dir(settings) if name.isupper()}
    # With the secret key, so that nobody can try settings until they fit.
    told = hashed.hexdigest() + repr(sorted(known.items()))
    return salted_hmac("payments.validators", told, algorithm="sha256").hexdigest()


def sources() -> Iterator[Path]:
    """Yield our own code, templates and translations, in one order everywhere."""
    base = Path(settings.BASE_DIR)
    ours = {path for app in apps.get_app_configs() if (path := Path(app.path)).is_relative_to(base)}
    folders = {path for path in ours if ".venv" not in path.parts}
    folders |= {Path(folder) for engine in settings.TEMPLATES for folder in engine["DIRS"]}
    folders |= {Path(folder) for folder in settings.LOCALE_PATHS}
    for folder in sorted(folders):
        yield from sorted(path for path in folder.rglob("*") if path.suffix in KINDS)


def plain(value: Any) -> str:
    """Write a setting; nothing for one whose writing differs from process to process, such as a set."""
    try:
        return json.dumps(value, sort_keys=True)
    except TypeError:
        return ""
