"""Admin bases for rows that nobody edits by hand."""

from collections.abc import Iterator
from typing import Any, cast

from django.db.models import Model
from django.http import HttpRequest

from .actions import record
from .downloads import Downloads


class ReadOnlyAdmin(Downloads):
    """Shows rows, changes none."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class RecordsChanges(Downloads):
    """Mix into a ModelAdmin whose rows people edit: each change becomes an event in its transaction, with what was
    there before and what is there now: "offer.changed", "offer.added", "offer.deleted"."""

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        forms = [form, *(one for formset in formsets or () for one in formset.forms)]
        form.instance.said = {label: values for one in forms for label, values in changes_of(one, form)}
        return super().construct_change_message(request, form, formsets, add)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self.record("added", obj, request)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self.record("changed", obj, request)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            self.record("deleted", row, request)
        return super().log_deletions(request, queryset)

    def record(self, verb: str, row: Model, request: HttpRequest) -> None:
        kind, changes = f"{row._meta.model_name}.{verb}", getattr(row, "said", {})
        record(kind, subject=row, actor=cast(Any, request.user), name=str(row), changes=changes)


def changes_of(form: Any, main: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield what a form changes: the field, named with its row where that is not the page's own; before and after."""
    of_row = "" if form is main else f"{form.instance}: "
    for name in form.changed_data if form.is_bound else ():
        before = form.initial.get(name)
        after = form.cleaned_data.get(name)
        yield f"{of_row}{name}", ["" if value is None else str(value) for value in (before, after)]
