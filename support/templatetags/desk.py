"""How the desk's pages put words together."""

from django import template

register = template.Library()
ENDS = (".", ":", "…", "。")


@register.simple_tag
def sentences(*words: object) -> str:
    """Join words and sentences into one text, each ended once; empty ones are left out."""
    said = [str(one).strip() for one in words if one and str(one).strip()]
    return " ".join(one if one.endswith(ENDS) else f"{one}." for one in said)
