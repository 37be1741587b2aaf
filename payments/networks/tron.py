"""Tron, the pure half: TRX, and the pinned contract of USDT. No chain library: web processes load it too.

Inside, an address is its base58 text with checksum, as people read and copy it: T and 33 letters and digits.
"""

import re

import base58

from money.units import plain

from .base import Asset, Finality

EXPLORER = "https://tronscan.org/#/transaction/"
SOLID_CONFIRMATIONS = 19  # of 27 producers: a block is solid once two thirds of them built upon it
PREFIX = 0x41  # the first of an address's 21 bytes; it makes the base58 text begin with T
HEX_ADDRESS = re.compile(r"(0x)?41[0-9a-fA-F]{40}")
TRANSACTION = re.compile(r"[0-9a-f]{64}")


def to_base58(raw: bytes) -> str:
    """Return the text of an address of 21 bytes. ValueError if they are not one's."""
    if len(raw) != 21 or raw[0] != PREFIX:
        raise ValueError(f"{raw.hex():.60} is no Tron address")
    return base58.b58encode_check(raw).decode()


class Tron:
    """One chain of the Tron kind."""

    def __init__(self, network: str = "tron", *, usdt_contract: str, name: str = "Tron") -> None:
        self.network = network
        self.name = name
        self.block_seconds = 3.0
        self.pool_slack_seconds = 0
        self.looks_per_pass = 0
        self.looks_decide = False
        self.assets = (
            Asset("trx", "TRX", "TRON", decimals=6, due_decimals=2, stable=False, minimum_cents=200),
            Asset(
                f"usdt-{network}",
                "USDT",
                "Tether USD",
                decimals=6,
                due_decimals=2,
                stable=True,
                minimum_cents=500,
                contract=self.check_address(usdt_contract),
            ),
        )

    def finality(self, usd_cents: int) -> Finality:
        """Return the network's own finality for every amount: it takes a minute, and nothing cheaper is safe."""
        return Finality(SOLID_CONFIRMATIONS, finalized=True)

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return the bare address: the one form that every wallet reads. Scanners of common wallets refuse "tron:…"
        as an incorrect address, and those that read it take a token's amount for TRX."""
        return address

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return the address with the amount in TRX; none for tokens, for which no form is agreed."""
        return None if asset.contract else f"tron:{address}?amount={plain(amount, asset.decimals)}"

    def check_address(self, text: str) -> str:
        """Return the address as base58 text; the form in 42 hex digits is taken too. ValueError says what is wrong."""
        text = text.strip()
        if HEX_ADDRESS.fullmatch(text):
            return to_base58(bytes.fromhex(text.removeprefix("0x")))
        if text.startswith("0x"):
            raise ValueError("This looks like an Ethereum address. A Tron address begins with T.")
        if len(text) != 34 or not text.startswith("T"):
            raise ValueError("A Tron address is T and 33 letters and digits.")
        try:
            return to_base58(base58.b58decode_check(text))
        except ValueError as error:
            raise ValueError("The checksum of this address does not fit: it has a typing error.") from error

    def check_transaction(self, text: str) -> str:
        """Return the transaction's id in lower case; ValueError if it is none."""
        text = text.strip().lower().removeprefix("0x")
        if not TRANSACTION.fullmatch(text):
            raise ValueError("A Tron transaction is 64 letters and digits from 0-9 and a-f.")
        return text

    def display(self, address: str) -> str:
        """Return the address as it is."""
        return address

    def transaction_url(self, txid: str) -> str | None:
        """Return the page on Tronscan."""
        return EXPLORER + txid
