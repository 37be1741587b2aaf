"""BAL-6: `verifyledger` recomputes everything from the rows and names each thing that does not add up."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from story import give, make_customer, make_operator

from accounts.models import User
from balance.models import Account, Movement
from events import append_only
from orders.models import Hold, Order
from payments.actions.adjusting import counter
from payments.actions.by_hand import settle_by_hand
from payments.models import Adjustment, Allocation, ChainTransfer, PaymentIntent
from payments.verify import discrepancies

pytestmark = pytest.mark.django_db


@pytest.fixture
def books(shop: Any) -> Any:
    """Return a shop with a settled order (paid short within the tolerance, and again), and an open one."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 997 // 1000)
    shop.block(3)
    shop.network.pay(intent, intent.amount // 2)
    shop.block(3)
    shop.ask(shop.order(lots=2))
    assert not list(discrepancies())
    append_only.lift("default")
    return shop


def sql(query: str) -> Callable[[], None]:
    def run() -> None:
        with connection.cursor() as cursor:
            cursor.execute(query)

    return run


def planted(name: str) -> Callable[[], Any]:
    """Return what plants a discrepancy behind the back of every action."""
    return {
        "a balance": sql("UPDATE balance_account SET balance_cents = balance_cents + 1 WHERE house IS NULL"),
        "a floor": sql("UPDATE balance_account SET floor_cents = -100 WHERE house IS NULL"),
        "an amount": sql("UPDATE balance_movement SET amount_cents = amount_cents + 1 WHERE kind = 'transfer'"),
        "a credit without an allocation": lambda: forge(Movement.Kind.TRANSFER, "transfer:99:1"),
        "a tolerance without an intent": lambda: forge(Movement.Kind.TOLERANCE, "intent:nobody:tolerance"),
        "a reversal of nothing": lambda: forge(Movement.Kind.REVERSAL, "nothing:reversed", back=True),
        "a capture of nothing": lambda: forge(Movement.Kind.CAPTURE, "order:99:capture", back=True),
        "a credit from the wrong house": sql(
            "UPDATE balance_movement SET debit_id = (SELECT id FROM balance_account WHERE house = 'adjustments')"
            " WHERE kind = 'transfer'"
        ),
        "a credit the wrong way round": sql(
            "UPDATE balance_movement SET debit_id = credit_id, credit_id = debit_id WHERE kind = 'transfer'"
        ),
        "a movement between two customers": lambda: between_customers(),
        "a missing capture": sql("DELETE FROM balance_movement WHERE kind = 'capture'"),
        "a capture over another sum": sql("UPDATE balance_movement SET amount_cents = 1 WHERE kind = 'capture'"),
        "a capture to the wrong house": sql(
            "UPDATE balance_movement SET credit_id = (SELECT id FROM balance_account WHERE house = 'adjustments')"
            " WHERE kind = 'capture'"
        ),
        "an order settled by nothing": sql(
            "UPDATE orders_order SET state = 'settled', payment = 'paid', settled_at = created_at WHERE state = 'open'"
        ),
        "an order that forgot its payment": sql(
            "UPDATE orders_order SET state = 'open', payment = 'none', settled_at = NULL WHERE state = 'settled'"
        ),
        "a transfer credited by nothing": sql("UPDATE payments_chaintransfer SET credited = NOT credited"),
        "a credited transfer that is not final": sql(
            "UPDATE payments_chaintransfer SET status = 'included' WHERE credited"
        ),
        "an allocation over another amount": lambda: Allocation.objects.update(market_amount=1),
        "an allocation of another sum": sql("UPDATE payments_allocation SET usd_cents = usd_cents + 1"),
        "a dead allocation": sql("UPDATE payments_allocation SET live = (1 = 0)"),
        "a credit that was taken back without a reversal": lambda: taken_back_in_silence(),
        "a credit priced as it was not": lambda: dearer(),
        "a shortfall larger than any tolerance": lambda: resum(500, kind="tolerance"),
        "a shortfall that somebody else got": lambda: passed_on_shortfall(),
        "a settlement by hand that somebody else got": lambda: settled_for_another(),
        "an intent settled by nothing": sql(
            "UPDATE payments_paymentintent SET settlement = 'settled' WHERE settlement <> 'settled'"
        ),
        "a settled intent that forgot it": sql("UPDATE payments_paymentintent SET settlement = 'unsettled'"),
        "a settled promise raised": sql("UPDATE payments_paymentintent SET usd_cents = usd_cents * 3"),
        "a correction that forgot its sum": lambda: corrected(usd_cents=7),
        "a correction of another customer": lambda: corrected(customer=make_customer("bob@example.com")),
        "a correction turned round": lambda: corrected(direction="credit"),
        "a correction that undoes another entry": lambda: corrected(counter_of=Movement.objects.earliest("pk")),
        "a correction that was not made": lambda: corrected(state="withdrawn", movement=None),
        "a correction whose movement is another one": lambda: corrected(movement=Movement.objects.earliest("pk")),
        "lots taken by nobody": sql("UPDATE catalog_offer SET taken = taken + 1"),
        "lots held and not taken": sql("UPDATE catalog_offer SET taken = 0"),
        "a hold over other lots": sql("UPDATE orders_hold SET lots = lots + 1"),
    }[name]


def forge(kind: str, reference: str, *, back: bool = False) -> None:
    """Write a movement that nothing explains, and the balance with it."""
    account = Account.objects.exclude(customer=None).get()
    house = Account.objects.get(house="adjustments")
    debit, credit = (account, house) if back else (house, account)
    Movement.objects.create(debit=debit, credit=credit, amount_cents=5, kind=kind, reference=reference)
    balance = (account.balance_cents or 0) + (-5 if back else 5)
    Account.objects.filter(pk=account.pk).update(balance_cents=balance)


def corrected(**wrong: object) -> None:
    """Undo a gift by its counter-entry, and write something wrong over that."""
    undone = counter(give(User.objects.get(email="ada@example.com"), 5).pk, reason="x", actor=make_operator())
    assert not list(discrepancies())
    Adjustment.objects.filter(pk=undone.pk).update(**wrong)


def taken_back_in_silence() -> None:
    """Let a transfer forget its credit: the watcher would credit it again."""
    ChainTransfer.objects.update(credited=False)
    PaymentIntent.objects.update(settlement="reversed")
    Allocation.objects.update(live=False)


def dearer() -> None:
    """Raise what the late transfer was credited with, in its movement and in the balance as well."""
    late = Allocation.objects.filter(market_rate_e8__isnull=False).latest("pk")
    Allocation.objects.filter(pk=late.pk).update(usd_cents=late.usd_cents + 700)
    resum(700, pk=late.movement_id)


def resum(more: int, **which: Any) -> None:
    """Raise a credit by so many cents, and the balance with it."""
    Movement.objects.filter(**which).update(amount_cents=F("amount_cents") + more)
    Account.objects.exclude(customer=None).update(balance_cents=F("balance_cents") + more)


def passed_on(**which: Any) -> None:
    """Let another customer have had a credit, and write both balances so that they are right."""
    movement = Movement.objects.get(**which)
    cents = movement.amount_cents
    other = Account.objects.create(customer=make_customer("bob@example.com"), balance_cents=cents)
    Account.objects.filter(pk=movement.credit_id).update(balance_cents=F("balance_cents") - cents)
    Movement.objects.filter(pk=movement.pk).update(credit=other)


def passed_on_shortfall() -> None:
    give(User.objects.get(), 100_000)
    passed_on(kind="tolerance")


def settled_for_another() -> None:
    order = Order.objects.get(state="open")
    settle_by_hand(order.pk, reason="a transfer on paper", evidence="its receipt", actor=make_operator())
    give(User.objects.get(email="ada@example.com"), 100_000)
    assert not list(discrepancies())
    passed_on(reference__startswith="hand:")


def between_customers() -> None:
    other = Account.objects.create(customer=make_customer("bob@example.com"), balance_cents=0)
    ada = Account.objects.exclude(customer=None).exclude(pk=other.pk).get()
    for kind, debit, credit in (("transfer", ada, other), ("capture", other, ada)):
        Movement.objects.create(debit=debit, credit=credit, amount_cents=5, kind=kind, reference=kind)


NAMES = re.findall(r'^        "([^"]+)": (?:sql|lambda)', Path(__file__).read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_bal_6_each_planted_discrepancy_is_named(books: Any, name: str) -> None:
    planted(name)()
    found = [str(d) for d in discrepancies()]
    assert found
    with pytest.raises(SystemExit, match="1"):
        call_command("verifyledger")


def test_bal_6_right_books_are_said_to_be_right(shop: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shop.ask(shop.order())
    call_command("verifyledger")
    assert capsys.readouterr().out.strip()


def test_bal_6_the_customer_s_name_is_not_needed_to_find_a_row(books: Any) -> None:
    planted("a balance")()
    account = Account.objects.exclude(customer=None).get()
    assert any(str(d).startswith(f"account {account.pk}:") for d in discrepancies())
    assert not any("ada@example.com" in str(d) for d in discrepancies())


def test_the_books_fixture_holds_what_the_plants_need(books: Any) -> None:
    assert Order.objects.count() == 2
    assert PaymentIntent.objects.count() == 2
    assert ChainTransfer.objects.filter(credited=True).count() == 2
    assert Hold.objects.filter(state="held").count() == 2
    assert set(Movement.objects.values_list("kind", flat=True)) == {"transfer", "tolerance", "capture"}
