"""Sign and check reserved addresses: a changed database row must not send a customer's money elsewhere."""

import hashlib
import hmac

from django.conf import settings

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
