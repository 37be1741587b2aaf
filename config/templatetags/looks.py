"""Filters that shape what is shown, never what it means."""

from dataclasses import dataclass

from django import template

register = template.Library()


@dataclass(frozen=True, slots=True)
class Group:
    """Four characters of an address; `strong` ones are those that people compare."""

    text: str
    strong: bool


@register.filter
def address_groups(address: str) -> list[Group]:
    """Split an address into groups of four, a prefix 0x kept with the first: {{ address|address_groups }}.

    First and last group are strong. The groups joined are the address again.
    """
    start = 6 if address.startswith("0x") else 4
    texts = [address[:start], *(address[at : at + 4] for at in range(start, len(address), 4))]
    if len(texts) > 2 and len(texts[-1]) < 4:  # the end that people compare is never a lone letter
        texts[-2:] = [texts[-2] + texts[-1]]
    last = len(texts) - 1
    return [Group(text, at in (0, last)) for at, text in enumerate(texts)]
