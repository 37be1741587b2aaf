"""Statements whose words are kept, for what every payment sends.

Django words a statement anew at each call: most of what a short one costs. Here Django words it once per connection,
with slots in place of the values, and after that only the values change. Rows, converters, locks and errors are
Django's own. It is for statements of one shape: no value of a condition may be none. A list is worded for each length
that it has, as long as it is short.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, DatabaseError, IntegrityError, connections, models, transaction
from django.db.models.constants import OnConflict
from django.db.models.query import ModelIterable, ValuesListIterable, get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery

AT_ONCE = 8  # statements for more rows or values are worded each time


class Slot(models.Expression):
    """Stands in a statement for a value that each call brings."""

    plain_value = True  # nothing is computed with it: base units may be written through it

    def __init__(self, name: str, column: Any = None) -> None:
        super().__init__()
        self.name, self.column = name, column
        self.compared = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", (self,)

    def fill(self, given: Mapping[str, Any], connection: Any) -> Any:
        """Return the value as the database takes it, by the rules of the column that it is compared with or written
        to."""
        value = given[self.name]
        if isinstance(value, models.Model):
            value = value.pk
        if value is None and self.compared:  # the database would call it unequal to everything, and find nothing
            raise ValueError(f"{self.name} is none, or a row that is not saved: nothing can be found by it")
        return self.column.get_db_prep_value(value, connection, prepared=False)


@dataclass(frozen=True, slots=True)
class Words:
    """A statement as the database reads it, its values or slots, and how to read what it answers."""

    sql: str
    params: tuple[Any, ...]
    locks: bool = False
    read: Callable[[Sequence[Any]], list[Any]] = list

    def send(self, given: Mapping[str, Any], connection: Any) -> Any:
        """Send it with these values and return the open cursor."""
        if self.locks and not connection.in_atomic_block:
            raise transaction.TransactionManagementError("a row is locked in a transaction")
        params = [one.fill(given, connection) if isinstance(one, Slot) else one for one in self.params]
        cursor = connection.cursor()
        cursor.execute(self.sql, params)
        return cursor


def kept(key: Any, word: Callable[[Any], Words]) -> tuple[Words, Any]:
    """Return the words under a key, and the connection of this thread, which keeps them."""
    connection = connections[DEFAULT_DB_ALIAS]
    known: dict[Any, Words] = vars(connection).setdefault("kept_statements", {})
    if key not in known:
        known[key] = word(connection)
    return known[key], connection


def kept_query[**P, R](build: Callable[P, models.QuerySet[Any, R]]) -> Callable[P, list[R]]:
    """Decorate a function that returns a query set: calls return its rows as a list."""
    names = tuple(signature(build).parameters)

    @wraps(build)
    def ask(*some: P.args, **others: P.kwargs) -> list[R]:
        given = dict(zip(names, some, strict=False)) | others
        shape = tuple((name, len(value) if isinstance(value, list) else None) for name, value in given.items())
        if any(length is not None and not 0 < length <= AT_ONCE for _, length in shape):
            return list(build(*some, **others))
        words, connection = kept((ask, shape), partial(words_of_query, build, shape))
        with words.send(flat(given), connection) as cursor:
            return words.read(cursor.fetchall())

    return ask


def kept_row[**P, R](build: Callable[P, models.QuerySet[Any, R]]) -> Callable[P, R | None]:
    """Decorate a function that returns a query set: calls return its first row, or none."""
    ask = kept_query(build)

    @wraps(build)
    def first(*some: P.args, **others: P.kwargs) -> R | None:
        return next(iter(ask(*some, **others)), None)

    return first


def flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by the names of their slots: each of a list has its own."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, list):
            found |= {f"{name}.{place}": one for place, one in enumerate(value)}
        else:
            found[name] = value
    return found


def slots_of(name: str, length: int | None) -> Any:
    return Slot(name) if length is None else [Slot(f"{name}.{place}") for place in range(length)]


def words_of_query(
    build: Callable[..., models.QuerySet[Any, Any]], shape: Sequence[tuple[str, int | None]], connection: Any
) -> Words:
    rows = build(**{name: slots_of(name, length) for name, length in shape})
    give_columns(rows.query)
    compiler = rows.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    return Words(sql, params, bool(rows.query.select_for_update), reader(compiler, rows._iterable_class))


def give_columns(query: Any) -> None:
    """Tell each slot of a condition which column it is compared with, also in sub-queries that are read with it."""
    for condition in query.where.leaves():
        give_column(condition.rhs, condition.lhs.output_field, compared=True)
    for inner in [getattr(read, "query", None) for read in query.annotations.values()]:
        if inner is not None:
            give_columns(inner)


def reader(compiler: Any, kind: type) -> Callable[[Sequence[Any]], list[Any]]:
    """Return what makes rows of models, or tuples, of what the database answers."""
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    convert = partial(compiler.apply_converters, converters=converters) if converters else iter
    if kind is ValuesListIterable:
        return lambda answer: [tuple(row) for row in convert(answer)]
    if kind is not ModelIterable:
        raise TypeError("rows of a kept query are models or tuples")
    model, columns = compiler.klass_info["model"], compiler.klass_info["select_fields"]
    first, end = columns[0], columns[-1] + 1
    names = [column.target.attname for column, *_ in compiler.select[first:end]]
    related = get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS, models.FETCH_ONE)

    def read(answer: Sequence[Any]) -> list[Any]:
        found = []
        for row in convert(answer):
            one = model.from_db(DEFAULT_DB_ALIAS, names, row[first:end])
            for populator in related:
                populator.populate(row, one)
            for name, place in compiler.annotation_col_map.items():
                setattr(one, name, row[place])
            found.append(one)
        return found

    return read


def kept_update[**P](build: Callable[P, tuple[models.QuerySet[Any], Mapping[str, Any]]]) -> Callable[P, int]:
    """Decorate a function that returns a query set and the columns to set in it: calls return how many rows were
    changed."""
    names = tuple(signature(build).parameters)

    @wraps(build)
    def change(*some: P.args, **others: P.kwargs) -> int:
        given = dict(zip(names, some, strict=False)) | others
        words, connection = kept(change, partial(words_of_update, build, tuple(given)))
        return changed(words, given, connection)

    return change


def changed(words: Words, given: Mapping[str, Any], connection: Any) -> int:
    with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), words.send(given, connection) as cursor:
        return cast(int, cursor.rowcount)


def words_of_update(build: Callable[..., Any], names: Sequence[str], connection: Any) -> Words:
    rows, values = build(**{name: Slot(name) for name in names})
    query = rows.query.chain(UpdateQuery)
    query.add_update_values(values)
    for field, _, value in query.values:
        give_column(value, field)
    give_columns(query)
    return Words(*query.get_compiler(connection=connection).as_sql())


def give_column(value: Any, field: Any, *, compared: bool = False) -> None:
    """Tell each slot in an expression which column it is compared with or written to."""
    if isinstance(value, Slot):
        value.column, value.compared = field, compared
    for part in value.get_source_expressions() if isinstance(value, models.expressions.BaseExpression) else ():
        give_column(part, field, compared=compared)


def change_row(row: models.Model, values: Mapping[str, Any], **conditions: Any) -> int:
    """Write columns of the row with this key if it meets these conditions; return how many rows were changed: one or
    none. What the object holds in memory is not touched."""
    key = (type(row), tuple(values), tuple(conditions))
    words, connection = kept(key, partial(words_of_change, *key))
    given = {f"if {name}": value for name, value in conditions.items()}
    return changed(words, {"pk": row.pk, **values, **given}, connection)


def words_of_change(
    model: type[models.Model], columns: Sequence[str], conditions: Sequence[str], connection: Any
) -> Words:
    def build(**slots: Slot) -> Any:
        wanted = {name: slots[f"if {name}"] for name in conditions}
        return model._base_manager.filter(pk=slots["pk"], **wanted), {name: slots[name] for name in columns}

    return words_of_update(build, ("pk", *columns, *(f"if {name}" for name in conditions)), connection)


def write_columns(row: models.Model, columns: Sequence[str]) -> None:
    """Write some columns of a row as it is in memory, as `save(update_fields=columns)` does."""
    values = {name: getattr(row, cast(Any, row._meta.get_field(name)).attname) for name in columns}
    if change_row(row, values) != 1:
        raise DatabaseError(f"{row._meta.model_name} {row.pk} is not there any more")


def insert(*rows: models.Model) -> None:
    """Insert rows of one model by one statement, and give them their keys."""
    if len(rows) > AT_ONCE:
        type(rows[0])._base_manager.bulk_create(rows)
    else:
        send_insert(rows)


def insert_new(row: models.Model, *, unique: str) -> bool:
    """Insert a row whose column `unique` makes it the only one; False, and nothing is inserted, if it is there already.
    Whatever else is wrong with it is an error.

    PostgreSQL is told to do nothing then, where an error would spoil the transaction. SQLite would pass over any fault
    if it were told so; there a savepoint costs nothing.
    """
    if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
        return send_insert([row], OnConflict.IGNORE) == 1
    try:
        with transaction.atomic():
            insert(row)
    except IntegrityError:
        if type(row)._base_manager.filter(**{unique: getattr(row, unique)}).exists():
            return False
        raise
    return True


def send_insert(rows: Sequence[models.Model], on_conflict: OnConflict | None = None) -> int:
    """Return how many rows were inserted."""
    model, fields = type(rows[0]), fields_of(rows[0])
    key = (model, len(fields), len(rows), on_conflict)
    words, connection = kept(key, partial(words_of_insert, model, fields, len(rows), on_conflict))
    values = {f"{n}.{field.attname}": field.pre_save(row, True) for n, row in enumerate(rows) for field in fields}
    with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), words.send(values, connection) as cursor:
        keys = cursor.fetchall()
    for row, (given,) in zip(rows, keys, strict=on_conflict is None):
        row.pk = given if row.pk is None else row.pk
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return len(keys)


def fields_of(row: models.Model) -> list[Any]:
    """Return the columns that an insert of this row names: all but a key that the database gives."""
    return [field for field in row._meta.concrete_fields if row.pk is not None or not field.primary_key]


def words_of_insert(
    model: type[models.Model], fields: Sequence[Any], count: int, on_conflict: OnConflict | None, connection: Any
) -> Words:
    query = InsertQuery(model, on_conflict=on_conflict)
    slots: Any = [
        SimpleNamespace(**{field.attname: Slot(f"{n}.{field.attname}", field) for field in fields})
        for n in range(count)
    ]
    query.insert_values(fields, slots, raw=True)
    compiler: Any = query.get_compiler(connection=connection)
    compiler.returning_fields = [model._meta.pk]
    ((sql, params),) = compiler.as_sql()
    return Words(sql, params)
