"""The look of a waiting payment page, which it repeats every two seconds while nothing changes.

Run it with `./run bench poll`. The floor is the least Django view that reads one row by its key and answers JSON
(`servers/floor.py`), without session and user: ours, which also reads both and tells that nothing on the page has
changed, may take one and a half times its processor time and three statements, and answers 304 without a body. Beside
it stand, without a bound, the same by a floor that reads session and user, and a look that must bring the whole part.
All are asked over HTTP, behind gunicorn as it is shipped.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from http import HTTPStatus

from bench.kit import databases, served
from bench.kit.asking import expect
from bench.kit.meter import Cost, Meter, compared, counted, median_ratio
from bench.kit.open_page import OpenPage, cookies_of
from bench.kit.report import Check, Result
from bench.kit.served import Served
from bench.kit.shop import Shop
from bench.kit.web import Site
from django.core.management import call_command

PAGES, LOOKS, ROUNDS = 20, 10, 7
MOST, STATEMENTS = 1.5, 3
SESSION = "sessionid=" + "floor" * 6 + "00"


def measure(given: Namespace) -> Result:
    call_command("collectstatic", interactive=False, verbosity=0)
    meter, result = Meter(), Result()
    intents = Shop().open().intents(PAGES)
    pages = [OpenPage(f"/pay/{intent.pk}/", cookies_of(intent.customer)) for intent in intents]
    statements = sent_by_second(pages)
    result.checks.append(Check("statements", statements, most=STATEMENTS))
    with served.site() as site, served.floor() as least:
        works = {
            "unchanged": lambda: look(site, pages),
            "brought again": lambda: look_anew(site, pages),
            "floor": lambda: ask_floor(least, "/status"),
            "floor with session and user": lambda: ask_floor(least, "/own_status", SESSION),
        }
        costs = in_turns(meter, works, lambda: site.seconds() + least.seconds())
    compare(result, costs)
    return result


def sent_by_second(pages: Sequence[OpenPage]) -> int:
    """Open all pages in this process; return how many statements a look takes once one was made."""
    site = Site()
    for page in pages:
        page.shows(expect(site.get(page.address, page.cookies), HTTPStatus.OK))
    look_once(site, pages[0])
    with counted() as statements:
        look_once(site, pages[0])
    return len(statements.sent)


def look_once(site: Site | Served, page: OpenPage) -> None:
    answer = expect(site.get(page.path, page.cookies, **page.headers), HTTPStatus.NOT_MODIFIED)
    if answer.body:
        raise RuntimeError("304 with a body")


def look(site: Served, pages: Sequence[OpenPage]) -> None:
    for _ in range(LOOKS):
        for page in pages:
            look_once(site, page)


def look_anew(site: Served, pages: Sequence[OpenPage]) -> None:
    """Look as a page that shows something older: all but what moves under the reader's hand is brought."""
    for _ in range(LOOKS):
        for page in pages:
            expect(site.get(page.path, page.cookies, **{"HX-Request": "true"}), HTTPStatus.OK)


def ask_floor(least: Served, path: str, cookies: str = "") -> None:
    for number in range(1, PAGES * LOOKS + 1):
        expect(least.get(f"{path}?acct={number}", cookies), HTTPStatus.OK)


def in_turns(meter: Meter, works: dict[str, Callable[[], None]], seconds: Callable[[], float]) -> dict[str, list[Cost]]:
    """Let all take turns; a first round warms up. What both servers take is read: only one of them works."""
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            with meter.reading(seconds) as cost:
                work()
            if number:
                costs[name].append(cost)
    return costs


def compare(result: Result, costs: dict[str, list[Cost]]) -> None:
    floors = {"by the floor": costs["floor"], "by one with session and user": costs["floor with session and user"]}
    for name in ("unchanged", "brought again"):
        for by, floor in floors.items():
            ratio = median_ratio(costs[name], floor)
            result.rows.append({"what": f"{name}, {by}", **compared(costs[name], floor, PAGES * LOOKS), "ratio": ratio})
    ratio = median_ratio(costs["unchanged"], costs["floor"])
    result.checks.append(Check("unchanged: processor time by the floor's", ratio, most=MOST))


if __name__ == "__main__":
    sys.exit(databases.run("poll", measure))
