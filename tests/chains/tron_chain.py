"""The chain of the Tron peer: blocks, transactions that are really checked, a solid height, forks."""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from chains import tron_wire as wire
from chains.tron_vm import Program, Reverted, Run, State, call_token
from chains.tron_wire import Json
from coincurve import PrivateKey

ENERGY = 65_000  # what a call costs
ENERGY_PRICE = 420
NEW_ACCOUNT_FEE = 1_100_000


class Refused(Exception):
    """The node does not take a transaction."""


@dataclass
class Mined:
    """A block: its id, header, transactions and their results, and the state before it."""

    id: str
    header: Json
    transactions: list[Json]
    infos: list[Json]
    before: State

    @property
    def time_ms(self) -> int:
        return int(self.header["raw_data"]["timestamp"])


@dataclass
class Chain:
    """Makes blocks when told. A block is solid once `solid_lag` others stand on it."""

    solid_lag: int = 18
    name: str = "peer"
    state: State = field(default_factory=State)
    programs: dict[str, Program] = field(default_factory=dict)
    pending: list[Json] = field(default_factory=list)
    blocks: list[Mined] = field(default_factory=list)
    forks: int = 0

    def __post_init__(self) -> None:
        self.witness = PrivateKey(wire.sha256(self.name.encode()))
        self.mine()

    @property
    def head(self) -> int:
        return len(self.blocks) - 1

    @property
    def solid(self) -> int:
        return max(self.head - self.solid_lag, 0)

    def find(self, txid: str) -> tuple[int, int] | None:
        """Return the height of a transaction's block and its place in it."""
        for height, block in enumerate(self.blocks):
            for place, tx in enumerate(block.transactions):
                if tx["txID"] == txid:
                    return height, place
        return None

    # --- blocks ---------------------------------------------------------------------------------------------------
    def mine(self, n: int = 1, at: datetime | None = None) -> None:
        """Make blocks, the first with everything in the pool, at a time that may be given."""
        for _ in range(n):
            waiting, self.pending = self.pending, []
            self._make(waiting, at)

    def _make(self, waiting: Sequence[Json], at: datetime | None = None) -> None:
        before, height = copy.deepcopy(self.state), len(self.blocks)
        now = int((at.timestamp() if at else time.time()) * 1000)
        last = self.blocks[-1].time_ms if self.blocks else 0
        # On the network's grid; a burst of blocks stays near the clock. After a fork, other blocks than before.
        moment = max(now - now % 3000, last + 1) + self.forks
        done: list[Json] = []
        infos: list[Json] = []
        for tx in waiting:
            if self._still_valid(tx):
                infos.append(self._execute(tx, height, moment))
                done.append(tx)
        parent = self.blocks[-1].id if self.blocks else "00" * 32
        header = wire.block_header(height, parent, done, moment, self.witness)
        self.blocks.append(Mined(wire.block_id(header), header, done, infos, before))

    def fork(self, depth: int, *, keep: bool, blocks: int | None = None) -> None:
        """Replace the last blocks by as many others, or by so many, all empty. The transactions go back to the pool if
        `keep`, else they are gone."""
        dropped, self.blocks = self.blocks[-depth:], self.blocks[:-depth]
        self.state = dropped[0].before
        self.forks += 1
        if keep:
            self.pending = [tx for block in dropped for tx in block.transactions] + self.pending
        for _ in range(depth if blocks is None else blocks):
            self._make([])

    # --- transactions ---------------------------------------------------------------------------------------------
    def raw(self, kind: str, value: Json, fee_limit: int) -> Json:
        """Return an unsigned transaction that refers to a block of a minute ago and expires in a minute."""
        block, now = self.blocks[max(self.head - 18, 0)].id, int(time.time() * 1000)
        type_url = f"type.googleapis.com/protocol.{kind}"
        return {
            "contract": [{"parameter": {"value": value, "type_url": type_url}, "type": kind}],
            "ref_block_bytes": block[12:16],
            "ref_block_hash": block[16:32],
            "expiration": now + 60_000,
            "timestamp": now,
            **({"fee_limit": fee_limit} if fee_limit else {}),
        }

    def broadcast(self, tx: Json) -> str:
        """Take a signed transaction into the pool and return its id; Refused says why not."""
        self._validate(tx)
        if self.find(tx["txID"]) or tx["txID"] in [other["txID"] for other in self.pending]:
            raise Refused("DUP_TRANSACTION_ERROR")
        self.pending.append(copy.deepcopy(tx))
        return str(tx["txID"])

    def _still_valid(self, tx: Json) -> bool:
        try:
            self._validate(tx)
            return True
        except Refused:
            return False

    def _validate(self, tx: Json) -> None:
        raw, value = tx["raw_data"], tx["raw_data"]["contract"][0]["parameter"]["value"]
        owner, amount = value["owner_address"], value.get("amount", value.get("call_value", 0))
        if wire.sha256(wire.encode_raw(raw)).hex() != tx["txID"]:
            raise Refused("the id is not the hash")
        if wire.signer(tx["txID"], tx["signature"][0]) != owner:
            raise Refused("SIGERROR")
        if raw["expiration"] <= self.blocks[-1].time_ms:
            raise Refused("TRANSACTION_EXPIRATION_ERROR")
        if (raw["ref_block_bytes"], raw["ref_block_hash"]) not in {(b.id[12:16], b.id[16:32]) for b in self.blocks}:
            raise Refused("TAPOS_ERROR")
        if self.state.coins.get(owner, 0) < amount + ("to_address" in value and self._fee(value["to_address"])):
            raise Refused("CONTRACT_VALIDATE_ERROR: balance is not sufficient")
        if "to_address" in value and amount <= 0:
            raise Refused("CONTRACT_VALIDATE_ERROR: Amount must be greater than 0.")
        if "contract_address" in value and not self.is_contract(value["contract_address"]):
            raise Refused("CONTRACT_VALIDATE_ERROR: No contract or not a smart contract")

    def is_contract(self, address: str) -> bool:
        return address in self.state.tokens or address in self.programs

    def _fee(self, payee: str) -> int:
        return 0 if payee in self.state.coins else NEW_ACCOUNT_FEE

    def _execute(self, tx: Json, height: int, moment: int) -> Json:
        """Do what a transaction says and return its result as nodes tell it: default values are left out."""
        contract = tx["raw_data"]["contract"][0]
        value = contract["parameter"]["value"]
        info = {"id": tx["txID"], "blockNumber": height, "blockTimeStamp": moment, "contractResult": [""]}
        tx["ret"] = [{"contractRet": "SUCCESS"}]
        if contract["type"] == "TransferContract":
            fee = self._fee(value["to_address"])
            self.state.give(value["owner_address"], -value["amount"] - fee)
            self.state.give(value["to_address"], value["amount"])
            return {**info, **({"fee": fee} if fee else {}), "receipt": {"net_usage": 268}}
        return info | self._run(tx, value)

    def _run(self, tx: Json, value: Json) -> Json:
        result, run, out = "SUCCESS", Run(self.state, value["contract_address"], "", 0, tx["txID"]), ""
        run.sender, run.value = value["owner_address"], value.get("call_value", 0)
        before = copy.deepcopy(self.state)
        try:
            self.state.give(run.sender, -run.value)
            out = self.call(run, value.get("data", ""))
        except Reverted:
            result = "REVERT"
        if tx["raw_data"].get("fee_limit", 0) < ENERGY * ENERGY_PRICE:
            result = "OUT_OF_ENERGY"
        if result != "SUCCESS":
            self.state = before
        self.state.give(run.sender, -ENERGY * ENERGY_PRICE)
        tx["ret"] = [{"contractRet": result}]
        receipt = {"energy_fee": ENERGY * ENERGY_PRICE, "energy_usage_total": ENERGY, "result": result}
        info: Json = {"contract_address": run.contract, "fee": ENERGY * ENERGY_PRICE, "receipt": receipt}
        if run.inner:
            rejected = {} if result == "SUCCESS" else {"rejected": True}
            info["internal_transactions"] = [inner | rejected for inner in run.inner]
        if result != "SUCCESS":
            return info | {"result": "FAILED", "resMessage": f"{result} opcode executed".encode().hex()}
        return info | {"contractResult": [out]} | ({"log": run.logs} if run.logs else {})

    def call(self, run: Run, data: str) -> str:
        """Run a contract; return what it returns. Reverted if it undoes everything."""
        if run.contract in self.state.tokens:
            return call_token(run, data)
        self.programs[run.contract](run)
        return ""
