"""From what several sources say to what a customer is asked for, or told instead."""

import logging
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from story import ask, make_operator

from payments import prices
from payments.errors import Depegged, NoRate
from payments.models import LastRate, PaymentIntent, RateSample, RateSourceHealth
from payments.pages import page_of
from payments.rates.public import Kraken

pytestmark = pytest.mark.django_db
E8 = 10**8


def case(number: int) -> pytest.MarkDecorator:
    """Give a test the id of its case."""
    return pytest.mark.parametrize("case", [f"case-{number}"])


def refused(client: Any, shop: Any, code: str = "eth") -> str:
    """Ask on the page, and return it: nothing was promised."""
    client.force_login(shop.order.customer)
    url = reverse("payments:choose", args=[shop.order.number])
    response = client.post(url, {"method": code, "form_key": uuid.uuid4()})
    assert response.status_code == 503
    assert shop.intents == 0
    return str(response.content.decode())


def health(source: str) -> RateSourceHealth:
    return RateSourceHealth.objects.get(pk=source)


def test_a_promise_keeps_what_it_was_computed_from(shop: Any) -> None:
    shop.wait(1)
    shop.market.own = {("kraken", "ETH"): "2998", ("bitfinex", "ETH"): "3600", ("bitstamp", "ETH"): "1"}
    shop.market.sample()
    intent = ask(shop.order)
    evidence = intent.rate_evidence
    assert evidence["market_e8"] == str(2999 * E8)
    assert intent.rate_e8 == 2999 * E8 * 99 // 100
    used = {(s["source"], s["price_e8"]) for s in evidence["samples"]}
    assert used == {("kraken", str(2998 * E8)), ("coinbase", str(3000 * E8))}
    left_out = {(s["source"], s["why"]) for s in evidence["dropped"]}
    assert left_out == {("bitfinex", "outlier"), ("bitstamp", "insane")}
    for sample in evidence["samples"] + evidence["dropped"]:
        assert sample["received_at"] == sample["source_at"] == "2026-05-01T12:01:00+00:00"
    page = page_of(intent)
    assert page.sources == "Kraken, Coinbase"
    assert page.markup_percent == "1"


def test_every_sample_is_kept_with_the_sources_own_time(shop: Any) -> None:
    before = RateSample.objects.count()
    shop.market.sample()
    assert RateSample.objects.count() == before + 3 * 4 - 1  # Coinbase has no USDC
    assert set(RateSample.objects.values_list("source_at", flat=True)) == {timezone.now()}


@pytest.mark.cases
@case(46)
def test_a_method_without_a_price_is_listed_with_the_time_of_the_last_good_one(
    shop: Any, client: Any, case: str
) -> None:
    """The last time when a promise could be made counts, not the last sample of one source."""
    shop.wait(1)
    shop.market.down = {"coinbase", "bitstamp", "bitfinex"}
    shop.market.sample()
    shop.wait(2)
    shop.market.sample()
    assert RateSample.objects.filter(symbol="ETH", received_at=timezone.now()).exists()
    client.force_login(shop.order.customer)
    html = client.get(reverse("payments:choose", args=[shop.order.number])).content.decode()
    assert 'value="eth"' not in html
    said = "No current price of ETH is known; the last is from 1 May 2026, 12:01 UTC."
    assert f"Not available now. {said}" in html
    assert said in refused(client, shop)


@pytest.mark.cases
@case(78)
def test_without_any_price_no_instructions_are_made_and_the_answer_says_why(shop: Any, client: Any, case: str) -> None:
    RateSample.objects.all().delete()
    LastRate.objects.all().delete()
    assert "No price of ETH is known yet. Nothing is lost: try again soon." in refused(client, shop)


@pytest.mark.cases
@case(78)
def test_a_price_of_one_that_all_sources_say_is_no_price(shop: Any, client: Any, case: str) -> None:
    shop.wait(3)
    shop.market.prices["ETH"] = "1"
    shop.market.sample()
    assert "No current price of ETH is known" in refused(client, shop)
    assert prices.price("ETH", timezone.now()) is None


@pytest.mark.cases
@case(78)
def test_every_asset_has_a_sane_range_that_holds_no_one_but_for_stablecoins(settings: Any, case: str) -> None:
    assert set(settings.RATE_SANE_RANGE) == set(Kraken.pairs)
    for symbol in settings.RATE_SANE_RANGE:
        guard = prices.rate_guard(symbol)
        assert (guard.lowest_e8 <= E8 <= guard.highest_e8) is (symbol in ("USDT", "USDC", "TRX"))
        demo = Decimal(settings.DEMO_RATES[symbol]) * E8
        assert guard.lowest_e8 <= demo <= guard.highest_e8
    unknown = prices.rate_guard("DOGE")
    assert unknown.lowest_e8 > unknown.highest_e8


@pytest.mark.cases
@case(79)
def test_a_body_without_a_price_is_a_failed_sample_and_no_zero(shop: Any, case: str) -> None:
    shop.wait(3)
    before = RateSample.objects.count()
    shop.market.own = {("kraken", "ETH"): "0", ("bitstamp", "ETH"): "1e400"}
    shop.market.sample()
    assert RateSample.objects.count() == before + 11 - 2
    found = prices.price("ETH", timezone.now())
    assert found
    assert {s.source for s in found.samples} == {"coinbase", "bitfinex"}
    assert health("kraken").unpriced == {"ETH": "0 is no price above zero that can be meant"}


@pytest.mark.cases
@case(82)
def test_one_of_four_sources_down_is_told_to_operators_and_nobody_else_notices(
    shop: Any, client: Any, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    shop.wait(3)
    shop.market.down = {"kraken"}
    for _ in range(3):
        shop.market.sample()
    assert ask(shop.order).usd_cents == 10_000
    said = "Kraken answered with HTTP status 503."
    assert (health("kraken").error, health("kraken").error_at) == (said, timezone.now())
    assert health("kraken").last_success_at == timezone.now() - timedelta(minutes=3)
    warned = [r for r in caplog.records if r.name == "payments.actions.rates" and r.levelno == logging.WARNING]
    assert [r.getMessage() for r in warned] == [f"rate source kraken: {said}"]
    client.force_login(make_operator())
    html = client.get(reverse("admin:payments_ratesourcehealth_changelist")).content.decode()
    assert said in html
    shop.market.down = set()
    shop.market.sample()
    assert (health("kraken").error, health("kraken").last_success_at) == ("", timezone.now())


@pytest.mark.cases
@case(82)
def test_three_of_four_sources_down_makes_no_price(shop: Any, client: Any, case: str) -> None:
    shop.wait(3)
    shop.market.down = {"kraken", "coinbase", "bitstamp"}
    shop.market.sample()
    with pytest.raises(NoRate, match="the last is from 1 May 2026, 12:00 UTC"):
        ask(shop.order)
    assert "No current price of ETH" in refused(client, shop)
    shop.market.down = {"kraken", "coinbase"}
    shop.market.sample()
    assert ask(shop.order).rate_e8 == 2970 * E8


@pytest.mark.cases
@case(82)
def test_a_source_that_no_longer_lists_a_pair_is_named_within_one_cycle(
    shop: Any, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    shop.market.delisted = {("bitfinex", "USDT")}
    shop.market.sample()
    shop.market.sample()
    assert health("bitfinex").unpriced == {"USDT": "the pair tUSTUSD is not listed"}
    warned = [r.getMessage() for r in caplog.records if r.name == "payments.actions.rates"]
    assert warned == ["rate source bitfinex gives no price of USDT: the pair tUSTUSD is not listed"]
    assert ask(shop.order, "usdt-ethereum").usd_cents == 10_000
    shop.market.delisted = set()
    shop.market.sample()
    assert health("bitfinex").unpriced == {}


@pytest.mark.parametrize(("price", "quoted"), [("0.98", True), ("0.979", False), ("1.02", True), ("1.021", False)])
def test_a_stablecoin_off_its_dollar_takes_no_new_instructions(
    shop: Any, client: Any, price: str, quoted: bool
) -> None:
    shop.wait(3)
    shop.market.prices["USDT"] = price
    shop.market.sample()
    if quoted:
        assert ask(shop.order, "usdt-ethereum").rate_e8 == int(Decimal(price) * E8) * 9970 // 10_000
        return
    with pytest.raises(Depegged, match=f"USDT trades at \\${price}, too far from one dollar"):
        ask(shop.order, "usdt-ethereum")
    assert "too far from one dollar to be accepted now. Choose another method." in refused(
        client, shop, "usdt-ethereum"
    )
    assert LastRate.objects.get(pk="USDT").at == timezone.now() - timedelta(minutes=3)
    now = timezone.now()
    assert prices.price_near("USDT", now, now) == int(Decimal(price) * E8)  # what arrived late still has its value


def test_late_money_counts_at_what_several_sources_said_at_its_time(shop: Any) -> None:
    """One wild sample next to the block's time is no market."""
    shop.wait(60)
    then = timezone.now()
    shop.market.prices["ETH"] = "2500"
    shop.market.sample()
    shop.wait(2.5)
    shop.market.down = {"coinbase", "bitstamp", "bitfinex"}
    shop.market.prices["ETH"] = "90000"
    shop.market.sample()
    wild = timezone.now()
    shop.wait(60)
    shop.market.down = set()
    shop.market.prices["ETH"] = "4000"
    shop.market.sample()
    now = timezone.now()
    assert prices.price_near("ETH", then, now) == 2500 * E8
    assert prices.price_near("ETH", wild, now) == 2500 * E8
    assert prices.price_near("ETH", then + timedelta(minutes=30), now) == 4000 * E8
    shop.wait(10)
    assert prices.price_near("ETH", then + timedelta(minutes=30), timezone.now()) is None


def test_a_source_that_breaks_in_an_unforeseen_way_takes_nobody_with_it(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Kraken, "rows", broken)
    shop.wait(3)
    shop.market.sample()
    assert health("kraken").error == "Its answer could not be read; the log says more."
    assert PaymentIntent.objects.count() == 0
    assert ask(shop.order).usd_cents == 10_000
