"""Blocks of real size, one per network, as their nodes answer, and the least code that matches them.

Each floor decodes the very answers that the adapter was given and looks every payee up in a set. It checks nothing:
no parent, no height, no shape. Solana's asks as well: what it asks for follows from what it has read.
"""

import base64
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import base58
import orjson
from solders.hash import Hash
from solders.keypair import Keypair
from solders.message import Message
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from solders.transaction import Transaction, VersionedTransaction

from payments.networks.base import Cursor, Held
from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_answers import TRANSFER
from payments.networks.ethereum_node import EthereumNode
from payments.networks.solana import Solana
from payments.networks.solana_node import SolanaNode
from payments.networks.tron import Tron, to_base58
from payments.networks.tron_answers import address_of
from payments.networks.tron_node import TronNode
from payments.networks.utxo import Utxo, bitcoin, litecoin
from payments.networks.utxo_node import UtxoNode

from .wire import Wire

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "derivation_vectors.json").read_text())
URL = "http://127.0.0.1:1"
OURS = 5  # payments to us in each block
NOW = int(datetime(2026, 11, 30, tzinfo=UTC).timestamp())
rnd = random.Random(7)  # noqa: S311  # blocks are the same in every run
Found = set[tuple[str, int]]
"""What a floor finds: payee and amount."""


@dataclass
class Case:
    """A network with one new block. `floor` decodes the answers of a pass; `ours` are the payees that are watched."""

    name: str
    node: Any
    wire: Wire
    cursor: Cursor
    ours: set[str]
    floor: Callable[[Sequence[bytes], set[str]], Found]
    held: tuple[Held, ...] = field(default=())

    def scan(self, watched: set[str]) -> Found:
        """Read the new block as the watcher does, for the first time."""
        self.wire.forget()
        address_of.cache_clear()
        batch = self.node.scan(self.cursor, lambda addresses: watched & set(addresses), self.held)
        return {(one.address, one.amount) for one in batch.transfers}


def hexes(size: int) -> str:
    return rnd.randbytes(size).hex()


# --- Bitcoin and Litecoin -----------------------------------------------------------------------------------------
def script() -> str:
    """Return an output script of one of the usual kinds."""
    kind = rnd.random()
    if kind < 0.6:
        return "0014" + hexes(20)
    if kind < 0.75:
        return "5120" + hexes(32)
    return f"76a914{hexes(20)}88ac" if kind < 0.9 else f"a914{hexes(20)}87"


def output(family: Utxo, n: int) -> dict[str, Any]:
    code = script()
    address = family.address_of(code)
    written = {"asm": code, "desc": f"addr({address})#abcdefgh", "hex": code, "address": address, "type": "witness"}
    return {"value": rnd.randrange(1, 10**10) / 10**8, "n": n, "scriptPubKey": written}


def spend() -> dict[str, Any]:
    return {
        "txid": hexes(32),
        "vout": 1,
        "scriptSig": {"asm": "", "hex": ""},
        "txinwitness": [hexes(71), hexes(33)],
        "sequence": 4294967293,
    }


def utxo_transaction(family: Utxo) -> dict[str, Any]:
    return {
        "txid": hexes(32),
        "hash": hexes(32),
        "version": 2,
        "size": 250,
        "vsize": 141,
        "weight": 561,
        "locktime": 0,
        "vin": [spend() for _ in range(rnd.choice((1, 1, 2, 3)))],
        "vout": [output(family, n) for n in range(rnd.choice((2, 2, 2, 3)))],
        "fee": 0.00001234,
        "hex": hexes(220),
    }


def utxo(family: Utxo, key: str, transactions: int) -> Case:
    """A block of verbosity 2."""
    tip, head = hexes(32), hexes(32)
    txs = [utxo_transaction(family) for _ in range(transactions)]
    place = {"hash": head, "height": 900_001, "time": NOW, "confirmations": 1, "previousblockhash": tip}
    before = {"hash": tip, "height": 900_000, "time": NOW - 600, "confirmations": 2}
    info = {"chain": "main", "initialblockdownload": False, "bestblockhash": head, "blocks": 900_001}
    block = orjson.dumps({**place, "tx": txs})

    def answer(method: str, params: Any) -> bytes:
        match method:
            case "getblock":
                return block
            case "getblockheader":
                return orjson.dumps(place if params[0] == head else before)
            case "getblockhash":
                return orjson.dumps({0: family.first_block, 900_000: tip, 900_001: head}[params[0]])
            case "getblockchaininfo":
                return orjson.dumps(info)
        return b"[]"  # nothing waits in the pool

    node: Any = UtxoNode(family, "http://user:password@127.0.0.1:1", VECTORS[key]["xpub"])
    wire = Wire(answer)
    node.source.rpc.http = wire
    ours = {rnd.choice(tx["vout"])["scriptPubKey"]["address"] for tx in rnd.sample(txs, OURS)}
    cursor = Cursor(family.first_block, ((900_000, tip),))
    return Case(family.name, node, wire, cursor, ours, utxo_floor)


def utxo_floor(bodies: Sequence[bytes], watched: set[str]) -> Found:
    found = set()
    for answer in map(orjson.loads, bodies):
        if isinstance(answer, dict) and isinstance(answer["result"], dict) and "tx" in answer["result"]:
            for tx in answer["result"]["tx"]:
                for out in tx["vout"]:
                    address = out["scriptPubKey"].get("address")
                    if address in watched:
                        found.add((address, round(out["value"] * 10**8)))
    return found


# --- Ethereum -----------------------------------------------------------------------------------------------------
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"


def ethereum(logs: int = 3000, transactions: int = 300) -> Case:
    """A block with its token logs; payments to us are among the logs."""
    tip, head, first = "0x" + hexes(32), "0x" + hexes(32), "0x" + hexes(32)
    txs = [ethereum_transaction(head) for _ in range(transactions)]
    entries = [ethereum_log(head, place, rnd.choice(txs)["hash"]) for place in range(logs)]
    shown = {"number": "0x13", "hash": head, "parentHash": tip, "timestamp": hex(NOW)}
    before = {"number": "0x12", "hash": tip, "parentHash": first, "timestamp": hex(NOW - 12)}
    block, whole_block, all_logs = shown, orjson.dumps({**shown, "transactions": txs}), orjson.dumps(entries)

    def answer(method: str, params: Any) -> bytes:
        match method, params:
            case "eth_getBlockByNumber", ["latest" | "0x13", False]:
                return orjson.dumps(block)
            case "eth_getBlockByNumber", ["0x13", True]:
                return whole_block
            case "eth_getBlockByNumber", ["0x0", _]:
                return orjson.dumps({"hash": first, "number": "0x0", "timestamp": "0x0"})
            case "eth_getBlockByNumber", _:
                return orjson.dumps(before)
            case "eth_getLogs", _:
                return all_logs
            case "eth_getTransactionReceipt", [txid]:
                mine = [one for one in entries if one["transactionHash"] == txid]
                return orjson.dumps({"transactionHash": txid, "blockHash": head, "status": "0x1", "logs": mine})
        return b'"0x1"'  # the chain's id

    node = EthereumNode(
        Ethereum(chain_id=1, usdt_contract=USDT), URL, VECTORS["ETH BIP44 abandon"]["xpub"], traces=False
    )
    wire = Wire(answer)
    node.rpc.http = wire  # type: ignore[assignment]
    ours = {"0x" + one["topics"][2][26:] for one in rnd.sample(entries, OURS)}
    return Case("Ethereum", node, wire, Cursor(f"{first}:1", ((18, tip),)), ours, ethereum_floor)


def ethereum_transaction(block: str) -> dict[str, Any]:
    return {
        "hash": "0x" + hexes(32),
        "from": "0x" + hexes(20),
        "to": "0x" + hexes(20),
        "value": "0x1",
        "input": "0x" + hexes(200),
        "blockHash": block,
        "blockNumber": "0x13",
    }


def ethereum_log(block: str, place: int, txid: str) -> dict[str, Any]:
    return {
        "address": USDT,
        "topics": [TRANSFER, "0x" + hexes(20).rjust(64, "0"), "0x" + hexes(20).rjust(64, "0")],
        "data": f"0x{place + 1:064x}",
        "blockHash": block,
        "blockNumber": "0x13",
        "transactionHash": txid,
        "transactionIndex": hex(place),
        "logIndex": hex(place),
        "removed": False,
    }


def ethereum_floor(bodies: Sequence[bytes], watched: set[str]) -> Found:
    found = set()
    for answer in map(orjson.loads, bodies):
        result = answer["result"] if isinstance(answer, dict) else None
        if isinstance(result, dict) and "transactions" in result:
            for tx in result["transactions"]:
                if tx["to"] in watched:
                    found.add((tx["to"], int(tx["value"], 16)))
        elif isinstance(result, list):
            for entry in result:
                payee = "0x" + entry["topics"][2][26:]
                if payee in watched:
                    found.add((payee, int(entry["data"], 16)))
    return found


# --- Tron ---------------------------------------------------------------------------------------------------------
USDT_TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"


def tron(transactions: int = 350) -> Case:
    """A solid block: two thirds pay USDT, a third TRX; with the results of those that ran code."""
    tip, head = f"{70_000_000:016x}" + hexes(24), f"{70_000_001:016x}" + hexes(24)
    payees = [("41" if n % 3 == 0 else "") + hexes(20) for n in range(transactions)]
    txs = [tron_transaction("41" + payee.removeprefix("41") if n % 3 == 0 else "") for n, payee in enumerate(payees)]
    for n, payee in enumerate(payees):
        if n % 3 == 0:
            txs[n] = tron_transaction(payee)
    infos = [tron_info(tx["txID"], payees[n]) for n, tx in enumerate(txs) if n % 3]
    old, new = tron_block(70_000_000, tip, hexes(32), []), tron_block(70_000_001, head, tip, txs)
    page, results, now = orjson.dumps({"block": [old, new]}), orjson.dumps(infos), orjson.dumps(new)

    def answer(path: str, _: Any) -> bytes:
        if path.endswith("getblockbylimitnext"):
            return page
        return results if path.endswith("gettransactioninfobyblocknum") else now

    node = TronNode(Tron(usdt_contract=USDT_TRON), URL, VECTORS["TRON BIP44 abandon"]["xpub"])
    wire = Wire(answer)
    node.full.http = node.solid.http = wire  # type: ignore[assignment]
    ours = {to_base58(bytes.fromhex("41" + payee[-40:])) for payee in rnd.sample(payees, OURS)}
    return Case("Tron", node, wire, Cursor("genesis", ((70_000_000, tip),)), ours, tron_floor)


def tron_block(height: int, block_id: str, parent: str, txs: Sequence[Any]) -> dict[str, Any]:
    raw = {"number": height, "parentHash": parent, "timestamp": int(datetime.now(UTC).timestamp()) * 1000}
    return {"blockID": block_id, "block_header": {"raw_data": raw}, "transactions": list(txs)}


def tron_transaction(payee: str) -> dict[str, Any]:
    """Return a payment of TRX to `payee`, or without one a call of a contract."""
    value: dict[str, Any] = {"owner_address": "41" + hexes(20)}
    value |= {"amount": 1_000_000, "to_address": payee} if payee else {"data": hexes(68), "contract_address": hexes(21)}
    contract = {"parameter": {"value": value}, "type": "TransferContract" if payee else "TriggerSmartContract"}
    return {
        "ret": [{"contractRet": "SUCCESS"}],
        "signature": [hexes(65)],
        "txID": hexes(32),
        "raw_data": {"contract": [contract], "ref_block_bytes": hexes(2), "expiration": NOW, "timestamp": NOW},
        "raw_data_hex": hexes(180),
    }


def tron_info(txid: str, payee: str) -> dict[str, Any]:
    contract = base58.b58decode_check(USDT_TRON)[1:].hex()
    topics = [TRANSFER[2:], hexes(20).rjust(64, "0"), payee.rjust(64, "0")]
    return {
        "id": txid,
        "fee": 345_000,
        "blockNumber": 70_000_001,
        "contractResult": [""],
        "contract_address": "41" + contract,
        "receipt": {"energy_usage_total": 14_650, "net_usage": 345, "result": "SUCCESS"},
        "log": [{"address": contract, "topics": topics, "data": f"{5_000_000:064x}"}],
    }


def tron_floor(bodies: Sequence[bytes], watched: set[str]) -> Found:
    """Look every payee up as its text in base58, which is how addresses are kept."""
    found = set()
    for answer in map(orjson.loads, bodies):
        for block in answer.get("block", ()) if isinstance(answer, dict) else ():
            for tx in block["transactions"]:
                value = tx["raw_data"]["contract"][0]["parameter"]["value"]
                payee = base58.b58encode_check(bytes.fromhex(value["to_address"])).decode() if "amount" in value else ""
                if payee in watched:
                    found.add((payee, value["amount"]))
        for info in answer if isinstance(answer, list) else ():
            for entry in info["log"]:
                payee = base58.b58encode_check(bytes.fromhex("41" + entry["topics"][2][24:])).decode()
                if payee in watched:
                    found.add((payee, int(entry["data"], 16)))
    return found


# --- Solana -------------------------------------------------------------------------------------------------------
def solana(accounts: int = 100) -> Case:
    """A hundred addresses, looked at one by one: some of them were paid, each by a transaction of its own."""
    first, tip, head = (base58.b58encode(rnd.randbytes(32)).decode() for _ in range(3))
    addresses = [str(Pubkey.from_bytes(rnd.randbytes(32))) for _ in range(accounts)]
    paid = {address: solana_payment(address, 1_000_000 + n) for n, address in enumerate(addresses[:OURS])}
    by_signature = {one["signature"]: one for one in paid.values()}

    def answer(method: str, params: Any) -> bytes:
        match method:
            case "getGenesisHash":
                return orjson.dumps(first)
            case "getSlot":
                return b"1001"
            case "getBlock":
                return orjson.dumps({"blockTime": NOW, "blockhash": tip if params[0] == 1000 else head})
            case "getMultipleAccounts":
                values = [{"lamports": paid[one]["amount"] if one in paid else 0} for one in params[0]]
                return orjson.dumps({"context": {"slot": 1001}, "value": values})
            case "getSignaturesForAddress":
                one = {"signature": paid[params[0]]["signature"], "slot": 1001, "err": None}
                return orjson.dumps([{**one, "confirmationStatus": "finalized"}])
        return orjson.dumps(by_signature[params[0]]["told"])

    node = SolanaNode(Solana(cluster="local"), URL, VECTORS["SOL create_with_seed"]["base"])
    wire = Wire(answer)
    node.rpc.http = wire  # type: ignore[assignment]
    held = tuple(Held(address, 0) for address in addresses)
    least = partial(solana_floor, wire, addresses)
    return Case("Solana", node, wire, Cursor(first, ((1000, tip),)), set(paid), least, held)


def solana_payment(address: str, amount: int) -> dict[str, Any]:
    payer = Keypair.from_seed(rnd.randbytes(32))
    order = transfer(TransferParams(from_pubkey=payer.pubkey(), to_pubkey=Pubkey.from_string(address), lamports=amount))
    signed = Transaction([payer], Message([order], payer.pubkey()), Hash.default())
    meta = {"err": None, "preBalances": [10**10, 0, 1], "postBalances": [10**10 - amount, amount, 1]}
    told = {"slot": 1001, "transaction": [base64.b64encode(bytes(signed)).decode(), "base64"], "meta": meta}
    return {"signature": str(signed.signatures[0]), "amount": amount, "told": told}


def solana_floor(wire: Wire, addresses: Sequence[str], _: Sequence[bytes], watched: set[str]) -> Found:
    """Make the pass anew: the same requests, each worded by hand, and what is kept of each address. Nothing is checked
    but signatures, which nobody may leave out."""
    wire.forget()
    ask = partial(solana_ask, wire)
    ask("getGenesisHash")
    head = ask("getSlot", {"commitment": "finalized"})
    for slot in (head, head - 1):
        ask("getBlock", slot, {"transactionDetails": "none", "rewards": False, "commitment": "finalized"})
    config = {"encoding": "base64", "dataSlice": {"offset": 0, "length": 0}, "commitment": "finalized"}
    held = [one["lamports"] if one else 0 for one in ask("getMultipleAccounts", addresses, config)["value"]]
    found, kept = set(), {}
    for address, balance in zip(addresses, held, strict=True):
        kept[address] = (balance, "")
        if balance == 0 or address not in watched:  # nothing of it was kept from before
            continue
        for line in ask("getSignaturesForAddress", address, {"limit": 1000, "commitment": "finalized"}):
            told = ask("getTransaction", line["signature"], {"encoding": "base64", "commitment": "finalized"})
            ask("getBlock", told["slot"], {"transactionDetails": "none", "rewards": False, "commitment": "finalized"})
            signed, meta = VersionedTransaction.from_bytes(base64.b64decode(told["transaction"][0])), told["meta"]
            signed.verify_with_results()
            place = list(map(str, signed.message.account_keys)).index(address)
            found.add((address, meta["postBalances"][place] - meta["preBalances"][place]))
            kept[address] = (balance, line["signature"])
    config["commitment"] = "confirmed"
    seen = [one["lamports"] if one else 0 for one in ask("getMultipleAccounts", addresses, config)["value"]]
    if any(new > old for new, old in zip(seen, held, strict=True)):
        raise RuntimeError("nothing waits to be final in this case")
    return found


def solana_ask(wire: Wire, method: str, *params: Any) -> Any:
    return wire.post(orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))["result"]


def cases() -> list[Case]:
    """Return every network, each with a new block."""
    return [
        utxo(bitcoin(), "BTC BIP84 abandon", 5000),
        utxo(litecoin(), "LTC BIP84 abandon", 400),
        ethereum(),
        tron(),
        solana(),
    ]
