"""A simulated network: the pure half. Its payment texts are such that no real wallet can act on them."""

import re
from collections.abc import Sequence

from .base import Asset, Finality

TRANSACTION = re.compile(r"[0-9a-f]{64}")


class Simulated:
    """A network of demo money under the name of a real one."""

    def __init__(
        self, network: str, name: str, assets: Sequence[Asset], block_seconds: float, confirmations: int = 3
    ) -> None:
        self.network = network
        self.name = name
        self.assets = tuple(assets)
        self.block_seconds = block_seconds
        self.confirmations = confirmations
        self.pool_slack_seconds = 0
        self.looks_per_pass = 0
        self.looks_decide = False

    def finality(self, usd_cents: int) -> Finality:
        """Return the same for every amount: the demo should not make anyone wait."""
        return Finality(self.confirmations)

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return a text with a scheme of its own: a real wallet that scans it must not send real money."""
        return f"simulated:{self.network}:{address}?asset={asset.symbol}&amount={amount}"

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return none: there is one form only."""
        return None

    def check_address(self, text: str) -> str:
        """Return the address without the space around it; ValueError if it can't be one."""
        address = text.strip()
        if not address or not address.isalnum() or not address.isascii():
            raise ValueError("An address has only letters and digits.")
        return address

    def check_transaction(self, text: str) -> str:
        """Return the transaction id; ValueError if it can't be one."""
        txid = text.strip().lower()
        if not TRANSACTION.fullmatch(txid):
            raise ValueError("A transaction of the demo has 64 letters and digits from 0-9 and a-f.")
        return txid

    def display(self, address: str) -> str:
        """Return the address as people read it."""
        return address

    def transaction_url(self, txid: str) -> str | None:
        """Return none: no explorer knows the simulated chain."""
        return None
