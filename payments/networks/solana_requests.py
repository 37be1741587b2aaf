"""The requests to a Solana node, worded by the types of solders and sent by `Rpc`."""

from itertools import count
from typing import Any

from solders.account_decoder import UiAccountEncoding, UiDataSliceConfig
from solders.commitment_config import CommitmentLevel
from solders.pubkey import Pubkey
from solders.rpc import requests
from solders.rpc.config import (
    RpcAccountInfoConfig,
    RpcBlockConfig,
    RpcContextConfig,
    RpcSignaturesForAddressConfig,
    RpcSignatureStatusConfig,
    RpcTransactionConfig,
)
from solders.signature import Signature
from solders.transaction_status import TransactionDetails, UiTransactionEncoding

CONFIRMED, FINALIZED = CommitmentLevel.Confirmed, CommitmentLevel.Finalized
NEWEST_VERSION = 0  # of transactions: older nodes and clients know none, newer ones are refused by the node
PAGE = 1000  # signatures in one answer, the most that nodes give
Request = tuple[str, list[Any]]

KINDS: dict[str, Any] = {
    "getGenesisHash": requests.GetGenesisHash,
    "getSlot": requests.GetSlot,
    "getBlock": requests.GetBlock,
    "getMultipleAccounts": requests.GetMultipleAccounts,
    "getSignaturesForAddress": requests.GetSignaturesForAddress,
    "getSignatureStatuses": requests.GetSignatureStatuses,
    "getTransaction": requests.GetTransaction,
}


class Wording:
    """Words each request; `Rpc` calls this its provider."""

    def __init__(self) -> None:
        self.ids = count(1)

    def encode_rpc_request(self, method: Any, params: Any) -> bytes:
        text: str = KINDS[method](*params, id=next(self.ids)).to_json()
        return text.encode()

    def get_request_headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json"}


def finalized_slot() -> Request:
    return "getSlot", [RpcContextConfig(FINALIZED)]


def block(slot: int) -> Request:
    """Ask for a finalized block without its transactions."""
    details = TransactionDetails.None_
    return "getBlock", [slot, RpcBlockConfig(None, details, False, FINALIZED, NEWEST_VERSION)]


def balances(addresses: list[str], level: CommitmentLevel, slot: int | None = None) -> Request:
    """Ask what up to 100 addresses hold, in a state not older than `slot`."""
    nothing_else = UiDataSliceConfig(0, 0)
    config = RpcAccountInfoConfig(UiAccountEncoding.Base64, nothing_else, level, slot)
    return "getMultipleAccounts", [[Pubkey.from_string(one) for one in addresses], config]


def history(
    address: str,
    level: CommitmentLevel,
    *,
    until: str = "",
    before: str = "",
    limit: int = PAGE,
    slot: int | None = None,
) -> Request:
    """Ask for the signatures of an address, newest first, those of and before `until` left out."""
    config = RpcSignaturesForAddressConfig(_signature(before), _signature(until), limit, level, slot)
    return "getSignaturesForAddress", [Pubkey.from_string(address), config]


def statuses(signatures: list[str]) -> Request:
    """Ask how far up to 256 transactions came, old ones included."""
    return "getSignatureStatuses", [[Signature.from_string(one) for one in signatures], RpcSignatureStatusConfig(True)]


def transaction(signature: str, level: CommitmentLevel) -> Request:
    config = RpcTransactionConfig(UiTransactionEncoding.Base64, level, NEWEST_VERSION)
    return "getTransaction", [Signature.from_string(signature), config]


def _signature(text: str) -> Signature | None:
    return Signature.from_string(text) if text else None
