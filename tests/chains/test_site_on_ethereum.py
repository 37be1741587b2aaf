"""The whole site on a real Ethereum node: order over HTTP, pay with a signed transaction, read "Paid"."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from visiting import answers, hidden, order, until

pytestmark = pytest.mark.chains


@pytest.fixture
def site(tmp_path: Path, anvil: Any, token: str, usdc: str, ethereum: Any) -> Iterator[httpx.Client]:
    """Serve a real installation that watches `anvil`; yield a browser-like client."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    env = kept | {
        "DATA_DIR": str(tmp_path / "data"),
        "NETWORKS": "real",
        "ETHEREUM_RPC_URL": anvil.url,
        "ETHEREUM_XPUB": ethereum.xpub,
        "ETHEREUM_CHAIN_ID": "31337",
        "USDT_ETHEREUM_CONTRACT": token,
        "USDC_ETHEREUM_CONTRACT": usdc,
        "RATE_SOURCES": "fixed",
        "FIXED_RATES": "ETH=3000,USDT=1",
        "WATCH_SECONDS": "0.5",
    }
    command = [sys.executable, "manage.py", "serve", "--demo", "--bind", f"127.0.0.1:{port}"]
    with (tmp_path / "out").open("w") as out:
        server = subprocess.Popen(command, cwd=settings.BASE_DIR, env=env, stdout=out, stderr=out)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", follow_redirects=True, timeout=20) as client:
            until(lambda: answers(client), (tmp_path / "out").read_text)
            subprocess.run([*command[:2], "loadcatalog"], cwd=settings.BASE_DIR, env=env, check=True)
            yield client
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


@pytest.mark.parametrize("method", ["eth", "usdt-ethereum"])
def test_a_signed_transaction_pays_an_order_on_the_running_site(
    site: httpx.Client, anvil: Any, payer: Any, token: str, method: str
) -> None:
    path = order(site)
    until(lambda: f'value="{method}"' in site.get(f"{path}pay/").text, lambda: site.get(f"{path}pay/").text)
    page = site.post(f"{path}pay/", data=hidden(site.get(f"{path}pay/")) | {"method": method})
    amount, address = re.findall(r'data-copy="([^"]+)"', page.text)[:2]
    digits, decimals = amount.split("."), 18 if method == "eth" else 6
    units = int(digits[0] + (digits[1] if len(digits) > 1 else "").ljust(decimals, "0"))
    if method == "eth":
        payer.pay(address, units)
    else:
        payer.pay_token(token, address, units)
    anvil.mine()
    status = f"{page.url.path}status/"
    until(lambda: "Confirming, 1 of 12" in site.get(status).text, lambda: site.get(status).text)
    anvil.mine(12)
    until(lambda: 'data-provisioning="queued"' in site.get(status).text, lambda: site.get(status).text)
    assert "Paid. An operator prepares your machine." in site.get(path).text
