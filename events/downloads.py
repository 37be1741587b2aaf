"""The lists of the admin as files: what the list shows, filtered and sorted as it stands."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field, lookup_field
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import translation
from django.utils.html import strip_tags
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from .spreadsheets import csv_file

LIMIT = 50_000
CHUNK = 1000


class Filtered(ChangeList):
    """A list with its filters, its search and its order, and without its pages: nothing is counted, nothing read."""

    def get_results(self, request: HttpRequest) -> None:
        self.result_count = 0
        self.result_list = self.queryset.none()


class Downloads(admin.ModelAdmin[Any]):
    """Mix into a ModelAdmin: whoever may see its list may download it. The columns are the list's own and no others, so
    that nothing is in a file that no list shows: secrets, recovery codes and sessions are in none."""

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_download"
        return [path("download/", self.admin_site.admin_view(self.download), name=name), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        url = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_download")
        query = request.GET.urlencode()
        extra = {"download_url": f"{url}?{query}" if query else url, "download_limit": LIMIT}
        return super().changelist_view(request, extra | (extra_context or {}))

    def get_changelist(self, request: HttpRequest, **arguments: Any) -> type[ChangeList]:
        match = request.resolver_match
        wants_file = match is not None and str(match.url_name).endswith("_download")
        return Filtered if wants_file else super().get_changelist(request, **arguments)

    def download(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with the rows that the list has with these filters, at most LIMIT of them."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        try:
            found = self.get_changelist_instance(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))
        columns = [name for name in found.list_display if name != "action_checkbox"]
        rows = in_language(translation.get_language(), self.file_rows(found.queryset, columns))
        return csv_file(f"{self.opts.model_name}.csv", rows)

    def file_rows(self, queryset: QuerySet[Any], columns: list[Any]) -> Iterator[list[object]]:
        yield [self.file_label(name) for name in columns]
        for count, row in enumerate(queryset[: LIMIT + 1].iterator(CHUNK)):
            if count == LIMIT:
                yield [_("More than %(limit)d rows: filter the list to have the others.") % {"limit": LIMIT}]
                return
            yield [self.file_value(row, name) for name in columns]

    def file_label(self, name: Any) -> str:
        return capfirst(str(label_for_field(name, self.model, model_admin=cast(Any, self))))

    def file_value(self, row: Model, name: Any) -> object:
        """Return what a file shows in one column of one row."""
        if in_file := getattr(name, "in_file", None):
            return cast(object, in_file(row))
        try:
            field, _attribute, value = lookup_field(name, row, cast(Any, self))
        except ObjectDoesNotExist:
            return None
        if field is not None and getattr(field, "choices", None):
            return getattr(row, f"get_{field.name}_display")()
        return strip_tags(value) if isinstance(value, SafeString) else value


def in_language(code: str | None, rows: Iterable[list[object]]) -> Iterator[list[object]]:
    """Yield rows as they are made in a language: by then the request, and its language with it, is over."""
    with translation.override(code):
        yield from rows
