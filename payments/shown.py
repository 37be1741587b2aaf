"""Amounts of coins as operators read them: plain, with symbol and network."""

from money.units import plain

from .models import ChainTransfer
from .registry import Method, method_name, methods


def known_methods() -> dict[str, Method]:
    return {one.code: one for one in methods()}


def coins(amount: int, code: str, contract: str = "") -> str:
    """Write base units of a method's asset: "0.03 ETH (Ethereum)". Of an unknown token only the bare count is known."""
    known = known_methods().get(code)
    if known:
        symbol = method_name(known)
        return f"{plain(amount, known.asset.decimals)} {symbol}"
    return f"{amount} × {contract or code or '?'}"


def transferred(transfer: ChainTransfer) -> str:
    return coins(transfer.amount, transfer.method, transfer.contract)
