"""Solana's pure half, and the addresses it gives: from a public key, or from the operator's list."""

import json
import subprocess
import sys
import time
from pathlib import Path

import base58
import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM

from payments.networks import solana_keys
from payments.networks.base import Finality
from payments.networks.solana import Solana
from payments.networks.solana_keys import ListUsedUp, SeedSource, source

network = Solana()
(sol,) = network.assets
PAIR = Keypair.from_seed(bytes(range(32)))
KEY = str(PAIR.pubkey())
SIGNATURE = str(PAIR.sign_message(b""))
SYSTEM_ADDRESS = "1" * 32


# --- texts ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lamports", "amount"),
    [(1, "0.000000001"), (2_000_000, "0.002"), (10**9, "1"), (1_500_000_000, "1.5"), (123 * 10**17, "12300000000")],
)
def test_the_link_of_solana_pay_has_plain_decimals(lamports: int, amount: str) -> None:
    assert network.wallet_uri(KEY, sol, lamports) == f"solana:{KEY}?amount={amount}"


def test_the_code_to_scan_is_the_bare_address() -> None:
    """Wallets that follow Solana Pay to the letter refuse an address that holds nothing yet; ours always are such."""
    assert network.payment_uri(KEY, sol, 5) == KEY


@pytest.mark.parametrize("text", [KEY, f" {KEY}\n", SYSTEM_ADDRESS])
def test_addresses_are_kept_as_they_are(text: str) -> None:
    assert network.check_address(text) == network.display(text.strip()) == text.strip()


@pytest.mark.parametrize(
    "text", ["", KEY[:-1], KEY + "11", "z" * 44, KEY.replace(KEY[5], "0"), "0x" + "ab" * 20, SIGNATURE, "é" * 40]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match=r"Solana address has|letter is missing"):
        network.check_address(text)


def test_transactions_keep_their_capitals() -> None:
    assert network.check_transaction(f"\t{SIGNATURE} ") == SIGNATURE
    for wrong in ("", KEY, SIGNATURE[:-2], SIGNATURE + "1", SIGNATURE.replace(SIGNATURE[3], "l"), "ab" * 32):
        with pytest.raises(ValueError, match=r"Solana transaction has|letter is missing"):
            network.check_transaction(wrong)


def test_pages_of_explorers() -> None:
    assert network.transaction_url("x") == "https://solscan.io/tx/x"
    assert Solana(cluster="devnet").transaction_url("x") == "https://solscan.io/tx/x?cluster=devnet"
    assert Solana(cluster="local").transaction_url("x") is None


def test_only_the_networks_own_finality_counts() -> None:
    assert network.finality(1) == network.finality(10**9) == Finality(1, finalized=True)


def test_an_unknown_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="mainnet, devnet or local"):
        Solana(cluster="testing")


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-66"])
def test_nothing_below_what_a_fresh_address_must_hold_is_asked_for(case: str) -> None:
    assert (sol.minimum_cents, sol.minimum_amount) == (100, 2_000_000)
    assert sol.minimum_amount > 890_880


def test_the_pure_half_loads_no_chain_library() -> None:
    program = "import sys, payments.networks.solana; sys.exit('solders' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0


# --- addresses of a public key ----------------------------------------------------------------------------------------
def test_addresses_are_made_of_the_key_and_a_counted_seed() -> None:
    made = SeedSource(PAIR.pubkey())
    for index in range(200):
        address = Pubkey.from_string(made.destination(index))
        seed = made.seed(index)
        assert address == Pubkey.create_with_seed(PAIR.pubkey(), seed, SYSTEM)
        assert address.is_on_curve()
        assert len(seed) <= 32
        assert seed.startswith(f"gridlot:{index}:")
    assert len({made.destination(index) for index in range(200)}) == 200


def test_addresses_never_change() -> None:
    """Known answers: another way to count would lose the way to money that lies there."""
    made = SeedSource(PAIR.pubkey())
    assert [(made.seed(n), made.destination(n)) for n in (0, 1, 2, 2**31 - 1)] == [
        ("gridlot:0:3", "7Ftg3KdzoYrjkUZQqcxuYzzraViUuR8LrP7XSFyBNaa7"),
        ("gridlot:1:2", "2h9GBscTw1KL7Yq98DzkSbLAJ57L3Bh25Z2CjfXpSWMw"),
        ("gridlot:2:2", "HnjT7XzPJmKTwtXyMU2Xsp3H8xG5UQKPjCCzPkm8sZNY"),
        ("gridlot:2147483647:0", "AX9T81sg6XvgSaYN1NE3JxXLEPzGRHzkNoBNYHzwXMHe"),
    ]


def test_deriving_is_cheap() -> None:
    made, began = source(KEY), time.perf_counter()
    for index in range(2000):
        made.destination(index)
    assert time.perf_counter() - began < 1


def test_a_key_has_a_short_public_name() -> None:
    assert source(KEY).fingerprint() == source(f" {KEY} ").fingerprint()
    assert source(KEY).fingerprint() != source(str(Keypair().pubkey())).fingerprint()


WORDS = " ".join(["abandon"] * 11 + ["about"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (base58.b58encode(bytes(PAIR)).decode(), "private key"),
        (json.dumps(list(bytes(PAIR))), "private key"),
        (PAIR.to_json(), "private key"),
        (WORDS, "private key"),
        ("", "32 bytes"),
        (KEY[:-1], "32 bytes"),
        (KEY + "11", "32 bytes"),
        ("0" + KEY[1:], "letters that no"),
        ("é" * 32, "letters that no"),
        (SYSTEM_ADDRESS, "no wallet's address"),
        (str(Pubkey.find_program_address([b"x"], PAIR.pubkey())[0]), "no wallet's address"),
        ("file:/nowhere/at/all", "can't be read: No such file"),
        ("file:/", "can't be read"),
    ],
)
def test_a_wrong_key_is_refused_and_not_repeated(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        source(text)
    assert not text or text not in str(caught.value)


# --- the operator's list ----------------------------------------------------------------------------------------------
ADDRESSES = [str(Keypair.from_seed(bytes([n] * 32)).pubkey()) for n in range(1, 6)]


def written(folder: Path, *lines: str) -> str:
    path = folder / "addresses.txt"
    path.write_text("\n".join(lines))
    return f"file:{path}"


def test_a_list_gives_its_addresses_in_order(tmp_path: Path) -> None:
    given = source(written(tmp_path, "# cold wallet", "", ADDRESSES[0], f"  {ADDRESSES[1]}\t", ADDRESSES[2], ""))
    assert [given.destination(index) for index in range(3)] == ADDRESSES[:3]


def test_a_list_that_ends_says_so(tmp_path: Path) -> None:
    given = source(written(tmp_path, *ADDRESSES))
    for index in (5, 6, -1):
        with pytest.raises(ListUsedUp, match="ends at number 5: add more"):
            given.destination(index)


def test_a_list_may_grow_at_its_end(tmp_path: Path) -> None:
    """Its name stays the same, so the addresses already made from it stay good."""
    before = source(written(tmp_path, *ADDRESSES[:3]))
    after = source(written(tmp_path, *ADDRESSES))
    assert after.destination(4) == ADDRESSES[4]
    assert after.fingerprint() == before.fingerprint()
    assert source(written(tmp_path, *ADDRESSES[1:])).fingerprint() != before.fingerprint()


SECRET = base58.b58encode(bytes(PAIR)).decode()


@pytest.mark.cases
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([*ADDRESSES, ADDRESSES[1]], "Line 6 .* repeats line 2", id="case-37"),
        pytest.param(["# mine", ADDRESSES[0], f" {ADDRESSES[0]} "], "Line 3 .* repeats line 2", id="case-37-spaces"),
        pytest.param([ADDRESSES[0], ADDRESSES[1][:-2]], "Line 2 .* 32 bytes", id="case-37-short"),
        pytest.param([ADDRESSES[0], f"{ADDRESSES[1]},1.5"], "Line 2 .* letters that no", id="case-37-comma"),
        pytest.param([SYSTEM_ADDRESS], "Line 1 .* no wallet's address", id="case-37-program"),
        pytest.param([ADDRESSES[0], SECRET], "Line 2 .* private key", id="case-37-private"),
        pytest.param(["", "# nothing"], "is empty", id="case-37-empty"),
    ],
)
def test_a_wrong_line_is_named_and_not_repeated(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        source(written(tmp_path, *lines))
    assert not [line for line in lines if len(line) > 20 and line in str(caught.value)]


def test_a_list_is_read_once(tmp_path: Path) -> None:
    solana_keys._read_list.cache_clear()
    setting = written(tmp_path, *ADDRESSES)
    assert source(setting) is source(setting)
