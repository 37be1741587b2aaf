"""The script that the operator runs at home moves the money of the shop's Solana addresses, and nothing else."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chains.solana_chain import keypair
from solders.keypair import Keypair
from solders.pubkey import Pubkey

pytestmark = pytest.mark.chains

SCRIPT = Path(__file__).parents[2] / "docs" / "sweep" / "sweep_sol.py"
SOL = 10**9
OPERATOR, HOME = keypair("operator"), keypair("home").pubkey()


def run(folder: Path, url: str, *options: str, operator: Keypair = OPERATOR) -> str:
    file = folder / "operator.json"
    file.write_text(json.dumps(list(bytes(operator))))
    command = [sys.executable, str(SCRIPT), "--keypair", str(file), "--to", str(HOME), "--rpc", url, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def balance(chain: Any, address: str | Pubkey) -> int:
    return int(chain.runtime.get_balance(Pubkey.from_string(str(address))) or 0)


@pytest.fixture
def paid(solana: Any, solana_chain: Any, sol_payer: Any) -> dict[str, int]:
    """Ten addresses paid two hours ago, and the operator's own, which holds something for the fees."""
    solana_chain.give(OPERATOR.pubkey(), SOL)
    solana_chain.time_shift = -7200
    amounts = {solana.destination(index): SOL + index for index in range(0, 20, 2)}
    for address, lamports in amounts.items():
        sol_payer.pay(address, lamports)
    solana_chain.advance()
    solana_chain.time_shift = 0
    solana_chain.advance(2)
    return amounts


def test_the_script_derives_what_the_shop_derives(solana: Any) -> None:
    source = runpy.run_path(str(SCRIPT))["source"]
    for index in range(100):
        made = source(OPERATOR.pubkey(), index)
        assert (str(made.address), made.seed) == (solana.destination(index), solana.source.seed(index))


def test_everything_is_moved_once(tmp_path: Path, solana_chain: Any, solana_peer: Any, paid: dict[str, int]) -> None:
    said = run(tmp_path, solana_peer.url, "--count", "20", "--send")
    assert balance(solana_chain, HOME) == sum(paid.values())
    assert {balance(solana_chain, address) for address in paid} == {0}
    assert said.count("moved by") == 2  # eight in one transaction, two in another
    assert balance(solana_chain, OPERATOR.pubkey()) == SOL - 2 * 5000
    solana_chain.advance(2)
    assert "0.000000000 SOL moved" in run(tmp_path, solana_peer.url, "--count", "20", "--send")


def test_without_send_nothing_moves(tmp_path: Path, solana_chain: Any, solana_peer: Any, paid: dict[str, int]) -> None:
    said = run(tmp_path, solana_peer.url, "--count", "20")
    assert "could be moved; add --send" in said
    assert all(address in said for address in paid)
    assert balance(solana_chain, HOME) == 0


def test_what_was_paid_lately_stays_until_the_shop_has_seen_it(
    tmp_path: Path, solana: Any, solana_chain: Any, solana_peer: Any, sol_payer: Any, paid: dict[str, int]
) -> None:
    sol_payer.pay(solana.destination(4), SOL)
    solana_chain.advance(2)
    said = run(tmp_path, solana_peer.url, "--count", "20", "--send")
    assert "left alone: paid less than 60 minutes ago" in said
    assert balance(solana_chain, solana.destination(4)) == paid[solana.destination(4)] + SOL
    assert balance(solana_chain, HOME) == sum(paid.values()) - paid[solana.destination(4)]


def test_another_key_moves_nothing(tmp_path: Path, solana_chain: Any, solana_peer: Any, paid: dict[str, int]) -> None:
    said = run(tmp_path, solana_peer.url, "--count", "20", "--send", operator=keypair("thief"))
    assert "0.000000000 SOL moved" in said
    assert sum(balance(solana_chain, address) for address in paid) == sum(paid.values())
