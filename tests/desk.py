"""Words for telling a story at the support desk: who sits there, what they type, what they read."""

import re

from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from story import make_customer

from accounts.actions.roles import set_role
from support.models import Lookup


class Desk:
    """A browser of somebody of the staff at the desk."""

    def __init__(self, role: str = "support") -> None:
        self.person = make_customer(f"{role}@example.com")
        set_role(self.person, role, actor=None)
        self.person.refresh_from_db()
        self.client = Client()
        self.client.force_login(self.person)
        self.url = ""

    @property
    def last(self) -> Lookup:
        """The look-up that this person made last."""
        return Lookup.objects.get(pk=self.url.strip("/").rpartition("/")[2])

    def post(self, text: str) -> str:
        """Type a text and send it; return where it leads."""
        answer = self.client.post(reverse("support:look_up"), {"text": text})
        assert answer.status_code == 302, answer.status_code
        self.url = answer.headers["Location"]
        return self.url

    def look_up(self, text: str, status: int = 200) -> str:
        """Look something up; return the page."""
        return self.page(self.post(text), status)

    def page(self, url: str, status: int = 200) -> str:
        answer = self.client.get(url)
        assert answer.status_code == status, answer.status_code
        return answer.content.decode()

    def follow(self, subject: str, *, of: Lookup | None = None) -> HttpResponseBase:
        """Press one of the buttons of a look-up, the last one by default."""
        url = reverse("support:follow", args=[(of or self.last).pk])
        answer: HttpResponseBase = self.client.post(url, {"subject": subject})
        self.url = answer.headers.get("Location", self.url)
        return answer


def text_of(html: str) -> str:
    """Return what people read of the main part of a page, white space made single."""
    main = html[html.index("<main") : html.index("</main>")]
    bare = re.sub(r"<[^>]+>", " ", re.sub(r"<(svg|script)\b.*?</\1>", "", main, flags=re.S))
    return " ".join(bare.replace("&#x27;", "'").replace("&quot;", '"').split())
