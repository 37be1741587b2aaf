"""The session of a request, and what its row says to people."""

import re
from typing import cast

from allauth.usersessions.models import UserSession
from django.http import HttpRequest
from django.utils.translation import gettext as _

BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    ("iPhone|iPad", "iOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X|Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def renew(request: HttpRequest) -> None:
    """Give the session a new id and end the old one; the list of sessions goes along."""
    old = request.session.session_key
    request.session.cycle_key()
    UserSession.objects.filter(session_key=old or "").update(session_key=request.session.session_key)


def device(user_agent: str) -> str:
    """Return what a browser calls itself, in two words: "Firefox, Linux"."""
    found = (
        next((name for mark, name in table if re.search(mark, user_agent)), "")
        for table in (cast(tuple[tuple[str, str], ...], BROWSERS), SYSTEMS)
    )
    return ", ".join(word for word in found if word) or _("Unknown browser")
