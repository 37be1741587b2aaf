"""Tell a supervisor how this process is."""

import time

from django.core.cache import cache
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import RedisError

WORKER_SEEN = "gridlot.worker_seen"


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while the process lives and the database answers, else 503; with the age of the worker's last task."""
    database = database_answers()
    facts = {"database": database, "worker_seen_seconds_ago": worker_age()}
    return JsonResponse(facts, status=200 if database else 503)


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def worker_age() -> int | None:
    """Return seconds since a worker finished a task; None if nobody knows."""
    try:
        seen = cache.get(WORKER_SEEN)
    except RedisError:
        return None
    return None if seen is None else round(time.time() - seen)


def note_worker() -> None:
    """Remember that a worker has just finished a task."""
    cache.set(WORKER_SEEN, time.time(), timeout=3600)
