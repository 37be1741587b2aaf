"""The web process stays small: no chain library is loaded by it, not even by the pages about paying."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PROGRAM = Path(__file__).with_name("web_process.py")


PRICES = "BTC=100000,LTC=100,ETH=3000,USDT=1,USDC=1,TRX=1,SOL=200"
REAL = {"NETWORKS": "real", "RATE_SOURCES": "fixed", "FIXED_RATES": PRICES}


@pytest.mark.parametrize("more", [{}, REAL], ids=["simulated", "real"])
def test_web_process_loads_no_chain_library(tmp_path: Path, more: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"DATA_DIR": str(tmp_path), "PYTHONPATH": str(settings.BASE_DIR), "DEBUG": "1"} | more
    finished = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split() == ["loaded:"]
