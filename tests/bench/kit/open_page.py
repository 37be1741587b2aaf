"""A payment page that is open in a browser, as its script asks: with the marks and the validator of what it shows."""

import html
import json
import re
from dataclasses import dataclass, field

from django.conf import settings

from accounts.models import User

from .asking import TOKEN, Answer
from .web import signed_in

PART = re.compile(r'id="payment-status" hx-get="([^"]+)" hx-headers="([^"]+)"')


@dataclass
class OpenPage:
    """`address`: where the page is; `path` and `headers`: what its next look asks."""

    address: str
    cookies: str
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def shows(self, answer: Answer) -> None:
        """Take the part that an answer brings; one without a part (304) leaves it."""
        if part := PART.search(answer.body.decode()):
            self.path = html.unescape(part[1])
            self.headers = {"HX-Request": "true", **json.loads(html.unescape(part[2]))}


def cookies_of(customer: User) -> str:
    """Return what the browser of somebody who has signed in sends."""
    return f"{settings.CSRF_COOKIE_NAME}={TOKEN}; {signed_in(customer)}"
