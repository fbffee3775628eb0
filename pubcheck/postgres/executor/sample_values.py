"""Values worth trying for a column, as texts that its input function reads: those near a filter's constants first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.datum import DAY_LENGTH, INFINITE_INTERVAL, Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor import numeric
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.executor.patterns import texts_matching
from pubcheck.postgres.output import OutputContext
from pubcheck.postgres.output.datetime import clock_text, iso_date, iso_timestamp
from pubcheck.postgres.output.numbers import numeric_text
from pubcheck.postgres.output.strings import host, jsonb_text
from pubcheck.postgres.primnodes import Expr, nodes

_INTEGERS = frozenset((oids.INT2, oids.INT4, oids.INT8, oids.OID, 790, oids.XID, 5069))
_NUMBERS = _INTEGERS | {oids.NUMERIC, oids.FLOAT4, oids.FLOAT8}
_STRINGS = frozenset((oids.TEXT, oids.VARCHAR, oids.BPCHAR, oids.NAME, oids.CHAR))
_MOMENTS = frozenset((oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ))
_SUBTYPES = {3912: oids.DATE, 3908: oids.TIMESTAMP, 3910: oids.TIMESTAMPTZ}
_MOST = 60
"""Texts for one column."""


class Hints:
    """The parts of a filter: the columns it reads, and its constants as numbers, texts, moments and others."""

    def __init__(self, expr: Expr) -> None:
        self.columns = {node.value for node in nodes(expr) if node.node == "Var" and node.value}
        self.numbers: list[Decimal] = []
        self.strings: list[str] = []
        self.days: list[int] = []
        self.others: dict[int, list[Any]] = {}
        for node in nodes(expr):
            if node.node == "Const" and not node.null and node.value is not None:
                self._note(node.type, node.value)
        self.numbers = list(dict.fromkeys(self.numbers))
        self.strings = list(dict.fromkeys(self.strings))
        self.days = list(dict.fromkeys(self.days))

    @staticmethod
    def tests_a_case(expr: Expr) -> bool:
        """Return whether an expression is a part of a CASE that tests a value, which it cannot be evaluated without."""
        todo = [expr]
        while todo:
            node = todo.pop()
            if node.node == "CaseTestExpr":
                return True
            if node.node != "CaseExpr" or not node.value:
                todo.extend(node.args)
        return False

    def _note(self, type_oid: int, value: Any) -> None:
        if isinstance(value, bool):
            return
        if isinstance(value, Array | list):
            # Its elements show their own type.
            for element in value.elements if isinstance(value, Array) else value:
                if element is not None:
                    self._note(oids.TEXT if isinstance(element, str) else oids.NUMERIC, element)
            return
        if hasattr(value, "lower_in"):
            for bound in (value.lower, value.upper):
                if bound is not None:
                    self._note(_SUBTYPES.get(type_oid, oids.NUMERIC), bound)
        if type_oid in _NUMBERS and isinstance(value, int | float | Decimal):
            number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            if number.is_finite():
                self.numbers.append(number)
        elif type_oid in _STRINGS or type_oid == oids.UNKNOWN:
            self.strings.append(value.decode("latin-1") if isinstance(value, bytes) else value)
        elif type_oid in _MOMENTS and isinstance(value, int):
            self.days.append(value if type_oid == oids.DATE else value // DAY_LENGTH)
            self.others.setdefault(type_oid, []).append(value)
        else:
            self.others.setdefault(type_oid, []).append(value)


def texts_for(column: Column, hints: Hints, context: Context) -> list[str]:
    """Return texts to try. Raises Unknowable for a type without any known values."""
    base, _ = context.cache.base_type(column.type)
    candidates: Iterable[str] = ()
    maker = _MAKERS.get(base)
    if maker is not None:
        candidates = maker(hints, base)
    else:
        row = context.cache.type(base)
        element = context.cache.element_type(base)
        if row.kind == "e":
            candidates = row.labels
        elif element:
            inner = texts_for(Column(0, "", element), hints, context)[:8]
            candidates = ["{" + _quoted(item) + "}" for item in inner] + ["{}"]
            candidates += ["{" + ",".join(map(_quoted, inner[:4])) + "}"]
        elif row.kind in "rm":
            subtype = row.base if row.kind == "r" else context.cache.type(row.base).base
            written = OutputContext(context.major.number, context.cache).writer(base)
            candidates = [written(value) for value in hints.others.get(base, ())]
            candidates += list(_range_texts(texts_for(Column(0, "", subtype), hints, context), row.kind == "m"))
    texts: dict[str, None] = {}
    for text in candidates:
        texts[text] = None
        if len(texts) == _MOST:
            break
    if not texts:
        raise Unknowable(f"values of type {context.cache.format_type(base)}")
    return list(texts)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _range_texts(bounds: list[str], several: bool) -> Iterator[str]:
    bounds = [bound if bound.replace("-", "").isdecimal() else _quoted(bound) for bound in bounds]
    texts = [f"[{bound},{bound}]" for bound in bounds[:6]]
    texts += [f"[{bound},)" for bound in bounds[:3]] + [f"(,{bound})" for bound in bounds[:3]]
    for text in (*texts, "(,)"):
        yield "{" + text + "}" if several else text
    yield "{}" if several else "empty"


def _integers(hints: Hints, type_oid: int) -> Iterator[str]:
    """Each constant, and its neighbours; then small numbers, by which remainders differ."""
    for number in hints.numbers:
        if abs(number) < 10**19:
            for step in (0, -1, 1):
                yield str(int(number) + step)
    for text in hints.strings:
        if text.isdecimal() and len(text) < 19:
            yield text
    yield from map(str, (1, 0, 2, 3, 4, 5, 6, 7, 8, 9, -1, 10, 100))


def _decimal_numbers(hints: Hints, type_oid: int) -> Iterator[str]:
    for number in hints.numbers:
        for step in (Decimal(0), Decimal(-1), Decimal(1), Decimal("0.01"), Decimal("-0.01")):
            yield numeric_text(numeric.add(number, step)) if abs(number) < 10**30 else str(number)
    yield from ("1", "0", "-1", "2", "0.5", "10", "100", "1000")


_SIGNS = frozenset("%_^$[]()|+*\\?")
"""Characters of patterns: a text that has one is tried itself only after the texts that it might match."""


def _strings(hints: Hints, type_oid: int) -> Iterator[str]:
    plain = [text for text in hints.strings if _SIGNS.isdisjoint(text)]
    patterns = [text for text in hints.strings if not _SIGNS.isdisjoint(text)]
    for text in patterns:
        if "%" in text or "_" in text:
            masked = text.replace("\\%", "\0").replace("\\_", "\1")
            for some in ("x", ""):
                yield masked.replace("%", some).replace("_", "x").replace("\0", "%").replace("\1", "_")
        yield from texts_matching(text)
    yield from plain
    yield from ("example", "other")
    yield from patterns
    for text in hints.strings:
        yield from (text + "x", text.lower(), text.upper(), f"x{text}x", text + text)
        yield from texts_matching(text)
    for number in hints.numbers:
        if number == int(number) and 0 <= number <= 40:
            yield "x" * int(number)
            yield "x" * (int(number) + 1)
    yield from ("a", "b", "", "1", "A", "t@example.com", "0")


def _booleans(hints: Hints, type_oid: int) -> Iterator[str]:
    yield from ("true", "false")


def _dates(hints: Hints, type_oid: int) -> Iterator[str]:
    for day in hints.days:
        for step in (0, -1, 1, 31, -31):
            yield iso_date(day + step)
    for number in hints.numbers:
        if number == int(number):
            if 1000 <= number <= 9999:
                yield f"{int(number)}-06-15"
                yield f"{int(number) + 1}-06-15"
            elif 1 <= number <= 12:
                yield f"2024-{int(number):02}-15"
            if 1 <= number <= 28:
                yield f"2024-01-{int(number):02}"
    # All days of a week, and the months.
    yield from (f"2024-01-{day:02}" for day in range(1, 8))
    yield from ("2023-06-15", "2025-12-31", "2000-02-29", "infinity", "-infinity")


def _timestamps(hints: Hints, type_oid: int) -> Iterator[str]:
    zone = "+00" if type_oid == oids.TIMESTAMPTZ else ""

    def zoned(text: str) -> str:
        return f"{text[:-3]}{zone} BC" if text.endswith(" BC") and zone else text + zone

    for oid in (oids.TIMESTAMP, oids.TIMESTAMPTZ):
        for value in hints.others.get(oid, ()):
            for step in (0, -1_000_000, 1_000_000, -DAY_LENGTH, DAY_LENGTH):
                yield zoned(iso_timestamp(value + step))
    for number in hints.numbers:
        if number == int(number) and 0 <= number <= 23:
            yield f"2024-01-15 {int(number):02}:30:00{zone}"
    for text in _dates(hints, type_oid):
        if "infinity" in text:
            yield text
        else:
            yield zoned(f"{text[:-3]} 12:00:00 BC" if text.endswith(" BC") else f"{text} 12:00:00")


def _times(hints: Hints, type_oid: int) -> Iterator[str]:
    zone = "+00" if type_oid == oids.TIMETZ else ""
    for value in hints.others.get(oids.TIME, ()):
        for step in (0, -1_000_000, 1_000_000):
            if 0 <= value + step < DAY_LENGTH:
                yield clock_text(value + step) + zone
    for value, west in hints.others.get(oids.TIMETZ, ()):
        yield clock_text((value - west * 1_000_000) % DAY_LENGTH) + f"{-west // 3600:+03}"
    yield from (f"{hour:02}:30:00{zone}" for hour in (9, 0, 6, 12, 18, 23))


def _intervals(hints: Hints, type_oid: int) -> Iterator[str]:
    for value in hints.others.get(oids.INTERVAL, ()):
        if abs(value) < INFINITE_INTERVAL:
            for step in (0, -1, 1):
                yield f"{value.months} months {value.days + step} days {value.microseconds} microseconds"
    yield from ("1 day", "1 hour", "0", "1 month", "1 year", "-1 day")


def _uuids(hints: Hints, type_oid: int) -> Iterator[str]:
    for value in hints.others.get(oids.UUID, ()):
        yield value.hex()
    yield from (
        "00000000-0000-0000-0000-000000000000",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    )
    yield from (f"00000000-0000-4000-8000-{number:012}" for number in range(1, 9))


def _bytes(hints: Hints, type_oid: int) -> Iterator[str]:
    for value in hints.others.get(oids.BYTEA, ()):
        yield "\\x" + value.hex()
    yield from ("\\x", "\\x00", "\\x6162", "\\xff")


def _bit_strings(hints: Hints, type_oid: int) -> Iterator[str]:
    for oid in (oids.BIT, oids.VARBIT):
        yield from hints.others.get(oid, ())
    for length in range(1, 9):
        yield "1" * length
        yield "0" * length


def _addresses(hints: Hints, type_oid: int) -> Iterator[str]:
    from pubcheck.postgres.executor.binary import inet_value

    for oid in (869, 650):
        for value in hints.others.get(oid, ()):
            if type_oid == 869:
                # An address within the network before the network itself.
                inside = (int.from_bytes(value[1], "big") + 1).to_bytes(len(value[1]) + 1, "big")[-len(value[1]) :]
                yield host(inet_value(value[0], len(inside) * 8, inside))
            yield f"{host(inet_value(value[0], value[2], value[3]))}/{value[2]}"
    yield from ("10.0.0.1", "192.168.1.1", "2001:db8::1", "10.0.0.0/8", "192.168.1.0/24")


def _documents(hints: Hints, type_oid: int) -> Iterator[str]:
    """The filter's own documents, and objects with the keys that it names and the values that it compares with."""
    yield from map(jsonb_text, hints.others.get(oids.JSONB, ()))
    yield from hints.others.get(oids.JSON, ())
    strings = list(dict.fromkeys(hints.strings))[:6]
    values = [_quoted(text) for text in strings] + [numeric_text(number) for number in hints.numbers[:3]]
    values += [numeric_text(numeric.add(number, Decimal(1))) for number in hints.numbers[:2]]
    values += ["1", "true", "false", "null", '"x"']
    for key in strings:
        for value in values:
            if value != _quoted(key):
                yield f"{{{_quoted(key)}: {value}}}"
    if len(strings) > 2:
        for value in values[:4]:
            yield f"{{{_quoted(strings[0])}: {{{_quoted(strings[1])}: {value}}}}}"
    yield from ("{}", "[]", '{"a": 1}', "1", '"a"', "[1]")


def _log_positions(hints: Hints, type_oid: int) -> Iterator[str]:
    for value in hints.others.get(3220, ()):
        for near in (value, value - 1, value + 1):
            if 0 <= near < 1 << 64:
                yield f"{near >> 32:X}/{near & 0xFFFFFFFF:X}"
    yield from ("0/1", "16/B374D848", "0/0")


def _hardware(hints: Hints, type_oid: int) -> Iterator[str]:
    for value in hints.others.get(type_oid, ()):
        yield value.hex()
    yield from ("08002b010203", "000000000000") if type_oid == 829 else ("08002bfffe010203", "0000000000000000")


_MAKERS: dict[int, Callable[[Hints, int], Iterator[str]]] = {
    **dict.fromkeys(_INTEGERS, _integers),
    **dict.fromkeys((oids.NUMERIC, oids.FLOAT4, oids.FLOAT8), _decimal_numbers),
    **dict.fromkeys(_STRINGS, _strings),
    **dict.fromkeys((oids.TIMESTAMP, oids.TIMESTAMPTZ), _timestamps),
    **dict.fromkeys((oids.TIME, oids.TIMETZ), _times),
    **dict.fromkeys((oids.BIT, oids.VARBIT), _bit_strings),
    **dict.fromkeys((869, 650), _addresses),
    **dict.fromkeys((829, 774), _hardware),
    **dict.fromkeys((oids.JSON, oids.JSONB), _documents),
    oids.BOOL: _booleans,
    oids.BYTEA: _bytes,
    oids.DATE: _dates,
    oids.INTERVAL: _intervals,
    oids.UUID: _uuids,
    3220: _log_positions,
}
