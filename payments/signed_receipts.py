"""Receipts as signed JSON: `static/verify_receipt.py` checks them offline with the installation's public key.

The text is canonical: sorted keys, no spaces, ASCII, one line end. Amounts are plain strings, times ISO 8601 in UTC.
The signature (Ed25519) covers everything but itself, the key's name included.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

from money import usd
from money.units import plain

from .models import Installation
from .receipts import Arrival, Credit, Promised, Receipt

FORMAT = "gridlot-receipt/1"
Plain = dict[str, Any]


def signed(receipt: Receipt, installation: Installation, *, now: datetime) -> bytes:
    """Return the receipt as signed canonical JSON."""
    key = private_keys()[0]
    content = {"key": named(key), "receipt": document(receipt, installation, now)}
    signature = key.sign(message(content)).hex()
    return canonical(content | {"signature": signature}) + b"\n"


def message(content: Mapping[str, object]) -> bytes:
    """Return the bytes that are signed: a name for their purpose, then the content."""
    return FORMAT.encode() + b"\n" + canonical(content)


def canonical(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def private_keys() -> list[Ed25519PrivateKey]:
    """Return the installation's keys; the first signs, the others made earlier receipts."""
    seeds = (hashlib.sha256(b"gridlot receipt key\n" + text.encode()).digest() for text in settings.RECEIPT_KEYS)
    return [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]


def named(key: Ed25519PrivateKey) -> dict[str, str]:
    """Return a key as people compare it: its short name and its public half in hex."""
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {"id": hashlib.sha256(public).hexdigest()[:16], "public": public.hex()}


def public_keys() -> list[dict[str, str]]:
    """Return every key that a receipt of this installation may be signed with, the present one first."""
    return [named(key) for key in private_keys()]


def document(receipt: Receipt, installation: Installation, now: datetime) -> Plain:
    totals = receipt.totals
    return {
        "format": FORMAT,
        "installation": str(installation.identity),
        "money": installation.kind,
        "shop": settings.BRAND,
        "issued_at": iso(now),
        "number": receipt.number,
        "for": receipt.kind,
        "what": receipt.what,
        "state": receipt.state,
        "created_at": iso(receipt.created_at),
        "settled_at": iso(receipt.settled_at),
        "totals_usd": {
            "due": usd.plain(totals.due),
            "credited": usd.plain(totals.credited),
            "tolerance": usd.plain(totals.tolerance),
            "by_hand": usd.plain(totals.by_hand),
            "from_balance": usd.plain(totals.from_balance),
            "paid": usd.plain(totals.paid),
            "reversed": usd.plain(totals.reversed),
            "to_balance": usd.plain(max(totals.to_balance, 0)),
            "debt": usd.plain(max(-totals.to_balance, 0)),
        },
        "instructions": [instructions(promised) for promised in receipt.promises],
        "ledger": sorted(receipt.references),
    }


def instructions(promised: Promised) -> Plain:
    evidence = promised.evidence
    return {
        "id": promised.id,
        "method": promised.method,
        "symbol": promised.symbol,
        "decimals": promised.decimals,
        "network": promised.network_name,
        "address": promised.address,
        "amount": plain(promised.amount, promised.decimals),
        "usd": usd.plain(promised.usd_cents),
        "rate": rate(promised.rate_e8),
        "market_rate": rate(evidence.market_e8),
        "markup_basis_points": evidence.markup_basis_points,
        "prices": [
            {"source": s.source, "price": rate(s.price_e8), "received_at": iso(s.received_at)} for s in evidence.samples
        ],
        "created_at": iso(promised.created_at),
        "expires_at": iso(promised.expires_at),
        "state": promised.settlement,
        "tolerance_usd": usd.plain(promised.tolerance_cents),
        "transfers": [transfer(arrival) for arrival in promised.arrivals],
    }


def transfer(arrival: Arrival) -> Plain:
    decimals = arrival.decimals or 0  # of an unknown token: base units
    return {
        "txid": arrival.txid,
        "position": arrival.position,
        "method": arrival.method,
        "contract": arrival.contract,
        "decimals": decimals,
        "amount": plain(arrival.amount, decimals),
        "status": arrival.status,
        "block_height": arrival.block_height,
        "block_hash": arrival.block_hash,
        "block_time": iso(arrival.block_time),
        "first_seen_at": iso(arrival.first_seen_at),
        "explorer": arrival.url,
        "credits": [credit(one, decimals) for one in arrival.credits],
    }


def credit(one: Credit, decimals: int) -> Plain:
    return {
        "episode": one.episode,
        "live": one.live,
        "ledger": one.reference,
        "usd": usd.plain(one.usd_cents),
        "promised_amount": plain(one.promised_amount, decimals),
        "market_amount": plain(one.market_amount, decimals),
        "market_rate": None if one.market_rate_e8 is None else rate(one.market_rate_e8),
        "at": iso(one.at),
    }


def rate(price_e8: int) -> str:
    return plain(price_e8, 8)


def iso(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
