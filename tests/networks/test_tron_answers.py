"""Tron nodes that answer badly: what is tried again (Unavailable) and what somebody is told (BadAnswer)."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chains.tron_peer import TronPayer, TronPeer
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from payments.networks.base import BadAnswer, Confirmation, Cursor, ForeignChain, Key, Transfer, Unavailable
from payments.networks.tron import Tron
from payments.networks.tron_node import UNSOLID, TronNode

XPUB = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())["TRON BIP44 abandon"][
    "xpub"
]
USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
TXID = "ab" * 32
EVERY_PATH = re.compile(".*")
KEY = Key(TXID, "value", USDT, 5)
SOLID = "walletsolidity/"
BLOCKS, INFOS = f"{SOLID}getblockbylimitnext", f"{SOLID}gettransactioninfobyblocknum"


class World:
    """A peer whose solid block holds a payment in TRX and one in USDT, and a node half that has read up to it."""

    def __init__(self) -> None:
        self.peer = TronPeer()
        self.peer.mine(20)
        payer = TronPayer(self.peer)
        self.token = self.peer.make_token(payer.address)
        self.node = TronNode(Tron(usdt_contract=self.token), self.peer.url, XPUB)
        self.ours = {self.node.destination(0)}
        payer.pay(self.node.destination(0), 5)
        payer.pay_token(self.token, self.node.destination(0), 5)
        self.peer.mine(18)
        self.cursor = self.node.scan(Cursor(""), self.match).cursor
        self.peer.mine()

    def match(self, addresses: Any) -> set[str]:
        return self.ours & set(addresses)

    def scan(self) -> tuple[Transfer, ...]:
        return self.node.scan(self.cursor, self.match).transfers

    def keys(self) -> list[Key]:
        return [Key(t.txid, t.position, t.address, t.amount, t.contract) for t in self.scan()]


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.peer.stop()
    UNSOLID.clear()


def test_the_peer_is_read_when_nothing_is_wrong(world: World) -> None:
    assert [(transfer.method, transfer.position, transfer.amount) for transfer in world.scan()] == [
        ("trx", "value", 5),
        ("usdt-tron", "log:0", 5),
    ]
    assert None not in world.node.confirm(world.keys())


def verbs(node: TronNode) -> list[Callable[[], object]]:
    scan = lambda: node.scan(Cursor(""), set)  # noqa: E731
    return [node.genesis, node.head, node.check, scan, lambda: node.confirm([KEY]), lambda: node.look_up(TXID)]


# --- transport --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response("{}", 429), "HTTP status 429: it limits"),
        (Response("{}", 403), "HTTP status 403: it refuses us"),
        (Response("{}", 401), "HTTP status 401: it wants other credentials"),
        (Response("down", 500), "HTTP status 500"),
        (Response("", 302, {"Location": "/elsewhere"}), "HTTP status 302"),
        (Response('{"blockID": "00'), "broken JSON"),
        (Response("<html>"), "broken JSON"),
        (Response(""), "broken JSON"),
        (Response('{"Error": "class java.lang.NullPointerException : null"}'), "refused .*class java"),
        (Response('{"Error": null}'), "refused"),
    ],
)
def test_what_is_tried_again(httpserver: HTTPServer, response: Response, said: str) -> None:
    httpserver.expect_request(EVERY_PATH).respond_with_response(response)
    node = TronNode(Tron(usdt_contract=USDT), httpserver.url_for(""), XPUB, api_key="secret")
    for ask in verbs(node):
        with pytest.raises(Unavailable, match=f"The Tron (solidity )?node at localhost:\\d+ .*{said}"):
            ask()


@pytest.mark.parametrize("body", ["[]", "null", "5", '"text"', "true", "[1, 2]", '{"block_header": 5}'])
def test_what_somebody_is_told(httpserver: HTTPServer, body: str) -> None:
    httpserver.expect_request(EVERY_PATH).respond_with_data(body)
    node = TronNode(Tron(usdt_contract=USDT), httpserver.url_for(""), XPUB)
    for ask in verbs(node):
        with pytest.raises(BadAnswer):
            ask()


def test_a_slow_node(httpserver: HTTPServer) -> None:
    def slow(request: Request) -> Response:
        time.sleep(0.5)
        return Response("{}")

    httpserver.expect_request(EVERY_PATH).respond_with_handler(slow)
    node = TronNode(Tron(usdt_contract=USDT), httpserver.url_for(""), XPUB, timeout=0.1)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.1 seconds"):
        node.head()


@pytest.mark.parametrize("status", [200, 503])
def test_a_node_that_sends_a_byte_now_and_then(httpserver: HTTPServer, status: int) -> None:
    def drip(request: Request) -> Response:
        def bytes_() -> Iterator[bytes]:
            for _ in range(100):
                time.sleep(0.05)
                yield b" "

        return Response(bytes_(), status)

    httpserver.expect_request(EVERY_PATH).respond_with_handler(drip)
    node = TronNode(Tron(usdt_contract=USDT), httpserver.url_for(""), XPUB, timeout=0.3)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer within"):
        node.head()
    assert time.monotonic() - began < 2


def test_an_answer_that_is_cut_off(httpserver: HTTPServer) -> None:
    headers = {"Content-Length": "1000"}
    httpserver.expect_request(EVERY_PATH).respond_with_response(Response('{"block', headers=headers))
    node = TronNode(Tron(usdt_contract=USDT), httpserver.url_for(""), XPUB, timeout=8)
    with pytest.raises(Unavailable):
        node.head()


def test_nobody_there() -> None:
    node = TronNode(Tron(usdt_contract=USDT), "http://user:password@127.0.0.1:1/v3/secret", XPUB)
    with pytest.raises(Unavailable) as caught:
        node.head()
    assert str(caught.value) == "The Tron node at 127.0.0.1:1 does not answer."


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ({"result": {"code": "CONTRACT_VALIDATE_ERROR", "message": "6e6f"}}, BadAnswer, "There is no contract of USDT"),
        ({"result": {"result": True, "message": "6e6f"}}, BadAnswer, "There is no contract of USDT"),
        ({"result": {"code": "SERVER_BUSY", "message": b"busy".hex()}}, Unavailable, r"did not run decimals\(\).*busy"),
        ({"result": {"result": True}}, BadAnswer, "in a shape"),
        ({"result": {"result": True}, "constant_result": []}, BadAnswer, "in a shape"),
        ({"result": {"result": True}, "constant_result": [""]}, BadAnswer, "in a shape"),
        ([], BadAnswer, "in a shape"),
    ],
)
def test_a_contract_that_gives_no_answer(world: World, answer: Any, error: type[Exception], said: str) -> None:
    world.peer.spoil("wallet/triggerconstantcontract", always(answer))
    with pytest.raises(error, match=said):
        world.node.check()
    with pytest.raises(error):
        world.node.used([world.node.destination(3)])


# --- the key ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["", "our-own"])
def test_no_key_but_the_operators_is_sent(world: World, httpserver: HTTPServer, key: str) -> None:
    """tronpy would send one of six public keys to an address that holds "trongrid"; also below a path it asks ours."""
    sent: list[Any] = []

    def answer(request: Request) -> Response:
        sent.append(request.headers.get("Tron-Pro-Api-Key", ""))
        found = world.peer.answer(request.path.removeprefix("/trongrid"), json.loads(request.data))
        return Response(json.dumps(found), content_type="application/json")

    httpserver.expect_request(EVERY_PATH).respond_with_handler(answer)
    node = TronNode(world.node.family, httpserver.url_for("/trongrid/"), XPUB, api_key=key)
    node.check()
    node.scan(world.cursor, world.match)
    node.used([USDT])
    assert len(sent) == 7
    assert set(sent) == {key}


# --- answers that can't be right --------------------------------------------------------------------------------------
REMOVED = object()


def change(field: str, value: Any) -> Callable[[Any], Any]:
    """Change a field deep in an answer, such as "block.1.blockID"; "*" means each. Without value: remove it."""

    def apply(answer: Any) -> Any:
        *names, last = field.split(".")
        targets = [answer]
        for name in names:
            targets = [one for target in targets for one in step(target, name)]
        for target in targets:
            place: Any = int(last) if isinstance(target, list) else last
            if value is REMOVED:
                del target[place]
            else:
                target[place] = value
        return answer

    return apply


def step(target: Any, name: str) -> list[Any]:
    if name == "*":
        return list(target)
    return [target[int(name) if isinstance(target, list) else name]]


def always(answer: Any) -> Callable[[Any], Any]:
    return lambda _: answer


TX, LOG = "block.1.transactions.0", "1.log.0"


@pytest.mark.parametrize(
    ("call", "spoil"),
    [
        ("wallet/getnowblock", always([])),
        ("wallet/getnowblock", change("blockID", REMOVED)),
        ("wallet/getnowblock", change("block_header", REMOVED)),
        ("wallet/getnowblock", change("block_header.raw_data.timestamp", "soon")),
        ("wallet/getnowblock", change("block_header.raw_data.number", 10**6)),
        ("wallet/getnowblock", change("block_header.raw_data.number", -1)),
        ("wallet/getnowblock", change("block_header.raw_data.number", True)),
        ("wallet/getnowblock", change("block_header.raw_data.timestamp", 10**30)),
        (BLOCKS, always([])),
        (BLOCKS, change("block", {})),
        (BLOCKS, change("block", [None])),
        (BLOCKS, change("block.1.blockID", "00" * 32)),
        (BLOCKS, change("block.1.block_header.raw_data.parentHash", REMOVED)),
        (BLOCKS, change("block.1.block_header.raw_data.timestamp", 1)),
        (BLOCKS, change("block.1.transactions", {})),
        (BLOCKS, change("block.1.transactions", [TXID])),
        (BLOCKS, change(f"{TX}.txID", None)),
        (BLOCKS, change(f"{TX}.txID", "ab")),
        (BLOCKS, change(f"{TX}.ret", REMOVED)),
        (BLOCKS, change(f"{TX}.raw_data.contract", [])),
        (BLOCKS, change(f"{TX}.raw_data.contract.0.parameter.value.amount", "5")),
        (BLOCKS, change(f"{TX}.raw_data.contract.0.parameter.value.amount", -5)),
        (BLOCKS, change(f"{TX}.raw_data.contract.0.parameter.value.to_address", REMOVED)),
        (BLOCKS, change(f"{TX}.raw_data.contract.0.parameter.value.to_address", "a0" + "11" * 20)),
        (INFOS, always({"id": TXID})),
        (INFOS, always([None])),
        (INFOS, change("1.id", None)),
        (INFOS, change("1.blockNumber", 5)),
        (INFOS, change("1.receipt", REMOVED)),
        (INFOS, change("1.log", {})),
        (INFOS, change(f"{LOG}.address", REMOVED)),
        (INFOS, change(f"{LOG}.address", "11" * 19)),
        (INFOS, change(f"{LOG}.topics.2", "11" * 20)),
        (INFOS, change(f"{LOG}.topics.2", "zz" * 32)),
        (INFOS, change(f"{LOG}.data", "05")),
        (INFOS, change(f"{LOG}.data", REMOVED)),
        (INFOS, change(f"{LOG}.data", "zz" * 32)),
        (INFOS, change(f"{LOG}.data", "-" + "1" * 63)),
        (INFOS, change("1.internal_transactions", [{"note": "63616c6c"}] * 2 + [5])),
        (INFOS, change("1.internal_transactions", [{"note": "63616c6c", "callValueInfo": [{"callValue": -1}]}])),
        (INFOS, change("1.internal_transactions", [{"note": "63616c6c", "callValueInfo": [{"callValue": 1}]}])),
        ("wallet/getblockbylimitnext", always({"block": [5]})),
    ],
)
def test_a_pass_keeps_nothing_of_a_wrong_answer(world: World, call: str, spoil: Callable[[Any], Any]) -> None:
    world.peer.spoil(call, spoil)
    with pytest.raises(BadAnswer) as caught:
        world.scan()
    assert not isinstance(caught.value, ForeignChain)


@pytest.mark.parametrize(
    ("call", "spoil", "said"),
    [
        ("wallet/getnowblock", always({}), "does not know its newest block"),
        (BLOCKS, always({}), "does not know block 20"),
        (BLOCKS, change("block", []), "does not know block 20"),
        (BLOCKS, change("block.1.block_header.raw_data.parentHash", "11" * 32), "changed at block 21"),
        (INFOS, always([]), "does not have the results of block 21 yet"),
        (INFOS, always({}), "does not have the results of block 21 yet"),
        (INFOS, lambda infos: infos[:1], "does not have the results of block 21 yet"),
        (INFOS, always({"Error": "INVALID base64"}), "refused .*INVALID"),
    ],
)
def test_what_a_node_does_not_know_yet_is_read_again(
    world: World, call: str, spoil: Callable[[Any], Any], said: str
) -> None:
    world.peer.spoil(call, spoil)
    with pytest.raises(Unavailable, match=said):
        world.scan()


@pytest.mark.parametrize(
    ("call", "spoil", "error"),
    [
        ("wallet/getblockbynum", always({}), Unavailable),
        ("wallet/getblockbynum", change("blockID", "11" * 32), BadAnswer),
        (f"{SOLID}getnowblock", always({}), Unavailable),
        (f"{SOLID}getnowblock", change("block_header.raw_data.number", 5), BadAnswer),
    ],
)
def test_a_first_pass_needs_the_first_block_and_the_solid_one(
    world: World, call: str, spoil: Callable[[Any], Any], error: type[Exception]
) -> None:
    world.peer.spoil(call, spoil)
    with pytest.raises(error):
        world.node.scan(Cursor(""), world.match)


@pytest.mark.parametrize(
    ("call", "spoil"),
    [
        (BLOCKS, change("block.1.transactions.*.ret", [{"contractRet": "REVERT"}])),
        (BLOCKS, change("block.1.transactions.*.ret", [{}])),
        (BLOCKS, change("block.1.transactions.*.ret", [])),
    ],
)
def test_what_did_not_succeed_pays_nothing(world: World, call: str, spoil: Callable[[Any], Any]) -> None:
    world.peer.spoil(call, spoil)
    assert world.scan() == ()


@pytest.mark.parametrize(
    "spoil",
    [
        change("1.receipt.result", "REVERT"),
        change("1.receipt.result", "OUT_OF_ENERGY"),
        change("1.receipt.result", REMOVED),
        change("1.result", "FAILED"),
        change("1.log", REMOVED),
        change(f"{LOG}.topics.0", "11" * 32),
        change(f"{LOG}.data", "0" * 64),
    ],
)
def test_a_result_that_is_no_success_pays_no_token(world: World, spoil: Callable[[Any], Any]) -> None:
    world.peer.spoil(INFOS, spoil)
    assert [transfer.method for transfer in world.scan()] == ["trx"]


def test_a_node_that_writes_whole_addresses_changes_no_name(world: World) -> None:
    """Providers write logs' addresses with 41 in front, or in capitals."""
    expected = world.scan()
    digits = world.peer.chain.blocks[21].infos[1]["log"][0]["address"]
    for text in ("41" + digits, digits.upper()):
        world.peer.spoil(INFOS, change(f"{LOG}.address", text))
        assert world.scan() == expected


ONE = "gettransactioninfobyid"


@pytest.mark.parametrize(
    ("call", "spoil", "gone"),
    [
        (f"{SOLID}{ONE}", change("receipt.result", "REVERT"), {"log:0"}),
        (f"{SOLID}{ONE}", change("log", []), {"log:0"}),
        (f"{SOLID}gettransactionbyid", change("ret.0.contractRet", "OUT_OF_ENERGY"), {"value", "log:0"}),
    ],
)
def test_confirm_says_what_is_no_longer_so(
    world: World, call: str, spoil: Callable[[Any], Any], gone: set[str]
) -> None:
    keys = world.keys()
    if "log" in str(gone) and call.endswith(ONE):
        keys = [key for key in keys if key.position == "log:0"]
    world.peer.spoil(call, spoil)
    assert [key.position for key, answer in zip(keys, world.node.confirm(keys), strict=True) if answer is None] == [
        position for position in ("value", "log:0") if position in gone
    ]


@pytest.mark.parametrize(
    ("call", "spoil"),
    [
        (f"{SOLID}{ONE}", change("id", TXID)),
        (f"{SOLID}gettransactionbyid", change("txID", TXID)),
        (f"{SOLID}{ONE}", change("blockNumber", "4")),
        (f"{SOLID}{ONE}", always([])),
        (f"{SOLID}getblockbynum", change("blockID", "00" * 32)),
    ],
)
def test_confirm_takes_no_other_transaction(world: World, call: str, spoil: Callable[[Any], Any]) -> None:
    keys = world.keys()
    world.peer.spoil(call, spoil)
    with pytest.raises(BadAnswer):
        world.node.confirm(keys)


def test_what_only_the_head_knows_is_never_final(world: World) -> None:
    keys = world.keys()
    world.peer.spoil(f"{SOLID}{ONE}", always({}))
    for answer in world.node.confirm(keys):
        assert isinstance(answer, Confirmation)
        assert (answer.block, answer.finalized, answer.confirmations) == (None, False, 19)


def test_what_the_caller_does_wrong_is_not_called_a_bad_answer(world: World) -> None:
    def broken(addresses: Any) -> set[str]:
        raise KeyError("the caller's own")

    with pytest.raises(KeyError):
        world.node.scan(world.cursor, broken)
