"""Tron's own encoding: addresses, protobuf, transaction ids, signatures. What a wallet makes and a node checks."""

import hashlib
from typing import Any

import base58
from coincurve import PrivateKey, PublicKey
from Crypto.Hash import keccak

Json = dict[str, Any]
CODES = {"TransferContract": 1, "TriggerSmartContract": 31}
RESULTS = {"SUCCESS": 1, "REVERT": 2, "OUT_OF_ENERGY": 10}
TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def keccak256(data: bytes) -> bytes:
    return keccak.new(digest_bits=256, data=data).digest()


def to_hex(address: str) -> str:
    """Return an address as 42 hex digits, from base58 or as it is."""
    return address if address.startswith("41") and len(address) == 42 else base58.b58decode_check(address).hex()


def to_text(digits: str) -> str:
    """Return an address of 42 hex digits in base58."""
    return base58.b58encode_check(bytes.fromhex(digits)).decode()


def address_of(key: PublicKey) -> str:
    return "41" + keccak256(key.format(compressed=False)[1:])[-20:].hex()


def word(number: int) -> str:
    return f"{number:064x}"


def address_word(digits: str) -> str:
    return digits[2:].rjust(64, "0")


def selector(function: str) -> str:
    return keccak256(function.encode())[:4].hex()


# --- protobuf: default values are not written, fields stand in the order of their numbers -----------------------------
def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def chunk(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value if value else b""


def encode_contract(contract: Json) -> bytes:
    kind, value = contract["type"], contract["parameter"]["value"]
    owner = chunk(1, bytes.fromhex(value["owner_address"]))
    if kind == "TransferContract":
        body = owner + chunk(2, bytes.fromhex(value["to_address"])) + number(3, value.get("amount", 0))
    else:
        body = owner + chunk(2, bytes.fromhex(value["contract_address"])) + number(3, value.get("call_value", 0))
        body += chunk(4, bytes.fromhex(value.get("data", "")))
    parameter = chunk(1, contract["parameter"]["type_url"].encode()) + chunk(2, body)
    return number(1, CODES[kind]) + chunk(2, parameter)


def encode_raw(raw: Json) -> bytes:
    """Return the bytes of which a transaction's id is the hash."""
    return (
        chunk(1, bytes.fromhex(raw["ref_block_bytes"]))
        + chunk(4, bytes.fromhex(raw["ref_block_hash"]))
        + number(8, raw["expiration"])
        + b"".join(chunk(11, encode_contract(contract)) for contract in raw["contract"])
        + number(14, raw["timestamp"])
        + number(18, raw.get("fee_limit", 0))
    )


def encode_transaction(tx: Json) -> bytes:
    return (
        chunk(1, encode_raw(tx["raw_data"]))
        + b"".join(chunk(2, bytes.fromhex(signature)) for signature in tx["signature"])
        + b"".join(chunk(5, number(3, RESULTS[ret["contractRet"]])) for ret in tx.get("ret", []))
    )


def sign(raw: Json, key: PrivateKey) -> Json:
    """Return the signed transaction as wallets broadcast it."""
    txid = sha256(encode_raw(raw))
    return {"txID": txid.hex(), "raw_data": raw, "signature": [key.sign_recoverable(txid, hasher=None).hex()]}


def signer(txid: str, signature: str) -> str:
    """Return the address that made a signature."""
    raw = bytearray.fromhex(signature)
    raw[64] = raw[64] - 27 if raw[64] >= 27 else raw[64]
    return address_of(PublicKey.from_signature_and_message(bytes(raw), bytes.fromhex(txid), hasher=None))


# --- blocks -----------------------------------------------------------------------------------------------------------
def block_header(height: int, parent: str, transactions: list[Json], time_ms: int, witness: PrivateKey) -> Json:
    """Return the signed header of a block."""
    raw = {
        "number": height,
        "txTrieRoot": merkle_root([sha256(encode_transaction(tx)) for tx in transactions]).hex(),
        "witness_address": address_of(witness.public_key),
        "parentHash": parent,
        "version": 31,
        "timestamp": time_ms,
    }
    signature = witness.sign_recoverable(sha256(encode_header(raw)), hasher=None).hex()
    if height == 0:
        del raw["number"]  # a default value is left out
    return {"raw_data": raw, "witness_signature": signature}


def block_id(header: Json) -> str:
    """Return a block's id: its height, then the end of its header's hash."""
    raw = header["raw_data"]
    return f"{raw.get('number', 0):016x}" + sha256(encode_header(raw))[8:].hex()


def encode_header(raw: Json) -> bytes:
    return (
        number(1, raw["timestamp"])
        + chunk(2, bytes.fromhex(raw["txTrieRoot"]))
        + chunk(3, bytes.fromhex(raw["parentHash"]))
        + number(7, raw.get("number", 0))
        + chunk(9, bytes.fromhex(raw["witness_address"]))
        + number(10, raw["version"])
    )


def merkle_root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return bytes(32)
    while len(leaves) > 1:
        pairs = [leaves[n : n + 2] for n in range(0, len(leaves), 2)]
        leaves = [sha256(b"".join(pair)) if len(pair) == 2 else pair[0] for pair in pairs]
    return leaves[0]
