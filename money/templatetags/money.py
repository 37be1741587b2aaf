"""Filters that write money for people, in the language of the page."""

from django import template

from money import units, usd

register = template.Library()


@register.filter(name="usd")
def dollars(cents: int) -> str:
    """Write cents as dollars: {{ order.total_cents|usd }}."""
    return usd.localised(cents)


@register.filter
def coin(amount: int, decimals: int) -> str:
    """Write base units as plain whole units, the form that is pasted into a wallet: {{ intent.amount|coin:6 }}."""
    return units.plain(amount, decimals)
