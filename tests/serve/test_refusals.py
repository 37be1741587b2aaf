"""What a person can put right is said in one sentence, and the data stay as they were."""

import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from config import preflight

# The account key of a mnemonic that everybody knows.
XPUB = "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt"
Contents = Callable[[Path], dict[str, object]]
Serve = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(installation: Path, tmp_path: Path) -> Path:
    """Return a copy of a data folder that was in use."""
    return Path(shutil.copytree(installation, tmp_path / "data"))


def is_one_sentence(text: str, *parts: str) -> bool:
    return text.count("\n") == 1 and all(part in text for part in parts)


def test_port_in_use(serve: Serve, folder: Path, contents: Contents) -> None:
    before = contents(folder)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = serve(folder, port)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, f"Port {port} is already in use", "./run")
    assert contents(folder) == before


def test_full_disk(serve: Serve, folder: Path, port: int, contents: Contents) -> None:
    before = contents(folder)
    ended = serve(folder, port, disk_is_full=True)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, str(folder), "is full", "nothing is lost")
    assert contents(folder) == before


def test_data_folder_that_cannot_be_made(serve: Serve, tmp_path: Path, port: int) -> None:
    (tmp_path / "file").write_text("")
    ended = serve(tmp_path / "file" / "data", port)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, "DATA_DIR", "cannot be made")


@pytest.mark.parametrize("more", [{}, {"ETHEREUM_RPC_URL": "http://127.0.0.1:1", "ETHEREUM_XPUB": XPUB}])
def test_demo_data_started_as_real(
    serve: Serve, folder: Path, port: int, contents: Contents, more: dict[str, str]
) -> None:
    before = contents(folder)
    ended = serve(folder, port, NETWORKS="real", **more)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, "simulated", "NETWORKS=real")
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({}, "ETHEREUM_RPC_URL and ETHEREUM_XPUB"),
        ({"ETHEREUM_RPC_URL": "http://127.0.0.1:1", "ETHEREUM_XPUB": XPUB[:-1]}, "ETHEREUM_XPUB"),
        ({"ETHEREUM_RPC_URL": "127.0.0.1:8545", "ETHEREUM_XPUB": XPUB}, "ETHEREUM_RPC_URL"),
    ],
)
def test_real_networks_need_a_node_and_a_key(
    serve: Serve, tmp_path: Path, port: int, more: dict[str, str], part: str
) -> None:
    ended = serve(tmp_path, port, NETWORKS="real", **more)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, part)


@pytest.mark.parametrize(
    ("setting", "value", "part"),
    [
        ("NETWORKS", "imaginary", "NETWORKS"),
        ("DATABASE_URL", "mysql://localhost/shop", "DATABASE_URL"),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/shop", "cannot be reached"),
        ("REDIS_URL", "redis://127.0.0.1:1/0", "cannot be reached"),
        ("WATCH_SECONDS", "often", "WATCH_SECONDS"),
        ("WATCH_SECONDS", "0", "WATCH_SECONDS"),
        ("SIMULATED_BLOCK_SECONDS", "-1", "SIMULATED_BLOCK_SECONDS"),
        ("FIXED_RATES", "ETH=abc", "FIXED_RATES"),
        ("FIXED_RATES", "ETH=1e30", "FIXED_RATES"),
        ("RATE_SOURCES", "kraken", "at least two public sources"),
        ("USDT_ETHEREUM_CONTRACT", "0x12", "USDT_ETHEREUM_CONTRACT"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL"),
        ("SECRET_KEY", "short", "SECRET_KEY"),
        ("ADDRESS_SEAL_KEY", "changeme", "ADDRESS_SEAL_KEY"),
        ("SECRET_KEY_FILE", "/nowhere/secret", "SECRET_KEY"),
        ("EMAIL_URL", "mail.example:25", "EMAIL_URL"),
        ("EMAIL_URL", "smtp://shop:secret@mail.example", "in the clear"),
        ("OPERATOR_EMAILS", "olga@shop.example", "EMAIL_URL"),
        ("OPERATOR_WEBHOOK", "ftp://chat.example", "OPERATOR_WEBHOOK"),
    ],
)
def test_wrong_setting(
    serve: Serve, folder: Path, port: int, contents: Contents, setting: str, value: str, part: str
) -> None:
    before = contents(folder)
    ended = serve(folder, port, **{setting: value})
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr, part)
    assert contents(folder) == before


@pytest.mark.parametrize(("share", "fits"), [(50, True), (500, True), (501, False), (10_000, False), (-1, False)])
def test_case_1_a_tolerance_over_five_percent(settings: Settings, share: int, fits: bool) -> None:
    settings.TOLERANCE_STABLE = (share, 50)
    if fits:
        preflight.own_values()
    else:
        with pytest.raises(preflight.CannotStart, match="TOLERANCE_STABLE"):
            preflight.own_values()


def test_a_socket_without_a_proxy(tmp_path: Path) -> None:
    """Clients of a socket have no address, and guesses of passwords could not be counted: sign-in would answer 403."""
    with pytest.raises(preflight.CannotStart, match="TRUSTED_PROXY_COUNT"):
        preflight.address(f"unix:{tmp_path / 'gridlot.sock'}")
