"""Solana nodes that answer badly: what is tried again (Unavailable) and what somebody is told (BadAnswer).

The node is the peer of tests/chains: its transactions are really signed, and one answer of it is spoiled.
"""

import base64
import copy
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

import pytest
from chains.solana_chain import Json, SolanaChain, keypair
from chains.solana_fixtures import SolanaPayer
from chains.solana_rpc import SolanaPeer
from pytest_httpserver import HTTPServer
from werkzeug import Response

from payments.networks.base import BadAnswer, Cursor, ForeignChain, Held, Key, Unavailable
from payments.networks.solana import Solana
from payments.networks.solana_node import SolanaNode

KEY = str(keypair("operator").pubkey())
SOL = 10**9
REMOVED = object()


class Error(dict[str, Any]):
    """An answer that is a JSON-RPC error."""


class SpoiledPeer(SolanaPeer):
    """`spoil` changes the results of one method."""

    def __init__(self) -> None:
        self.spoiled: dict[str, Callable[[Any], Any]] = {}
        super().__init__(SolanaChain())

    def spoil(self, method: str, change: Callable[[Any], Any]) -> None:
        self.spoiled[method] = change

    def answer(self, request: Json) -> Json:
        answer = super().answer(request)
        if "result" in answer and request["method"] in self.spoiled:
            result = self.spoiled[request["method"]](copy.deepcopy(answer.pop("result")))
            answer |= result if isinstance(result, Error) else {"result": result}
        return answer


@pytest.fixture
def peer() -> Iterator[SpoiledPeer]:
    peer = SpoiledPeer()
    yield peer
    peer.stop()


@pytest.fixture
def node(peer: SpoiledPeer) -> SolanaNode:
    url = peer.url.replace("//", "//user:password@") + "/v3/secret"
    return SolanaNode(Solana(cluster="local"), url, KEY, timeout=8)


@pytest.fixture
def payment(peer: SpoiledPeer, node: SolanaNode) -> Key:
    """One payment to our first address, finalized."""
    payer = SolanaPayer(peer.chain)
    txid = payer.pay(node.destination(0), SOL)
    peer.chain.advance()
    return Key(txid, "account:1", node.destination(0), SOL)


def on(url: str, timeout: float = 8) -> SolanaNode:
    return SolanaNode(Solana(cluster="local"), url, KEY, timeout)


def look(node: SolanaNode) -> Any:
    return node.scan(Cursor(""), set, [Held(node.destination(0))])


def every_verb(node: SolanaNode) -> list[Callable[[], Any]]:
    key = Key(str(keypair("x").sign_message(b"")), "account:1", node.destination(0), 1)
    return [
        node.genesis,
        node.head,
        lambda: look(node),
        lambda: node.confirm([key]),
        lambda: node.look_up(key.txid),
        lambda: node.used([node.destination(0)]),
    ]


def test_the_peer_is_read_when_nothing_is_wrong(node: SolanaNode, payment: Key) -> None:
    (transfer,) = look(node).transfers
    assert (transfer.txid, transfer.position, transfer.amount) == (payment.txid, payment.position, SOL)
    (confirmation,) = node.confirm([payment])
    assert confirmation is not None


# --- transport --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response("{}", 429), "HTTP status 429: it limits"),
        (Response("{}", 401), "HTTP status 401: it wants other credentials"),
        (Response("{}", 403), "HTTP status 403: it refuses us"),
        (Response("down", 500), "HTTP status 500"),
        (Response("down", 503), "HTTP status 503"),
        (Response("", 302, {"Location": "/elsewhere"}), "HTTP status 302"),
        (Response('{"jsonrpc": "2.0", "id": 1, "resu'), "broken JSON"),
        (Response("<html>"), "broken JSON"),
        (Response(""), "broken JSON"),
        (Response('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": "behind by 42 slots"}}'), "behind"),
        (Response('{"jsonrpc": "2.0", "id": 1, "error": "no"}'), "refused .*no"),
    ],
)
def test_what_is_tried_again(httpserver: HTTPServer, response: Response, said: str) -> None:
    httpserver.expect_request("/").respond_with_response(response)
    for ask in every_verb(on(httpserver.url_for("/"))):
        with pytest.raises(Unavailable, match=f"The Solana node at localhost:\\d+ .*{said}"):
            ask()


@pytest.mark.parametrize("body", ["[]", "null", "5", '"text"', "{}", '{"jsonrpc": "2.0", "id": 1}', "[1, 2]"])
def test_what_somebody_is_told(httpserver: HTTPServer, body: str) -> None:
    httpserver.expect_request("/").respond_with_data(body)
    for ask in every_verb(on(httpserver.url_for("/"))):
        with pytest.raises(BadAnswer):
            ask()


def test_a_node_that_sends_a_byte_now_and_then() -> None:
    """Each byte comes in time for a socket's timeout; only the deadline of the whole answer ends it."""
    began = time.monotonic()
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as threads:
        threads.submit(drip, server)
        node = on(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.3)
        with pytest.raises(Unavailable, match="did not answer within"):
            node.head()
    assert time.monotonic() - began < 2


def drip(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            time.sleep(0.05)
            connection.sendall(b" ")


def test_an_answer_that_is_cut_off(httpserver: HTTPServer) -> None:
    headers = {"Content-Length": "1000"}
    httpserver.expect_request("/").respond_with_response(Response('{"jsonrpc"', headers=headers))
    with pytest.raises(Unavailable):
        on(httpserver.url_for("/")).head()


def test_nobody_there_and_no_credentials_in_messages() -> None:
    with pytest.raises(Unavailable) as caught:
        on("http://user:password@127.0.0.1:1/v3/secret").head()
    assert str(caught.value) == "The Solana node at 127.0.0.1:1 does not answer."


def test_messages_hold_no_credentials(node: SolanaNode, peer: SpoiledPeer) -> None:
    said = []
    for spoiled in (Error(error={"code": 1, "message": "no"}), {"number": 5}, None):
        peer.spoil("getSlot", always(spoiled))
        with pytest.raises((Unavailable, BadAnswer)) as caught:
            node.head()
        said.append(str(caught.value))
    assert not [text for text in said if "secret" in text or "password" in text]


# --- answers that can't be right --------------------------------------------------------------------------------------
def change(field: str, value: Any) -> Callable[[Any], Any]:
    """Change a field of an answer, "meta.err" inside it; without value: remove it."""

    def apply(answer: Any) -> Any:
        target, names = answer, [int(name) if name.isdecimal() else name for name in field.split(".")]
        for name in names[:-1]:
            target = target[name]
        if value is REMOVED:
            del target[names[-1]]
        else:
            target[names[-1]] = value
        return answer

    return apply


def always(answer: Any) -> Callable[[Any], Any]:
    return lambda _: answer


def refusal(code: int) -> Callable[[Any], Any]:
    return always(Error(error={"code": code, "message": "not this time"}))


def another_amount(answer: Any) -> Any:
    """Keep the signature and claim another message: ten times the amount."""
    raw = base64.b64decode(answer["transaction"][0])
    spoiled = raw.replace(SOL.to_bytes(8, "little"), (10 * SOL).to_bytes(8, "little"))
    assert spoiled != raw
    answer["transaction"][0] = base64.b64encode(spoiled).decode()
    return answer


def made_up_account(answer: Any) -> Any:
    """Claim that the transaction named one account more, through a lookup table, and that it received money."""
    meta = answer["meta"]
    meta["loadedAddresses"] = {"writable": [KEY], "readonly": []}
    meta["preBalances"].append(0)
    meta["postBalances"].append(SOL)
    return answer


ANOTHER = str(keypair("another").sign_message(b""))


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("getGenesisHash", always(None)),
        ("getGenesisHash", always("0x12")),
        ("getGenesisHash", always(ANOTHER)),
        ("getSlot", always(None)),
        ("getSlot", always("5")),
        ("getSlot", always(True)),
        ("getSlot", always(-1)),
        ("getSlot", always(2**64)),
        ("getBlock", always([])),
        ("getBlock", always("x")),
        ("getBlock", change("blockhash", REMOVED)),
        ("getBlock", change("blockhash", None)),
        ("getBlock", change("blockhash", "short")),
        ("getBlock", change("blockTime", REMOVED)),
        ("getBlock", change("blockTime", "soon")),
        ("getBlock", change("blockTime", 2**63)),
        ("getBlock", change("blockTime", -5)),
        ("getMultipleAccounts", always(None)),
        ("getMultipleAccounts", always([])),
        ("getMultipleAccounts", change("value", None)),
        ("getMultipleAccounts", change("value", [])),
        ("getMultipleAccounts", change("value.0.lamports", -1)),
        ("getMultipleAccounts", change("value.0.lamports", 1.5)),
        ("getMultipleAccounts", change("value.0.lamports", "5")),
        ("getMultipleAccounts", change("value.0.lamports", REMOVED)),
        ("getMultipleAccounts", change("context", REMOVED)),
        ("getMultipleAccounts", change("context.slot", None)),
        ("getSignaturesForAddress", always(None)),
        ("getSignaturesForAddress", always({})),
        ("getSignaturesForAddress", always(["x"])),
        ("getSignaturesForAddress", change("0.signature", REMOVED)),
        ("getSignaturesForAddress", change("0.signature", "x")),
        ("getSignaturesForAddress", change("0.slot", None)),
        ("getSignaturesForAddress", change("0.err", REMOVED)),
        ("getSignaturesForAddress", change("0.confirmationStatus", REMOVED)),
        ("getTransaction", always([])),
        ("getTransaction", always("x")),
        ("getTransaction", change("slot", None)),
        ("getTransaction", change("transaction", None)),
        ("getTransaction", change("transaction", ["", "base64"])),
        ("getTransaction", change("transaction", ["AAAA", "base64"])),
        ("getTransaction", change("transaction", ["*", "base64"])),
        ("getTransaction", another_amount),
        ("getTransaction", made_up_account),
        ("getTransaction", change("meta", None)),
        ("getTransaction", change("meta.err", REMOVED)),
        ("getTransaction", change("meta.preBalances", REMOVED)),
        ("getTransaction", change("meta.preBalances", [1])),
        ("getTransaction", change("meta.postBalances", [1, 2, 3, 4])),
        ("getTransaction", change("meta.postBalances.1", -1)),
        ("getTransaction", change("meta.postBalances.1", "5")),
        ("getTransaction", change("meta.loadedAddresses", {"writable": [KEY], "readonly": []})),
        ("getTransaction", change("meta.loadedAddresses", {"writable": []})),
        ("getTransaction", change("meta.postTokenBalances", "x")),
        ("getTransaction", change("meta.postTokenBalances", [{}])),
        (
            "getTransaction",
            change("meta.postTokenBalances", [{"accountIndex": 9, "mint": KEY, "owner": KEY, "uiTokenAmount": {}}]),
        ),
        (
            "getTransaction",
            change(
                "meta.postTokenBalances",
                [{"accountIndex": 0, "mint": KEY, "owner": KEY, "uiTokenAmount": {"amount": "1e9"}}],
            ),
        ),
    ],
)
def test_a_pass_keeps_nothing_of_a_wrong_answer(
    node: SolanaNode, peer: SpoiledPeer, payment: Key, method: str, spoil: Callable[[Any], Any]
) -> None:
    peer.spoil(method, spoil)
    with pytest.raises(BadAnswer) as caught:
        look(node)
    assert not isinstance(caught.value, ForeignChain)


def test_the_transaction_of_another_signature_is_refused(node: SolanaNode, peer: SpoiledPeer, payment: Key) -> None:
    peer.spoil("getSignaturesForAddress", change("0.signature", ANOTHER))
    real = peer.getTransaction([payment.txid], {"maxSupportedTransactionVersion": 0})
    peer.spoil("getTransaction", always(real))
    with pytest.raises(BadAnswer, match="it is not the transaction"):
        look(node)


def test_what_lands_between_two_calls_of_a_pass_counts_once(node: SolanaNode, peer: SpoiledPeer, payment: Key) -> None:
    """A payment is finalized after the balances were read and before the history is."""
    later: list[str] = []

    def pay_more(answer: Any) -> Any:
        if not later:
            later.append(SolanaPayer(peer.chain, "second").pay(payment.address, 2 * SOL))
            peer.chain.advance(2)
        return answer

    peer.spoil("getMultipleAccounts", pay_more)
    first = look(node)
    assert [one.txid for one in first.transfers if one.block] == [payment.txid]
    second = node.scan(first.cursor, set, first.held)
    assert [(one.txid, one.amount) for one in second.transfers] == [(later[0], 2 * SOL)]
    assert second.held[0].balance == 3 * SOL
    assert second.watched_until == node.head().time


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("getBlock", refusal(-32001)),  # cleaned up
        ("getBlock", refusal(-32004)),  # not available yet
        ("getBlock", refusal(-32007)),  # skipped, or lost in a jump
        ("getBlock", refusal(-32009)),  # not in long-term storage
        ("getBlock", refusal(-32011)),  # the node keeps no history
        ("getBlock", refusal(-32014)),  # its status is not known yet
        ("getBlock", always(None)),
        ("getBlock", change("blockTime", None)),
        ("getMultipleAccounts", refusal(-32016)),  # it has not come so far
        ("getMultipleAccounts", change("context.slot", 0)),
        ("getSignaturesForAddress", refusal(-32011)),
        ("getSignaturesForAddress", refusal(-32019)),  # its long-term storage does not answer
        ("getTransaction", refusal(-32011)),
        ("getSlot", refusal(-32005)),  # it calls itself behind
    ],
)
def test_a_node_that_lacks_something_is_asked_again(
    node: SolanaNode, peer: SpoiledPeer, payment: Key, method: str, spoil: Callable[[Any], Any]
) -> None:
    peer.spoil(method, spoil)
    with pytest.raises(Unavailable, match="Solana node"):
        look(node)


@pytest.mark.parametrize("spoil", [always(None), refusal(-32015)], ids=["not shown", "newer version"])
def test_a_payment_that_can_not_be_read_is_waited_for(
    node: SolanaNode, peer: SpoiledPeer, payment: Key, spoil: Callable[[Any], Any]
) -> None:
    peer.spoil("getTransaction", spoil)
    batch = look(node)
    assert (batch.transfers, batch.held[0].balance) == ((), None)
    assert node.confirm([payment])[0] is not None  # its status is known: it is not gone
    peer.spoiled.clear()
    assert len(node.scan(batch.cursor, set, batch.held).transfers) == 1


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("getTransaction", change("meta.err", {"InstructionError": [0, "Custom"]})),
        ("getTransaction", change("meta.postBalances.1", SOL + 1)),
        ("getTransaction", change("meta.preBalances.1", 1)),
        ("getTransaction", change("meta.postBalances.1", 0)),
    ],
)
def test_confirm_says_what_is_no_longer_so(
    node: SolanaNode, peer: SpoiledPeer, payment: Key, method: str, spoil: Callable[[Any], Any]
) -> None:
    peer.spoil(method, spoil)
    assert node.confirm([payment]) == [None]


def test_a_transaction_that_failed_or_vanished_is_gone(node: SolanaNode, peer: SpoiledPeer, payment: Key) -> None:
    peer.spoil("getTransaction", always(None))
    for spoil in (change("value.0", None), change("value.0.err", {"InstructionError": [0, "Custom"]})):
        peer.spoil("getSignatureStatuses", spoil)
        assert node.confirm([payment]) == [None]


def test_what_the_caller_does_wrong_is_not_called_a_bad_answer(node: SolanaNode, payment: Key) -> None:
    def broken(addresses: Any) -> set[str]:
        raise KeyError("the caller's own")

    with pytest.raises(KeyError):
        node.scan(Cursor(""), broken, [Held(node.destination(0))])


def test_messages_are_short(node: SolanaNode, peer: SpoiledPeer) -> None:
    peer.spoil("getGenesisHash", always("x" * 10**6))
    with pytest.raises(BadAnswer) as caught:
        node.genesis()
    assert len(str(caught.value)) < 500
