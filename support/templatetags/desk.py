"""How the desk's pages put words together."""

from django import template

register = template.Library()
ENDS = (".", ":", "…", "。")


@register.simple_tag
def sentences(*words: object) -> str:
    """Join words and sentences into one text, each ended once. Empty ones are left out, and so is one that the next
    one begins with: "Paid" before "Paid. An operator prepares your machine."."""
    said = [str(one).strip() for one in words if one and str(one).strip()]
    fresh = [one for one, after in zip(said, [*said[1:], ""], strict=True) if not after.startswith(one)]
    return " ".join(one if one.endswith(ENDS) else f"{one}." for one in fresh)
