"""Bitcoin's and Litecoin's pure half: addresses and their scripts, payment texts, finality."""

import json
import re
import subprocess
import sys
from pathlib import Path

import base58
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payments.networks import bech32, script
from payments.networks.base import Finality
from payments.networks.utxo import BITCOIN, LITECOIN, Utxo, bitcoin, litecoin

btc, ltc = bitcoin(), litecoin()
VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
# The examples of BIP173 and BIP350 that are addresses of a kind that can be paid to, with their scripts.
EXAMPLES = [
    ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"),
    (
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    ),
    ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac"),
    ("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87"),
]
WSH = "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"


@pytest.mark.parametrize(("address", "output"), EXAMPLES)
def test_published_examples(address: str, output: str) -> None:
    assert btc.script_of(address) == output
    assert btc.address_of(output) == (address.lower() if address.startswith("BC1") else address)


@pytest.mark.parametrize("chain", ["main", "test", "regtest"])
@pytest.mark.parametrize("coin", [BITCOIN, LITECOIN])
@settings(deadline=None)  # the machine may be busy
@given(data=st.data())
def test_scripts_and_addresses_are_each_others_inverse(coin: object, chain: str, data: st.DataObject) -> None:
    family = Utxo(coin, chain=chain)  # type: ignore[arg-type]
    short, long = (data.draw(st.binary(min_size=size, max_size=size)) for size in (20, 32))
    for output in (
        script.key_hash(short),
        script.script_hash(short),
        script.witness(0, short),
        script.witness(0, long),
        script.witness(1, long),
    ):
        address = family.address_of(output)
        assert address is not None
        assert family.script_of(address) == output
        assert family.check_address(f" {address}\n") == address == family.display(address)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "6a24aa21a9ed" + "00" * 32,  # data
        "21" + "02" * 33 + "ac",  # a bare key
        "51" + "21" + "02" * 33 + "51ae",  # one of one
        "5820" + "ab" * 32,  # what Litecoin's private part holds
        "5920" + "ab" * 32,
        "51024e73",  # an anchor
        "0014" + "ab" * 21,
        "76a914" + "ab" * 20 + "88",
    ],
)
def test_other_scripts_have_no_address(output: str) -> None:
    assert btc.address_of(output) is None
    assert ltc.address_of(output) is None


@settings(deadline=None)  # the machine may be busy
@given(st.integers(0, 1 << 256))
def test_no_mistyped_letter_passes_in_bech32(seed: int) -> None:
    place, letter = 3 + seed % (len(WSH) - 3), bech32.LETTERS[seed % 32]
    mistyped = WSH[:place] + letter + WSH[place + 1 :]
    if mistyped != WSH:
        with pytest.raises(ValueError, match=r"typing error|wrong kind"):
            btc.check_address(mistyped)


MAIN_LTC = VECTORS["LTC BIP84 abandon"]["addresses"][0]
OLD = base58.b58encode_check(bytes([5]) + base58.b58decode_check("M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM")[1:]).decode()
V0_AS_BECH32M = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh"  # BIP350's example of the wrong variant
V1_AS_BECH32 = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd"


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-75"])
def test_litecoin_takes_its_own_addresses_and_says_what_the_others_are(case: str) -> None:
    assert OLD.startswith("3")
    for address in ("M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM", OLD):
        assert ltc.check_address(address) == "M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM"
    assert ltc.check_address(MAIN_LTC.upper()) == MAIN_LTC
    with pytest.raises(ValueError, match=r"private \(MWEB\) address. Take one that begins with ltc1, L or M"):
        ltc.check_address(
            "ltcmweb1qqg4j3rg5845nnuc0nz3747mjg3utshzncrf47ypeyuq3nes54cjd6qmp2uutr74kr28c0qphavayqaw3jdz06"
        )
    for address in (EXAMPLES[0][0], "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"):
        with pytest.raises(ValueError, match=r"This is a Bitcoin address\. A Litecoin address is needed"):
            ltc.check_address(address)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-76"])
def test_taproot_is_taken_and_the_wrong_checksum_is_not(case: str) -> None:
    assert btc.check_address(EXAMPLES[1][0]) == EXAMPLES[1][0]
    for address in (V0_AS_BECH32M, V1_AS_BECH32):
        with pytest.raises(ValueError, match="checksum of this address is of the wrong kind"):
            btc.check_address(address)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "typing error"),
        ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", "typing error"),
        ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN", "typing error"),
        ("0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "typing error"),
        (EXAMPLES[0][0].replace("BC1", "bc1"), "mixes small and capital"),
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t", "typing error"),
        ("bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", "can't be paid to yet"),
        ("bc1gmk9yu", "typing error"),
        (MAIN_LTC, "This is a Litecoin address. A Bitcoin address is needed"),
        ("LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1", "This is a Litecoin address"),
        ("tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl", "an address of a test network"),
        ("mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "an address of a test network"),
        (base58.b58encode_check(bytes([80]) + b"\7" * 20).decode(), "an address of another network"),
        (base58.b58encode_check(b"\0" + b"\7" * 21).decode(), "too long or too short"),
        ("\N{ARABIC-INDIC DIGIT ONE}" * 34, "typing error"),
    ],
)
def test_what_is_no_bitcoin_address(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        btc.check_address(text)


def test_an_address_of_the_main_chain_is_refused_on_a_test_chain() -> None:
    with pytest.raises(ValueError, match="A Bitcoin test address is needed"):
        bitcoin("regtest").check_address(EXAMPLES[0][0])
    with pytest.raises(ValueError, match="chain is one of main, test, regtest"):
        bitcoin("signet")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1, "0.00000001"),
        (546, "0.00000546"),
        (10**8, "1"),
        (10**10, "100"),
        (21 * 10**14, "21000000"),
        (12_345_678, "0.12345678"),
    ],
)
def test_the_payment_text(amount: int, text: str) -> None:
    address = EXAMPLES[2][0]
    assert btc.payment_uri(address, btc.assets[0], amount) == f"bitcoin:{address}?amount={text}"
    assert ltc.payment_uri(MAIN_LTC, ltc.assets[0], amount) == f"litecoin:{MAIN_LTC}?amount={text}"
    assert btc.wallet_uri(address, btc.assets[0], amount) is None


@settings(deadline=None)  # the machine may be busy
@given(st.integers(1, 84 * 10**14))
def test_the_amount_is_plain(amount: int) -> None:
    text = btc.payment_uri("a", btc.assets[0], amount).rpartition("=")[2]
    assert re.fullmatch(r"[0-9]+(\.[0-9]{1,8})?", text)
    whole, _, part = text.partition(".")
    assert int(whole + part.ljust(8, "0")) == amount


@pytest.mark.parametrize(
    ("cents", "bitcoins", "litecoins"),
    [
        (1, 1, 3),
        (10_000, 1, 3),
        (10_001, 2, 6),
        (100_000, 2, 6),
        (100_001, 3, 12),
        (1_000_000, 3, 12),
        (1_000_001, 6, 24),
    ],
)
def test_finality_grows_with_the_amount(cents: int, bitcoins: int, litecoins: int) -> None:
    assert btc.finality(cents) == Finality(bitcoins)
    assert ltc.finality(cents) == Finality(litecoins)


def test_transactions() -> None:
    txid = "ab" * 32
    assert btc.check_transaction(f" {txid.upper()} ") == txid
    for wrong in ("", "0x" + txid, txid[:-1], txid + "0", "g" * 64):
        with pytest.raises(ValueError, match="64 letters and digits"):
            btc.check_transaction(wrong)
    assert btc.transaction_url(txid) == f"https://mempool.space/tx/{txid}"
    assert ltc.transaction_url(txid) == f"https://litecoinspace.org/tx/{txid}"
    assert bitcoin("regtest").transaction_url(txid) is None


def test_the_assets() -> None:
    for family, method, minimum in ((btc, "btc", 1000), (ltc, "ltc", 200)):
        (asset,) = family.assets
        assert (asset.method, asset.decimals, asset.due_decimals, asset.minimum_cents) == (method, 8, 8, minimum)
        assert (asset.stable, asset.contract) == (False, None)
        assert (family.pool_slack_seconds, family.looks_per_pass) == (600, 0)


def test_the_pure_half_loads_no_chain_library() -> None:
    names = ("coincurve", "bitcoinlib", "requests")
    program = f"import sys, payments.networks.utxo; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
