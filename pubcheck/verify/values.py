"""Values of a stream: whether a text can be a value of its column's type, and the value that a row filter sees.
Conditions on its rows: row filters, and the bounds of the partition under whose name a row comes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Literal

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import input, oids
from pubcheck.postgres.budget import WORK
from pubcheck.postgres.catalog.rows import Column, Filter, Relation
from pubcheck.postgres.ddl.partition_bounds import read_value
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, prepare
from pubcheck.postgres.executor.functions import Step
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from pubcheck.stream import UNCHANGED_TOAST, Row, Value
from pubcheck.verify.usual_texts import UsualText, usual_text

Check = Callable[[str], "str | None"]
"""Returns what is wrong with a text, or None."""

_INTEGERS = {21: 15, oids.INT4: 31, 20: 63}
_OID = 26
_MONEY = 790
_FIXED = frozenset((
    16, 18, 19, 20, 21, 23, 24, 26, 27, 28, 29, 600, 601, 603, 628, 700, 701, 718, 774, 790, 829, 1033, 1082, 1083,
    1114, 1184, 1186, 1266, 2202, 2203, 2204, 2205, 2206, 2950, 3220, 3734, 3769, 4089, 4096, 4191, 5069,
))  # fmt: skip
"""Built-in types of a fixed length (pg_type.typlen), whose values never leave the row."""
_TIMES = frozenset((1082, 1083, 1114, 1184, 1186, 1266))
"""Types whose text depends on DateStyle or IntervalStyle of the session that reads the stream."""
_NOT_CHECKED = frozenset((_MONEY, 24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191, 1033))
"""Types whose text depends on other settings, or on objects of the catalog (reg*, aclitem)."""
_ISO = lazy_compile(r"\d{4,}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::\d\d){0,2})?)?(?: BC)?")
_ROUNDED_UP = "294277-01-01"
"""The day after the last timestamp. A type modifier can round a value up to it, which no input function accepts."""
_INTEGER = re.compile(r"-?\d{1,19}")
_BINARY: dict[int, struct.Struct] = {
    oids.BOOL: struct.Struct(">?"),
    21: struct.Struct(">h"),
    oids.INT4: struct.Struct(">i"),
    20: struct.Struct(">q"),
    _OID: struct.Struct(">I"),
    701: struct.Struct(">d"),
}
_TEXTS = frozenset((oids.TEXT, oids.VARCHAR, oids.BPCHAR))


Reader = Callable[[Any], Any]
"""Reads a value that is not NULL as row filters see it. Raises Unknown."""


class Unknown(Exception):
    """A value that cannot be known from the stream."""


def has_fixed_length(cache: SysCache, column: Column) -> bool:
    """Whether no value of a column is ever stored out of line; False for unknown types."""
    if column.storage == "plain":
        return True
    try:
        oid, _ = cache.base_type(column.type) if column.type else (0, -1)
        return oid in _FIXED or (oid != 0 and cache.type(oid).kind == "e")
    except Unknowable:
        return False


def text_check(inputs: InputContext, column: Column) -> Check | None:
    """Return a check of a column's texts; None if every text, or no text for certain, is a value of its type."""
    try:
        oid, typmod = inputs.cache.base_type(column.type, column.typmod) if column.type else (0, -1)
        kind = inputs.cache.type(oid).kind if oid else ""
    except Unknowable:
        return None
    if oid == oids.BOOL:
        return lambda text: None if text in ("t", "f") else "is not t or f"
    if oid in _INTEGERS:
        return _integer_check(_INTEGERS[oid])
    if oid == oids.VARCHAR:
        return None if typmod < 0 else _length_check(typmod - 4, exact=False)
    if oid == oids.BPCHAR:
        return None if typmod < 0 else _length_check(typmod - 4, exact=True)
    if oid == 0 or oid in (oids.TEXT, 19) or oid in _NOT_CHECKED or kind not in ("b", "e"):
        return None
    check = _input_check(inputs, oid, typmod)
    return _time_check(check) if oid in _TIMES else check


def _input_check(inputs: InputContext, oid: int, typmod: int) -> Check:
    def check(text: str) -> str | None:
        try:
            input.read(inputs, oid, text, typmod)
        except ServerError as error:
            return None if _ROUNDED_UP in text else f"is not valid: {error.message}"
        except (Unknowable, RecursionError):
            pass
        return None

    return check


def _integer_check(bits: int) -> Check:
    bound = 1 << bits

    def check(text: str) -> str | None:
        if _INTEGER.fullmatch(text) is None:
            return "is not an integer"
        return None if -bound <= int(text) < bound else "is out of range"

    return check


def _length_check(length: int, *, exact: bool) -> Check:
    def check(text: str) -> str | None:
        # Where the database's encoding is SQL_ASCII, the length is that in bytes.
        if len(text) == length or (len(text) < length and not (exact and text.isascii())):
            return None
        return f"does not have {length} characters" if exact else f"has more than {length} characters"

    return check


def _time_check(is_valid: Check) -> Check:
    def check(text: str) -> str | None:
        if _ISO.fullmatch(text) is None:
            plausible = any(character.isdigit() for character in text) or text in ("infinity", "-infinity")
            return None if plausible else "is not valid"
        return is_valid(text)

    return check


def value_reader(inputs: InputContext, column: Column) -> Reader:
    """Return a function that reads a column's values as row filters see them."""
    oid, typmod = column.type, column.typmod

    def read(value: Value) -> Any:
        if isinstance(value, bytes):
            return from_binary(oid, value)
        if not isinstance(value, str):
            raise Unknown
        try:
            return input.read(inputs, oid, value, typmod)
        except (ServerError, Unknowable, RecursionError):
            raise Unknown from None

    if oid in _INTEGERS:
        return _integer_reader(_digits(_INTEGERS[oid]), read)
    if oid == oids.TEXT:
        return lambda value: value if value.__class__ is str else read(value)
    usual = usual_text(oid, typmod)
    return read if usual is None else _usual_reader(usual, read)


def _usual_reader(usual: UsualText, read: Reader) -> Reader:
    matches, read_usual = usual

    def read_text(value: Value) -> Any:
        return read_usual(value) if value.__class__ is str and matches(value) else read(value)

    return read_text


def _integer_reader(digits: int, read: Reader) -> Reader:
    def read_digits(value: Value) -> Any:
        if value.__class__ is str and len(value) <= digits and value.isdigit() and value.isascii():
            return int(value)
        return read(value)

    return read_digits


def _digits(bits: int) -> int:
    """Return the largest number of digits such that every integer of that length fits into ``bits`` bits."""
    return len(str(1 << bits)) - 1


def from_binary(oid: int, value: bytes) -> Any:
    """Return the value of a type's send function, for the most common types. Raises Unknown."""
    layout = _BINARY.get(oid)
    if layout is not None and layout.size == len(value):
        return layout.unpack(value)[0]
    if oid in _TEXTS:
        return value.decode("utf-8", "surrogateescape")
    raise Unknown


def binary_fault(oid: int, value: bytes) -> str | None:
    """Return what is wrong with the length of a binary value of a type of fixed length."""
    layout = _BINARY.get(oid)
    if layout is None or layout.size == len(value):
        return None
    return f"has {len(value)} bytes, not {layout.size}"


Answer = Literal["true", "false", "null", "unknown"]
RowTest = Callable[[Row], Answer]

_REMEMBERED: Final = 1024
"""Answers of a filter that are kept: its columns often have few different values."""
_UNKNOWN = (Unknown, Unknowable, ServerError, RecursionError)


class RowFilter:
    """The row filter of one publication. It is compiled for the first row."""

    __slots__ = ("_answers", "_budget", "_columns", "_condition", "_context", "_key", "_step")

    def __init__(self, condition: Filter, columns: Mapping[int, tuple[int, Reader]], context: Context) -> None:
        """``columns`` are, by column number, the position in rows and the reader."""
        self._condition, self._context, self._budget = condition, context, context.budget
        self._columns = [(number, *columns[number]) for number in condition.columns if number in columns]
        positions = [position for _, position, _ in self._columns]
        self._key: Callable[[Row], object] = itemgetter(*positions) if positions else lambda row: None
        self._answers: dict[object, Answer] = {}
        self._step: Step | None = None

    def answer(self, row: Row) -> Answer:
        """Return the filter's answer for a row."""
        key = self._key(row)
        answers = self._answers
        answer = answers.get(key)
        if answer is not None:
            return answer
        step = self._step or self._compile()
        self._budget.left = WORK  # each row is an evaluation: a long stream must not use it up
        values = {}
        try:
            for number, position, read in self._columns:
                value = row[position]
                values[number] = None if value is None else read(value)
            result = step(values)
            answer = "true" if result else "null" if result is None else "false"
        except _UNKNOWN:
            answer = "unknown"
        if len(answers) >= _REMEMBERED:
            answers.clear()
        answers[key] = answer
        return answer

    def accepts_all(self, rows: Iterable[Row]) -> bool:
        """Return whether the answer for each of some rows, which are different, is true."""
        step, budget, columns = self._step or self._compile(), self._budget, self._columns
        try:
            if len(columns) == 1:
                # Most filters have one column, and building the values takes as long as a step.
                ((number, position, read),) = columns
                for row in rows:
                    budget.left = WORK
                    value = row[position]
                    if not step({number: None if value is None else read(value)}):
                        return False
                return True
            for row in rows:
                budget.left = WORK
                values = {
                    number: None if (value := row[position]) is None else read(value)
                    for number, position, read in columns
                }
                if not step(values):
                    return False
        except _UNKNOWN:
            return False
        return True

    def _compile(self) -> Step:
        condition = self._condition
        is_frozen = any("now" in causes for _, causes in condition.frozen)
        if not isinstance(condition.expr, Expr) or is_frozen or len(self._columns) != len(condition.columns):
            self._step = _unknown
        else:
            self._step = prepare(condition.expr, self._context).step
        return self._step


def _unknown(values: Mapping[int, Any]) -> bool | None:
    raise Unknown


def any_of(filters: Sequence[RowFilter]) -> RowTest:
    """Return the answer of filters that are ORed; every row passes if there is none."""
    if not filters:
        return lambda row: "true"
    if len(filters) == 1:
        return filters[0].answer

    def answer(row: Row) -> Answer:
        result: Answer = "false"
        for condition in filters:
            answer = condition.answer(row)
            if answer == "true":
                return answer
            if answer == "unknown" or (answer == "null" and result == "false"):
                result = answer
        return result

    return answer


def all_pass(filters: Sequence[RowFilter]) -> Callable[[Iterable[Row]], bool]:
    """Return whether each of some rows certainly passes filters that are ORed."""
    if len(filters) == 1:
        return filters[0].accepts_all
    passes = any_of(filters)
    return lambda rows: {*map(passes, rows)} <= {"true"}


def completed(new: Row, old: Row | None) -> Row:
    """Return a new row with the old row's values in place of values left out as unchanged.

    A value that is NULL in the old row is unknown."""
    if old is None or UNCHANGED_TOAST not in new:
        return new
    values: list[Value] = [
        before if value is UNCHANGED_TOAST and before is not None else value
        for value, before in zip(new, old, strict=True)
    ]
    return tuple(values)


Within = Callable[[Row], bool]
"""Returns whether a row is within a bound; also where that cannot be known."""


def bound_checks(session: Session, table: Relation, names: Sequence[str]) -> list[Within]:
    """Return checks for the bounds of a table and of the partitions above it. ``names`` are the columns of rows."""
    catalog, checks = session.catalog, []
    while table.partition and table.parents:
        parent = catalog.relations[table.parents[0]]
        check = _check(session, table, parent, names)
        if check is not None:
            checks.append(check)
        table = parent
    return checks


def _check(session: Session, table: Relation, parent: Relation, names: Sequence[str]) -> Within | None:
    bound: Any = table.bound
    if bound is None or bound[0] not in "lr" or 0 in parent.partition_key:
        return None
    columns = [parent.columns[number - 1] for number in parent.partition_key]
    # The text of a timestamptz depends on the time zone of the session that reads the stream.
    if any(column.name not in names or column.type == TIMESTAMPTZ for column in columns):
        return None
    keys = [(names.index(column.name), column) for column in columns]
    kind: str = bound[0]
    ends: Any = bound[1:]

    def within(row: Row) -> bool:
        values = [_value(session, column, row[position]) for position, column in keys]
        if None in values:
            return True
        if kind == "l":
            return values[0] is None or values[0][0] in ends[0]
        if any(value is not None and value[0] is None for value in values):
            return False
        key = tuple((0, value[0]) for value in values if value is not None)
        lower, upper = ends
        return bool(lower <= key < upper)

    return within


def _value(session: Session, column: Column, value: Any) -> tuple[Any] | None:
    if value is None:
        return (None,)
    return read_value(session, column, {"sval": {"sval": value}}) if isinstance(value, str) else None
