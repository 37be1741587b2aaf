"""Sign and check rows that say where money goes: a changed database row must not send it elsewhere."""

import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from .models import Installation, Payout, ReservedAddress

VERSION = "1"


def seal(row: ReservedAddress, installation: Installation) -> str:
    """Return the keyed signature over everything that makes the row what it is."""
    return signature(installation, row.genesis, row.network, row.fingerprint, str(row.index), row.address)


def holds(row: ReservedAddress, installation: Installation) -> bool:
    return hmac.compare_digest(row.seal, seal(row, installation))


def seal_of_payout(payout: Payout, installation: Installation) -> str:
    """Return the keyed signature over what is sent where and what was debited for it. The approval fixes the amount, so
    it seals the row anew."""
    return signature(
        installation,
        "payout",
        str(payout.customer_id),
        str(payout.form_key),
        str(payout.transfer_id or ""),
        payout.method,
        payout.address,
        str(payout.usd_cents),
        str(payout.quoted_amount),
        str(payout.fee),
        str(payout.amount),
    )


def payout_holds(payout: Payout, installation: Installation) -> bool:
    return hmac.compare_digest(payout.seal, seal_of_payout(payout, installation))


def signature(installation: Installation, *facts: str) -> str:
    parts = (VERSION, str(installation.identity), installation.kind, *facts)
    return hmac.new(settings.ADDRESS_SEAL_KEY.encode(), "\n".join(parts).encode(), hashlib.sha256).hexdigest()


def with_installation(rows: QuerySet[ReservedAddress]) -> QuerySet[ReservedAddress]:
    """Read the installation, of which there is one, in the same statement as the rows."""
    only: Any = Installation.objects.order_by("pk")
    return rows.annotate(identity=only.values("identity")[:1], installation_kind=only.values("kind")[:1])


def installation_of(row: Any) -> Installation:
    """Return the installation that was read `with_installation`."""
    return Installation(identity=row.identity, kind=row.installation_kind)
