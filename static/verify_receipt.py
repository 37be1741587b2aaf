#!/usr/bin/env python3
"""Check a receipt of a Gridlot shop, offline: who signed it, that nothing in it was changed, and that its sums add up.

    python3 verify_receipt.py RECEIPT.json [--key PUBLIC_KEY]

It needs Python 3.10 or newer and nothing else. PUBLIC_KEY is what the shop publishes (64 letters and digits); without
it anybody could have signed. What the chains say is not looked up: the end names what to compare in an explorer.

Exit status: 0 right; 1 refused: changed, or the sums are wrong; 2 it cannot be read; 3 right, if the key is the shop's.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

FORMAT = "gridlot-receipt/1"
AMOUNT = re.compile(r"[0-9]+(\.[0-9]+)?")
RIGHT, REFUSED, UNREADABLE, UNKNOWN_KEY = 0, 1, 2, 3


class Refused(Exception):
    """The receipt is not what it says."""


class Unreadable(Exception):
    """This is no receipt."""


# --- Ed25519 (RFC 8032): only what checking a signature needs ------------------------------------------------------
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # a square root of -1
Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, x*y = T/Z
NEUTRAL: Point = (0, 1, 1, 0)


def add(a: Point, b: Point) -> Point:
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    t, z = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, z - t, z + t, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar: int, point: Point) -> Point:
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def same(a: Point, b: Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def decode(text: bytes) -> Point | None:
    """Return the point that 32 bytes stand for; none if there is none."""
    y, sign = int.from_bytes(text, "little") & (1 << 255) - 1, text[31] >> 7
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether 64 bytes are the signature of a message by the owner of a public key of 32 bytes."""
    if len(public) != 32 or len(signature) != 64 or BASE is None:
        return False
    key, r = decode(public), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    return same(multiply(s, BASE), add(r, multiply(h, key)))


# --- reading -------------------------------------------------------------------------------------------------------
def canonical(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def read(raw: bytes) -> dict[str, Any]:
    """Return the content of a file that is, byte by byte, what the shop writes."""
    try:
        content = json.loads(raw)
        known = content["receipt"]["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"This is no receipt: {error}") from error
    if known != FORMAT:
        raise Unreadable(f"This program reads {FORMAT}, not {known!r}.")
    if canonical(content) + b"\n" != raw:
        raise Refused("The file was changed: a shop writes it otherwise. Use the file as it was downloaded.")
    return dict(content)


def check_signature(content: dict[str, Any]) -> None:
    """Check that the key named in the receipt signed all of it."""
    rest = {name: part for name, part in content.items() if name != "signature"}
    try:
        public, signature = bytes.fromhex(content["key"]["public"]), bytes.fromhex(content["signature"])
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("The signature is missing or is none.") from error
    if hashlib.sha256(public).hexdigest()[:16] != content["key"].get("id"):
        raise Refused("The name of the key does not fit the key.")
    if (public.hex(), signature.hex()) != (content["key"]["public"], content["signature"]):
        raise Refused("The signature is written otherwise than a shop does.")
    if not is_signed(public, FORMAT.encode() + b"\n" + canonical(rest), signature):
        raise Refused("The signature does not fit: something in the receipt was changed.")


# --- sums ----------------------------------------------------------------------------------------------------------
def units(text: object, decimals: int) -> int:
    """Return an amount in its smallest units; only plain digits are an amount."""
    if not isinstance(text, str) or not AMOUNT.fullmatch(text):
        raise Refused(f"{text!r} is no amount.")
    whole, _, part = text.partition(".")
    if len(part) > decimals:
        raise Refused(f"{text} has more than {decimals} decimals.")
    return int(whole + part.ljust(decimals, "0"))


def cents(text: object) -> int:
    return units(text, 2)


def check_sums(receipt: dict[str, Any]) -> None:
    """Check every rule by which amounts became dollars, and that the totals are their sums."""
    totals = {name: cents(text) for name, text in receipt["totals_usd"].items()}
    for promise in receipt["instructions"]:
        check_rate(promise)
        check_credits(promise)
        check_settled(promise, receipt["for"])
    credited = sum(cents(one["usd"]) for one, _, _ in credits_of(receipt))
    given = sum(cents(promise["tolerance_usd"]) for promise in receipt["instructions"])
    compare("credits", credited, totals["credited"])
    compare("accepted shortfalls", given, totals["tolerance"])
    arrived = sum(totals[name] for name in ("credited", "tolerance", "by_hand", "from_balance"))
    compare("everything that came and went", arrived + totals["debt"], sum(
        totals[name] for name in ("paid", "to_balance", "reversed")
    ))  # fmt: skip
    for one, _, _ in credits_of(receipt):
        if one["ledger"] and one["ledger"] not in receipt["ledger"]:
            raise Refused(f"The entry {one['ledger']} is missing in the list of the ledger.")


def credits_of(receipt: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield each credit with its transfer and its instructions."""
    for promise in receipt["instructions"]:
        for transfer in promise["transfers"]:
            for one in transfer["credits"]:
                yield one, transfer, promise


def compare(what: str, computed: int, written: int) -> None:
    if computed != written:
        raise Refused(f"The sum of {what} is {dollars(computed)}, the receipt says {dollars(written)}.")


def dollars(amount: int) -> str:
    return f"${amount // 100}.{amount % 100:02d}"


def check_rate(promise: dict[str, Any]) -> None:
    """The promised rate is the market's less the markup, the market's lies among the prices that were seen, and the
    amount asked for is not less than the dollars it counts as."""
    rate, market = units(promise["rate"], 8), units(promise["market_rate"], 8)
    if rate != market * (10_000 - promise["markup_basis_points"]) // 10_000:
        raise Refused(f"The rate of the instructions {promise['id']} is not the market's less the markup.")
    prices = [units(seen["price"], 8) for seen in promise["prices"]]
    if prices and not min(prices) <= market <= max(prices):
        raise Refused(f"The market's rate of the instructions {promise['id']} lies outside the prices that were seen.")
    if worth(units(promise["amount"], promise["decimals"]), rate, promise["decimals"]) < cents(promise["usd"]):
        raise Refused(f"The instructions {promise['id']} count for more than their amount is worth.")


def worth(amount: int, rate: int, decimals: int) -> int:
    """Return cents, rounded down: an amount in smallest units, at a rate in 10^-8 dollars for a whole coin."""
    return int(amount * rate // (10**decimals * 10**6))


def check_credits(promise: dict[str, Any]) -> None:
    """Each transfer is credited at most once, wholly: at the promised rate, at the market's, or in two parts.

    Cents are rounded down over the running sum, so that parts add up: one cent of play for each further credit.
    """
    due, usd = units(promise["amount"], promise["decimals"]), cents(promise["usd"])
    kept = market = written = count = 0
    for transfer in promise["transfers"]:
        if sum(one["live"] for one in transfer["credits"]) > 1:
            raise Refused(f"The transfer {transfer['txid']} was credited twice.")
        for one in transfer["credits"]:
            parts = [units(one[name], transfer["decimals"]) for name in ("promised_amount", "market_amount")]
            if sum(parts) != units(transfer["amount"], transfer["decimals"]):
                raise Refused(f"The transfer {transfer['txid']} was not credited over its whole amount.")
            if parts[1] and one["market_rate"] is None:
                raise Refused(f"The transfer {transfer['txid']} has no market rate.")
            at_market = worth(parts[1], units(one["market_rate"], 8), transfer["decimals"]) if parts[1] else 0
            if not 0 <= cents(one["usd"]) - at_market - parts[0] * usd // due <= 1:
                raise Refused(f"The transfer {transfer['txid']} counts as {one['usd']}: its rate says otherwise.")
            kept, market, written = kept + parts[0], market + at_market, written + cents(one["usd"])
            count += 1
    if abs(written - market - kept * usd // due) > max(count - 1, 0):
        raise Refused(f"The credits of the instructions {promise['id']} do not add up at the promised rate.")


def check_settled(promise: dict[str, Any], kind: str) -> None:
    """What settled its instructions covers them, with the shortfall that was accepted: never more than 5 %."""
    given, usd = cents(promise["tolerance_usd"]), cents(promise["usd"])
    if given * 20 > usd:
        raise Refused(f"More than 5 % of the instructions {promise['id']} was given away.")
    credited = sum(cents(one["usd"]) for t in promise["transfers"] for one in t["credits"] if one["live"])
    needed = usd if kind == "order" else usd * 95 // 100
    if promise["state"] == "settled" and credited + given < needed:
        raise Refused(
            f"The instructions {promise['id']} are settled with {dollars(credited + given)} of {promise['usd']}."
        )


# --- telling -------------------------------------------------------------------------------------------------------
def tell(receipt: dict[str, Any]) -> Iterator[str]:
    """Yield what the receipt says, and what to compare in an explorer."""
    totals = receipt["totals_usd"]
    yield f"{receipt['shop']}, {receipt['for']} {receipt['number']}, {receipt['state']}: {receipt['what']}"
    if receipt["money"] != "real":
        yield "The money is simulated: this is a receipt of a demo."
    yield f"Due ${totals['due']}, credited ${totals['credited']}, paid ${totals['paid']}."
    for promise in receipt["instructions"]:
        for transfer in promise["transfers"]:
            yield ""
            yield f"Compare in an explorer of {promise['network']}: {transfer['explorer'] or transfer['txid']}"
            yield f"  transaction {transfer['txid']}, place {transfer['position']}, {transfer['status']}"
            yield f"  pays {transfer['amount']} {transfer['method'] or transfer['contract']} to {promise['address']}"
            if transfer["block_hash"]:
                yield f"  in block {transfer['block_height']}, {transfer['block_hash']}, {transfer['block_time']}"


def shown(text: object) -> str:
    """Return text that can neither begin a line of its own nor steer the terminal: anybody may have written it."""
    return "".join(char if char.isprintable() else "?" for char in str(text))


def verify(raw: bytes) -> dict[str, Any]:
    """Return the content of a receipt that is right; Refused or Unreadable says what is not."""
    content = read(raw)
    check_signature(content)
    try:
        check_sums(content["receipt"])
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise Refused(f"Something is missing in the receipt: {error!r}") from error
    return content


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check a receipt offline. Exit 0: right, 1: refused, 2: unreadable, "
                                     "3: right if the key is the shop's.")  # fmt: skip
    parser.add_argument("file", help="the receipt as it was downloaded")
    parser.add_argument("--key", help="the public key that the shop publishes")
    chosen = parser.parse_args(arguments)
    try:
        with open(chosen.file, "rb") as file:
            content = verify(file.read())
        if chosen.key and chosen.key.strip().lower() != content["key"]["public"]:
            raise Refused("It was signed with another key than the one you name.")
    except Refused as error:
        print(f"REFUSED. {shown(error)}", file=sys.stderr)
        return REFUSED
    except (Unreadable, OSError) as error:
        print(f"CANNOT BE READ. {error}", file=sys.stderr)
        return UNREADABLE
    print("RIGHT: nothing was changed since it was signed, and the sums add up.")
    print(*map(shown, tell(content["receipt"])), sep="\n")
    print(f"\nSigned with the key {content['key']['id']}:\n  {content['key']['public']}")
    if chosen.key:
        return RIGHT
    print("Compare that key with the one the shop publishes, or name it with --key: anybody can make a key.")
    return UNKNOWN_KEY


if __name__ == "__main__":
    sys.exit(main())
