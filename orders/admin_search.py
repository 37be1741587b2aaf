"""Search in the admin by the number of an order or a top-up, as people write it."""

from typing import Any, ClassVar

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from . import numbers


class FindsNumbers:
    """Mix into a ModelAdmin whose `search_fields` hold the symbols of numbers: GL-7K3M-9QX2 finds them, dashes, case
    and look-alikes as in ORD-4. `number_prefixes` names the settings that hold the prefixes of its numbers."""

    number_prefixes: ClassVar[tuple[str, ...]] = ("ORDER_NUMBER_PREFIX",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        read = (numbers.read(search_term, getattr(settings, name)) for name in self.number_prefixes)
        symbols = next((one for one in read if one), None)
        found: tuple[QuerySet[Any], bool] = super().get_search_results(  # type: ignore[misc]
            request, queryset, symbols or search_term
        )
        return found
