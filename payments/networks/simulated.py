"""A simulated network: the pure half. Its payment texts are such that no real wallet can act on them."""

from collections.abc import Sequence

from .base import Asset, Finality


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

    def finality(self, usd_cents: int) -> Finality:
        """Return the same for every amount: the demo should not make anyone wait."""
        return Finality(self.confirmations)

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return a text with a scheme of its own: a real wallet that scans it must not send real money."""
        return f"simulated:{self.network}:{address}?asset={asset.symbol}&amount={amount}"

    def check_address(self, text: str) -> str:
        """Return the address without the space around it; ValueError if it can't be one."""
        address = text.strip()
        if not address or not address.isalnum() or not address.isascii():
            raise ValueError("An address has only letters and digits.")
        return address

    def display(self, address: str) -> str:
        """Return the address as people read it."""
        return address

    def transaction_url(self, txid: str) -> str | None:
        """Return none: no explorer knows the simulated chain."""
        return None
