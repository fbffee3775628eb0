"""One row change against one way in which its relation is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from pubcheck.diagnostics import Severity
from pubcheck.postgres.executor import Context
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.replication.publication_lookup import replica_identity
from pubcheck.postgres.replication.subscription_set import Filters
from pubcheck.rulebook import finder
from pubcheck.stream import UNCHANGED_TOAST, Delete, Insert, Row, Update, Value
from pubcheck.verify.publisher import Route
from pubcheck.verify.usual_changes import (
    ONLY_KEY,
    WHOLE,
    WITH_UNCHANGED,
    ColumnTest,
    Form,
    Forms,
    RowCondition,
    RowsTest,
    are_null,
    column_test,
    row_form,
    row_test,
    rows_test,
)
from pubcheck.verify.values import (
    Answer,
    RowFilter,
    all_pass,
    any_of,
    binary_fault,
    bound_checks,
    completed,
    has_fixed_length,
    text_check,
    value_reader,
)

Change = Insert | Update | Delete
Acceptance = Callable[[Any], bool]
"""Returns whether a change of one kind is certainly right."""
AcceptanceOfMany = Callable[[Sequence[Any]], bool]
"""Returns whether some changes of one kind are all certainly right."""
LONG: Final = 500
"""A key value of more characters may be compressed: its row's old key is then sent although its text is the same."""


class Problem(Struct, frozen=True):
    """What is wrong with a change: the code of the rule, and the text after the name of the relation."""

    rule: str
    text: str
    help: str = ""
    publications: tuple[str, ...] = ()
    severity: Severity | None = None
    """The severity, if it differs from the rule's."""
    assumption: str | None = None
    """The fact that this assumes, if any."""


def listed(publications: Sequence[str]) -> str:
    """Return publications as a message names them."""
    return f"publication{'s' if len(publications) > 1 else ''} " + ", ".join(f'"{name}"' for name in publications)


class RouteCheck:
    """Checks the changes that come by a route."""

    def __init__(self, route: Route, locale: str | None, *, only_text: bool = False) -> None:
        """``only_text``: a binary value is never right."""
        self.route = route
        session = route.state.session
        catalog = session.catalog
        settings = catalog.settings
        inputs = InputContext(catalog.major.number, session.syscache, lambda name: settings.get(name.lower()))
        columns = route.columns
        self.names = [column.name for column in columns]
        self._types = [column.type for column in columns]
        self._not_null = [position for position, column in enumerate(columns) if column.not_null]
        self._checks = [
            (position, check)
            for position, column in enumerate(columns)
            if (check := text_check(inputs, column)) is not None
        ]
        self._count = len(columns)
        checks = dict(self._checks)
        self._fixed = [has_fixed_length(session.syscache, column) for column in columns]
        identity = replica_identity(catalog, route.table)
        names = {route.table.columns[number - 1].name for number in identity.columns}
        self.full = identity.full
        self._has_identity = identity.exists
        self._known_identity = identity.known and (identity.exists or identity.kind == "n")
        self.key = [position for position, name in enumerate(self.names) if name in names] if identity.exists else []
        tests = [
            column_test(inputs, column, position, checks.get(position), may_be_null=not column.not_null)
            for position, column in enumerate(columns)
        ]
        restricted = [
            test
            for test in tests
            if not test.may_be_null or only_text or test.check is not None or self._fixed[test.position]
        ]
        everywhere = range(len(columns))
        self._accepts_row = row_test(restricted, len(columns))
        self._accepts_whole_row = row_test(restricted, len(columns), everywhere)
        self._accepts_rows = rows_test(restricted, len(columns))
        of_key = [tests[position]._replace(may_be_null=False) for position in self.key]
        self._restricted, self._of_key = restricted, of_key
        self._in_c: dict[bool, Mapping[bytes, Any]] = {}
        self._accepts_key = row_test(of_key, len(columns))
        self._accepts_rows_with_key = rows_test([*restricted, *of_key], len(columns))
        self._accepts_keys = rows_test(of_key, len(columns), others=are_null)
        is_itself = route.table.oid == route.target.oid
        self._bounds = bound_checks(session, route.table, self.names) if is_itself else []
        published = route.published
        self.filters = {
            operation: None if published is None else published.filters(operation)
            for operation in ("insert", "update", "delete")
        }
        self._readers = {
            column.number: (position, value_reader(inputs, column)) for position, column in enumerate(columns)
        }
        self._context = Context(inputs, locale)
        conditions = {
            id(condition): RowFilter(condition, self._readers, self._context)
            for filters in self.filters.values()
            for _, condition in filters or ()
        }
        self._passes = {
            operation: any_of([conditions[id(condition)] for _, condition in filters or ()])
            for operation, filters in self.filters.items()
        }
        self.truncates = published is not None and published.truncate
        filters = tuple(self.filters.values())
        ids = tuple(
            None if row_filter is None else tuple(id(condition) for _, condition in row_filter)
            for row_filter in filters
        )
        own = (published is None, self.truncates, self.full, self._known_identity, tuple(self.key), route.certain)
        self.signature = (id(route.state), route.target.oid, route.numbers, ids, own)
        """Equal for routes by which the same changes come."""

    # Most changes are right, so that this is asked first. It says no whenever the functions below must decide.

    def acceptances(self, *, is_full: bool) -> Mapping[type[Change], Acceptance]:
        """Return for each published kind of change whether one is certainly right. ``is_full``: the relation was
        described with identity FULL."""
        acceptances: dict[type[Change], Acceptance] = {}
        if self.filters["insert"] is not None:
            acceptances[Insert] = self._insert_acceptance()
        if self.filters["update"] is not None and self._known_identity and not self._bounds:
            acceptances[Update] = self._update_acceptance(is_full=is_full)
        if self.filters["delete"] is not None and self.full == is_full and (self.full or self.key):
            acceptances[Delete] = self._delete_acceptance()
        return acceptances

    def _insert_acceptance(self) -> Acceptance:
        is_right, within = self._accepts_whole_row, self._within if self._bounds else None
        passes = self._passes["insert"] if self.filters["insert"] else None
        if passes is None and within is None:
            return lambda message: is_right(message.new)

        def accepts(message: Insert) -> bool:
            row = message.new
            return is_right(row) and (passes is None or passes(row) == "true") and (within is None or within(row))

        return accepts

    def acceptances_of_many(
        self, kinds: Iterable[type[Change]], *, is_full: bool
    ) -> Mapping[type[Change], AcceptanceOfMany]:
        """Return for some kinds of change, for which `acceptances` returns one, whether some changes that follow each
        other are all certainly right. It says no more often, and takes less time."""
        acceptances: dict[type[Change], AcceptanceOfMany] = {
            Insert: self._acceptance_of_inserts(),
            Update: self._acceptance_of_updates(is_full=is_full),
            Delete: self._acceptance_of_deletes(),
        }
        return {kind: acceptances[kind] for kind in kinds}

    def _acceptance_of_inserts(self) -> AcceptanceOfMany:
        are_right, all_pass = self._accepts_rows, self._all_pass("insert")
        within = self._within if self._bounds else None

        def accepts(messages: Sequence[Insert]) -> bool:
            rows = [message.new for message in messages]
            return are_right(rows) and all_pass(rows) and (within is None or all(map(within, rows)))

        return accepts

    def _acceptance_of_updates(self, *, is_full: bool) -> AcceptanceOfMany:
        all_pass, same_key = self._all_pass("update"), self._same_key

        def accept_old(old: Sequence[Row], new: Sequence[Row]) -> bool:
            if self.full:
                return self._accepts_rows(old)
            return bool(self.key) and self._accepts_keys(old) and not any(map(same_key, old, new))

        def accepts(messages: Sequence[Update]) -> bool:
            new = [message.new for message in messages]
            old = [message.old for message in messages if message.old is not None]
            if not old:
                return not self.full and self._accepts_rows_with_key(new) and all_pass(new)
            if self.full != is_full or {message.old_kind for message in messages} != {"O" if is_full else "K"}:
                return False
            return self._accepts_rows(new) and accept_old(old, new) and all_pass(new) and all_pass(old)

        return accepts

    def _acceptance_of_deletes(self) -> AcceptanceOfMany:
        are_right, all_pass = self._accepts_rows if self.full else self._accepts_keys, self._all_pass("delete")
        kinds = {"O" if self.full else "K"}

        def accepts(messages: Sequence[Delete]) -> bool:
            rows = [message.old for message in messages]
            return {message.old_kind for message in messages} == kinds and are_right(rows) and all_pass(rows)

        return accepts

    def _all_pass(self, operation: str) -> RowsTest:
        """Return whether all of some rows certainly pass the filters of an operation."""
        if not self.filters[operation]:
            return lambda rows: True
        passes = self._passes[operation]
        return lambda rows: {*map(passes, rows)} == {"true"}

    def _update_acceptance(self, *, is_full: bool) -> Acceptance:
        is_right, is_whole, is_right_key = self._accepts_row, self._accepts_whole_row, self._accepts_key
        full, has_key = self.full, bool(self.key)
        passes = self._passes["update"] if self.filters["update"] else None

        def accepts(message: Update) -> bool:
            new, old = message.new, message.old
            if not is_right(new):
                return False
            if old is None:
                return not full and is_right_key(new) and (passes is None or passes(new) == "true")
            if full != is_full or message.old_kind != ("O" if full else "K"):
                return False
            if not (is_whole(old) if full else has_key and self._accepts_old_key(old) and not self._same_key(old, new)):
                return False
            return passes is None or (passes(completed(new, old)) == "true" and passes(old) == "true")

        return accepts

    def _delete_acceptance(self) -> Acceptance:
        passes = self._passes["delete"] if self.filters["delete"] else None
        is_right = self._accepts_whole_row if self.full else self._accepts_old_key
        kind = "O" if self.full else "K"

        def accepts(message: Delete) -> bool:
            old = message.old
            return message.old_kind == kind and is_right(old) and (passes is None or passes(old) == "true")

        return accepts

    # The same once more, for the module in C.

    def forms_in_c(
        self, read: Callable[[Form], Any], kinds: Iterable[type[Change]], *, is_full: bool
    ) -> Mapping[bytes, Any]:
        """Return `forms` as the module in C reads them."""
        if is_full not in self._in_c:
            self._in_c[is_full] = {head: read(form) for head, form in self.forms(kinds, is_full=is_full).items()}
        return self._in_c[is_full]

    def forms(self, kinds: Iterable[type[Change]], *, is_full: bool) -> Forms:
        """Return the forms of certainly right changes of some kinds, for which `acceptances` returns one."""
        new, key, whole = (self._restricted, WITH_UNCHANGED), (self._of_key, ONLY_KEY), (self._restricted, WHOLE)
        forms: dict[bytes, Form] = {}
        if Insert in kinds and not self._bounds:
            forms |= self._forms_of("insert", {b"IN": [whole]})
        if Update in kinds:
            if not self.full:
                forms |= self._forms_of("update", {b"UN": [([*self._restricted, *self._of_key], WITH_UNCHANGED)]})
            if self.full == is_full and (self.full or self.key):
                forms |= self._forms_of("update", {b"UO": [whole, new]} if self.full else {b"UK": [key, new]})
        if Delete in kinds:
            forms |= self._forms_of("delete", {b"DO": [whole]} if self.full else {b"DK": [key]})
        return forms

    def _forms_of(self, operation: str, rows: Mapping[bytes, Sequence[tuple[Sequence[ColumnTest], str]]]) -> Forms:
        condition = None
        if self.filters[operation]:
            condition = self._condition_of(operation)
            if not condition.positions:
                return {}
        return {
            head: tuple(row_form(tests, self._count, letters, condition) for tests, letters in of_rows)
            for head, of_rows in rows.items()
        }

    def _condition_of(self, operation: str) -> RowCondition:
        """Return the row filters of an operation, as a test of rows that have only the columns of the filters."""
        conditions = [condition for _, condition in self.filters[operation] or ()]
        known = {number for condition in conditions for number in condition.columns if number in self._readers}
        numbers = sorted(known, key=lambda number: self._readers[number][0])
        readers = {number: (place, self._readers[number][1]) for place, number in enumerate(numbers)}
        filters = [RowFilter(condition, readers, self._context) for condition in conditions]
        return RowCondition([self._readers[number][0] for number in numbers], all_pass(filters))

    def _accepts_old_key(self, row: Row) -> bool:
        return row.count(None) == len(row) - len(self.key) and self._accepts_key(row)

    def _within(self, row: Row) -> bool:
        return all(within(row) for within in self._bounds)

    # Changes.

    def problems(self, message: Change) -> Iterator[Problem]:
        """Yield the problems of a change, whose rows have the number of columns that they must have."""
        if isinstance(message, Insert):
            return self.insert(message)
        return self.update(message) if isinstance(message, Update) else self.delete(message)

    def insert(self, message: Insert) -> Iterator[Problem]:
        new = message.new
        yield from self._row(new, is_new=True)
        if UNCHANGED_TOAST in new and not self.filters["update"]:
            yield Problem("PUB855", "has an unchanged TOAST value, which an INSERT never has")
        yield from self._either("insert", new)

    def delete(self, message: Delete) -> Iterator[Problem]:
        yield from self._old(message.old)
        yield from self._either("delete", message.old)

    def update(self, message: Update) -> Iterator[Problem]:
        new, old = message.new, message.old
        yield from self._row(new, is_new=True)
        if old is not None:
            yield from self._old(old)
            if not self.full and self.key and self._same_key(old, new):
                yield Problem("PUB855", "has an old key, although the key did not change")
        elif self.full and self._known_identity:
            yield Problem("PUB855", "has no old row, although the replica identity is FULL")
        else:
            for position in self.key:
                if new[position] is UNCHANGED_TOAST:
                    name = self.names[position]
                    yield Problem("PUB855", f'leaves out key column "{name}" as unchanged, but has no old key')
        filters = self.filters["update"]
        if filters is None:
            yield self._unpublished("update")
        elif filters:
            yield from self._transformed(filters, old, new)

    def _transformed(self, filters: Filters, old: Row | None, new: Row) -> Iterator[Problem]:
        """Whether an UPDATE should have been sent as another operation (pgoutput_row_filter)."""
        passes = self._passes["update"]
        after = passes(completed(new, old))
        before = "true" if old is None else passes(old)
        if "unknown" in (before, after) or before == after == "true":
            return
        if before != "true" and after != "true":
            yield self._outside("has an old and a new row that do not pass", after, filters)
        elif after == "true":
            yield self._outside("must be sent as an INSERT, because the old row does not pass", before, filters)
        elif old is not None:
            yield self._outside("must be sent as a DELETE, because the new row does not pass", after, filters)
        else:
            yield self._outside("has a new row that does not pass", after, filters)

    def _either(self, operation: Literal["insert", "delete"], row: Row) -> Iterator[Problem]:
        """An INSERT or DELETE is one by itself, or an UPDATE that brought the row into the filter or out of it."""
        answers: list[tuple[Answer, Filters]] = []
        for sent_as, filters in ((operation, self.filters[operation]), ("update", self.filters["update"] or None)):
            if filters is not None:
                answer = self._passes[sent_as](row)
                if answer in ("true", "unknown"):
                    return
                answers.append((answer, filters))
        if not answers:
            yield self._unpublished(operation)
        else:
            answer, filters = answers[0]
            which = "a row" if operation == "insert" else "an old row"
            yield self._outside(f"has {which} that does not pass", answer, filters)

    @finder("PUB854")
    def _unpublished(self, operation: str) -> Problem:
        names = self.route.state.publications
        return Problem("PUB854", f"is not sent: {listed(names)} does not publish {operation}", publications=names)

    @finder("PUB856")
    def _outside(self, text: str, answer: Answer, filters: Filters) -> Problem:
        catalog = self.route.state.catalog
        names = tuple(catalog.publications[oid].name for oid, _ in filters)
        result = "" if answer != "null" else ", which is NULL for it"
        return Problem("PUB856", f"{text} the row filter of {listed(names)}{result}", publications=names)

    # Rows.

    @finder("PUB855")
    def _row(self, row: Row, *, is_new: bool) -> Iterator[Problem]:
        if is_new:
            if not self._within(row):
                yield Problem("PUB855", "has a row that is not within the bounds of this partition")
            for position in self._not_null:
                if row[position] is None:
                    yield Problem("PUB855", f'has NULL in column "{self.names[position]}", which is NOT NULL')
        for position, check in self._checks:
            value = row[position]
            if type(value) is str:
                fault = check(value)
                if fault is not None:
                    yield self._bad_value(position, value, fault)
        for position, value in enumerate(row):
            if value is UNCHANGED_TOAST:
                if self._fixed[position]:
                    text = f'leaves out column "{self.names[position]}" as unchanged, whose type is never stored apart'
                    yield Problem("PUB855", text)
            elif type(value) is bytes:
                fault = binary_fault(self._types[position], value)
                if fault is not None:
                    yield self._bad_value(position, value, fault)

    def _bad_value(self, position: int, value: Value, fault: str) -> Problem:
        shown = repr(value)
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        return Problem("PUB855", f'has {shown} in column "{self.names[position]}", which {fault}')

    @finder("PUB855")
    def _old(self, old: Row) -> Iterator[Problem]:
        yield from self._row(old, is_new=False)
        if UNCHANGED_TOAST in old:
            yield Problem("PUB855", "has an unchanged TOAST value in its old row, which is always sent whole")
        if self.full or not self._known_identity:
            return
        if not self._has_identity:
            yield Problem("PUB855", "has an old row, although the table has no replica identity")
            return
        key = set(self.key)
        for position, value in enumerate(old):
            name = self.names[position]
            if value is None and position in key:
                yield Problem("PUB855", f'has no value for column "{name}" of the replica identity in its old row')
            elif value is not None and position not in key:
                yield Problem("PUB855", f'has column "{name}" in its old row, which is not in the replica identity')

    def _same_key(self, old: Row, new: Row) -> bool:
        for position in self.key:
            value = old[position]
            if value != new[position] or not isinstance(value, str | bytes) or len(value) > LONG:
                return False
        return True
