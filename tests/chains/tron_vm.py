"""Contracts of the Tron peer, written in Python: what a virtual machine would do with their code.

Simulated: the machine itself, and what energy costs. Real: calldata, results, logs and internal transactions as a node
tells them. State is plain data, so that a block can be undone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chains.tron_wire import TRANSFER, Json, address_word, selector, sha256, word

TRANSFER_CALL = selector("transfer(address,uint256)")
TRANSFER_FROM_CALL = selector("transferFrom(address,address,uint256)")
BALANCE_CALL = selector("balanceOf(address)")
DECIMALS_CALL = selector("decimals()")


class Reverted(Exception):
    """The code undid everything it did."""


@dataclass
class Token:
    """A TRC-20 token that behaves as USDT does: with a fee, if one is set, and a pause."""

    owner: str
    decimals: int = 6
    balances: dict[str, int] = field(default_factory=dict)
    paused: bool = False
    fee_basis_points: int = 0


@dataclass
class State:
    """What a block changes: TRX by address, tokens by contract."""

    coins: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)

    def give(self, address: str, amount: int) -> None:
        self.coins[address] = self.coins.get(address, 0) + amount


@dataclass
class Run:
    """One call of a contract: what it is given, and what it leaves behind."""

    state: State
    contract: str
    sender: str
    value: int
    txid: str
    logs: list[Json] = field(default_factory=list)
    inner: list[Json] = field(default_factory=list)

    def log(self, contract: str, topics: Sequence[str], data: str) -> None:
        """Leave an event. Its address has no 41 in front; empty fields are left out."""
        event = {"address": contract[2:], "topics": list(topics), "data": data}
        self.logs.append({name: value for name, value in event.items() if value})

    def transfer_event(self, token: str, sender: str, payee: str, amount: int) -> None:
        self.log(token, [TRANSFER, address_word(sender), address_word(payee)], word(amount))

    def send(self, payee: str, amount: int, note: str = "call", **more: object) -> None:
        """Leave an internal transaction; it moves TRX if that is what its kind does."""
        if note in ("call", "suicide") and "rejected" not in more:
            self.state.give(payee, amount)
        self.inner.append(
            {
                "hash": sha256(bytes.fromhex(self.txid) + bytes([len(self.inner)])).hex(),
                "caller_address": self.contract,
                "transferTo_address": payee,
                "callValueInfo": [{"callValue": amount}],
                "note": note.encode().hex(),
                **more,
            }
        )

    def move_token(self, token: str, sender: str, payee: str, amount: int) -> None:
        """Move a token and leave its events: the fee's first, as USDT does."""
        held = self.state.tokens[token]
        if held.paused or held.balances.get(sender, 0) < amount:
            raise Reverted
        fee = amount * held.fee_basis_points // 10_000
        held.balances[sender] = held.balances.get(sender, 0) - amount
        for to, part in ((held.owner, fee), (payee, amount - fee)) if fee else ((payee, amount),):
            held.balances[to] = held.balances.get(to, 0) + part
            self.transfer_event(token, sender, to, part)


Program = Callable[[Run], None]
"""A contract that is no token: does what it likes when it is called."""


def call_token(run: Run, data: str) -> str:
    """Execute a call of a token contract; return what it returns."""
    called, words = data[:8], [data[n : n + 64] for n in range(8, len(data), 64)]
    token = run.state.tokens[run.contract]
    if called == DECIMALS_CALL:
        return word(token.decimals)
    if called == BALANCE_CALL:
        return word(token.balances.get("41" + words[0][24:], 0))
    if called == TRANSFER_CALL:
        run.move_token(run.contract, run.sender, "41" + words[0][24:], int(words[1], 16))
        return word(1)
    if called == TRANSFER_FROM_CALL and int(words[2], 16) == 0:  # nobody has allowed anything: only nothing moves
        run.transfer_event(run.contract, "41" + words[0][24:], "41" + words[1][24:], 0)
        return word(1)
    raise Reverted
