"""ETH that no transaction explains, found by looking: what an address holds, beside what it should hold.

Validator withdrawals, block rewards, and inner calls on nodes without traces are seen only so. Looking at 768 addresses
is one call: code that is executed and never stored reads all their balances at one block.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from .base import Asset, Block, Held, Transfer

# For each address behind this code: read its balance, put it after the others; then return them all. The limit is that
# of the size of a contract: 24,576 bytes of 32 each.
LOOK = "0x600060295b3881101560245760148183600c0139815131825260140190602001906004565b506000f3"


def look_code(addresses: Sequence[str]) -> str:
    """Return the code that reads the balances of at most 768 addresses."""
    return LOOK + "".join(address[2:] for address in addresses)


def mark_of(block: Block) -> str:
    """Return the mark of what was read at a block; after a reorg it fits no more."""
    return f"{block.height}:{block.hash}"


class Purses:
    """What the addresses handed in should hold while blocks are read. `start` is the block before the first one read.

    What was kept counts only if it was read at `start`; the others are `unknown` until told. Expecting from anything
    else would invent money, or hide it.
    """

    def __init__(self, held: Sequence[Held], start: Block | None) -> None:
        fresh = mark_of(start) if start else ""
        self.expected = {one.address: one.balance for one in held if one.balance is not None and one.mark == fresh}
        self.addresses = [one.address for one in held]
        self.senders = frozenset(self.addresses)
        self.moved: dict[str, int] = defaultdict(int)

    @property
    def unknown(self) -> list[str]:
        return [address for address in self.addresses if address not in self.expected]

    def tell(self, addresses: Sequence[str], balances: Sequence[int]) -> None:
        """Take what these addresses held at the start."""
        self.expected.update(zip(addresses, balances, strict=True))

    def receive(self, transfers: Iterable[Transfer]) -> None:
        """Count transfers of the coin."""
        for transfer in transfers:
            if transfer.contract is None:
                self.moved[transfer.address] += transfer.amount

    def spend(self, address: str, cost: int) -> None:
        """Count what a transaction took from its sender."""
        self.moved[address] -= cost

    def carry(self, tip: Block) -> tuple[Held, ...]:
        """Return what is expected at `tip`, without having looked."""
        return tuple(Held(one, known + self.moved[one], mark_of(tip)) for one, known in self.expected.items())

    def compare(self, addresses: Sequence[str], balances: Sequence[int], tip: Block, coin: Asset) -> list[Transfer]:
        """Return a transfer for each of these addresses that holds more at `tip` than anything explains."""
        growths = [
            (one, balance - self.expected[one] - self.moved[one])
            for one, balance in zip(addresses, balances, strict=True)
            if one in self.expected
        ]
        return [
            Transfer(tip.hash, f"balance:{one}", one, growth, coin.method, None, tip, explained=False)
            for one, growth in growths
            if growth > 0
        ]
