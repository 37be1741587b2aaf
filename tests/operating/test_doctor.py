"""The check-up: what it finds, that it keeps secrets, and that no page asks a node (OPS-4, OPS-7)."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone, translation
from operating.conftest import Staff
from story import Network, cursor, make_operator

from config import checkup
from config.tasks import examine
from events import append_only
from events.heartbeat import beat
from events.models import Heartbeat
from payments import registry
from payments.actions import checkups
from payments.findings import ATTENTION, BAD, GOOD, Finding, worst
from payments.models import Checkup, NetworkCursor, RateSourceHealth, ReservedAddress
from payments.registry import families, simulated_chain
from payments.tasks import fill_reserves, sample_rates, watch_all

pytestmark = pytest.mark.django_db
XPUB = "xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def sound(network: Network, settings: Any) -> Network:
    """Return an installation in which everything was read, priced and filled just now."""
    for name in checkup.FILES:
        path: Path = settings.DATA_DIR / name
        path.write_text("x" * 50)
        path.chmod(0o600)
    for one in families():
        simulated_chain(one).mine()
    watch_all()
    fill_reserves()
    sample_rates()
    beat(timezone.now())
    return network


def said(level: str) -> list[str]:
    return [finding.found for finding in checkup.findings() if finding.level == level]


def test_a_sound_installation_is_in_order_and_shows_first_addresses(sound: Network) -> None:
    found = checkup.findings()
    assert [(one.found, one.level) for one in found if one.level != GOOD] == []
    areas = {one.title for one in found}
    assert areas == {
        "Settings", "Secrets", "Database", "Broker", "Worker", "Clock", "Disk", "Email", "Networks", "Prices",
        "Ready addresses", "Your wallet",
    }  # fmt: skip
    (mine,) = [one for one in found if one.addresses and "Ethereum" in one.found]
    stored = ReservedAddress.objects.filter(network="ethereum").order_by("index")[:5]
    assert [(index, address.lower()) for index, _path, address in mine.addresses] == [
        (row.index, row.address.lower()) for row in stored
    ]


def broken_trigger() -> None:
    append_only.lift("default")


def silent_worker() -> None:
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=5))


def other_chain() -> None:
    NetworkCursor.objects.filter(pk="ethereum").update(genesis="another")


def changed_address() -> None:
    ReservedAddress.objects.filter(network="ethereum", index=2).update(address="0x" + "ab" * 20)


def empty_reserve() -> None:
    ReservedAddress.objects.filter(network="tron").update(issued_at=timezone.now())


def stopped() -> None:
    NetworkCursor.objects.filter(pk="bitcoin").update(state="stopped", error="too deep")


@pytest.mark.parametrize(
    ("breaks", "sentence"),
    [
        (broken_trigger, "The database would let rows of history be changed"),
        (silent_worker, "The last sign of a worker is"),
        (other_chain, "Ethereum: the node is on another chain"),
        (changed_address, "Ethereum: the address with the index 2 is not the one that the key makes."),
        (empty_reserve, "Tron: only 0 addresses are ready"),
        (stopped, "Bitcoin: stopped: too deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_meaning_and_what_to_do(sound: Network, breaks: Any, sentence: str) -> None:
    breaks()
    try:
        found = [one for one in checkup.findings() if one.level == BAD and one.found.startswith(sentence)]
    finally:
        append_only.install("default")
    assert len(found) == 1 and found[0].meaning and found[0].to_do


def test_a_source_that_disagrees_or_is_silent_is_named(sound: Network) -> None:
    RateSourceHealth.objects.filter(pk="fixed").update(error="It answered nothing.")
    assert any("fixed last answered" in text and "It answered nothing." in text for text in said(ATTENTION))


def test_secrets_that_others_may_read_are_told(sound: Network, settings: Any) -> None:
    (settings.DATA_DIR / "field_key").chmod(0o644)
    assert said(BAD) == ["Others on this machine may read the file field_key (mode 644)."]


def test_a_second_provider_is_looked_at_too(sound: Network) -> None:
    sound.chain.second_provider("agrees")
    assert "Ethereum: the second provider is 0 blocks away." in said(GOOD)


def real_ethereum(settings: Any, url: str) -> None:
    """Point the installation to a real Ethereum at an address; nothing else changes."""
    settings.NETWORKS_KIND, settings.NETWORKS_OFFERED = "real", ["ethereum"]
    settings.ETHEREUM_RPC_URL, settings.ETHEREUM_XPUB = url, XPUB
    settings.RATE_SOURCES = ["fixed"]
    registry.families.cache_clear()


@pytest.fixture
def silent_node() -> Iterator[str]:
    """Yield the address of a node that takes every connection and hangs up at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def hang_up() -> None:
            server.settimeout(0.1)
            while not over.is_set():
                try:
                    server.accept()[0].close()
                except TimeoutError:
                    continue

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield f"http://user:hunter2password@127.0.0.1:{server.getsockname()[1]}/v3/0123456789abcdefsecret"
        over.set()
        thread.join()


def test_no_secret_and_no_key_is_ever_said(
    sound: Network, settings: Any, silent_node: str, capsys: pytest.CaptureFixture[str]
) -> None:
    real_ethereum(settings, silent_node)
    NetworkCursor.objects.filter(pk="ethereum").update(error=f"{silent_node} did not answer")
    try:
        with pytest.raises(SystemExit) as ended:
            call_command("doctor")
        kept = str([one.as_json() for one in checkup.findings()])
    finally:
        settings.NETWORKS_KIND = "simulated"
        registry.families.cache_clear()
    text = capsys.readouterr().out + kept
    assert ended.value.code == 1 and "Ethereum: the node does not answer" in text
    for secret in (
        "hunter2password", "0123456789abcdefsecret", XPUB, XPUB[:20], settings.SECRET_KEY, *settings.FIELD_KEYS,
        settings.ADDRESS_SEAL_KEY, *settings.RECEIPT_KEYS,
    ):  # fmt: skip
        assert secret not in text
    assert "m/44'/60'/0'/0/0" in text  # its addresses are there to be compared


def test_the_command_says_by_its_status_how_it_is(sound: Network, capsys: pytest.CaptureFixture[str]) -> None:
    for status, words in ((0, "0 wrong, 0 to look at"), (1, "WRONG Bitcoin: stopped")):
        if status:
            stopped()
        with pytest.raises(SystemExit) as ended:
            call_command("doctor")
        assert ended.value.code == status and words in capsys.readouterr().out
    assert worst([Finding("", GOOD, ""), Finding("", ATTENTION, "")]) == ATTENTION


# --- the page ---------------------------------------------------------------------------------------------------
def test_the_page_asks_a_worker_and_shows_what_it_kept(
    sound: Network, staff: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-7: the web process asks no node."""
    client = staff("operator")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a page asked a node")

    with monkeypatch.context() as web:
        web.setattr(registry, "node", refuse)
        web.setattr("payments.examining.nodes.node", refuse)
        assert "Nothing was checked yet." in client.get(reverse("admin:doctor")).content.decode()
        page = client.post(reverse("admin:doctor_ask"), follow=True).content.decode()
        assert "A check-up was asked for" in page and "every 2s" in page
        client.post(reverse("admin:doctor_ask"))
        assert Checkup.objects.count() == 1
    examine()
    with monkeypatch.context() as web:
        web.setattr(registry, "node", refuse)
        part = client.get(reverse("admin:doctor_status")).content.decode()
    assert "Check again" in part and "every 2s" not in part
    assert "Ethereum: the node answers" in part and "in order" in part
    asked = Checkup.objects.get()
    assert asked.asked_by and asked.asked_by.email == "operator@example.com"


def test_asking_is_a_post_and_not_for_support(sound: Network, staff: Staff) -> None:
    assert staff("operator").get(reverse("admin:doctor_ask")).status_code == 405
    client = staff("support")
    assert client.get(reverse("admin:doctor")).status_code == 403
    assert client.post(reverse("admin:doctor_ask")).status_code == 403
    assert not Checkup.objects.exists()


def test_a_check_up_is_read_in_the_readers_language(sound: Network, staff: Staff) -> None:
    """A worker keeps it untranslated: the text of a finding is a message, its facts are values."""
    checkups.ask(actor=make_operator())
    examine()
    row = next(one for one in Checkup.objects.get().findings if one["fact"].startswith("%(network)s: read up"))
    assert row["facts"]["network"] and "%(height)s" in row["fact"]


def test_one_check_up_waits_at_a_time_and_a_killed_worker_leaves_it_to_the_next(sound: Network) -> None:
    first = checkups.ask(actor=make_operator())
    with pytest.raises(IntegrityError), transaction.atomic():
        Checkup.objects.create()
    claimed = checkups.claim()
    assert claimed == first and checkups.claim() is None
    Checkup.objects.update(started_at=timezone.now() - checkups.LEASE - timedelta(seconds=1))
    again = checkups.claim()
    assert again == first
    assert claimed is not None and again is not None
    checkups.settle(claimed, [])  # too late: another one is at it
    assert Checkup.objects.get().waits
    checkups.settle(again, [Finding("Disk", GOOD, "fine")])
    assert not Checkup.objects.get().waits and Checkup.objects.get().findings


def test_old_check_ups_are_forgotten(sound: Network) -> None:
    operator = make_operator()
    for _ in range(checkups.KEPT + 3):
        checkups.ask(actor=operator)
        if claimed := checkups.claim():
            checkups.settle(claimed, [])
    assert Checkup.objects.count() == checkups.KEPT
    assert cursor().pk == "ethereum"
