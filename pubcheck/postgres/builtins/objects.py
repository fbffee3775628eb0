"""The objects that initdb creates, for name and type resolution: rows of pg_type, pg_proc, pg_operator, pg_cast etc.

One file holds all majors, because most rows are the same in each; a row is decoded on first use. Opening the file
takes some milliseconds, so it is opened only for filters. ``snapshot`` writes it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from typing import Any, TypeVar

from msgspec import Raw, Struct
from msgspec.json import Decoder, decode, encode

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import INFORMATION_SCHEMA, PG_CATALOG, SUPERUSER
from pubcheck.postgres.catalog.rows import Cast, Collation, Column, Operator, Proc, Type

RECORD_IN, RECORD_OUT, ARRAY_IN, ARRAY_OUT = 2290, 2291, 750, 751

T = TypeVar("T")
R = TypeVar("R", bound="_Row")

# Rows as they lie in the file: first the majors they hold in, a bit each. The order is that of the snapshot's queries.


class _Row(Struct, frozen=True, array_like=True, gc=False):
    majors: int


class _TypeRow(_Row, frozen=True, array_like=True, gc=False):
    name: str
    kind: str
    category: str
    array: int = 0
    element: int = 0
    subscript: str = ""
    input: int = ARRAY_IN
    output: int = ARRAY_OUT
    collation: int = 0
    preferred: int = 0
    base: int = 0
    typmod: int = -1
    multirange: int = 0
    not_null: int = 0
    checked: int = 0
    elsewhere: int = 0


class _ProcRow(_Row, frozen=True, array_like=True, gc=False):
    name: str
    arguments: tuple[int, ...]
    returns: int
    volatility: str = "i"
    strict: int = 1
    kind: str = "f"
    returns_set: int = 0
    variadic: int = 0
    defaults: int = 0
    modes: str = ""
    names: tuple[str, ...] = ()
    parameters: tuple[int, ...] = ()
    elsewhere: int = 0


class _OperatorRow(_Row, frozen=True, array_like=True, gc=False):
    name: str
    left: int
    right: int
    returns: int = 16
    function: int = 0
    negator: int = 0


class _CastRow(_Row, frozen=True, array_like=True, gc=False):
    function: int
    context: str
    method: str = "f"


class _CollationRow(_Row, frozen=True, array_like=True, gc=False):
    oid: int
    deterministic: int = 1


class _RoleRow(_Row, frozen=True, array_like=True, gc=False):
    oid: int


class _ClassRow(_Row, frozen=True, array_like=True, gc=False):
    family: int


class FamilyRow(_Row, frozen=True, array_like=True, gc=False):
    """An operator family of btree (b) or hash (h).

    ``operators`` are (left type, right type, strategy, operator), ``functions`` (left type, right type, function) of
    support number 1: the comparison function of btree, the hash function of hash.
    """

    method: str
    operators: tuple[tuple[int, int, int, int], ...]
    functions: tuple[tuple[int, int, int], ...]


class RangeRow(_Row, frozen=True, array_like=True, gc=False):
    """pg_range: the collation that bounds are compared under, and the comparison function."""

    collation: int
    compare: int


class AggregateRow(_Row, frozen=True, array_like=True, gc=False):
    """pg_aggregate: aggkind (n, o(rdered-set), h(ypothetical-set)) and aggnumdirectargs."""

    kind: str
    direct: int


class _AttributesRow(_Row, frozen=True, array_like=True, gc=False):
    names: tuple[str, ...]
    types: tuple[tuple[int, int, int, int], ...]
    indexes: tuple[str, ...] = ()


_BRACKET = ord("[")
_SEARCHES = 8
"""So many names are searched for one by one."""
_NAMES = lazy_compile(rb'\[\d+,("[^"]*")')
"""The names in a line, which follow the majors of their rows."""


class _Rows:
    """The rows of a section by their oids, in whose order they lie in the file, one on a line.

    A line begins with its oid only if this does not follow the one before by 1.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines = content.split(b"\n")
        self._numbered = [number for number, line in enumerate(self._lines) if line[0] != _BRACKET]
        self._searches = 0

    def _first_oid(self, number: int) -> int:
        """Return the oid that a line begins with."""
        line = self._lines[number]
        return int(line[: line.index(b",")])

    def _oid(self, number: int) -> int:
        """Return the oid of a line."""
        first = self._numbered[bisect_right(self._numbered, number) - 1]
        return self._first_oid(first) + number - first

    def get(self, oid: int) -> bytes | None:
        place = bisect_right(self._numbered, oid, key=self._first_oid)
        if not place:
            return None
        first = self._numbered[place - 1]
        number = first + oid - self._first_oid(first)
        if number >= (self._numbered[place] if place < len(self._numbered) else len(self._lines)):
            return None
        line = self._lines[number]
        return line[line.index(b"[") :].removesuffix(b",")

    def named(self, name: str) -> Iterable[int]:
        """Return the oids of the rows of that name, and perhaps those of others.

        Most runs look for few names, and a search takes a tenth of the time that indexing all rows takes.
        """
        self._searches += 1
        if self._searches > _SEARCHES:
            return self._by_name.get(encode(name), ())
        return self._search(b",%b," % encode(name))

    def _search(self, value: bytes) -> Iterator[int]:
        content = self._content
        place = content.find(value)
        number = counted = 0
        while place >= 0:
            number += content.count(b"\n", counted, place)
            counted = place
            yield self._oid(number)
            end = content.find(b"\n", place)
            place = content.find(value, end) if end >= 0 else -1

    @cached_property
    def _by_name(self) -> dict[bytes, list[int]]:
        oids: dict[bytes, list[int]] = {}
        for oid, line in zip(self, self._lines, strict=True):
            for name in set(_NAMES.findall(line)):
                oids.setdefault(name, []).append(oid)
        return oids

    def __iter__(self) -> Iterator[int]:
        oid = 0
        for line in self._lines:
            oid = oid + 1 if line[0] == _BRACKET else int(line[: line.index(b",")])
            yield oid


def _rows(name: str) -> cached_property[_Rows]:
    return cached_property(lambda file: _Rows(file.lines(name, rows_by_oid=True)))


def _section(name: str, kind: type[T]) -> cached_property[T]:
    return cached_property(lambda file: decode(b"{%b}" % file.lines(name), type=kind))


class _File:
    """The sections of the file. Each is decoded when it is first needed: a filter needs few of them."""

    servers = _section("servers", dict[str, str])
    types, procs, operators = map(_rows, ("types", "procs", "operators"))
    families, ranges, aggregates = map(_rows, ("families", "ranges", "aggregates"))
    casts, attributes = (_section(name, dict[str, Raw]) for name in ("casts", "attributes"))
    collations = _section("collations", dict[str, list[_CollationRow]])
    classes = _section("classes", dict[str, list[_ClassRow]])
    roles = _section("roles", dict[str, list[_RoleRow]])

    def __init__(self, content: bytes) -> None:
        self._content = content

    def lines(self, name: str, *, rows_by_oid: bool = False) -> bytes:
        """Return the rows of a section: it begins with its name on a line and ends before one that is a bracket.

        To search for these takes a third of the time that it takes to skip all other sections as JSON.
        """
        opening, end = (b'"%b":[\n', b"\n]") if rows_by_oid else (b'"%b":{\n', b"\n}")
        opening %= name.encode()
        start = self._content.index(opening) + len(opening)
        return self._content[start : self._content.index(end, start)]


_INTERNAL = frozenset((2275, 2281))
"""cstring and internal, which SQL has no values of."""
_NORMAL_AGGREGATE = AggregateRow(0, "n", 0)


@cache
def _decoder(kind: type[R]) -> Decoder[list[R]]:
    """Return what decodes rows; it is slow to make, and most runs need few kinds of rows."""
    return Decoder(list[kind])  # type: ignore[valid-type]


@cache
def _file() -> _File:
    with open(os.path.join(os.path.dirname(__file__), "objects.json"), "rb") as file:
        return _File(file.read())


class Objects:
    """Look-ups over one major's built-in objects; every answer is remembered."""

    def __init__(self, major: int) -> None:
        self.major = major
        self._file = file = _file()
        self._bit = 1 << list(file.servers).index(str(major))
        self.type, self.proc, self.operator = cache(self._type), cache(self._proc), cache(self._operator)
        self.procs, self.operators = cache(self._procs), cache(self._operators)
        self.placed_procs, self.placed_operators = cache(self._placed_procs), cache(self._placed_operators)
        self.cast, self.family = cache(self._cast), cache(self._family)

    def _of_major(self, rows: list[R] | None) -> R | None:
        """The row that holds in this major."""
        for row in rows or ():
            if row.majors & self._bit:
                return row
        return None

    def _row(self, rows: bytes | Raw | None, kind: type[R]) -> R | None:
        """The row of this major, of those with the same key as they lie in the file."""
        return self._of_major(_decoder(kind).decode(rows)) if rows is not None else None

    # Types.

    def _type_row(self, oid: int) -> _TypeRow | None:
        return self._row(self._file.types.get(oid), _TypeRow)

    def _type(self, oid: int) -> Type | None:
        row = self._type_row(oid)
        if row is None:
            return self._row_type(oid)
        return Type(
            oid,
            row.name,
            INFORMATION_SCHEMA if row.elsewhere else PG_CATALOG,
            SUPERUSER,
            row.kind,
            array=row.array,
            element=row.element,
            base=row.base,
            not_null=bool(row.not_null),
            category=row.category,
            preferred=bool(row.preferred),
            collation=row.collation,
            typmod=row.typmod,
            subscript=row.subscript,
            multirange=row.multirange,
            checked=bool(row.checked),
            bounds=bounds.collation if (bounds := self.range(oid)) is not None else 0,
            seen=True,
        )

    def _row_type(self, oid: int) -> Type | None:
        place = builtins(self.major).relation_of_type(oid)
        if place is None:
            return None
        schema, name, relation = place
        namespace = INFORMATION_SCHEMA if schema == "information_schema" else PG_CATALOG
        if oid == relation.type:
            return Type(
                oid,
                name,
                namespace,
                SUPERUSER,
                "c",
                relation=relation.oid,
                array=relation.array,
                category="C",
                seen=True,
            )
        return Type(
            oid,
            f"_{name}"[:63],
            namespace,
            SUPERUSER,
            "b",
            element=relation.type,
            category="A",
            subscript="a",
            seen=True,
        )

    def io_functions(self, oid: int) -> tuple[int, int]:
        """(typinput, typoutput) of a built-in type."""
        row = self._type_row(oid)
        if row is not None:
            return row.input, row.output
        type_row = self.type(oid)
        return (RECORD_IN, RECORD_OUT) if type_row is not None and type_row.kind == "c" else (ARRAY_IN, ARRAY_OUT)

    def _attributes(self, relation: str) -> _AttributesRow | None:
        return self._row(self._file.attributes.get(relation), _AttributesRow)

    def columns(self, relation: str) -> tuple[Column, ...] | None:
        """The columns of a relation of pg_catalog."""
        row = self._attributes(relation)
        if row is None:
            return None
        return tuple(
            Column(number, name, type_oid, bool(not_null), typmod=typmod, collation=collation)
            for number, (name, (type_oid, typmod, collation, not_null)) in enumerate(
                zip(row.names, row.types, strict=True), 1
            )
        )

    def indexes(self, relation: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The indexes of a relation of pg_catalog: p(rimary), u(nique) or n(either), and the columns' numbers."""
        row = self._attributes(relation)
        for kind, *keys in map(str.split, row.indexes if row is not None else ()):
            yield kind, tuple(map(int, keys))

    def range(self, oid: int) -> RangeRow | None:
        return self._row(self._file.ranges.get(oid), RangeRow)

    # Functions.

    def _proc(self, oid: int) -> Proc | None:
        row = self._row(self._file.procs.get(oid), _ProcRow)
        if row is None:
            return None
        return Proc(
            oid,
            row.name,
            INFORMATION_SCHEMA if row.elsewhere else PG_CATALOG,
            SUPERUSER,
            row.kind,
            row.arguments,
            row.returns,
            row.volatility,
            row.variadic,
            row.defaults,
            bool(row.returns_set),
            bool(row.strict),
            tuple(row.modes),
            row.names,
            row.parameters,
        )

    def _procs(self, name: str) -> tuple[Proc, ...]:
        """All functions of that name, of both schemas."""
        rows = map(self.proc, self._file.procs.named(name))
        # A parameter may have this name. An oid from 10000 on may be that of another function in another major.
        return tuple(row for row in rows if row is not None and row.name == name)

    @cached_property
    def immutable_functions(self) -> tuple[str, ...]:
        """The names of the immutable functions for users: not those that operators, types, casts or indexes call."""
        rows = map(self.proc, self._file.procs)
        operators = (self.operator(oid) for oid in self._file.operators)
        behind = {operator.function for operator in operators if operator is not None}
        return tuple(
            sorted(
                {
                    row.name
                    for row in rows
                    if row is not None
                    and (row.volatility, row.kind, row.namespace, row.returns_set) == ("i", "f", PG_CATALOG, False)
                    and row.oid not in behind
                    and not _INTERNAL.intersection((*row.arguments, row.returns))
                }
            )
        )

    def _placed_procs(self, name: str, place: int) -> list[tuple[int, Proc]]:
        """Return the functions of a name in pg_catalog, each with ``place``; callers must not change the list."""
        return [(place, row) for row in self.procs(name) if row.namespace == PG_CATALOG]

    def aggregate(self, oid: int) -> AggregateRow:
        return self._row(self._file.aggregates.get(oid), AggregateRow) or _NORMAL_AGGREGATE

    # Operators.

    def _operator(self, oid: int) -> Operator | None:
        row = self._row(self._file.operators.get(oid), _OperatorRow)
        if row is None:
            return None
        operands = row.left, row.right
        return Operator(
            oid, row.name, PG_CATALOG, SUPERUSER, *operands, row.function, returns=row.returns, negator=row.negator
        )

    def _operators(self, name: str, prefix: bool) -> tuple[Operator, ...]:
        rows = map(self.operator, self._file.operators.named(name))
        return tuple(row for row in rows if row is not None and (row.left == 0) == prefix)

    def _placed_operators(self, name: str, prefix: bool, place: int) -> list[tuple[int, Operator]]:
        """Return operators in the same form as ``placed_procs``."""
        return [(place, row) for row in self.operators(name, prefix)]

    # Casts and collations.

    def _cast(self, source: int, target: int) -> Cast | None:
        """Return a cast. Its ``oid`` is 0: it is not needed, and it differs between builds."""
        row = self._row(self._file.casts.get(f"{source} {target}"), _CastRow)
        return Cast(0, source, target, row.function, row.context, row.method) if row is not None else None

    @cached_property
    def _collations(self) -> dict[int, Collation]:
        rows = {name: self._of_major(rows) for name, rows in self._file.collations.items()}
        return {
            row.oid: Collation(row.oid, name, PG_CATALOG, SUPERUSER, bool(row.deterministic))
            for name, row in rows.items()
            if row is not None
        }

    def collation(self, oid: int) -> Collation | None:
        return self._collations.get(oid)

    def collation_named(self, name: str) -> Collation | None:
        """Return one of the collations that every build has."""
        return next((row for row in self._collations.values() if row.name == name), None)

    def role(self, name: str) -> int:
        """The oid of a role that initdb makes, or 0; the superuser's name is not among them."""
        row = self._of_major(self._file.roles.get(name))
        return row.oid if row is not None else 0

    def role_name(self, oid: int) -> str | None:
        """A role that initdb makes, by its oid."""
        return next((name for name in self._file.roles if self.role(name) == oid), None)

    # Operator classes and families of btree and hash.

    @cached_property
    def default_classes(self) -> dict[tuple[str, int], int]:
        """(method, input type) -> operator family, of the default operator classes of btree (b) and hash (h)."""
        classes: dict[tuple[str, int], int] = {}
        for key, rows in self._file.classes.items():
            row = self._of_major(rows)
            if row is not None:
                method, _, type_oid = key.partition(" ")
                classes[method, int(type_oid)] = row.family
        return classes

    def _family(self, oid: int) -> FamilyRow | None:
        return self._row(self._file.families.get(oid), FamilyRow)

    @cached_property
    def _memberships(self) -> dict[int, list[tuple[int, int]]]:
        memberships: dict[int, list[tuple[int, int]]] = {}
        for oid in self._file.families:
            family = self.family(oid)
            if family is not None and family.method == "b":
                for _, _, strategy, member in family.operators:
                    memberships.setdefault(member, []).append((oid, strategy))
        return memberships

    def btree_memberships(self, operator: int) -> list[tuple[int, int]]:
        """(operator family, strategy) of an operator in families of btree."""
        return self._memberships.get(operator, [])


@cache
def objects(major: int) -> Objects:
    """The built-in objects of a major; read on first use."""
    return Objects(major)


class Zones(Struct, frozen=True):
    """Time zones; ``abbreviations`` are (offset in seconds east of UTC, 1 in summer) or the name of a zone."""

    names: frozenset[str]
    abbreviations: dict[str, tuple[int, int] | str]


@cache
def zones(major: int) -> Zones:
    """The time zones and abbreviations (timezonesets/Default) that the snapshot's server of a major knows."""
    with open(os.path.join(os.path.dirname(__file__), "zones.json"), "rb") as file:
        content: dict[str, Any] = Decoder().decode(file.read())
    bit = 1 << list(content["servers"]).index(str(major))
    names = frozenset(name for name, rows in content["zones"].items() if any(row[0] & bit for row in rows))
    abbreviations: dict[str, tuple[int, int] | str] = {}
    for name, rows in content["abbreviations"].items():
        for majors, *row in rows:
            if majors & bit:
                abbreviations[name] = row[0] if len(row) == 1 else (row[0], row[1])
    return Zones(names, abbreviations)
