"""What Tron's blocks and transaction results say, as blocks and transfers. Values in, values out.

Everything here raises KeyError, IndexError, TypeError, ValueError, AttributeError or OverflowError for answers of
another shape than agreed; the node half turns them into BadAnswer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from .base import Asset, Block, Transfer
from .tron import to_base58
from .tron_api import Json

TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"  # Transfer(address,address,uint256)
SUCCESS = "SUCCESS"
COIN = "TransferContract"
CONTRACTS = ("TriggerSmartContract", "CreateSmartContract")  # what runs code, and so what has a result worth reading
VALUE = "value"
# Only these internal transactions move TRX to `transferTo_address`. Others look the same and do not: a contract that
# lends energy to an address leaves one with the staked amount, noted "delegateResourceOfEnergy".
MOVING = {"call", "suicide"}
EPOCH = datetime.fromtimestamp(0, UTC)


def whole(value: Any) -> int:
    """Return a number as it is; anything but a number from 0 on is refused."""
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r:.80} is no number")
    return value


def items(answer: Any) -> list[Json]:
    if not isinstance(answer, list):
        raise TypeError(f"{answer!r:.80} is no list")
    return answer


@lru_cache(maxsize=8192)  # payees come again and again: exchanges, contracts
def address_of(digits: str) -> str:
    """Return the base58 text of an address in 42 hex digits, or in the 40 that logs have."""
    return to_base58(bytes.fromhex(digits if len(digits) == 42 else "41" + digits))


def block_of(raw: Json) -> Block:
    header = raw["block_header"]["raw_data"]
    height, block_id = whole(header.get("number", 0)), raw["blockID"].lower()
    if len(block_id) != 64 or int(block_id[:16], 16) != height:
        raise ValueError(f"{block_id!r:.80} is not the id of block {height}")
    return Block(height, block_id, EPOCH + timedelta(milliseconds=whole(header.get("timestamp", 0))))


def parent_of(raw: Json) -> str:
    return str(raw["block_header"]["raw_data"]["parentHash"]).lower()


def transactions_of(raw: Json) -> list[Json]:
    return items(raw.get("transactions", []))


def txid_of(tx: Json) -> str:
    txid: str = tx["txID"].lower()
    if len(txid) != 64:
        raise ValueError(f"{txid!r:.80} is no transaction id")
    return txid


def succeeded(tx: Json) -> bool:
    """Tell whether a transaction in a block did what it was for."""
    return bool(tx["ret"]) and tx["ret"][0].get("contractRet") == SUCCESS


def has_result(tx: Json) -> bool:
    """Tell whether the transaction's result may hold payments: of failed ones, and of those that run no code, it
    cannot."""
    return contract_of(tx)["type"] in CONTRACTS and succeeded(tx)


def contract_of(tx: Json) -> Json:
    """Return the one thing that a transaction does."""
    (contract,) = tx["raw_data"]["contract"]
    return contract  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads payments of the coin and of any token; `tokens` are the pinned ones, by contract."""

    coin: str
    tokens: Mapping[str, Asset]

    def payments(self, tx: Json, info: Json | None, block: Block | None) -> list[Transfer]:
        """Return everything that a transaction in a block pays, to anybody. `info` is its result, if it has one."""
        if not succeeded(tx):
            return []
        if contract_of(tx)["type"] == COIN:
            return self.direct(tx, block)
        if info is None or not has_result(tx) or not ran(info):
            return []
        return [*self._logs(info, block), *self._inner(info, block)]

    def direct(self, tx: Json, block: Block | None) -> list[Transfer]:
        """Return what a plain transfer of the coin pays, whether it succeeded or waits."""
        contract = contract_of(tx)
        if contract["type"] != COIN:
            return []
        value = contract["parameter"]["value"]
        amount, payee = whole(value.get("amount", 0)), address_of(value["to_address"])
        return [Transfer(txid_of(tx), VALUE, payee, amount, self.coin, None, block)] if amount else []

    def _logs(self, info: Json, block: Block | None) -> Iterator[Transfer]:
        """Name each log by its place in its own transaction's result."""
        for place, log in enumerate(items(info.get("log", []))):
            topics, contract = log.get("topics", []), address_of(log["address"])
            if topics[:1] != [TRANSFER]:
                continue
            data, asset = log.get("data", ""), self.tokens.get(contract)
            if len(topics) != 3 or len(topics[2]) != 64 or len(data) != 64:
                if asset:
                    raise ValueError(f"a transfer of {asset.symbol} has another shape")
                continue  # another kind of token: no amount of anything
            if amount := _number(data):
                payee, method = address_of(topics[2][24:]), asset.method if asset else None
                yield Transfer(info["id"].lower(), f"log:{place}", payee, amount, method, contract, block)

    def _inner(self, info: Json, block: Block | None) -> Iterator[Transfer]:
        for place, inner in enumerate(items(info.get("internal_transactions", []))):
            if inner.get("rejected") or bytes.fromhex(inner.get("note", "")).decode() not in MOVING:
                continue
            values = [value for value in items(inner.get("callValueInfo", [])) if "tokenId" not in value]
            if amount := sum(whole(value.get("callValue", 0)) for value in values):
                payee = address_of(inner["transferTo_address"])
                yield Transfer(info["id"].lower(), f"call:{place}", payee, amount, self.coin, None, block)


def _number(data: str) -> int:
    """Return what 64 hex digits say: never less than nothing."""
    raw = bytes.fromhex(data)
    if len(raw) != 32:
        raise ValueError(f"{data!r:.80} is no number")
    return int.from_bytes(raw)


def ran(info: Json) -> bool:
    """Tell whether the code of a transaction ran to its end."""
    return info.get("result") != "FAILED" and info["receipt"].get("result") == SUCCESS
