"""The payment doctor: what a pasted text can mean, and what is true of a transaction. Values in, values out.

Nothing here reads the database or asks a node; an answer is a list of diagnoses, each a code with plain facts. It never
says "unpaid": a network that does not show a transaction may show it a minute later.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from .models import ChainTransfer, PaymentIntent
from .networks.base import Family, Finding

Status, Quote = ChainTransfer.Status, PaymentIntent.Quote
PIECE = re.compile(r"[0-9A-Za-z]{26,100}")  # every address, every transaction id, and no other part of a link
HOST = re.compile(r"https?://(?:www\.)?([^/\s:?#]+)", re.IGNORECASE)
MOST_PIECES = 4
# Explorers of networks that nobody can pay on here, though their addresses and ids look like those of networks that
# one can. A link there tells what no id could: where the money went.
ELSEWHERE = {
    "bscscan.com": "BNB Smart Chain",
    "polygonscan.com": "Polygon",
    "arbiscan.io": "Arbitrum",
    "optimistic.etherscan.io": "Optimism",
    "basescan.org": "Base",
    "snowtrace.io": "Avalanche",
    "snowscan.xyz": "Avalanche",
    "ftmscan.com": "Fantom",
    "lineascan.build": "Linea",
    "scrollscan.com": "Scroll",
    "era.zksync.network": "ZKsync",
    "explorer.zksync.io": "ZKsync",
    "gnosisscan.io": "Gnosis",
    "dogechain.info": "Dogecoin",
    "tonviewer.com": "TON",
    "tonscan.org": "TON",
}


@dataclass(frozen=True, slots=True)
class Clue:
    """What a piece of text can be on one network: a transaction's id or an address, normalised."""

    network: str
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text can mean. `elsewhere` names the network of a link's explorer, if nobody can pay on it here."""

    transactions: tuple[Clue, ...]
    addresses: tuple[Clue, ...]
    elsewhere: str = ""


def read(text: str, families: Iterable[Family]) -> Reading:
    """Find transaction ids, links of explorers and addresses in a text. An id wins over the address beside it."""
    pieces = list(dict.fromkeys(PIECE.findall(text)))[:MOST_PIECES]
    known = list(families)
    transactions = [clue for piece in pieces for family in known if (clue := clue_of(family, "transaction", piece))]
    addresses = [clue for piece in pieces for family in known if (clue := clue_of(family, "address", piece))]
    hosts = [ELSEWHERE[host] for host in map(str.lower, HOST.findall(text)) if host in ELSEWHERE]
    return Reading(tuple(transactions), () if transactions else tuple(addresses), hosts[0] if hosts else "")


def clue_of(family: Family, kind: Literal["transaction", "address"], piece: str) -> Clue | None:
    check = family.check_transaction if kind == "transaction" else family.check_address
    try:
        return Clue(family.network, check(piece))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One finding: a code, and the facts that its words need. `networks` are those that were asked.

    `amount` is in base units as text, `asset` a method's code or the contract of an unknown token, `intent` the id of
    the asking customer's own instructions.
    """

    code: str
    networks: tuple[str, ...] = ()
    txid: str = ""
    asset: str = ""
    amount: str = ""
    intent: str = ""
    transfer: int | None = None
    confirmations: int = 0
    needed: int = 0
    usd_cents: int = 0
    low_fee: bool = False
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Diagnosis":
        return cls(**{**data, "networks": tuple(data.get("networks", ()))})


AGAIN = ("not_visible", "unreachable", "found")  # may be otherwise in a moment: asked again by itself, a few times
CLAIMABLE = ("unknown_token", "not_yours", "not_found", "other_chain", "not_own_address")


@dataclass(frozen=True, slots=True)
class Stored:
    """A transfer of the asking customer as our rows have it. `cents`: what it was credited with, none if it was not."""

    row: ChainTransfer
    needed: int
    cents: int | None
    reviewed: bool


def of_row(stored: Stored, asked: PaymentIntent | None) -> Diagnosis:
    """Say what is true of a transfer that we have."""
    row = stored.row
    return Diagnosis(
        code=code_of(stored, asked),
        networks=(row.network,),
        txid=row.txid,
        asset=row.method or row.contract,
        amount=str(row.amount),
        intent=str(row.intent_id),
        transfer=row.pk,
        confirmations=min(row.confirmations, stored.needed),
        needed=stored.needed,
        usd_cents=stored.cents or 0,
    )


def code_of(stored: Stored, asked: PaymentIntent | None) -> str:
    """Return the code of a stored transfer; in this order, the first that is true."""
    row = stored.row
    truths = (
        (row.dust, "dust"),
        (row.status == Status.REPLACED, "replaced"),
        (row.status == Status.DROPPED, "dropped"),
        (row.credited, "credited_older" if is_older(row.intent, asked) else "credited"),
        (row.verdict == ChainTransfer.Verdict.KEEP, "kept"),
        (not row.method, "unknown_token"),
        (stored.reviewed or not row.explained, "in_review"),
        (row.status == Status.SEEN, "pool"),
        (row.status == Status.INCLUDED, "confirming"),
    )
    return next((code for true, code in truths if true), "final")


def with_fee(found: Diagnosis, *, low: bool) -> Diagnosis:
    """Return the same with what the node says about the fee."""
    return replace(found, low_fee=low)


def is_older(intent: PaymentIntent, asked: PaymentIntent | None) -> bool:
    """Tell whether money came to other instructions than those that the customer has in mind."""
    return intent.quote != Quote.OPEN or (asked is not None and asked.pk != intent.pk)


def of_finding(network: str, finding: Finding, mine: Mapping[str, PaymentIntent]) -> list[Diagnosis]:
    """Say what a network tells of a transaction that our rows do not have. `mine`: the customer's own addresses among
    those it pays; of others nothing is said, whoever they belong to."""
    facts: dict[str, Any] = {"networks": (network,), "txid": finding.txid}
    if finding.failed:
        return [Diagnosis("failed", **facts)]
    found = [
        Diagnosis(
            code="unknown_token" if one.method is None else "found" if finding.block else "pool",
            asset=one.method or one.contract or "",
            amount=str(one.amount),
            intent=str(mine[one.address].pk),
            low_fee=finding.low_fee,
            **facts,
        )
        for one in finding.payments
        if one.address in mine and one.amount > 0
    ]
    return found or [Diagnosis("not_yours", **facts)]


@dataclass(slots=True)
class Asked:
    """What came of asking several networks about one text."""

    found: list[Diagnosis] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    def conclude(self, *, last: bool) -> list[Diagnosis]:
        """Return the diagnoses. A network that does not know the transaction counts only when none does; one that did
        not answer keeps the question open. `last`: nobody will ask again by itself."""
        if self.found:
            return self.found
        codes = (("not_found" if last else "not_visible", self.unknown), ("unreachable", self.silent))
        return [Diagnosis(code, networks=tuple(networks)) for code, networks in codes if networks]


def may_change(diagnoses: Sequence[Diagnosis]) -> bool:
    """Tell whether asking again soon may bring more."""
    return any(one.code in AGAIN for one in diagnoses)
