"""Tell a supervisor how this process is."""

from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from events.heartbeat import last_beat


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while the process lives and the database answers, else 503; with the age of the workers' heartbeat.

    A worker that stands still is no fault of this process: a supervisor that restarts it would mend nothing.
    """
    database = database_answers()
    facts = {"database": database, "worker_seen_seconds_ago": worker_age() if database else None}
    return JsonResponse(facts, status=200 if database else 503)


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def worker_age() -> int | None:
    """Return seconds since a worker last reported; None if none ever did, or before the first migration."""
    try:
        seen = last_beat()
    except Error:
        return None
    return None if seen is None else round((timezone.now() - seen).total_seconds())
