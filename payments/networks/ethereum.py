"""Ethereum, the pure half: ETH, and the pinned contracts of USDT and USDC. No chain library: web processes load it too.

Inside, an address is 42 lower-case letters: comparing costs nothing then, while the capitals of EIP-55 cost a hash for
each address of a block. People get the capitals through `display` and in payment texts.
"""

import re

from Crypto.Hash import keccak

from .base import Asset, Finality

EXPLORERS = {1: "https://etherscan.io/tx/", 11155111: "https://sepolia.etherscan.io/tx/"}
# Up to this worth 12 confirmations (about 2.5 minutes) are enough; above it only what two thirds of the stake made
# irreversible (about 15 minutes).
CONFIRMATIONS_LIMIT_CENTS = 100_000
LOOKS_PER_PASS = 768  # addresses whose balances one call reads
ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
TRANSACTION = re.compile(r"0x[0-9a-f]{64}")


def with_capitals(address: str) -> str:
    """Return a 0x address with the capitals of EIP-55, which are its checksum."""
    letters = address[2:].lower()
    digest = keccak.new(digest_bits=256, data=letters.encode()).hexdigest()
    return "0x" + "".join(c.upper() if d > "7" else c for c, d in zip(letters, digest, strict=False))


class Ethereum:
    """One chain of the Ethereum kind, told apart by its chain id."""

    def __init__(
        self,
        network: str = "ethereum",
        *,
        chain_id: int,
        usdt_contract: str,
        usdc_contract: str = "",
        name: str = "Ethereum",
        confirmations: int = 12,
    ) -> None:
        self.network = network
        self.name = name
        self.chain_id = chain_id
        self.confirmations = confirmations
        self.block_seconds = 12.0
        self.pool_slack_seconds = 0
        self.looks_per_pass = LOOKS_PER_PASS
        self.looks_decide = False
        self.assets = (
            Asset("eth", "ETH", "Ether", decimals=18, due_decimals=6, stable=False, minimum_cents=1500),
            *(
                self._token(symbol, name, contract)
                for symbol, name, contract in (
                    ("USDT", "Tether USD", usdt_contract),
                    ("USDC", "USD Coin", usdc_contract),
                )
                if contract
            ),
        )

    def _token(self, symbol: str, name: str, contract: str) -> Asset:
        return Asset(
            f"{symbol.lower()}-{self.network}",
            symbol,
            name,
            decimals=6,
            due_decimals=2,
            stable=True,
            minimum_cents=2000,
            contract=self.check_address(contract),
        )

    def finality(self, usd_cents: int) -> Finality:
        """Return 12 confirmations up to $1,000, above it also the network's own finality."""
        return Finality(self.confirmations, finalized=usd_cents > CONFIRMATIONS_LIMIT_CENTS)

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return EIP-681 with the amount for ETH, the bare address for tokens: many wallets read the token form as
        "send ETH to the contract", and that money is lost."""
        if asset.contract is not None:
            return with_capitals(address)
        return f"ethereum:{with_capitals(address)}@{self.chain_id}?value={amount}"

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return EIP-681 with contract and amount for tokens."""
        if asset.contract is None:
            return None
        contract = with_capitals(asset.contract)
        return f"ethereum:{contract}@{self.chain_id}/transfer?address={with_capitals(address)}&uint256={amount}"

    def check_address(self, text: str) -> str:
        """Return the address in lower case; ValueError says what is wrong with it.

        Capitals that mean something (neither all nor none) must be those of EIP-55.
        """
        text = text.strip()
        if not ADDRESS.fullmatch(text):
            raise ValueError("An Ethereum address is 0x and 40 letters and digits from 0-9 and a-f.")
        letters = text[2:]
        if letters not in (letters.lower(), letters.upper()) and with_capitals(text)[2:] != letters:
            raise ValueError("The capitals of this address do not fit: it has a typing error.")
        return "0x" + letters.lower()

    def check_transaction(self, text: str) -> str:
        """Return the transaction's hash in lower case; ValueError if it is none."""
        text = text.strip().lower()
        if not TRANSACTION.fullmatch(text):
            raise ValueError("An Ethereum transaction is 0x and 64 letters and digits from 0-9 and a-f.")
        return text

    def display(self, address: str) -> str:
        """Return the address with the capitals of EIP-55."""
        return with_capitals(address)

    def transaction_url(self, txid: str) -> str | None:
        """Return the page on Etherscan for the main network and Sepolia."""
        return EXPLORERS[self.chain_id] + txid if self.chain_id in EXPLORERS else None
