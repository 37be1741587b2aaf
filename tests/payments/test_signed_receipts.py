"""Signed receipts and the program that checks them: what was changed anywhere is refused."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings as project
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from story import make_customer

from payments.models import Installation, PaymentIntent
from payments.receipts import receipt_of
from payments.signed_receipts import canonical, message, named, private_keys, public_keys, signed

PROGRAM = Path(project.BASE_DIR) / "static" / "verify_receipt.py"
spec = importlib.util.spec_from_file_location("verify_receipt", PROGRAM)
assert spec and spec.loader
checker: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("public", "text", "signature"), VECTORS)
def test_the_checker_knows_ed25519(public: str, text: str, signature: str) -> None:
    key, said, sign = bytes.fromhex(public), bytes.fromhex(text), bytes.fromhex(signature)
    assert checker.is_signed(key, said, sign)
    assert not checker.is_signed(key, said + b"x", sign)
    for place in range(64):
        assert not checker.is_signed(key, said, sign[:place] + bytes([sign[place] ^ 1]) + sign[place + 1 :])
    s = int.from_bytes(sign[32:], "little") + checker.ORDER  # the same signature written another way
    assert not checker.is_signed(key, said, sign[:32] + s.to_bytes(32, "little"))


def test_the_checker_agrees_with_the_library() -> None:
    for number in range(20):
        key = Ed25519PrivateKey.from_private_bytes(os.urandom(32))
        said = os.urandom(number * 7)
        public = key.public_key().public_bytes_raw()
        assert checker.is_signed(public, said, key.sign(said))
        assert not checker.is_signed(os.urandom(32), said, key.sign(said))


def receipt(shop: Any, *, percent: int = 100) -> bytes:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * percent // 100)
    shop.block(4)
    order.refresh_from_db()
    return signed(receipt_of(order), Installation.objects.get(), now=timezone.now())


def refused(raw: bytes) -> bool:
    try:
        checker.verify(raw)
    except (checker.Refused, checker.Unreadable):
        return True
    return False


def signed_again(raw: bytes, change: Any) -> bytes:
    """Change the content and sign it again, as a shop would that lies about its own sums."""
    content = json.loads(raw)
    change(content["receipt"])
    del content["signature"]
    return canonical(content | {"signature": private_keys()[0].sign(message(content)).hex()}) + b"\n"


@pytest.mark.django_db
@pytest.mark.parametrize("percent", [100, 103, 150])
def test_a_receipt_is_right(shop: Any, percent: int) -> None:
    content = checker.verify(receipt(shop, percent=percent))
    [instructions] = content["receipt"]["instructions"]
    assert content["receipt"]["totals_usd"]["paid"] == "100.00"
    assert instructions["prices"][0] | {"received_at": ""} == {"source": "fixed", "price": "3000", "received_at": ""}
    assert instructions["transfers"][0]["block_hash"] and instructions["transfers"][0]["credits"][0]["ledger"]
    assert content["receipt"]["issued_at"].endswith("+00:00")


@pytest.mark.django_db
def test_late_money_and_a_shortfall_are_right_too(shop: Any) -> None:
    order = shop.order()
    short, late = shop.ask(order), None
    shop.network.pay(short, short.amount * 997 // 1000)
    shop.block(4)
    order.refresh_from_db()
    text = signed(receipt_of(order), Installation.objects.get(), now=timezone.now())
    assert checker.verify(text)["receipt"]["totals_usd"]["tolerance"] == "0.30"
    other = shop.order()
    late = shop.ask(other)
    shop.end_of(late, plus=60)
    shop.network.price()
    shop.network.pay(late)
    shop.block(4)
    content = checker.verify(signed(receipt_of(other), Installation.objects.get(), now=timezone.now()))
    assert content["receipt"]["instructions"][0]["transfers"][0]["credits"][0]["market_rate"] == "3000"
    in_parts = shop.ask(third := shop.order())
    for part in (3, 4, 2, 1):
        shop.network.pay(in_parts, in_parts.amount * part // 10 + (part == 1))
    shop.block(4)
    third.refresh_from_db()
    assert checker.verify(signed(receipt_of(third), Installation.objects.get(), now=timezone.now()))


@pytest.mark.django_db
def test_one_byte_changed_anywhere_is_refused(shop: Any) -> None:
    raw = receipt(shop)
    checker.verify(raw)
    kept = [place for place in range(len(raw)) if not refused(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])]
    assert not kept
    for other in (raw + b" ", raw[:-1], b" " + raw, raw.replace(b'":', b'": ', 1), raw[:-2] + b',"x":1}\n', b"", b"{}"):
        assert refused(other)


LIES = {
    "a credit of more": lambda r: credit(r).update(usd="200.00"),
    "a promise of more": lambda r: r["instructions"][0].update(usd="200.00"),
    "a better rate": lambda r: r["instructions"][0].update(rate="9000"),
    "a market that nobody saw": lambda r: r["instructions"][0]["prices"][0].update(price="1"),
    "a total of more": lambda r: r["totals_usd"].update(paid="200.00"),
    "a shortfall given away": lambda r: r["instructions"][0].update(tolerance_usd="50.00"),
    "a transfer that was larger": lambda r: r["instructions"][0]["transfers"][0].update(amount="5"),
    "a credit in no ledger": lambda r: r.update(ledger=[]),
    "an amount with an exponent": lambda r: r["totals_usd"].update(due="1e4"),
    "a settled promise without money": lambda r: r["instructions"][0].update(transfers=[]),
    "a total that is missing": lambda r: r["totals_usd"].pop("paid"),
    "a transfer credited twice": lambda r: r["instructions"][0]["transfers"][0]["credits"].append(dict(credit(r))),
}


def credit(receipt: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = receipt["instructions"][0]["transfers"][0]["credits"][0]
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("lie", LIES)
def test_sums_that_do_not_add_up_are_refused_though_they_are_signed(shop: Any, lie: str) -> None:
    raw = receipt(shop)
    assert not refused(signed_again(raw, lambda r: None))
    with pytest.raises(checker.Refused):
        checker.verify(signed_again(raw, LIES[lie]))


@pytest.mark.django_db
def test_a_new_key_signs_and_the_old_one_stays_published(shop: Any, settings: Any, client: Client) -> None:
    old = json.loads(receipt(shop))
    settings.RECEIPT_KEYS = ["a new key" * 5, *settings.RECEIPT_KEYS]
    new = json.loads(receipt(shop))
    assert old["key"] != new["key"]
    published = client.get(reverse("payments:receipt_key")).json()["keys"]
    assert published == [new["key"], old["key"]] == public_keys()


@pytest.mark.django_db
def test_the_file_is_for_its_customer_alone(shop: Any, client: Client) -> None:
    receipt(shop)
    number = PaymentIntent.objects.get().purpose.number
    url = reverse("payments:receipt_json", args=[number])
    assert client.get(url).status_code == 302
    client.force_login(make_customer("eve@example.com"))
    assert client.get(url).status_code == 404
    client.force_login(shop.customer)
    answer = client.get(url)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="receipt-{number}.json"'
    assert checker.verify(answer.content)["receipt"]["number"] == number
    assert shop.customer.email not in answer.content.decode()
    assert client.get(reverse("payments:receipt_json", args=["nothing"])).status_code == 404


@pytest.mark.django_db
def test_a_forged_receipt_can_neither_write_lines_of_its_own_nor_steer_the_terminal(
    shop: Any, capsys: Any, tmp_path: Path
) -> None:
    """Anybody can make a key: the words about the key must be the program's, and seen."""
    forger = Ed25519PrivateKey.generate()
    content = json.loads(receipt(shop)) | {"key": named(forger)}
    del content["signature"]
    content["receipt"]["instructions"][0]["transfers"][0]["txid"] = "ab\n\nSigned with the key of the shop\x1b[8m\ud800"
    forged = canonical(content | {"signature": forger.sign(message(content)).hex()}) + b"\n"
    (tmp_path / "receipt.json").write_bytes(forged)
    assert checker.main([str(tmp_path / "receipt.json")]) == checker.UNKNOWN_KEY
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("Signed with")] == [
        f"Signed with the key {content['key']['id']}:"
    ]
    assert said.replace("\n", "").isprintable()


@pytest.mark.django_db
def test_the_program_says_by_its_exit_what_it_found(shop: Any, tmp_path: Path) -> None:
    raw, key = receipt(shop), public_keys()[0]["public"]
    file = tmp_path / "receipt.json"

    def run(text: bytes, *more: str) -> tuple[int, str]:
        file.write_bytes(text)
        ended = subprocess.run(
            [sys.executable, "-I", str(PROGRAM), str(file), *more], capture_output=True, text=True, cwd=tmp_path
        )
        return ended.returncode, ended.stdout + ended.stderr

    assert run(raw, "--key", key)[0] == 0
    status, said = run(raw)
    assert status == 3 and key in said and "Compare in an explorer of Ethereum" in said
    assert run(raw.replace(b"100.00", b"900.00"))[0] == 1
    assert run(raw, "--key", "0" * 64)[0] == 1
    assert run(b"hello")[0] == 2
    assert run(raw.replace(b"gridlot-receipt/1", b"gridlot-receipt/9"))[0] == 2
