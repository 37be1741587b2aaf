"""What a receipt shows of times and sources."""

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.dateformat import format as written
from django.utils.translation import pgettext

from payments.pages import source_name

register = template.Library()


@register.filter
def stamp(moment: datetime) -> str:
    """Write a moment so that nobody can misread it: in the reader's zone with its distance from UTC, and in UTC.

    The zone is the active one: the account's if it has one, else UTC, which is then written once.
    """
    form = pgettext("date format", "j M Y, H:i")
    local, at = timezone.localtime(moment), moment.astimezone(UTC)
    if not local.utcoffset():
        return f"{written(at, form)} UTC"
    return f"{written(local, form)} UTC{offset(local)} {timezone.get_current_timezone_name()} ({written(at, form)} UTC)"


def offset(moment: datetime) -> str:
    """Write the distance from UTC: "+03:30"."""
    return f"{moment:%:z}"


register.filter(source_name)
