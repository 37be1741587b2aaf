"""Tron's pure half: addresses, payment texts, finality; and the addresses that its node half derives."""

import json
from pathlib import Path

import pytest
from tronpy.keys import PublicKey, to_base58check_address

from payments import hd
from payments.networks.base import Finality
from payments.networks.tron import Tron
from payments.networks.tron_node import TronNode

USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
USDT_HEX = "41a614f803b6fd780986a42c78ec9c7f77e6ded13c"
OURS = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"
VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
TRON = [name for name in VECTORS if name.startswith("TRON")]
network = Tron(usdt_contract=USDT)
trx, usdt = network.assets


# --- addresses --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", [USDT, f" {USDT}\n", USDT_HEX, USDT_HEX.upper(), "0x" + USDT_HEX])
def test_equal_addresses_become_equal_strings(text: str) -> None:
    assert network.check_address(text) == USDT == network.display(USDT) == to_base58check_address(USDT_HEX)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (USDT[:-1] + "u", "typing error"),
        (USDT[:10] + USDT[11] + USDT[10] + USDT[12:], "typing error"),
        (USDT[:-1] + "0", "typing error"),
        (USDT[:-1], "T and 33 letters"),
        (USDT + "t", "T and 33 letters"),
        ("0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "looks like an Ethereum address"),
        (USDT_HEX[2:], "T and 33 letters"),
        ("a0" + USDT_HEX[2:], "T and 33 letters"),
        ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "T and 33 letters"),
        ("", "T and 33 letters"),
        ("T" + "é" * 33, "typing error"),
    ],
)
def test_what_is_no_address(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        network.check_address(text)


def test_no_mistyped_letter_passes() -> None:
    for place in range(1, 34):
        letter = "2" if USDT[place] != "2" else "3"
        with pytest.raises(ValueError, match="typing error"):
            network.check_address(USDT[:place] + letter + USDT[place + 1 :])


@pytest.mark.parametrize("name", TRON)
def test_every_vector(name: str) -> None:
    """Our own derivation agrees with several wallets, and with tronpy's from the same public keys."""
    vector = VECTORS[name]
    node = TronNode(network, "http://127.0.0.1:1", vector["xpub"])
    derived = [node.destination(index) for index in range(len(vector["addresses"]))]
    assert derived == vector["addresses"]
    keys = [hd.receiving(vector["xpub"]).child(index).public.format(compressed=False)[1:] for index in range(5)]
    assert derived == [PublicKey(key).to_base58check_address() for key in keys]
    assert [network.check_address(address) for address in derived] == derived


def test_there_are_vectors() -> None:
    assert len(TRON) == 2


def test_a_wrong_key_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="checksum"):
        TronNode(network, "http://127.0.0.1:1", VECTORS[TRON[0]]["xpub"][:-1])


# --- payment texts ----------------------------------------------------------------------------------------------------
def test_the_code_holds_the_bare_address() -> None:
    """Wallets refuse "tron:…" or read a token's amount as TRX; the bare address they all take."""
    assert network.payment_uri(OURS, trx, 404_000_000) == OURS
    assert network.payment_uri(OURS, usdt, 100_300_000) == OURS


def test_the_full_link_exists_for_the_coin_only() -> None:
    assert network.wallet_uri(OURS, trx, 404_050_000) == f"tron:{OURS}?amount=404.05"
    assert network.wallet_uri(OURS, trx, 1) == f"tron:{OURS}?amount=0.000001"
    assert network.wallet_uri(OURS, usdt, 100_300_000) is None


def test_transactions() -> None:
    txid = "c70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08"
    assert network.check_transaction(f" 0x{txid.upper()}\n".replace("0X", "0x")) == txid
    assert network.transaction_url(txid) == f"https://tronscan.org/#/transaction/{txid}"
    for text in (txid[:-1], txid + "0", "g" + txid[1:], ""):
        with pytest.raises(ValueError, match="64 letters and digits"):
            network.check_transaction(text)


# --- assets -----------------------------------------------------------------------------------------------------------
def test_assets() -> None:
    assert (trx.method, trx.decimals, trx.due_decimals, trx.contract) == ("trx", 6, 2, None)
    assert (usdt.method, usdt.symbol, usdt.decimals, usdt.contract) == ("usdt-tron", "USDT", 6, USDT)
    assert (trx.stable, usdt.stable, trx.minimum_cents, usdt.minimum_cents) == (False, True, 200, 500)


@pytest.mark.parametrize("cents", [1, 100_000, 10_000_000])
def test_only_what_is_solid_is_final(cents: int) -> None:
    assert network.finality(cents) == Finality(19, finalized=True)


def test_a_contract_with_a_typing_error_is_refused() -> None:
    with pytest.raises(ValueError, match="typing error"):
        Tron(usdt_contract=USDT[:-1] + "u")
