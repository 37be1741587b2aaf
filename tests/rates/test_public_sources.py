"""The public sources, each against an answer of the shape that it really gives, and against answers that are none."""

import json
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from payments.networks.base import BadAnswer, Unavailable
from payments.rates import Quotation, Unpriced
from payments.rates.public import Bitfinex, Bitstamp, Coinbase, CoinGecko, Kraken, PublicSource
from payments.rates.reading import read_json
from payments.rates.table import PUBLIC

SYMBOLS = ("BTC", "LTC", "ETH", "USDT", "USDC", "TRX", "SOL")
ANSWERS = Path(__file__).parents[1] / "data" / "rates"
# What each source is asked, and what its recorded answer says in 10⁻⁸ dollars: the middle of bid and ask where known.
ASKED = {
    "kraken": ("/0/public/Ticker", {"pair": "XXBTZUSD,XLTCZUSD,XETHZUSD,USDTZUSD,USDCUSD,TRXUSD,SOLUSD"}),
    "coinbase": ("/api/v3/brokerage/market/products", None),
    "bitstamp": ("/api/v2/ticker/", {}),
    "bitfinex": ("/v2/tickers", {"symbols": "tBTCUSD,tLTCUSD,tETHUSD,tUSTUSD,tUDCUSD,tTRXUSD,tSOLUSD"}),
    "coingecko": (
        "/api/v3/simple/price",
        {
            "ids": "bitcoin,litecoin,ethereum,tether,usd-coin,tron,solana",
            "vs_currencies": "usd",
            "include_last_updated_at": "true",
            "precision": "full",
        },
    ),
}
SAID = {
    "kraken": {
        "BTC": 9_123_195_000_000,
        "LTC": 8_452_000_000,
        "ETH": 301_240_500_000,
        "USDT": 99_905_000,
        "USDC": 99_985_000,
        "TRX": 28_126_500,
        "SOL": 14_117_500_000,
    },
    "coinbase": {
        "BTC": 9_123_055_000_000,
        "LTC": 8_450_000_000,
        "ETH": 301_238_000_000,
        "USDT": 99_906_000,
        "SOL": 14_116_000_000,
    },
    "bitstamp": {
        "BTC": 9_123_100_000_000,
        "LTC": 8_453_000_000,
        "ETH": 301_225_000_000,
        "USDT": 99_906_000,
        "USDC": 99_993_000,
        "SOL": 14_117_000_000,
    },
    "bitfinex": {
        "BTC": 9_123_350_000_000,
        "LTC": 8_452_500_000,
        "ETH": 301_240_000_000,
        "USDT": 99_901_000,
        "USDC": 99_993_500,
        "TRX": 28_131_000,
        "SOL": 14_118_000_000,
    },
    "coingecko": {
        "BTC": 9_122_570_341_879,
        "LTC": 8_451_590_322,
        "ETH": 301_194_702_856,
        "USDT": 99_904_731,
        "USDC": 99_987_140,
        "TRX": 28_123_315,
        "SOL": 14_116_605_128,
    },
}


def recorded(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text())


def answering(httpserver: HTTPServer, name: str, answer: Any) -> PublicSource:
    body = answer if isinstance(answer, str) else json.dumps(answer)
    httpserver.expect_request(ASKED[name][0]).respond_with_data(body, content_type="application/json")
    return PUBLIC[name](SYMBOLS, httpserver.url_for(""))


def prices(outcomes: Sequence[Quotation | Unpriced]) -> dict[str, int]:
    return {one.symbol: one.price_e8 for one in outcomes if isinstance(one, Quotation)}


def faults(outcomes: Sequence[Quotation | Unpriced]) -> dict[str, str]:
    return {one.symbol: one.reason for one in outcomes if isinstance(one, Unpriced)}


@pytest.mark.parametrize("name", PUBLIC)
def test_one_request_gives_every_price_exactly(httpserver: HTTPServer, name: str) -> None:
    path, query = ASKED[name]
    body = (ANSWERS / f"{name}.json").read_text()
    httpserver.expect_request(path, query_string=query).respond_with_data(body, content_type="application/json")
    outcomes = PUBLIC[name](SYMBOLS, httpserver.url_for("")).fetch()
    assert prices(outcomes) == SAID[name]
    assert faults(outcomes) == {}
    assert len(httpserver.log) == 1


def test_coinbase_is_asked_for_each_product_by_name(httpserver: HTTPServer) -> None:
    answering(httpserver, "coinbase", recorded("coinbase")).fetch()
    asked = httpserver.log[0][0].args.getlist("product_ids")
    assert asked == ["BTC-USD", "LTC-USD", "ETH-USD", "USDT-USD", "SOL-USD"]


def test_only_what_customers_can_choose_is_asked_for(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v2/tickers", query_string={"symbols": "tETHUSD"}).respond_with_data(
        (ANSWERS / "bitfinex.json").read_text()
    )
    assert prices(Bitfinex({"ETH"}, httpserver.url_for("")).fetch()) == {"ETH": SAID["bitfinex"]["ETH"]}
    assert list(Coinbase({"TRX"}, httpserver.url_for("")).fetch()) == []
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("bitstamp", datetime(2026, 9, 15, 7, 3, 29, tzinfo=UTC)),
        ("coingecko", datetime(2026, 9, 15, 7, 2, 52, tzinfo=UTC)),
    ],
)
def test_the_sources_own_time_is_kept(httpserver: HTTPServer, name: str, at: datetime) -> None:
    first = answering(httpserver, name, recorded(name)).fetch()[0]
    assert isinstance(first, Quotation)
    assert (first.symbol, first.at) == ("BTC", at)


# --- case 79: a body with status 200 that holds no price --------------------------------------------------------------
def spoil(name: str, value: Any) -> str:
    """Return a recorded answer in which Bitcoin's price is this JSON text."""
    answer = recorded(name)
    if name == "kraken":
        answer["result"]["XXBTZUSD"]["b"][0] = "SPOILT"
    elif name == "coinbase":
        answer["products"][0]["price"] = "SPOILT"
    elif name == "bitstamp":
        answer[0]["bid"] = "SPOILT"
    elif name == "bitfinex":
        answer[0][1] = "SPOILT"
    else:
        answer["bitcoin"]["usd"] = "SPOILT"
    return json.dumps(answer).replace('"SPOILT"', value)


NO_PRICES = {
    "zero": '"0"',
    "nan": '"NaN"',
    "negative": '"-1"',
    "endless": '"1e400"',
    "empty": '""',
    "comma": '"91,231"',
    "underscore": '"91_231"',
    "word": '"unknown"',
    "infinity": '"Infinity"',
    "number-zero": "0",
    "number-nan": "NaN",
    "number-negative": "-1",
    "number-endless": "1e400",
    "null": "null",
    "true": "true",
    "list": "[]",
    "object": "{}",
    "tiny": '"0.000000000001"',
}


@pytest.mark.cases
@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize("text", [pytest.param(text, id=f"case-79-{why}") for why, text in NO_PRICES.items()])
def test_what_is_no_price_fails_for_its_symbol_only(httpserver: HTTPServer, name: str, text: str) -> None:
    outcomes = answering(httpserver, name, spoil(name, text)).fetch()
    assert list(faults(outcomes)) == ["BTC"]
    assert prices(outcomes) == {symbol: price for symbol, price in SAID[name].items() if symbol != "BTC"}


@pytest.mark.cases
@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(body, id=f"case-79-{why}")
        for why, body in {
            "nothing": "{}",
            "no-list": "[]",
            "null": "null",
            "number": "5",
            "error": '{"error": "maintenance"}',
            "errors": '{"error": ["EService:Unavailable"], "result": {}}',
            "status": '{"status": {"error_code": 429, "error_message": "limit"}}',
            "bitfinex": '["error", 11010, "ratelimit: error"]',
            "html": "<html><body>Just a moment…</body></html>",
            "cut": '{"error": [], "result": {"XXBTZUSD"',
            "empty": "",
            "deep": "[" * 100_000,
        }.items()
    ],
)
def test_an_answer_with_status_200_that_is_an_error_gives_no_price(
    httpserver: HTTPServer, name: str, body: str
) -> None:
    source = answering(httpserver, name, body)
    try:
        outcomes = source.fetch()
    except (Unavailable, BadAnswer):
        return
    assert prices(outcomes) == {}
    assert set(faults(outcomes)) == set(source.wanted)


# --- case 81: bid and ask ---------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize(
    ("bid", "ask", "price_e8"),
    [
        pytest.param("100", "100", 100 * 10**8, id="case-81-equal"),
        pytest.param("100.49", "100", 10_024_500_000, id="case-81-crossed-a-little"),
        pytest.param("100.5", "100", None, id="case-81-crossed"),
        pytest.param("98", "100", 99 * 10**8, id="case-81-apart"),
        pytest.param("97.99", "100", None, id="case-81-too-far-apart"),
    ],
)
def test_the_middle_of_bid_and_ask_unless_the_book_is_broken(
    httpserver: HTTPServer, bid: str, ask: str, price_e8: int | None
) -> None:
    for name, row in (
        ("kraken", {"error": [], "result": {"XLTCZUSD": {"a": [ask, "1", "1"], "b": [bid, "1", "1"]}}}),
        ("bitstamp", [{"pair": "LTC/USD", "bid": bid, "ask": ask, "timestamp": "1789455809"}]),
        ("bitfinex", [["tLTCUSD", float(bid), 1, float(ask), 1]]),
    ):
        outcomes = answering(httpserver, name, row).fetch()
        assert prices(outcomes).get("LTC") == price_e8, name


# --- case 82: pairs and sources that are gone -------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-82"])
def test_one_pair_that_kraken_no_longer_lists_does_not_take_the_others_away(httpserver: HTTPServer, case: str) -> None:
    """Kraken refuses a list with one unknown pair in it as a whole."""
    left = recorded("kraken")
    del left["result"]["TRXUSD"]

    def listed(request: Request) -> Response:
        unknown = {"error": ["EQuery:Unknown asset pair"]} if "TRXUSD" in request.args.get("pair", "") else left
        return Response(json.dumps(unknown), content_type="application/json")

    httpserver.expect_request("/0/public/Ticker").respond_with_handler(listed)
    outcomes = Kraken(SYMBOLS, httpserver.url_for("")).fetch()
    assert faults(outcomes) == {"TRX": "the pair TRXUSD is not listed"}
    assert len(prices(outcomes)) == 6


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-82"])
def test_a_pair_that_is_gone_or_switched_off_is_named(httpserver: HTTPServer, case: str) -> None:
    products = recorded("coinbase")
    products["products"][0]["trading_disabled"] = True
    products["products"][1]["status"] = "delisted"
    del products["products"][2]
    assert faults(answering(httpserver, "coinbase", products).fetch()) == {
        "BTC": "the pair BTC-USD is not traded now",
        "ETH": "the pair ETH-USD is not traded now",
        "USDT": "the pair USDT-USD is not listed",
    }


@pytest.mark.parametrize("time_text", ['"soon"', "null", "1e400", "true", '"99999999999999999999"'])
def test_a_price_without_a_time_where_there_should_be_one_is_none(httpserver: HTTPServer, time_text: str) -> None:
    body = json.dumps(recorded("bitstamp")).replace('"1789455809"', time_text)
    assert set(faults(answering(httpserver, "bitstamp", body).fetch())) == set(Bitstamp.pairs)
    body = json.dumps({"bitcoin": {"usd": 1, "last_updated_at": "?"}}).replace('"?"', time_text)
    assert "BTC" in faults(answering(httpserver, "coingecko", body).fetch())


# --- transport --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response("{}", 429), "Kraken answered with HTTP status 429: it limits"),
        (Response("{}", 403), "HTTP status 403: it refuses us"),
        (Response("down", 500), "HTTP status 500"),
        (Response("down", 503), "HTTP status 503"),
        (Response("", 302, {"Location": "/elsewhere"}), "HTTP status 302"),
        (Response("", 204), "HTTP status 204"),
        (Response('{"error": [], "resu'), "no JSON"),
        (Response("<html>"), "no JSON"),
        (Response(b"\xff\xfe\xfd"), "no JSON"),
        (Response('{"error": ["EService:Unavailable"], "result": {}}'), "refused: .*EService:Unavailable"),
    ],
)
def test_what_is_tried_again(httpserver: HTTPServer, response: Response, said: str) -> None:
    httpserver.expect_request("/0/public/Ticker").respond_with_response(response)
    httpserver.expect_request("/elsewhere").respond_with_json(recorded("kraken"))
    with pytest.raises(Unavailable, match=said):
        Kraken(SYMBOLS, httpserver.url_for("")).fetch()
    assert len(httpserver.log) == 1


def test_an_answer_beyond_every_size(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(" " * (5 << 20))
    with pytest.raises(BadAnswer, match="more than 4 MiB"):
        read_json("Kraken", httpserver.url_for("/"))


def test_nobody_there() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unavailable, match="Coingecko does not answer"):
        CoinGecko(SYMBOLS, f"http://127.0.0.1:{port}").fetch()


def test_a_slow_source(httpserver: HTTPServer) -> None:
    def slow(request: Request) -> Response:
        time.sleep(0.5)
        return Response("{}")

    httpserver.expect_request("/").respond_with_handler(slow)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.1 seconds"):
        read_json("Kraken", httpserver.url_for("/"), 0.1)


def test_a_source_that_sends_a_byte_now_and_then() -> None:
    """Each byte comes in time for a socket's timeout; only the deadline of the whole answer ends it."""
    began = time.monotonic()
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as threads:
        threads.submit(drip, server)
        with pytest.raises(Unavailable, match="did not answer within"):
            read_json("Kraken", f"http://127.0.0.1:{server.getsockname()[1]}", 0.3)
    assert time.monotonic() - began < 2


def drip(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b" ")
            time.sleep(0.05)
