"""The requests to a Solana node, as its JSON-RPC names them.

Worded by hand: solders' own words are the same, and take more time than the rest of asking for a hundred balances.
"""

from typing import Any

CONFIRMED, FINALIZED = "confirmed", "finalized"
NEWEST_VERSION = 0  # of transactions: older nodes and clients know none, newer ones are refused by the node
PAGE = 1000  # signatures in one answer, the most that nodes give
Request = tuple[str, list[Any]]


def finalized_slot() -> Request:
    return "getSlot", [{"commitment": FINALIZED}]


def block(slot: int) -> Request:
    """Ask for a finalized block without its transactions."""
    nothing_else = {"transactionDetails": "none", "rewards": False}
    return "getBlock", [
        slot,
        {**nothing_else, "commitment": FINALIZED, "maxSupportedTransactionVersion": NEWEST_VERSION},
    ]


def balances(addresses: list[str], level: str, slot: int | None = None) -> Request:
    """Ask what up to 100 addresses hold, in a state not older than `slot`."""
    nothing_else = {"encoding": "base64", "dataSlice": {"offset": 0, "length": 0}}
    return "getMultipleAccounts", [addresses, {**nothing_else, "commitment": level, "minContextSlot": slot}]


def history(
    address: str,
    level: str,
    *,
    until: str = "",
    before: str = "",
    limit: int = PAGE,
    slot: int | None = None,
) -> Request:
    """Ask for the signatures of an address, newest first, those of and before `until` left out."""
    part = {"before": before or None, "until": until or None, "limit": limit}
    return "getSignaturesForAddress", [address, {**part, "commitment": level, "minContextSlot": slot}]


def statuses(signatures: list[str]) -> Request:
    """Ask how far up to 256 transactions came, old ones included."""
    return "getSignatureStatuses", [signatures, {"searchTransactionHistory": True}]


def transaction(signature: str, level: str) -> Request:
    config = {"encoding": "base64", "commitment": level, "maxSupportedTransactionVersion": NEWEST_VERSION}
    return "getTransaction", [signature, config]
