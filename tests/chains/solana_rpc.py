"""The JSON-RPC front of a SolanaChain, as a node speaks it, in a thread of the test."""

import base64
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chains.solana_chain import Json, Landed, Refusal, SolanaChain
from solders.account import Account
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction


class SolanaPeer:
    """One node of a chain: it can go away and come back, fall behind, and be slow to index what it knows."""

    def __init__(self, chain: SolanaChain) -> None:
        self.chain = chain
        self.lock = threading.RLock()
        self.port = 0
        self.lag = 0  # slots by which its finalized state is older than the cluster's
        self.unshown: set[str] = set()  # signatures that are listed and not shown yet
        self.unlisted: set[str] = set()  # and those that are not even listed
        self.asked: list[str] = []
        self.server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def answer(self, request: Json) -> Json:
        """Return the answer to one request."""
        method: Callable[[list[Any], Json], Any] | None = getattr(self, request["method"], None)
        params = request.get("params") or []
        options = next((one for one in reversed(params) if isinstance(one, dict)), {})
        with self.lock:
            self.asked.append(request["method"])
            try:
                if method is None:
                    raise Refusal(-32601, "Method not found")
                result = {"result": method(params, {k: v for k, v in options.items() if v is not None})}
            except Refusal as error:
                result = {"error": {"code": error.code, "message": str(error)}}
        return {"jsonrpc": "2.0", "id": request["id"], **result}

    # --- methods --------------------------------------------------------------------------------------------------
    def getGenesisHash(self, params: list[Any], options: Json) -> str:
        return self.chain.genesis

    def getSlot(self, params: list[Any], options: Json) -> int:
        return self._top(options)

    def getBlock(self, params: list[Any], options: Json) -> Json:
        slot = self.chain.block(params[0])
        return {"blockhash": slot.blockhash, "blockTime": slot.time, "parentSlot": slot.number - 1}

    def getLatestBlockhash(self, params: list[Any], options: Json) -> Json:
        slot = self.chain.slots[self._top(options)]
        return self._context(options, {"blockhash": slot.blockhash, "lastValidBlockHeight": slot.number + 150})

    def getMultipleAccounts(self, params: list[Any], options: Json) -> Json:
        if len(params[0]) > 100:
            raise Refusal(-32602, "Too many inputs provided; max 100")
        if options.get("minContextSlot", 0) > self._top(options):
            raise Refusal(-32016, "Minimum context slot has not been reached")
        at = self.chain.accounts_at(options.get("commitment", "finalized"))
        return self._context(options, [account_json(at(Pubkey.from_string(one))) for one in params[0]])

    def getSignaturesForAddress(self, params: list[Any], options: Json) -> list[Json]:
        found = [one for one in self.chain.history(params[0], self._level(options)) if one not in self.unlisted]
        if options.get("before"):
            found = found[found.index(options["before"]) + 1 :] if options["before"] in found else []
        if options.get("until") in found:
            found = found[: found.index(options["until"])]
        return [self._listed(one) for one in found[: options.get("limit", 1000)]]

    def getSignatureStatuses(self, params: list[Any], options: Json) -> Json:
        known = [None if one in self.unlisted else self.chain.transaction(one, "processed") for one in params[0]]
        return self._context(options, [self._status(one) if one else None for one in known])

    def getTransaction(self, params: list[Any], options: Json) -> Json | None:
        found = self.chain.transaction(params[0], self._level(options))
        if found is None or {params[0]} & (self.unshown | self.unlisted):
            return None
        if found.version == 0 and "maxSupportedTransactionVersion" not in options:
            raise Refusal(-32015, "Transaction version (0) is not supported by the requesting client.")
        raw = base64.b64encode(bytes(found.transaction)).decode()
        time = self.chain.slots[found.slot].time
        shown = {"transaction": [raw, "base64"], "meta": found.meta, "version": found.version}
        return {"slot": found.slot, "blockTime": time, **shown}

    def sendTransaction(self, params: list[Any], options: Json) -> str:
        return self.chain.submit(VersionedTransaction.from_bytes(base64.b64decode(params[0])))

    # --- parts ----------------------------------------------------------------------------------------------------
    def _level(self, options: Json) -> str:
        level: str = options.get("commitment", "finalized")
        if level == "processed":
            raise Refusal(-32602, "Method does not support commitment below `confirmed`")
        return level

    def _top(self, options: Json) -> int:
        return max(self.chain.top(options.get("commitment", "finalized")) - self.lag, 0)

    def _context(self, options: Json, value: Any) -> Json:
        return {"context": {"apiVersion": "2.2.0", "slot": self._top(options)}, "value": value}

    def _status(self, found: Landed) -> Json:
        level = self.chain.level_of(found.slot)
        count = None if level == "finalized" else self.chain.newest - found.slot
        err = found.meta["err"]
        status = {"Err": err} if err else {"Ok": None}
        return {
            "slot": found.slot,
            "confirmations": count,
            "err": err,
            "status": status,
            "confirmationStatus": level,
        }

    def _listed(self, signature: str) -> Json:
        found = self.chain.landed[signature]
        time = self.chain.slots[found.slot].time
        return {"signature": signature, "memo": None, "blockTime": time, **self._status(found)}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # head and body in one packet: else each answer takes 40 ms

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.server is not peer.server:  # stopped meanwhile: a connection that was kept open ends here
                    self.close_connection = True
                    return
                several = isinstance(asked, list)
                said = json.dumps([peer.answer(one) for one in asked] if several else peer.answer(asked)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        return Handler


def account_json(account: Account | None) -> Json | None:
    if account is None or account.lamports == 0:
        return None
    owner, data = str(account.owner), [base64.b64encode(bytes(account.data)).decode(), "base64"]
    return {
        "lamports": account.lamports,
        "owner": owner,
        "data": data,
        "executable": account.executable,
        "rentEpoch": 2**64 - 1,
    }
