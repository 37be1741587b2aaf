"""Nodes that answer badly: what is tried again (Unavailable) and what somebody is told (BadAnswer)."""

import copy
import json
import re
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from payments.networks.base import BadAnswer, Confirmation, Cursor, ForeignChain, Held, Key, Unavailable
from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_answers import TRANSFER
from payments.networks.ethereum_node import EthereumNode
from payments.networks.ethereum_traces import Inner, flat_transaction, nested_transaction

XPUB = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())["ETH BIP44 abandon"][
    "xpub"
]
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"
OURS = "0x9858effd232b4033e47d90003d41ec34ecaeda94"
PAYER = "0x" + "70" * 20
TXID = "0x" + "77" * 32
COIN_TXID = "0x" + "78" * 32


def block_hash(height: int) -> str:
    return f"0x{height + 1:064x}"


class FakeNode:
    """Twenty blocks, with a token payment and a coin payment in the last one. `spoil` changes answers of one method."""

    def __init__(self) -> None:
        self.spoiled: dict[str, Callable[[Any], Any]] = {}
        self.asked: list[str] = []
        self.posts = 0
        self.head = 19

    def spoil(self, method: str, change: Callable[[Any], Any]) -> None:
        self.spoiled[method] = change

    def handle(self, request: Request) -> Response:
        calls = json.loads(request.data)
        self.posts += 1
        answers = [self.answer(call) for call in (calls if isinstance(calls, list) else [calls])]
        return Response(json.dumps(answers if isinstance(calls, list) else answers[0]), content_type="application/json")

    def answer(self, call: Any) -> Any:
        self.asked.append(call["method"])
        if not hasattr(self, call["method"]):
            return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32601, "message": "Method not found"}}
        result = copy.deepcopy(getattr(self, call["method"])(*call["params"]))
        change = self.spoiled.get(call["method"], lambda answer: answer)
        result = change(result)
        return {"jsonrpc": "2.0", "id": call["id"], **(result if isinstance(result, Error) else {"result": result})}

    def eth_chainId(self) -> str:
        return "0x1"

    def eth_getBlockByNumber(self, which: str, full: bool) -> Any:
        height = {"latest": self.head, "finalized": self.head - 9}.get(which) or int(which, 16)
        transactions = [
            {"hash": TXID, "from": PAYER, "to": USDT, "value": "0x0"},
            {"hash": COIN_TXID, "from": PAYER, "to": OURS, "value": "0xde0b6b3a7640000"},
            {"hash": "0x" + "79" * 32, "from": PAYER, "to": None, "value": "0x1"},
        ]
        return (
            None
            if height > self.head
            else {
                "number": hex(height),
                "hash": block_hash(height),
                "parentHash": block_hash(height - 1),
                "timestamp": hex(1_700_000_000 + 12 * height),
                "baseFeePerGas": "0x6",
                "transactions": transactions if full and height == 19 else [],
            }
        )

    def log(self) -> Any:
        return {
            "address": USDT,
            "topics": [TRANSFER, "0x" + "00" * 32, "0x" + OURS[2:].rjust(64, "0")],
            "data": f"0x{5_000_000:064x}",
            "blockHash": block_hash(19),
            "blockNumber": "0x13",
            "transactionHash": TXID,
            "logIndex": "0x2a",
            "removed": False,
        }

    def eth_getLogs(self, wanted: Any) -> Any:
        if "blockHash" in wanted:
            return [self.log()] if wanted["blockHash"] == block_hash(19) else []
        first, last = int(wanted["fromBlock"], 16), int(wanted["toBlock"], 16)
        return [self.log()] if first <= 19 <= last else []

    def eth_getTransactionReceipt(self, txid: str) -> Any:
        logs = [self.log()] if txid == TXID else []
        receipt = {"transactionHash": txid, "status": "0x1", "logs": logs}
        return {**receipt, "blockHash": block_hash(19), "blockNumber": "0x13"}

    def eth_getTransactionByHash(self, txid: str) -> Any:
        fees = {"maxFeePerGas": "0x5", "gasPrice": "0x9"}
        place = {"blockHash": block_hash(19), "blockNumber": "0x13"}
        return {"hash": txid, "from": PAYER, "to": OURS, "value": "0xde0b6b3a7640000", **fees, **place}


class Error(dict[str, Any]):
    """An answer that is a JSON-RPC error."""


@pytest.fixture
def fake() -> FakeNode:
    return FakeNode()


@pytest.fixture
def node(httpserver: HTTPServer, fake: FakeNode) -> EthereumNode:
    httpserver.expect_request("/v3/secret").respond_with_handler(fake.handle)
    family = Ethereum(chain_id=1, usdt_contract=USDT)
    return EthereumNode(family, httpserver.url_for("/v3/secret").replace("//", "//user:password@"), XPUB, timeout=8)


def ours(addresses: Any) -> set[str]:
    return {OURS} & set(addresses)


TOKEN_KEY = Key(TXID, "log:0", OURS, 5_000_000, USDT)
COIN_KEY = Key(COIN_TXID, "value", OURS, 10**18)


def test_the_fake_is_read_when_nothing_is_wrong(node: EthereumNode) -> None:
    batch = node.scan(Cursor(""), ours)
    assert [(t.txid, t.position, t.amount) for t in batch.transfers] == [
        (COIN_TXID, "value", 10**18),
        (TXID, "log:0", 5_000_000),
    ]
    token, coin = node.confirm([TOKEN_KEY, COIN_KEY])
    assert token == coin
    assert isinstance(token, Confirmation)
    assert (token.confirmations, token.finalized) == (1, False)


# --- transport --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response("{}", 429), "HTTP status 429: it limits"),
        (Response("{}", 401), "HTTP status 401: it wants other credentials"),
        (Response("down", 500), "HTTP status 500"),
        (Response("", 302, {"Location": "/elsewhere"}), "HTTP status 302"),
        (Response('{"jsonrpc": "2.0", "id": 0, "resu'), "broken JSON"),
        (Response("<html>"), "broken JSON"),
        (Response(""), "broken JSON"),
        (
            Response('{"jsonrpc": "2.0", "id": 0, "error": {"code": -32005, "message": "too many"}}'),
            "refused .*too many",
        ),
        (Response('{"jsonrpc": "2.0", "id": 0, "error": "no"}'), "refused .*no"),
    ],
)
def test_what_is_tried_again(httpserver: HTTPServer, response: Response, said: str) -> None:
    httpserver.expect_request("/").respond_with_response(response)
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), httpserver.url_for("/"), XPUB)
    for ask in (node.genesis, node.head, lambda: node.scan(Cursor(""), ours), lambda: node.confirm([COIN_KEY])):
        with pytest.raises(Unavailable, match=f"The Ethereum node at localhost:\\d+ .*{said}"):
            ask()


@pytest.mark.parametrize("body", ["[]", "null", "5", '"text"', "{}", '{"jsonrpc": "2.0", "id": 0}', "[1, 2]"])
def test_what_somebody_is_told(httpserver: HTTPServer, body: str) -> None:
    httpserver.expect_request("/").respond_with_data(body)
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), httpserver.url_for("/"), XPUB)
    for ask in (node.genesis, node.head, lambda: node.scan(Cursor(""), ours), lambda: node.confirm([COIN_KEY])):
        with pytest.raises(BadAnswer):
            ask()


def test_a_slow_node(httpserver: HTTPServer) -> None:
    def slow(request: Request) -> Response:
        time.sleep(0.5)
        return Response("{}")

    httpserver.expect_request("/").respond_with_handler(slow)
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), httpserver.url_for("/"), XPUB, timeout=0.1)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.1 seconds"):
        node.head()


def test_a_node_that_sends_a_byte_now_and_then() -> None:
    """Each byte comes in time for a socket's timeout; only the deadline of the whole answer ends it."""
    began = time.monotonic()
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as threads:
        threads.submit(drip, server)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), url, XPUB, timeout=0.3)
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
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), httpserver.url_for("/"), XPUB, timeout=8)
    with pytest.raises(Unavailable):
        node.head()


def test_nobody_there() -> None:
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), "http://user:password@127.0.0.1:1/v3/secret", XPUB)
    with pytest.raises(Unavailable) as caught:
        node.head()
    assert str(caught.value) == "The Ethereum node at 127.0.0.1:1 does not answer."


def test_messages_hold_no_credentials(node: EthereumNode, fake: FakeNode) -> None:
    said = []
    for spoiled in (Error(error={"code": 1, "message": "no"}), {"number": 5}, None):
        fake.spoil("eth_getBlockByNumber", always(spoiled))
        with pytest.raises((Unavailable, BadAnswer)) as caught:
            node.head()
        said.append(str(caught.value))
    assert not [text for text in said if "secret" in text or "password" in text]


# --- answers that can't be right --------------------------------------------------------------------------------------
def change(field: str, value: Any) -> Callable[[Any], Any]:
    """Change a field of an answer, or of each item of a list; "topics.2" goes into a list. Without value: remove it."""

    def apply(answer: Any) -> Any:
        for one in answer if isinstance(answer, list) else [answer]:
            target, names = one, field.split(".")
            for name in names[:-1]:
                target = target[int(name) if isinstance(target, list) else name]
            last: Any = int(names[-1]) if isinstance(target, list) else names[-1]
            if value is REMOVED:
                del target[last]
            else:
                target[last] = value
        return answer

    return apply


def always(answer: Any) -> Callable[[Any], Any]:
    return lambda _: answer


def older_than_its_parent(answer: Any) -> Any:
    """Let the newest block claim a time long ago: a late payment in it would count as on time."""
    return answer | {"timestamp": "0x1"} if answer and answer["number"] == hex(19) else answer


REMOVED = object()


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("eth_chainId", lambda _: None),
        ("eth_chainId", lambda _: 1),
        ("eth_chainId", lambda _: "one"),
        ("eth_getBlockByNumber", lambda _: []),
        ("eth_getBlockByNumber", lambda _: "0x13"),
        ("eth_getBlockByNumber", change("number", REMOVED)),
        ("eth_getBlockByNumber", change("number", None)),
        ("eth_getBlockByNumber", change("hash", None)),
        ("eth_getBlockByNumber", change("timestamp", "soon")),
        ("eth_getBlockByNumber", change("timestamp", "0x" + "f" * 40)),
        ("eth_getBlockByNumber", older_than_its_parent),
        ("eth_getBlockByNumber", change("parentHash", REMOVED)),
        ("eth_getBlockByNumber", change("transactions", None)),
        ("eth_getBlockByNumber", change("transactions", [TXID])),
        ("eth_getLogs", lambda _: None),
        ("eth_getLogs", lambda _: {}),
        ("eth_getLogs", lambda _: "0x"),
        ("eth_getLogs", change("address", OURS)),
        ("eth_getLogs", change("address", REMOVED)),
        ("eth_getLogs", change("topics.0", "0x" + "11" * 32)),
        ("eth_getLogs", change("topics", [TRANSFER])),
        ("eth_getLogs", change("topics.2", OURS)),
        ("eth_getLogs", change("data", "0x")),
        ("eth_getLogs", change("data", "0x" + "zz" * 32)),
        ("eth_getLogs", change("data", 5)),
        ("eth_getLogs", change("data", "-0x" + "1" * 63)),
        ("eth_getBlockByNumber", change("transactions", {})),
        ("eth_getBlockByNumber", change("number", "-0x1")),
        ("eth_getLogs", change("blockHash", block_hash(18))),
        ("eth_getLogs", change("blockNumber", "0x12")),
        ("eth_getLogs", change("transactionHash", "0x" + "55" * 32)),
        ("eth_getLogs", change("data", f"0x{6_000_000:064x}")),
        ("eth_getTransactionReceipt", lambda _: []),
        ("eth_getTransactionReceipt", change("status", REMOVED)),
        ("eth_getTransactionReceipt", change("blockHash", None)),
        ("eth_getTransactionReceipt", change("transactionHash", "0x" + "55" * 32)),
        ("eth_getTransactionReceipt", change("logs", [])),
        ("eth_getTransactionReceipt", change("logs", None)),
    ],
)
def test_a_pass_keeps_nothing_of_a_wrong_answer(
    node: EthereumNode, fake: FakeNode, method: str, spoil: Callable[[Any], Any]
) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(BadAnswer) as caught:
        node.scan(Cursor(""), ours)
    assert not isinstance(caught.value, ForeignChain)


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("eth_getBlockByNumber", lambda _: None),
        ("eth_getBlockByNumber", change("parentHash", block_hash(50))),
        ("eth_getLogs", lambda _: Error(error={"code": -32000, "message": "unknown block"})),
        ("eth_getTransactionReceipt", lambda _: None),
        ("eth_getTransactionReceipt", change("blockHash", block_hash(50))),
    ],
)
def test_a_chain_that_changes_meanwhile_is_read_again(
    node: EthereumNode, fake: FakeNode, method: str, spoil: Callable[[Any], Any]
) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(Unavailable):
        node.scan(Cursor(""), ours)


@pytest.mark.parametrize(
    ("method", "spoil", "keys"),
    [
        ("eth_getTransactionReceipt", lambda _: None, [TOKEN_KEY, COIN_KEY]),
        ("eth_getTransactionReceipt", change("status", "0x0"), [TOKEN_KEY, COIN_KEY]),
        ("eth_getTransactionReceipt", change("blockHash", block_hash(50)), [TOKEN_KEY, COIN_KEY]),
        ("eth_getTransactionReceipt", change("logs", []), [TOKEN_KEY]),
        ("eth_getTransactionByHash", change("value", "0x1"), [COIN_KEY]),
        ("eth_getTransactionByHash", change("to", None), [COIN_KEY]),
    ],
)
def test_confirm_says_what_is_no_longer_so(
    node: EthereumNode, fake: FakeNode, method: str, spoil: Callable[[Any], Any], keys: list[Key]
) -> None:
    fake.spoil(method, spoil)
    assert node.confirm(keys) == [None] * len(keys)


@pytest.mark.parametrize(
    ("transaction", "answer"),
    [
        (always(None), None),
        (change("blockNumber", None), Confirmation(None, 0, finalized=False)),
        (change("blockNumber", "0x13"), None),  # mined a moment ago, or by a node that lags
    ],
)
def test_confirm_says_what_waits_in_the_pool_again(
    node: EthereumNode, fake: FakeNode, transaction: Callable[[Any], Any], answer: Confirmation | None
) -> None:
    fake.spoil("eth_getTransactionReceipt", always(None))
    fake.spoil("eth_getTransactionByHash", transaction)
    assert node.confirm([COIN_KEY, TOKEN_KEY]) == [answer, answer]


def test_a_node_without_finality_never_calls_anything_final(node: EthereumNode, fake: FakeNode) -> None:
    def no_finalized(answer: Any) -> Any:
        unknown = answer["number"] == "0xa"
        return Error(error={"code": -39001, "message": "finalized block not found"}) if unknown else answer

    fake.spoil("eth_getBlockByNumber", no_finalized)
    (confirmation,) = node.confirm([TOKEN_KEY])
    assert isinstance(confirmation, Confirmation)
    assert not confirmation.finalized


def test_logs_marked_removed_are_not_read(node: EthereumNode, fake: FakeNode) -> None:
    fake.spoil("eth_getLogs", change("removed", True))
    assert [transfer.method for transfer in node.scan(Cursor(""), ours).transfers] == ["eth"]


def test_capitals_of_the_node_change_no_name(node: EthereumNode, fake: FakeNode) -> None:
    expected = node.scan(Cursor(""), ours)
    for method in ("eth_getBlockByNumber", "eth_getLogs", "eth_getTransactionReceipt"):
        fake.spoil(method, lambda answer: json.loads(json.dumps(answer).replace(OURS, OURS.replace("eff", "EfF"))))
    assert node.scan(Cursor(""), ours) == expected


def test_what_the_caller_does_wrong_is_not_called_a_bad_answer(node: EthereumNode) -> None:
    def broken(addresses: Any) -> set[str]:
        raise KeyError("the caller's own")

    with pytest.raises(KeyError):
        node.scan(Cursor(""), broken)


def test_a_wrong_key_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="checksum"):
        EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), "http://127.0.0.1:1", XPUB[:-1])


# --- more than one block, and what is asked about one transaction -----------------------------------------------------
AT_TWO = Cursor("", ((1, block_hash(1)), (2, block_hash(2))))


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-52"])
def test_five_thousand_blocks_take_a_bounded_number_of_requests(case: str, node: EthereumNode, fake: FakeNode) -> None:
    fake.head = 5002
    cursor, found, passes = AT_TWO, [], 0
    while cursor.height != fake.head:
        batch = node.scan(cursor, ours)
        cursor, passes = batch.cursor, passes + 1
        found += [(one.txid, one.position) for one in batch.transfers]
    assert found == [(COIN_TXID, "value"), (TXID, "log:0")]
    assert passes == 50
    assert fake.posts <= 5000 // 10 + 50 * 10 + 10
    assert node.rpc.calls <= 5000 + 50 * 15 + 10


def test_logs_of_blocks_that_were_not_asked_for(node: EthereumNode, fake: FakeNode) -> None:
    fake.head = 60
    fake.spoil("eth_getLogs", always([fake.log() | {"blockNumber": "0x3c"}]))
    with pytest.raises(BadAnswer, match="a log of another block than 3 to"):
        node.scan(AT_TWO, ours)


def test_logs_of_many_blocks_come_from_a_node_that_calls_them_final(node: EthereumNode, fake: FakeNode) -> None:
    """Behind one address another node may answer next: one that lags would say "no logs" of blocks it does not know."""
    fake.head = 60
    said = chain([51], repeat(8))  # what is final for the node asked first, and for the one that has the logs

    def final(answer: Any) -> Any:
        return answer | {"number": hex(next(said))} if answer and answer["number"] == hex(51) else answer

    fake.spoil("eth_getBlockByNumber", final)
    with pytest.raises(Unavailable, match="is behind: it does not call block 9 final"):
        node.scan(AT_TWO, ours)


@pytest.mark.parametrize(
    "said",
    ["missing trie node 5f3a (path 0a)", "pruned history unavailable", "required historical state unavailable"],
)
@pytest.mark.parametrize("method", ["eth_getLogs", "eth_getTransactionReceipt", "eth_getBlockByNumber"])
def test_a_node_that_threw_the_past_away_is_named_as_one(
    node: EthereumNode, fake: FakeNode, method: str, said: str
) -> None:
    fake.spoil(method, lambda _: Error(error={"code": -32000, "message": said}))
    with pytest.raises(Unavailable, match=f"refused {method}: {re.escape(said)} It keeps too little of the past: sync"):
        node.scan(Cursor(""), ours)


def test_what_a_transaction_in_the_pool_offers(node: EthereumNode, fake: FakeNode) -> None:
    fake.spoil("eth_getTransactionReceipt", always(None))
    found = node.look_up(COIN_TXID)
    assert found is not None and found.low_fee and found.block is None
    fake.spoil("eth_getTransactionByHash", change("maxFeePerGas", "0x6"))
    enough = node.look_up(COIN_TXID)
    assert enough is not None and not enough.low_fee
    fake.spoil("eth_getTransactionByHash", change("maxFeePerGas", REMOVED))  # the older kind names one price
    older = node.look_up(COIN_TXID)
    assert older is not None and not older.low_fee


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("eth_getTransactionByHash", lambda _: []),
        ("eth_getTransactionByHash", change("value", "much")),
        ("eth_getTransactionReceipt", change("status", REMOVED)),
        ("eth_getTransactionReceipt", change("logs", None)),
        ("eth_getTransactionReceipt", change("logs", [{}])),
        ("eth_getBlockByNumber", change("timestamp", "soon")),
    ],
)
def test_looking_up_believes_no_wrong_answer(
    node: EthereumNode, fake: FakeNode, method: str, spoil: Callable[[Any], Any]
) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(BadAnswer):
        node.look_up(COIN_TXID)


@pytest.mark.parametrize("answer", ["0x", "0x00", None, 5, "0x" + "zz" * 32, "0x" + "00" * 64])
def test_balances_of_a_wrong_shape_are_not_believed(node: EthereumNode, fake: FakeNode, answer: Any) -> None:
    fake.eth_call = lambda *_: answer  # type: ignore[attr-defined]
    for ask in (lambda: node.used([OURS]), lambda: node.scan(Cursor(""), ours, [Held(OURS)])):
        with pytest.raises(BadAnswer):
            ask()


# --- traces -----------------------------------------------------------------------------------------------------------
def trace(txid: str, path: list[int], value: str = "0x0", **more: Any) -> dict[str, Any]:
    action = {"callType": "call", "from": PAYER, "to": OURS, "value": value}
    place = {"traceAddress": path, "transactionHash": txid, "blockHash": block_hash(19), "blockNumber": 19}
    return {"type": "call", "action": action, **place, **more}


class TracingNode(FakeNode):
    """The same blocks from a node that traces. The coin payment's transaction calls in several ways."""

    others = [trace(TXID, []), trace("0x" + "79" * 32, [])]
    frames = [
        trace(COIN_TXID, [], "0x9"),
        trace(COIN_TXID, [0], "0x1"),
        trace(COIN_TXID, [1], "0x0", error="Reverted"),
        trace(COIN_TXID, [1, 0], "0x2"),
        trace(COIN_TXID, [1, 0, 3], "0x3"),
        trace(COIN_TXID, [11], "0x4"),
        trace(COIN_TXID, [12], "0x5", action={"callType": "delegatecall", "from": PAYER, "to": OURS, "value": "0x5"}),
        trace(COIN_TXID, [13], type="suicide", action={"address": PAYER, "refundAddress": OURS, "balance": "0x6"}),
        trace(COIN_TXID, [14], type="create", action={"from": PAYER, "init": "0x", "value": "0x7"}),
    ]

    def trace_block(self, height: str) -> Any:
        reward = {"type": "reward", "action": {"author": OURS, "value": "0x8"}, "traceAddress": []}
        return [*self.others, *self.frames, {**reward, "blockHash": block_hash(19), "blockNumber": 19}]

    def trace_transaction(self, txid: str) -> Any:
        return self.frames


@pytest.fixture
def tracing(httpserver: HTTPServer) -> tuple[EthereumNode, TracingNode]:
    fake, path = TracingNode(), f"/{secrets.token_hex(8)}"  # what a node offers is remembered by its address
    httpserver.expect_request(path).respond_with_handler(fake.handle)
    return EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), httpserver.url_for(path), XPUB, timeout=8), fake


def test_only_calls_that_move_something_count(tracing: tuple[EthereumNode, TracingNode]) -> None:
    """Nothing below a reverted call, no borrowed code, no reward; "11" is not below "1"."""
    node, _ = tracing
    found = [(one.position, one.amount) for one in node.scan(Cursor(""), ours).transfers if one.position[0] == "c"]
    assert found == [("call:0", 1), ("call:11", 4), ("call:13", 6)]
    keys = [Key(COIN_TXID, position, OURS, amount) for position, amount in [*found, ("call:1.0", 2), ("call:12", 5)]]
    assert [answer is not None for answer in node.confirm(keys)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("spoil", "raised"),
    [
        (lambda _: None, BadAnswer),
        (lambda _: [{}], BadAnswer),
        (change("type", REMOVED), BadAnswer),
        (change("action", None), BadAnswer),
        (change("traceAddress", 5), BadAnswer),
        (change("blockHash", block_hash(18)), Unavailable),
        (lambda _: [], Unavailable),
        (lambda answer: answer[1:], Unavailable),
        (change("transactionHash", "0x" + "55" * 32), Unavailable),
    ],
)
def test_a_pass_keeps_nothing_of_wrong_traces(
    tracing: tuple[EthereumNode, TracingNode], spoil: Callable[[Any], Any], raised: type[Exception]
) -> None:
    node, fake = tracing
    fake.spoil("trace_block", spoil)
    with pytest.raises(raised):
        node.scan(Cursor(""), ours)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-32601, "Method not found"),
        (-32601, "the method trace_block does not exist/is not available"),
        (-32004, "Method not supported"),
        (-32600, "trace_block is not available on the Free tier - upgrade to Pay As You Go"),
        (-32000, "method is not whitelisted"),
        (-32000, "this method is disabled"),
    ],
)
def test_a_node_that_offers_no_traces_is_read_without(
    tracing: tuple[EthereumNode, TracingNode], code: int, said: str
) -> None:
    node, fake = tracing
    for method in ("trace_block", "trace_transaction"):
        fake.spoil(method, lambda _: Error(error={"code": code, "message": said}))
    assert [one.position for one in node.scan(Cursor(""), ours).transfers] == ["value", "log:0"]
    key = Key(COIN_TXID, "call:0", OURS, 1)
    (answer,) = node.confirm([key])  # it was traced once: it stays in its block and gets no more final
    assert isinstance(answer, Confirmation)
    assert (answer.confirmations, answer.finalized) == (0, False)
    assert fake.asked.count("trace_block") == 1


def test_the_other_kind_counts_calls_alike() -> None:
    """It also tells calls of built-in contracts, which the first kind leaves out."""
    built_in = {"type": "STATICCALL", "to": "0x" + "0" * 39 + "4", "from": PAYER}
    deep = {"type": "CALL", "to": OURS, "from": PAYER, "value": "0x2"}
    undone = {
        "type": "CALL",
        "to": PAYER,
        "from": PAYER,
        "value": "0x0",
        "error": "execution reverted",
        "calls": [deep],
    }
    borrowed = {"type": "DELEGATECALL", "to": OURS, "from": PAYER, "value": "0x3"}
    call = {"type": "CALL", "to": PAYER, "from": PAYER, "value": "0x9", "calls": [built_in, undone, borrowed, deep]}
    assert nested_transaction(call, COIN_TXID) == [Inner(COIN_TXID, "call:2", OURS, 2)]


def test_a_payment_from_a_thousand_calls_deep_has_a_short_name_of_its_own() -> None:
    """Anybody can nest calls so that a longer name, or Python's own stack, would stop the watcher."""
    paths = [[0] * depth for depth in range(1000)]
    flat = [trace(COIN_TXID, path, "0x1") for path in paths]
    call: dict[str, Any] = {"type": "CALL", "to": OURS, "from": PAYER, "value": "0x1"}
    for _ in paths[1:]:
        call = {"type": "CALL", "to": OURS, "from": PAYER, "value": "0x1", "calls": [call]}
    found = nested_transaction(call, COIN_TXID)
    assert found == flat_transaction(flat, COIN_TXID)
    assert len({inner.position for inner in found}) == 999
    assert max(len(inner.position) for inner in found) <= 64
