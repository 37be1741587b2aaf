"""The proof page: when chain and books were compared, what came of it, and how to check a receipt oneself.

Everybody sees that and when; the sums tell how much money a shop takes, so they are for staff.
"""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import second_factor
from money.units import plain
from orders.words import Word
from payments.models import Reconciliation

from . import proof as checks
from .proof import Sums
from .proof_words import check_word
from .registry import families, methods
from .signed_receipts import public_keys


@dataclass(frozen=True, slots=True)
class Row:
    """What one network's last check says; `check` is none before the first one."""

    name: str
    check: Reconciliation | None
    word: Word


@dataclass(frozen=True, slots=True)
class Line:
    """One asset's sums as text, in whole coins. `difference` is empty if there is none."""

    name: str
    cells: tuple[str, ...]
    usd_cents: int
    difference: str


@require_safe
@never_cache
def proof(request: HttpRequest) -> HttpResponse:
    """Show the last check of each network and of the ledger; the sums to staff."""
    found = [(family.name, checks.newest(network)) for network, family in families().items()]
    is_staff = bool(getattr(request.user, "is_staff", False)) and second_factor.proved(request)
    books = checks.newest("")
    context = {
        "rows": [Row(name, check, check_word(check)) for name, check in found],
        "ledger": Row("", books, check_word(books)),
        "lines": [line for _, check in found if check for line in lines_of(check)] if is_staff else [],
        "sums_shown": is_staff,
        "keys": public_keys(),
        "nav_area": "proof",
    }
    return render(request, "payments/proof.html", context)


def lines_of(check: Reconciliation) -> list[Line]:
    """Return the sums of a check, asset by asset."""
    assets = {method.code: method for method in methods()}
    found = []
    for code, data in check.sums.items():
        sums, method = Sums.from_json(data), assets.get(code)
        decimals = method.asset.decimals if method else 0
        amounts = (sums.received, sums.credited, sums.waiting, sums.review, sums.kept, sums.dust)
        found.append(
            Line(
                name=f"{method.asset.symbol} · {method.family.name}" if method else code,
                cells=tuple(plain(amount, decimals) for amount in amounts),
                usd_cents=sums.usd_cents,
                difference=plain(abs(sums.difference), decimals) if sums.difference else "",
            )
        )
    return found
