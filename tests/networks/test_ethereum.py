"""Ethereum's pure half: addresses, payment texts, finality."""

import subprocess
import sys
from pathlib import Path

import pytest

from money.units import plain
from payments.networks.base import Finality
from payments.networks.ethereum import Ethereum, with_capitals

USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
# The examples of EIP-55 itself.
EXAMPLES = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
]
network = Ethereum(chain_id=1, usdt_contract=USDT)
eth, usdt = network.assets


@pytest.mark.parametrize("address", EXAMPLES)
def test_capitals(address: str) -> None:
    assert with_capitals(address.lower()) == address
    assert network.display(network.check_address(address)) == address


@pytest.mark.parametrize("text", [USDT, USDT.lower(), "0x" + USDT[2:].upper(), "0X" + USDT[2:].upper(), f" {USDT}\n"])
def test_equal_addresses_become_equal_strings(text: str) -> None:
    assert network.check_address(text) == USDT.lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (USDT.replace("dAC", "daC"), "typing error"),
        (USDT[:-1] + "8", "typing error"),
        (USDT[:-1], "40 letters"),
        (USDT + "0", "40 letters"),
        (USDT[2:], "40 letters"),
        ("0x" + "g" * 40, "40 letters"),
        ("", "40 letters"),
        ("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "40 letters"),
        ("0x" + "\N{ARABIC-INDIC DIGIT ONE}" * 40, "40 letters"),
    ],
)
def test_what_is_no_address(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        network.check_address(text)


def test_a_mistyped_contract_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="typing error"):
        Ethereum(chain_id=1, usdt_contract=USDT[:-1] + "8")


def test_payment_texts() -> None:
    """The token form of EIP-681 names contract and base units; it is for people who know that their wallet reads it."""
    address = EXAMPLES[0].lower()
    assert network.wallet_uri(address, eth, 5) is None
    assert network.wallet_uri(address, usdt, 5) == f"ethereum:{USDT}@1/transfer?address={EXAMPLES[0]}&uint256=5"
    assert network.payment_uri(address, eth, 10**24) == f"ethereum:{EXAMPLES[0]}@1?value=1000000000000000000000000"
    assert network.payment_uri(address, usdt, 5) == EXAMPLES[0]


def test_finality_grows_with_the_worth() -> None:
    assert network.finality(100_000) == Finality(12)
    assert network.finality(100_001) == Finality(12, finalized=True)


def test_assets() -> None:
    assert [(a.method, a.decimals, a.due_decimals, a.stable, a.contract) for a in network.assets] == [
        ("eth", 18, 6, False, None),
        ("usdt-ethereum", 6, 2, True, USDT.lower()),
    ]
    both = Ethereum(chain_id=1, usdt_contract=USDT, usdc_contract=USDC)
    assert [(a.method, a.decimals, a.contract) for a in both.assets[2:]] == [("usdc-ethereum", 6, USDC.lower())]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-45"])
def test_tokens_have_six_decimals_here(case: str) -> None:
    """As many as on no other network: 100,000,000 base units are 100.00, never 0.0000000001."""
    both = Ethereum(chain_id=1, usdt_contract=USDT, usdc_contract=USDC)
    assert {plain(100_000_000, asset.decimals) for asset in both.assets[1:]} == {"100"}


def test_explorer_pages() -> None:
    assert network.transaction_url("0xab") == "https://etherscan.io/tx/0xab"
    assert Ethereum(chain_id=31337, usdt_contract=USDT).transaction_url("0xab") is None


def test_the_pure_halves_load_no_chain_library() -> None:
    code = (
        "import sys, payments.networks.ethereum, payments.networks.simulated, payments.networks.simulated_chain;"
        "print([m for m in ('web3', 'eth_utils', 'coincurve', 'requests', 'django') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
