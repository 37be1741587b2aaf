"""Derivation against published and cross-checked vectors, and every way a key can be the wrong one."""

import json
from pathlib import Path

import base58
import pytest

from payments import hd
from payments.hd import ExtendedKey, destination, fingerprint, receiving
from payments.networks import second_opinion
from payments.networks.base import BadAnswer
from payments.networks.ethereum import with_capitals
from payments.networks.utxo import Utxo, bitcoin, litecoin
from payments.networks.utxo_node import UtxoNode

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
ETHEREUM = [name for name in VECTORS if name.startswith("ETH ")]
UTXO = [name for name in VECTORS if name.startswith(("BTC ", "LTC "))]
XPUB = VECTORS["ETH BIP44 junk"]["xpub"]


def encode(raw: bytes) -> str:
    return base58.b58encode_check(raw).decode()


def changed(start: int, new: bytes) -> str:
    raw = base58.b58decode_check(XPUB)
    return encode(raw[:start] + new + raw[start + len(new) :])


@pytest.mark.parametrize("name", ETHEREUM)
def test_every_vector(name: str) -> None:
    vector = VECTORS[name]
    derived = [with_capitals(destination(vector["xpub"], index)) for index in range(len(vector["addresses"]))]
    assert derived == vector["addresses"]


def family_of(name: str) -> Utxo:
    return (bitcoin if name.startswith("BTC") else litecoin)("test" if "testnet" in name else "main")


@pytest.mark.parametrize("name", UTXO)
def test_every_vector_of_bitcoin_and_litecoin(name: str) -> None:
    """Derived twice: our own code and the library agree with the vector, and with each other."""
    vector = VECTORS[name]
    node = UtxoNode(family_of(name), "http://127.0.0.1:1", vector["xpub"])
    assert [node.destination(index) for index in range(len(vector["addresses"]))] == vector["addresses"]


def test_there_are_vectors() -> None:
    assert len(ETHEREUM) >= 2
    assert len(UTXO) >= 5


KINDS = [
    (bitcoin(), hd.XPUB, "1"),
    (bitcoin(), hd.YPUB, "3"),
    (bitcoin(), hd.ZPUB, "bc1q"),
    (litecoin(), hd.LTUB, "L"),
    (litecoin(), hd.MTUB, "M"),
    (litecoin(), hd.YPUB, "M"),
    (litecoin(), hd.ZPUB, "ltc1q"),
    (bitcoin("test"), hd.TPUB, ("m", "n")),
    (bitcoin("regtest"), hd.UPUB, "2"),
    (litecoin("regtest"), hd.VPUB, "rltc1q"),
    (litecoin("test"), hd.TTUB, ("m", "n")),
]


@pytest.mark.parametrize(("family", "version", "start"), KINDS)
def test_the_kind_of_key_says_the_kind_of_address(family: Utxo, version: bytes, start: str | tuple[str, ...]) -> None:
    node = UtxoNode(family, "http://127.0.0.1:1", changed(0, version))
    assert all(node.destination(index).startswith(start) for index in range(20))


@pytest.mark.parametrize(
    ("family", "version", "said"),
    [
        (bitcoin(), hd.LTUB, "This is an Ltub .* needed is an xpub or a ypub .* or a zpub"),
        (bitcoin(), hd.VPUB, "This is a vpub"),
        (litecoin(), hd.XPUB, "This is an xpub"),
        (bitcoin("regtest"), hd.ZPUB, "This is a zpub"),
        (bitcoin(), bytes.fromhex("04b2430c"), "private"),
    ],
)
def test_keys_of_another_chain_are_refused_at_start(family: Utxo, version: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        UtxoNode(family, "http://127.0.0.1:1", changed(0, version))


def test_the_same_key_of_another_kind_has_another_name() -> None:
    """Its addresses are others: what was derived before must not be handed out with it."""
    nodes = [UtxoNode(bitcoin(), "http://127.0.0.1:1", changed(0, version)) for version in hd.BITCOIN]
    assert len({node.key_fingerprint() for node in nodes}) == 3


def test_an_address_on_which_the_two_derivations_differ_is_never_given() -> None:
    def wrong(account: ExtendedKey, network: str, index: int) -> str:
        return second_opinion.main_address(account, network, index + 1)

    zpub = VECTORS["BTC BIP84 abandon"]["xpub"]
    node = UtxoNode(bitcoin(), "http://127.0.0.1:1", zpub, opinion=wrong)
    with pytest.raises(BadAnswer, match=r"Two derivations of Bitcoin address 0 differ: bc1q\w+ and bc1q"):
        node.destination(0)


def test_tokens_and_tron_accounts_give_the_same_twenty_bytes() -> None:
    """Tron hashes keys as Ethereum does, so its vectors check this code as well."""
    vector = VECTORS["TRON BIP44 abandon"]
    for index, address in enumerate(vector["addresses"]):
        assert destination(vector["xpub"], index)[2:] == base58.b58decode_check(address)[1:].hex()


@pytest.mark.parametrize("place", range(5, 110, 7))
def test_no_mistyped_letter_passes(place: int) -> None:
    letter = "2" if XPUB[place] != "2" else "3"
    with pytest.raises(ValueError, match="checksum"):
        ExtendedKey.parse(XPUB[:place] + letter + XPUB[place + 1 :])


@pytest.mark.parametrize("text", ["", "xpub", XPUB[:-1], XPUB + "1"])
def test_a_cut_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="checksum"):
        ExtendedKey.parse(text)


def test_letters_outside_the_alphabet_are_refused() -> None:
    with pytest.raises(ValueError, match="letters"):
        ExtendedKey.parse(XPUB[:-1] + "0")


@pytest.mark.parametrize("version", ["0488ade4", "04b2430c", "04358394"])
def test_a_private_key_is_refused_and_not_repeated(version: str) -> None:
    private = encode(bytes.fromhex(version) + base58.b58decode_check(XPUB)[4:45] + b"\0" + b"\7" * 32)
    with pytest.raises(ValueError, match="private") as caught:
        ExtendedKey.parse(private)
    assert private not in str(caught.value)


def test_a_private_key_with_a_typing_error_or_behind_a_public_version_is_still_called_private() -> None:
    disguised = changed(45, b"\0" + b"\7" * 32)
    with pytest.raises(ValueError, match="private"):
        ExtendedKey.parse(disguised)
    private = changed(0, bytes.fromhex("0488ade4"))
    with pytest.raises(ValueError, match="private"):
        ExtendedKey.parse(private[:-1] + ("2" if private[-1] != "2" else "3"))


@pytest.mark.parametrize(
    ("version", "said"), [("04b24746", "zpub"), ("019da462", "Ltub"), ("043587cf", "tpub"), ("deadbeef", "deadbeef")]
)
def test_keys_of_other_networks_are_named(version: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ExtendedKey.parse(changed(0, bytes.fromhex(version)))


def test_a_point_that_is_not_on_the_curve_is_refused() -> None:
    with pytest.raises(ValueError, match="no valid public key"):
        ExtendedKey.parse(changed(45, b"\2" + b"\xff" * 32))


def test_only_an_account_key_is_taken() -> None:
    with pytest.raises(ValueError, match="depth 3"):
        receiving(changed(4, b"\4"))


@pytest.mark.parametrize("index", [-1, 1 << 31])
def test_there_are_no_hardened_children(index: int) -> None:
    with pytest.raises(ValueError, match="no public child"):
        destination(XPUB, index)


def test_the_fingerprint_names_the_key() -> None:
    assert fingerprint(XPUB) == fingerprint(XPUB)
    assert fingerprint(XPUB) != fingerprint(VECTORS["ETH BIP44 abandon"]["xpub"])
    assert XPUB not in fingerprint(XPUB)
