"""Keep secrets out of what a check-up says."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.mail import mailers

SETTING = re.compile(r"(_KEY|_KEYS|_XPUB|_URL|_PASSWORD)$")


def hush(text: str) -> str:
    """Return a text without what the settings keep secret: an error may repeat the address of a node and its key."""
    for secret in sorted(secrets(), key=len, reverse=True):
        text = text.replace(secret, "…")
    return text


def secrets() -> set[str]:
    """Return every value that no check-up may show: keys, and of addresses what follows their host."""
    known: Any = settings
    names = [name for name in dir(settings) if SETTING.search(name) and name.isupper() and known.is_overridden(name)]
    values = [getattr(settings, name) for name in names]
    texts = {text for value in values for text in (value if isinstance(value, list | tuple) else [value])}
    found = {text for text in texts if isinstance(text, str) and len(text) > 7 and not text.startswith("/")}
    for text in list(found):
        if "://" in text:
            found.discard(text)
            found |= parts_of(text)
    mail = [one.get("OPTIONS", {}).get("password") for one in mailers.settings.values()]
    return found | {word for word in (settings.DATABASES["default"].get("PASSWORD"), *mail) if word}


def parts_of(url: str) -> set[str]:
    """Return the parts of an address that may hold a key."""
    parts = urlsplit(url)
    path = parts.path.strip("/")
    found = {parts.username or "", parts.password or "", parts.query, path if len(path) > 7 else ""}
    return {one for text in found for one in (text, unquote(text)) if len(one) > 3}
