"""Sign and check reserved addresses: a changed database row must not send a customer's money elsewhere."""

import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from .models import Installation, ReservedAddress

VERSION = "1"


def seal(row: ReservedAddress, installation: Installation) -> str:
    """Return the keyed signature over everything that makes the row what it is."""
    parts = (
        VERSION,
        str(installation.identity),
        installation.kind,
        row.genesis,
        row.network,
        row.fingerprint,
        str(row.index),
        row.address,
    )
    return hmac.new(settings.ADDRESS_SEAL_KEY.encode(), "\n".join(parts).encode(), hashlib.sha256).hexdigest()


def holds(row: ReservedAddress, installation: Installation) -> bool:
    return hmac.compare_digest(row.seal, seal(row, installation))


def with_installation(rows: QuerySet[ReservedAddress]) -> QuerySet[ReservedAddress]:
    """Read the installation, of which there is one, in the same statement as the rows."""
    only: Any = Installation.objects.order_by("pk")
    return rows.annotate(identity=only.values("identity")[:1], installation_kind=only.values("kind")[:1])


def installation_of(row: Any) -> Installation:
    """Return the installation that was read `with_installation`."""
    return Installation(identity=row.identity, kind=row.installation_kind)
