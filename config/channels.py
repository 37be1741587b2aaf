"""The two ways to an operator: a mail, a webhook. Each sends one message for all that it is given, or raises."""

import json
from collections.abc import Callable, Iterator
from email.utils import parseaddr
from itertools import groupby

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from events.columns import zoned
from events.models import Notice
from events.notices import Batch
from payments.networks.http import Http, HttpStatus

from .telling import News, home, news

LINES = 20  # of one kind in a mail; the first page has them all
DEADLINE = 10.0  # seconds for a webhook's whole answer


def send(batch: Batch) -> None:
    """Send a batch by its channel, in the installation's language."""
    with translation.override(settings.LANGUAGE_CODE):
        SENDERS[batch.channel](batch)


def mail(batch: Batch) -> None:
    """Send one mail to all operators. The same batch has the same Message-ID, so that a second copy is known as one."""
    found = news(batch.events)
    _name, sender = parseaddr(settings.EMAIL_FROM)
    headers = {
        "Message-ID": f"<{batch.id}@{sender.rpartition('@')[2]}>",
        "Auto-Submitted": "auto-generated",
    }
    EmailMessage(subject(found), body(found), settings.EMAIL_FROM, settings.OPERATOR_EMAILS, headers=headers).send()


def subject(found: list[News]) -> str:
    if len(found) == 1:
        return f"{settings.BRAND}: {found[0].about}, {found[0].words}"[:150]
    text = ngettext("%(count)d thing needs a person", "%(count)d things need a person", len(found))
    return f"{settings.BRAND}: {text % {'count': len(found)}}"


def body(found: list[News]) -> str:
    """Write the lines grouped by what happened, each group with its first ones and the number of the rest."""
    paragraphs = [paragraph(words, list(group)) for words, group in groupby(in_groups(found), lambda one: one.words)]
    end = _("All that needs a person now: %(url)s") % {"url": home()}
    return "\n\n".join([*paragraphs, end]) + "\n"


def in_groups(found: list[News]) -> Iterator[News]:
    """Yield the news of a kind together, in the order in which the kinds first appear."""
    order = {one.words: place for place, one in reversed(list(enumerate(found)))}
    yield from sorted(found, key=lambda one: order[one.words])


def paragraph(words: str, group: list[News]) -> str:
    lines = [f"{words[:1].upper()}{words[1:]}:"]
    lines += [f"- {one.about}, {zoned(one.at)}\n  {one.url}" for one in group[:LINES]]
    if len(group) > LINES:
        lines.append("- " + _("and %(count)d more") % {"count": len(group) - LINES})
    return "\n".join(lines)


def webhook(batch: Batch) -> None:
    """Post one JSON document. `text` is what chat programs show; `id` stays the same when it must be sent again."""
    found = news(batch.events)
    document = {
        "id": str(batch.id),
        "text": f"{subject(found)}\n{home()}",
        "count": len(found),
        "url": home(),
        "news": [
            {"kind": one.kind, "about": one.about, "words": one.words, "url": one.url, "at": one.at.isoformat()}
            for one in found
        ],
    }
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(batch.id)}
    post(json.dumps(document).encode(), headers)


def post(data: bytes, headers: dict[str, str]) -> None:
    """Post to the webhook within the deadline; any 2xx is a yes, and redirects are not followed."""
    try:
        Http("", settings.OPERATOR_WEBHOOK, DEADLINE, who="The webhook", largest=1 << 20).read(
            "POST", "", data, headers
        )
    except HttpStatus as error:
        if not 200 <= error.status < 300:
            raise


SENDERS: dict[str, Callable[[Batch], None]] = {Notice.Channel.MAIL: mail, Notice.Channel.WEBHOOK: webhook}
