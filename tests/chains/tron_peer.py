"""A Tron node for tests: the HTTP interface of java-tron over a chain of our own, and a payer who signs.

No java-tron can be had as a package, so this stands in for one. Real: protobuf, transaction ids, signatures, references
to blocks, and the shapes of answers: default values left out, `{}` for what is not known, HTTP 200 with an error in it.
"""

import copy
import json
import threading
from collections.abc import Callable
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chains import tron_wire as wire
from chains.tron_chain import Chain, Mined
from chains.tron_vm import Program, Reverted, Run, Token
from chains.tron_wire import Json
from coincurve import PrivateKey

FEE_LIMIT = 100_000_000
Change = Callable[[Any], Any]


class TronPeer:
    """One node, in a thread. Blocks are made by `mine` alone. `asked` lists the calls it was asked for."""

    def __init__(self, name: str = "peer") -> None:
        self.chain = Chain(name=name)
        self.lock = threading.RLock()
        self.asked: list[str] = []
        self.lagging = 0
        self.refusal = 0  # the HTTP status that everybody gets; 0: none
        self.spoiled: dict[str, Change] = {}
        self.server: Server | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Answer again, at the same address."""
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.peer = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Answer nobody."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def mine(self, n: int = 1, at: datetime | None = None) -> None:
        with self.lock:
            self.chain.mine(n, at)

    def solidify(self) -> None:
        """Put what waits into a block and make that one solid."""
        self.mine(1 + self.chain.solid_lag)

    def fork(self, depth: int, *, keep: bool = False, blocks: int | None = None) -> None:
        with self.lock:
            self.chain.fork(depth, keep=keep, blocks=blocks)

    def spoil(self, call: str, change: Change) -> None:
        """Change every answer to one call, such as "walletsolidity/getnowblock"."""
        self.spoiled[call] = change

    def give(self, address: str, sun: int) -> None:
        self.chain.state.give(wire.to_hex(address), sun)

    def make_token(self, owner: str, decimals: int = 6, supply: int = 10**15) -> str:
        """Put a token on the chain and return its address."""
        number = len(self.chain.state.tokens)
        address = "41" + wire.sha256(f"{self.chain.name} token {number}".encode())[:20].hex()
        digits = wire.to_hex(owner)
        self.chain.state.tokens[address] = Token(digits, decimals, {digits: supply})
        return wire.to_text(address)

    def token(self, address: str) -> Token:
        return self.chain.state.tokens[wire.to_hex(address)]

    def deploy(self, program: Program) -> str:
        """Put another contract on the chain and return its address."""
        address = "41" + wire.sha256(f"program {len(self.chain.programs)}".encode())[:20].hex()
        self.chain.programs[address] = program
        return wire.to_text(address)

    # --- answers --------------------------------------------------------------------------------------------------
    def answer(self, path: str, question: Json) -> Any:
        """Return the answer of one call as a node gives it; None for a call that it does not have."""
        family, _, call = path.strip("/").partition("/")
        with self.lock:
            self.asked.append(f"{family}/{call}")
            top = self.chain.solid if family == "walletsolidity" else self.chain.head
            known = getattr(self, f"_{call}", None)
            found = known(question, top - self.lagging) if known else None
            change = self.spoiled.get(f"{family}/{call}", lambda answer: answer)
            return change(copy.deepcopy(found))

    def _getnowblock(self, question: Json, top: int) -> Any:
        return block_json(self.chain.blocks[top])

    def _getblockbynum(self, question: Json, top: int) -> Any:
        height = question.get("num", 0)
        return block_json(self.chain.blocks[height]) if height <= top else {}

    def _getblockbylimitnext(self, question: Json, top: int) -> Any:
        first, end = question.get("startNum", 0), question.get("endNum", 0)
        if not 0 <= first < end <= first + 100:
            return {}
        return {"block": [block_json(block) for block in self.chain.blocks[first : min(end, top + 1)]]}

    def _gettransactioninfobyblocknum(self, question: Json, top: int) -> Any:
        height = question.get("num", 0)
        if height <= 0:
            return {}
        return self.chain.blocks[height].infos if height <= top else []

    def _gettransactionbyid(self, question: Json, top: int) -> Any:
        found = self.chain.find(question["value"])
        return transaction_json(self.chain.blocks[found[0]].transactions[found[1]]) if found and found[0] <= top else {}

    def _gettransactioninfobyid(self, question: Json, top: int) -> Any:
        found = self.chain.find(question["value"])
        return self.chain.blocks[found[0]].infos[found[1]] if found and found[0] <= top else {}

    def _gettransactionfrompending(self, question: Json, top: int) -> Any:
        return next((transaction_json(tx) for tx in self.chain.pending if tx["txID"] == question["value"]), {})

    def _getaccount(self, question: Json, top: int) -> Any:
        balance = self.chain.state.coins.get(wire.to_hex(question["address"]))
        if balance is None:
            return {}
        return {"address": question["address"], **({"balance": balance} if balance else {}), "create_time": 1}

    def _triggerconstantcontract(self, question: Json, top: int) -> Any:
        contract, sender = wire.to_hex(question["contract_address"]), wire.to_hex(question["owner_address"])
        if not self.chain.is_contract(contract):
            return {"result": {"code": "CONTRACT_VALIDATE_ERROR", "message": b"Smart contract is not exist.".hex()}}
        data = wire.selector(question["function_selector"]) + question.get("parameter", "")
        run = Run(copy.deepcopy(self.chain.state), contract, sender, 0, "00" * 32)
        try:
            return {"result": {"result": True}, "energy_used": 400, "constant_result": [self.chain.call(run, data)]}
        except Reverted:
            return {"result": {"result": True, "message": b"REVERT opcode executed".hex()}, "constant_result": [""]}


def block_json(block: Mined) -> Json:
    transactions = [transaction_json(tx) for tx in block.transactions]
    return {
        "blockID": block.id,
        "block_header": block.header,
        **({"transactions": transactions} if transactions else {}),
    }


def transaction_json(tx: Json) -> Json:
    return tx | {"raw_data_hex": wire.encode_raw(tx["raw_data"]).hex()}


class Server(ThreadingHTTPServer):
    """Serves one peer."""

    daemon_threads = True
    request_queue_size = 64
    peer: TronPeer


class Handler(BaseHTTPRequestHandler):
    """Answers one request; a connection serves no second one, so a node that stops is gone at once."""

    server: Server

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        refusal = self.server.peer.refusal
        try:
            found = None if refusal else self.server.peer.answer(self.path, question)
            status, answer = (refusal or 404, {"Error": "no"}) if found is None else (200, found)
        except Exception as error:  # as java-tron does: its own faults come with status 200
            status, answer = 200, {"Error": f"class {type(error).__name__} : {error}"}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class TronPayer:
    """A wallet that signs with a key of its own. What it sends waits in the pool until `peer.mine()`."""

    def __init__(self, peer: TronPeer) -> None:
        self.peer = peer
        self.key = PrivateKey()
        self.signed = 0
        self.digits = wire.address_of(self.key.public_key)
        self.address = wire.to_text(self.digits)
        peer.give(self.address, 10**12)

    def sign(self, kind: str, value: Json, fee_limit: int = 0) -> Json:
        raw = self.peer.chain.raw(kind, {"owner_address": self.digits} | value, fee_limit)
        self.signed += 1
        raw["timestamp"] += self.signed  # or two equal payments of one millisecond were one
        return wire.sign(raw, self.key)

    def submit(self, tx: Json) -> str:
        """Send a signed transaction and return its id."""
        with self.peer.lock:
            return self.peer.chain.broadcast(tx)

    def pay(self, address: str, sun: int) -> str:
        """Send TRX."""
        return self.submit(self.sign("TransferContract", {"to_address": wire.to_hex(address), "amount": sun}))

    def pay_token(self, token: str, address: str, amount: int, fee_limit: int = FEE_LIMIT, front: str = "00") -> str:
        """Send a token. Some wallets leave the address's 41 in front of its 20 bytes."""
        word = ("00" * 11 + front + wire.to_hex(address)[2:]) + wire.word(amount)
        data = wire.selector("transfer(address,uint256)") + word
        return self.call(token, data, fee_limit=fee_limit)

    def call(self, contract: str, data: str = "", sun: int = 0, fee_limit: int = FEE_LIMIT) -> str:
        """Call a contract."""
        value: Json = {"contract_address": wire.to_hex(contract)}
        value |= ({"data": data} if data else {}) | ({"call_value": sun} if sun else {})
        return self.submit(self.sign("TriggerSmartContract", value, fee_limit))
