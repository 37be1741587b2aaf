"""Search in the admin by an order's number, as people write it."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from . import numbers


class FindsNumbers:
    """Mix into a ModelAdmin whose `search_fields` hold an order's symbols: GL-7K3M-9QX2 finds them, dashes, case and
    look-alikes as in ORD-4."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        symbols = numbers.read(search_term, settings.ORDER_NUMBER_PREFIX)
        found: tuple[QuerySet[Any], bool] = super().get_search_results(  # type: ignore[misc]
            request, queryset, symbols or search_term
        )
        return found
