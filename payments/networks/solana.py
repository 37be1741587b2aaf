"""Solana, the pure half: SOL alone. No chain library: web processes load it too.

An address is base58 of 32 bytes, in which capitals mean something: it is kept as it was written.
"""

import re

import base58

from .base import Asset, Finality

BASE58 = "[1-9A-HJ-NP-Za-km-z]"
ADDRESS = re.compile(BASE58 + "{32,44}")
TRANSACTION = re.compile(BASE58 + "{64,88}")
# The hash of each public cluster's first block: a node of another one is refused before anything is read from it.
GENESIS = {
    "mainnet": "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    "devnet": "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
}
EXPLORERS = {"mainnet": "https://solscan.io/tx/{}", "devnet": "https://solscan.io/tx/{}?cluster=devnet"}
# A fresh address must hold 0.00089088 SOL or the network refuses the payment; twice that leaves room for a customer who
# pays in two parts.
MINIMUM_LAMPORTS = 2_000_000
LOOKS = 1000  # ten calls of a hundred addresses


class Solana:
    """One cluster: "mainnet", "devnet", or "local" for one whose first block nobody knows beforehand."""

    def __init__(self, network: str = "solana", *, cluster: str = "mainnet", name: str = "Solana") -> None:
        if cluster not in (*GENESIS, "local"):
            raise ValueError(f"The cluster of Solana is {', '.join(GENESIS)} or local.")
        self.network = network
        self.name = name
        self.cluster = cluster
        self.genesis = GENESIS.get(cluster)
        self.block_seconds = 0.4
        self.pool_slack_seconds = 0
        self.looks_per_pass = LOOKS
        self.looks_decide = True
        self.assets = (
            Asset(
                "sol",
                "SOL",
                "SOL",
                decimals=9,
                due_decimals=6,
                stable=False,
                minimum_cents=100,
                minimum_amount=MINIMUM_LAMPORTS,
            ),
        )

    def finality(self, usd_cents: int) -> Finality:
        """Return the network's own finality, about 13 seconds, for every amount."""
        return Finality(1, finalized=True)

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return the bare address: wallets that follow Solana Pay to the letter refuse an address which holds nothing
        yet ("recipient not found"), and ours are always fresh."""
        return address

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return the link of Solana Pay; its amount is in whole SOL, in plain decimals."""
        whole, rest = divmod(amount, 10**asset.decimals)
        digits = f"{rest:0{asset.decimals}}".rstrip("0")
        return f"solana:{address}?amount={whole}{'.' if digits else ''}{digits}"

    def check_address(self, text: str) -> str:
        """Return the address; ValueError says what is wrong with it. It has no checksum: only its length is known."""
        return _checked(text, ADDRESS, 32, "A Solana address has 32 to 44 letters and digits, without 0, O, I and l.")

    def check_transaction(self, text: str) -> str:
        """Return the signature that names a transaction; ValueError if it is none."""
        said = "A Solana transaction has 64 to 88 letters and digits, without 0, O, I and l."
        return _checked(text, TRANSACTION, 64, said)

    def display(self, address: str) -> str:
        """Return the address as it is."""
        return address

    def transaction_url(self, txid: str) -> str | None:
        """Return the page on Solscan for the public clusters."""
        return EXPLORERS[self.cluster].format(txid) if self.cluster in EXPLORERS else None


def _checked(text: str, shape: re.Pattern[str], size: int, said: str) -> str:
    text = text.strip()
    if not shape.fullmatch(text):
        raise ValueError(said)
    if len(base58.b58decode(text)) != size:
        raise ValueError("A letter is missing, or there is one too many.")
    return text
