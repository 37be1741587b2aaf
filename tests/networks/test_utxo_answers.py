"""Bitcoin and Litecoin nodes that answer badly: what is tried again (Unavailable) and what somebody is told."""

import copy
import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from payments.networks.base import BadAnswer, Cursor, ForeignChain, Key, Replaced, Transfer, Unavailable
from payments.networks.utxo import Utxo, bitcoin, litecoin
from payments.networks.utxo_core import EXACT_BELOW, units
from payments.networks.utxo_node import UtxoNode
from payments.networks.utxo_source import Memory

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
ZPUB, OURS = VECTORS["BTC BIP84 abandon"]["xpub"], VECTORS["BTC BIP84 abandon"]["addresses"][0]
SCRIPT = bitcoin().script_of(OURS)
TXID, POOLED, SPENT, BY = "77" * 32, "88" * 32, "99" * 32, "66" * 32
HEAD = 19
ANY = re.compile(".*")


def block_hash(height: int) -> str:
    return f"{height:064x}" if height else bitcoin().first_block


class Error(dict[str, Any]):
    """An answer that is a JSON-RPC error."""


NOT_FOUND = Error(error={"code": -5, "message": "No such mempool or blockchain transaction."})


def always(answer: Any) -> Callable[[Any], Any]:
    return lambda _: copy.deepcopy(answer)


class FakeCore:
    """Twenty blocks with a payment in the last one and one in the pool. `spoil` changes the answers of one method."""

    def __init__(self) -> None:
        self.spoiled: dict[str, Callable[[Any], Any]] = {}

    def spoil(self, method: str, change: Callable[[Any], Any]) -> None:
        self.spoiled[method] = change

    def handle(self, request: Request) -> Response:
        """Answer as Core does: a single call that fails comes with status 500."""
        calls = json.loads(request.data)
        answers = [self.answer(call) for call in (calls if isinstance(calls, list) else [calls])]
        failed = not isinstance(calls, list) and answers[0]["error"] is not None
        body = json.dumps(answers if isinstance(calls, list) else answers[0])
        return Response(body, 500 if failed else 200, content_type="application/json")

    def answer(self, call: Any) -> Any:
        result = copy.deepcopy(getattr(self, call["method"])(*call["params"]))
        change = self.spoiled.get(call["method"])
        result = change(result) if change else result
        answer = {"result": None, "error": None, "id": call["id"]}
        return answer | (result if isinstance(result, Error) else {"result": result})

    def getblockchaininfo(self) -> Any:
        return {
            "chain": "main",
            "blocks": HEAD,
            "headers": HEAD,
            "bestblockhash": block_hash(HEAD),
            "initialblockdownload": False,
        }

    def getblockhash(self, height: int) -> Any:
        return block_hash(height) if height <= HEAD else Error(error={"code": -8, "message": "height out of range"})

    def getblockheader(self, which: str) -> Any:
        height = 0 if which == block_hash(0) else int(which, 16)
        header = {"hash": which, "height": height, "time": 1_700_000_000 + 600 * height}
        return header | {"confirmations": HEAD - height + 1, "previousblockhash": block_hash(max(height - 1, 0))}

    def getblock(self, which: str, verbosity: int) -> Any:
        header = self.getblockheader(which)
        txs = [self.tx(TXID)] if header["height"] == HEAD else []
        return header | {"tx": txs if verbosity == 2 else [tx["txid"] for tx in txs]}

    def tx(self, txid: str) -> Any:
        outputs = [
            {"value": 0.05, "n": 0, "scriptPubKey": {"hex": SCRIPT}},
            {"value": 49.99990001, "n": 1, "scriptPubKey": {"hex": "6a00"}},
        ]
        return {"txid": txid, "vin": [{"txid": SPENT, "vout": 1, "sequence": 0}], "vout": outputs}

    def getrawmempool(self) -> Any:
        return [POOLED]

    def getrawtransaction(self, txid: str, verbose: bool, which: str | None = None) -> Any:
        return self.tx(txid) if txid == POOLED or which else NOT_FOUND

    def gettxout(self, txid: str, n: int, pool: bool) -> Any:
        if (txid, n) != (TXID, 0):
            return None
        return {
            "bestblock": block_hash(HEAD),
            "confirmations": 1,
            "value": 0.05,
            "scriptPubKey": {"hex": SCRIPT},
            "coinbase": False,
        }

    def gettxspendingprevout(self, outpoints: Any) -> Any:
        return outpoints

    def getmempoolentry(self, txid: str) -> Any:
        return {"vsize": 140, "fees": {"base": 0.0000014}}

    def estimatesmartfee(self, blocks: int) -> Any:
        return {"feerate": 0.00002, "blocks": blocks}

    def getmempoolinfo(self) -> Any:
        return {"mempoolminfee": 0.00001}


@pytest.fixture
def fake() -> FakeCore:
    return FakeCore()


@pytest.fixture
def node(httpserver: HTTPServer, fake: FakeCore) -> UtxoNode:
    httpserver.expect_request("/").respond_with_handler(fake.handle)
    url = httpserver.url_for("/").replace("//", "//user:password@", 1)
    made = UtxoNode(bitcoin(), url, ZPUB, timeout=8)
    made.memory.keep([], [], [])  # one port serves one test after another
    made.memory.searched.clear()
    return made


def ours(addresses: Any) -> set[str]:
    return {OURS} & set(addresses)


IN_BLOCK = Key(TXID, "out:0", OURS, 5_000_000, None, (f"{SPENT}:1",))
IN_POOL = Key(POOLED, "out:0", OURS, 5_000_000, None, (f"{SPENT}:1",))
GONE = Key("55" * 32, "out:0", OURS, 5_000_000, None, (f"{SPENT}:1",))


def verbs(node: UtxoNode) -> list[Callable[[], Any]]:
    return [
        node.genesis,
        node.head,
        lambda: node.scan(Cursor(""), ours),
        lambda: node.confirm([IN_BLOCK]),
        lambda: node.look_up(TXID),
        lambda: node.used([OURS]),
    ]


def test_the_fake_is_read_when_nothing_is_wrong(node: UtxoNode) -> None:
    batch = node.scan(Cursor(""), ours)
    assert [(t.txid, t.position, t.amount, t.block is None) for t in batch.transfers] == [
        (TXID, "out:0", 5_000_000, False),
        (POOLED, "out:0", 5_000_000, True),
    ]
    mined, waiting = node.confirm([IN_BLOCK, IN_POOL])
    assert mined is not None and not isinstance(mined, Replaced) and mined.confirmations == 1
    assert waiting is not None and not isinstance(waiting, Replaced) and waiting.block is None
    finding = node.look_up(POOLED)
    assert finding is not None and finding.low_fee and [t.amount for t in finding.payments] == [5_000_000]


# --- transport --------------------------------------------------------------------------------------------------------
BOTH = pytest.mark.parametrize("scheme", ["", "esplora+"], ids=["core", "esplora"])


def node_at(httpserver: HTTPServer, scheme: str, **options: Any) -> UtxoNode:
    return UtxoNode(bitcoin(), scheme + httpserver.url_for(""), ZPUB, **options)


@BOTH
@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response("{}", 429), "HTTP status 429: it limits"),
        (Response("{}", 401), "HTTP status 401: it wants other credentials"),
        (Response("down", 500), "HTTP status 500"),
        (Response("Work queue depth exceeded", 503), "HTTP status 503"),
        (Response("", 302, {"Location": "/elsewhere"}), "HTTP status 302"),
    ],
)
def test_what_is_tried_again(httpserver: HTTPServer, scheme: str, response: Response, said: str) -> None:
    httpserver.expect_request(ANY).respond_with_response(response)
    for ask in verbs(node_at(httpserver, scheme)):
        with pytest.raises(Unavailable, match=f"The Bitcoin node at localhost:\\d+ .*{said}"):
            ask()


@pytest.mark.parametrize("body", ['{"result": {"chain": "ma', "<html>", ""])
def test_broken_json_is_tried_again(httpserver: HTTPServer, body: str) -> None:
    httpserver.expect_request(ANY).respond_with_data(body)
    for ask in verbs(node_at(httpserver, "")):
        with pytest.raises(Unavailable, match="broken JSON"):
            ask()


@BOTH
@pytest.mark.parametrize("body", ["[]", "null", "5", '"text"', "{}", '{"result": 5, "error": null, "id": 77}'])
def test_what_somebody_is_told(httpserver: HTTPServer, scheme: str, body: str) -> None:
    httpserver.expect_request(ANY).respond_with_data(body)
    for ask in verbs(node_at(httpserver, scheme)):
        with pytest.raises(BadAnswer):
            ask()


@BOTH
def test_a_node_that_sends_a_byte_now_and_then(httpserver: HTTPServer, scheme: str) -> None:
    def drip(request: Request) -> Response:
        return Response((time.sleep(0.05) or b" " for _ in range(100)), headers={"Content-Length": "1000"})  # type: ignore[func-returns-value]

    httpserver.expect_request(ANY).respond_with_handler(drip)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer within"):
        node_at(httpserver, scheme, timeout=0.3).head()
    assert time.monotonic() - began < 2


@BOTH
def test_nobody_there_and_no_credentials_told(scheme: str) -> None:
    node = UtxoNode(bitcoin(), scheme + "http://user:password@127.0.0.1:1/secret", ZPUB)
    for ask in verbs(node):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert str(caught.value) == "The Bitcoin node at 127.0.0.1:1 does not answer."


# --- answers of Core that can't be right ------------------------------------------------------------------------------
REMOVED = object()


def change(field: str, value: Any) -> Callable[[Any], Any]:
    """Change a field of an answer; "tx.0.vout" goes into lists. Without value: remove it."""

    def apply(answer: Any) -> Any:
        target, names = answer, field.split(".")
        for name in names[:-1]:
            if isinstance(target, list) and not target:
                return answer
            target = target[int(name) if isinstance(target, list) else name]
        if isinstance(target, list) and not target:
            return answer
        last: Any = int(names[-1]) if isinstance(target, list) else names[-1]
        if value is REMOVED:
            del target[last]
        else:
            target[last] = value
        return answer

    return apply


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("getblockchaininfo", always(None)),
        ("getblockchaininfo", change("chain", REMOVED)),
        ("getblockchaininfo", change("bestblockhash", 5)),
        ("getblockchaininfo", change("initialblockdownload", REMOVED)),
        ("getblockhash", always(None)),
        ("getblockhash", always("00")),
        ("getblockheader", always([])),
        ("getblockheader", change("height", 3)),
        ("getblockheader", change("height", "19")),
        ("getblockheader", change("time", None)),
        ("getblockheader", change("time", 10**20)),
        ("getblockheader", change("confirmations", REMOVED)),
        ("getblock", always(None)),
        ("getblock", change("hash", block_hash(3))),
        ("getblock", change("height", 3)),
        ("getblock", change("tx", None)),
        ("getblock", change("tx", ["77"])),
        ("getblock", change("tx.0.txid", "77")),
        ("getblock", change("tx.0.vin", None)),
        ("getblock", change("tx.0.vout", {})),
        ("getblock", change("tx.0.vout.0.n", REMOVED)),
        ("getblock", change("tx.0.vout.0.n", -1)),
        ("getblock", change("tx.0.vout.0.scriptPubKey", None)),
        ("getblock", change("tx.0.vout.0.value", "0.05")),
        ("getblock", change("tx.0.vout.0.value", -0.05)),
        ("getblock", change("tx.0.vout.0.value", 0.000000001)),
        ("getblock", change("tx.0.vout.0.value", 1e20)),
        ("getblock", change("tx.0.vout.0.value", True)),
        ("getrawmempool", always({})),
        ("getrawmempool", always(["88"])),
        ("getrawtransaction", change("txid", "44" * 32)),
        ("getrawtransaction", always(5)),
    ],
)
def test_a_pass_keeps_nothing_of_a_wrong_answer(
    node: UtxoNode, fake: FakeCore, method: str, spoil: Callable[[Any], Any]
) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(BadAnswer) as caught:
        node.scan(Cursor(""), ours)
    assert not isinstance(caught.value, ForeignChain)


@pytest.mark.parametrize(
    ("method", "spoil", "said"),
    [
        ("getblockchaininfo", change("initialblockdownload", True), "still downloading the chain: block 19 of 19"),
        ("getblockheader", change("confirmations", -1), "chain changed at block"),
        ("getblock", change("previousblockhash", block_hash(50)), "chain changed at block 19"),
        ("getblock", always(Error(error={"code": -1, "message": "Block not available (pruned data)"})), "it is pruned"),
        ("getblock", always(Error(error={"code": -28, "message": "Loading"})), "refused getblock: Loading"),
        ("getrawtransaction", always(Error(error={"code": -28, "message": "Loading"})), "refused getrawtransaction"),
    ],
)
def test_a_node_that_can_not_tell_now_is_asked_again(
    node: UtxoNode, fake: FakeCore, method: str, spoil: Callable[[Any], Any], said: str
) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(Unavailable, match=said):
        node.scan(Cursor(""), ours)


@pytest.mark.parametrize(
    ("method", "spoil"),
    [
        ("getblockchaininfo", change("chain", "test")),
        ("getblockhash", always(block_hash(7))),
    ],
)
def test_another_chain_is_told_apart(node: UtxoNode, fake: FakeCore, method: str, spoil: Callable[[Any], Any]) -> None:
    fake.spoil(method, spoil)
    with pytest.raises(ForeignChain):
        node.genesis()


# --- reading again ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "spoil",
    [
        change("value", 0.06),
        change("scriptPubKey.hex", bitcoin().script_of(VECTORS["BTC BIP84 abandon"]["addresses"][1])),
    ],
)
def test_confirm_says_what_is_no_longer_so(node: UtxoNode, fake: FakeCore, spoil: Callable[[Any], Any]) -> None:
    fake.spoil("gettxout", lambda answer: spoil(answer) if answer else None)
    assert node.confirm([IN_BLOCK]) == [None]


def test_a_block_that_came_meanwhile_spoils_the_turn(node: UtxoNode, fake: FakeCore) -> None:
    fake.spoil("gettxout", change("bestblock", block_hash(18)))
    with pytest.raises(Unavailable, match="grew while it was read"):
        node.confirm([IN_BLOCK])


def test_who_replaced_a_payment_is_named_by_the_pool(node: UtxoNode, fake: FakeCore) -> None:
    fake.spoil("gettxspendingprevout", lambda answer: [one | {"spendingtxid": BY} for one in answer])
    assert node.confirm([GONE]) == [Replaced(BY)]


def test_an_older_node_knows_only_that_somebody_spent_the_output(node: UtxoNode, fake: FakeCore) -> None:
    """In no block, and not spendable: something in the pool spends it, and our transaction is not there."""
    fake.spoil("gettxspendingprevout", always(Error(error={"code": -32601, "message": "Method not found"})))
    fake.gettxout = lambda txid, n, pool: None if txid == GONE.txid or pool else {"value": 1}  # type: ignore[method-assign]
    assert node.confirm([GONE]) == [Replaced("")]
    fake.gettxout = lambda txid, n, pool: None if txid == GONE.txid else {"value": 1}  # type: ignore[method-assign]
    assert node.confirm([GONE]) == [None]


def test_a_spender_in_the_last_blocks_is_found_and_nothing_is_searched_twice(node: UtxoNode, fake: FakeCore) -> None:
    assert node.confirm([GONE]) == [Replaced(TXID)]  # the payment in the last block spends the same output
    unknown = Key(GONE.txid, "out:0", OURS, 5_000_000, None, ("33" * 32 + ":0",))
    calls = []
    for _ in range(2):
        before = node.source.calls
        assert node.confirm([unknown]) == [None]
        calls.append(node.source.calls - before)
    assert calls[0] > HEAD > calls[1]


def test_an_index_that_knows_a_block_which_left_the_chain_proves_nothing(node: UtxoNode, fake: FakeCore) -> None:
    orphan = fake.tx(GONE.txid) | {"blockhash": block_hash(50), "confirmations": 0}
    fake.spoil("getrawtransaction", lambda answer: orphan)
    fake.spoil("getblock", change("tx", []))
    assert node.confirm([GONE]) == [None]


def test_positions_of_other_networks_name_nothing(node: UtxoNode) -> None:
    for position in ("value", "log:0", "out:", "out:x", "0"):
        assert node.confirm([Key(TXID, position, OURS, 5_000_000)]) == [None]


def test_what_the_caller_does_wrong_is_not_called_a_bad_answer(node: UtxoNode) -> None:
    def broken(addresses: Any) -> set[str]:
        raise KeyError("the caller's own")

    with pytest.raises(KeyError):
        node.scan(Cursor(""), broken)


def test_a_block_from_the_future_does_not_move_the_clock(node: UtxoNode, fake: FakeCore) -> None:
    """Miners may be two hours ahead: an intent must not expire by that."""
    fake.spoil("getblock", change("time", int(time.time()) + 7000))
    assert node.scan(Cursor(""), ours).watched_until <= datetime.now(UTC)


def test_a_wrong_key_or_address_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="checksum"):
        UtxoNode(bitcoin(), "http://127.0.0.1:1", ZPUB[:-1])
    with pytest.raises(ValueError, match="begins with http"):
        UtxoNode(bitcoin(), "esplora+ftp://127.0.0.1:1", ZPUB)


# --- dialects ---------------------------------------------------------------------------------------------------------
LTC_KEY, LTC_OURS = VECTORS["LTC BIP84 abandon"]["xpub"], VECTORS["LTC BIP84 abandon"]["addresses"][0]


def test_litecoins_private_part_is_no_ordinary_output(httpserver: HTTPServer, fake: FakeCore) -> None:
    """As Litecoin Core 0.21 tells a peg-out in the pool: an input without id, an output without script, and the payee
    beside them. The id is another one when it is mined, so it counts only then."""
    script = {"hex": litecoin().script_of(LTC_OURS), "addresses": [LTC_OURS], "reqSigs": 1}
    private = {
        "txid": POOLED,
        "vin": [{"ismweb": True, "output_id": "ea" * 32}],
        "vout": [{"ismweb": True, "output_id": "7b" * 32}],
        "vkern": [{"kernel_id": "2c" * 32, "pegin": 0.0, "pegout": [{"value": 3.0, "scriptPubKey": script}]}],
    }
    holds = {"hex": "5820" + "c7" * 32, "type": "witness_mweb_hogaddr"}
    last = {
        "txid": TXID,
        "vin": [{"ismweb": False, "txid": SPENT, "vout": 0}],
        "vout": [
            {"ismweb": False, "value": 9.4998612, "n": 0, "scriptPubKey": holds},
            {"ismweb": False, "value": 3.0, "n": 1, "scriptPubKey": script},
        ],
    }
    fake.spoil("getrawtransaction", always(private))
    fake.spoil("getblock", change("tx", [last]))
    fake.spoil("getblockhash", lambda found: litecoin().first_block if found == block_hash(0) else found)
    httpserver.expect_request("/").respond_with_handler(fake.handle)
    node = UtxoNode(litecoin(), httpserver.url_for(""), LTC_KEY)
    batch = node.scan(Cursor(""), lambda addresses: {LTC_OURS} & set(addresses))
    assert [(t.txid, t.position, t.amount) for t in batch.transfers] == [(TXID, "out:1", 3 * 10**8)]


def test_an_address_that_only_stands_beside_an_output_is_not_paid(node: UtxoNode, fake: FakeCore) -> None:
    """Older nodes name our address for a bare key or a multi-signature as well: the script decides."""
    bare = {"hex": "5121" + "02" * 33 + "21" + "03" * 33 + "52ae", "addresses": [OURS, "x"], "type": "multisig"}
    fake.spoil("getblock", change("tx.0.vout.0.scriptPubKey", bare))
    assert [transfer.txid for transfer in node.scan(Cursor(""), ours).transfers] == [POOLED]


# --- amounts ----------------------------------------------------------------------------------------------------------
def on_the_wire(amount: int) -> Any:
    """Return an amount as it comes out of the parser, written by the node with eight decimals."""
    return orjson.loads(f"{amount // 10**8}.{amount % 10**8:08d}")


@settings(deadline=None)  # the machine may be busy
@given(st.integers(0, EXACT_BELOW * 10**8 - 1))
def test_every_amount_is_exact(amount: int) -> None:
    assert units(on_the_wire(amount)) == amount


@pytest.mark.parametrize("whole", [0, 1, 2**20, 20_999_999, 21_000_000, EXACT_BELOW - 1])
@pytest.mark.parametrize("part", [0, 1, 2, 49_999_999, 50_000_000, 99_999_998, 99_999_999])
def test_amounts_at_the_edges_are_exact(whole: int, part: int) -> None:
    assert units(on_the_wire(whole * 10**8 + part)) == whole * 10**8 + part


@settings(deadline=None)  # the machine may be busy
@given(st.decimals(0, 1000, places=9).filter(lambda number: number % Decimal("0.00000001") != 0))
def test_more_decimals_are_refused(number: Decimal) -> None:
    with pytest.raises(ValueError, match="more than eight decimals"):
        units(float(number))


@pytest.mark.parametrize("value", [None, "1", True, -1, -0.1, float("nan"), float("inf"), EXACT_BELOW, [], {}])
def test_what_is_no_amount(value: Any) -> None:
    with pytest.raises(ValueError, match="is no amount"):
        units(value)


# --- the pool's memory ------------------------------------------------------------------------------------------------
def test_what_is_new_is_read_before_what_was_left_over() -> None:
    memory, backlog = Memory(), [f"old{n}" for n in range(10)]
    first = memory.unread(backlog, 4)
    memory.keep(backlog, first, [])
    second = memory.unread([*backlog, "new1", "new2"], 4)
    assert set(second[:2]) == {"new1", "new2"}
    assert len(second) == 4 and not set(second) & set(first)


def test_what_left_the_pool_is_forgotten() -> None:
    memory = Memory()
    transfer = Transfer("a", "out:0", OURS, 1, "btc", None, None)
    memory.keep(["a", "b"], ["a", "b"], [transfer])
    assert memory.unread(["a", "b"], 9) == []
    memory.keep(["b"], [], [])
    assert (memory.read, memory.ours) == ({"b"}, {})
    assert memory.unread(["a", "b"], 9) == ["a"]


# --- Esplora ----------------------------------------------------------------------------------------------------------
class FakeEsplora:
    """The same chain, told by Esplora. `spoil` changes the answer of one kind of path."""

    def __init__(self) -> None:
        self.spoiled: dict[str, Callable[[Any], Any]] = {}

    def spoil(self, path: str, change: Callable[[Any], Any]) -> None:
        self.spoiled[path] = change

    def handle(self, request: Request) -> Response:
        kind, answer = self.answer(request.path.removeprefix("/api"))
        change = self.spoiled.get(kind)
        answer = change(answer) if change else answer
        if answer is None:
            return Response("Transaction not found", 404)
        return Response(answer if isinstance(answer, str) else json.dumps(answer))

    def answer(self, path: str) -> tuple[str, Any]:
        parts = path.strip("/").split("/")
        match parts:
            case ["blocks", "tip", "hash"]:
                return "tip", block_hash(HEAD)
            case ["block-height", height]:
                return "height", block_hash(int(height)) if int(height) <= HEAD else None
            case ["block", which]:
                return "block", self.block(which)
            case ["block", which, "txs", _]:
                return "txs", [self.tx(TXID)]
            case ["tx", txid]:
                return "tx", self.tx(txid) if txid in (TXID, POOLED) else None
            case ["tx", _, "outspend", _]:
                return "outspend", {"spent": True, "txid": BY, "vin": 0, "status": {"confirmed": False}}
            case ["mempool", "txids"]:
                return "pool", [POOLED]
            case ["address", address]:
                stats = {"tx_count": 1 if address == OURS else 0}
                return "address", {"address": address, "chain_stats": stats, "mempool_stats": {"tx_count": 0}}
            case _:
                return "fees", {"6": 12.5}

    def block(self, which: str) -> Any:
        height = 0 if which == block_hash(0) else int(which, 16)
        count = 1 if height == HEAD else 0
        block = {"id": which, "height": height, "timestamp": 1_700_000_000 + 600 * height, "tx_count": count}
        return block | {"previousblockhash": block_hash(height - 1) if height else None}

    def tx(self, txid: str) -> Any:
        mined = {"block_height": HEAD, "block_hash": block_hash(HEAD), "block_time": 1_700_000_000 + 600 * HEAD}
        return {
            "txid": txid,
            "vin": [{"txid": SPENT, "vout": 1, "is_coinbase": False}],
            "vout": [{"scriptpubkey": SCRIPT, "value": 5_000_000}],
            "weight": 561,
            "fee": 1400,
            "status": {"confirmed": True, **mined} if txid == TXID else {"confirmed": False},
        }


@pytest.fixture
def server() -> FakeEsplora:
    return FakeEsplora()


@pytest.fixture
def reader(httpserver: HTTPServer, server: FakeEsplora) -> UtxoNode:
    httpserver.expect_request(ANY).respond_with_handler(server.handle)
    made = UtxoNode(bitcoin(), f"esplora+{httpserver.url_for('/api')}", ZPUB, timeout=8)
    made.memory.keep([], [], [])
    return made


def test_esplora_is_read_when_nothing_is_wrong(reader: UtxoNode) -> None:
    batch = reader.scan(Cursor(""), ours)
    assert [(t.txid, t.position, t.amount, t.block is None) for t in batch.transfers] == [
        (TXID, "out:0", 5_000_000, False),
        (POOLED, "out:0", 5_000_000, True),
    ]
    mined, waiting, gone = reader.confirm([IN_BLOCK, IN_POOL, GONE])
    assert mined is not None and not isinstance(mined, Replaced) and mined.confirmations == 1
    assert waiting is not None and not isinstance(waiting, Replaced) and waiting.block is None
    assert gone == Replaced(BY)
    finding = reader.look_up(POOLED)
    assert finding is not None and finding.low_fee
    assert reader.used([OURS, VECTORS["BTC BIP84 abandon"]["addresses"][1]]) == {OURS}


@pytest.mark.parametrize(
    ("path", "spoil"),
    [
        ("tip", always("not a hash")),
        ("height", always("00")),
        ("block", change("id", block_hash(3))),
        ("block", change("height", 3)),
        ("block", change("timestamp", "soon")),
        ("block", change("tx_count", 2)),
        ("block", change("tx_count", REMOVED)),
        ("txs", always({})),
        ("txs", change("0.txid", "7")),
        ("txs", change("0.vout.0.value", 0.05)),
        ("txs", change("0.vout.0.value", -1)),
        ("txs", change("0.vout.0.scriptpubkey", REMOVED)),
        ("txs", change("0.vin.0.txid", None)),
        ("pool", always({})),
        ("tx", change("txid", TXID)),
        ("tx", change("status", REMOVED)),
        ("tx", change("status.confirmed", "no")),
    ],
)
def test_a_pass_keeps_nothing_of_a_wrong_answer_of_esplora(
    reader: UtxoNode, server: FakeEsplora, path: str, spoil: Callable[[Any], Any]
) -> None:
    server.spoil(path, spoil)
    with pytest.raises(BadAnswer) as caught:
        reader.scan(Cursor(""), ours)
    assert not isinstance(caught.value, ForeignChain)


@pytest.mark.parametrize(
    ("path", "spoil"),
    [
        ("tip", always(None)),
        ("block", always(None)),
        ("block", change("previousblockhash", block_hash(50))),
        ("txs", always('[{"txid": "77')),
        ("pool", always("[")),
    ],
)
def test_an_esplora_server_that_can_not_tell_now_is_asked_again(
    reader: UtxoNode, server: FakeEsplora, path: str, spoil: Callable[[Any], Any]
) -> None:
    server.spoil(path, spoil)
    with pytest.raises(Unavailable):
        reader.scan(Cursor(""), ours)


def test_a_block_that_left_the_chain_is_not_taken_from_a_status(reader: UtxoNode, server: FakeEsplora) -> None:
    server.spoil("tx", change("status.block_hash", block_hash(50)))
    with pytest.raises(Unavailable, match="chain changed at block 19"):
        reader.confirm([IN_BLOCK])


def test_another_chain_behind_esplora_is_told_apart(reader: UtxoNode, server: FakeEsplora) -> None:
    server.spoil("height", always(Utxo(litecoin().coin).first_block))
    with pytest.raises(ForeignChain, match="its first block is 12a765"):
        reader.genesis()
