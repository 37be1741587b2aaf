"""The sessions of Django's database backend, looked up with kept words: every page of a signed-in person asks."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from events.statements import kept_row


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, Any]:
        found = live(self.session_key, timezone.now()) if self.session_key else None
        if found:
            return self.decode(found[0])
        self._session_key = None
        return {}


@kept_row
def live(key: str, now: datetime) -> QuerySet[Session, tuple[str]]:
    """Return what a session that has not ended holds."""
    return Session.objects.filter(session_key=key, expire_date__gt=now).values_list("session_data")
