"""Messages as pages show them: who, what kind, the words in blocks, the details."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from . import secrets, words
from .models import Message, Side

FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Detail:
    label: "str | Promise"
    text: str
    code: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One message for one reader."""

    message: Message
    who: str
    own: bool
    new: bool
    heading: "str | Promise" = ""
    blocks: list[Block] = field(default_factory=list)
    details: list[Detail] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Warned:
    """A finding for the page that asks about it."""

    field: str
    label: "str | Promise"
    what: "str | Promise"
    line: int
    column: int
    masked: str


def lines(messages: Iterable[Message], *, reader: Side, read_up_to: int) -> list[Line]:
    """Return messages as one side reads them; what the other side wrote after `read_up_to` is new."""
    return [line_of(message, reader, read_up_to) for message in messages]


def line_of(message: Message, reader: Side, read_up_to: int) -> Line:
    own = message.side == reader
    return Line(
        message=message,
        who=who(message, reader),
        own=own,
        new=not own and message.pk > read_up_to,
        heading=words.HEADINGS.get(message.topic or message.kind, ""),
        blocks=blocks(message.body),
        details=details(message.context),
    )


def who(message: Message, reader: Side) -> str:
    if message.author is None:
        return _("Automatic message")
    if reader == Side.STAFF:
        return str(message.author)
    return _("You") if message.side == Side.CUSTOMER else _("Support")


def blocks(body: str) -> list[Block]:
    """Split a text at its fences (```): what stands between two is code. An open one runs to the end."""
    parts = FENCE.split(body)
    found = [Block(part.strip("\n"), code=place % 2 == 1) for place, part in enumerate(parts)]
    return [block for block in found if block.text.strip()]


def details(context: Mapping[str, str]) -> list[Detail]:
    return [Detail(label, context[name], code) for name, label, code in words.DETAILS if context.get(name)]


def warnings(texts: Mapping[str, str]) -> list[Warned]:
    """Return what looks like a secret, in words."""
    return [
        Warned(name, words.LABELS[name], words.FINDINGS[one.code], one.line, one.column, one.masked)
        for name, one in secrets.find_in(texts)
    ]
