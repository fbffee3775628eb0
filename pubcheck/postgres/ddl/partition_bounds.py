"""PARTITION BY (parser/parse_utilcmd.c; commands/tablecmds.c: transformPartitionSpec, ComputePartitionAttrs), and
partition bounds of constants, so that partitions that overlap are known (parser/parse_utilcmd.c:
transformPartitionBound; partitioning/partbounds.c: check_new_partition_bound).

A bound is ("d",) for DEFAULT, ("l", values), ("h", modulus, remainder) or ("r", lower, upper), whose elements are (-1,
0) for MINVALUE, (1, 0) for MAXVALUE and (0, value) between them. Anything else is None.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime, timedelta
from itertools import pairwise
from math import gcd
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INTERNAL, RELATION, Catalog
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.index_keys import ORDERED
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, names
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session

_LIMITS = {oids.INT2: 1 << 15, oids.INT4: 1 << 31, oids.INT8: 1 << 63}
_NUMBER = lazy_compile(r"[+-]?[0-9]{1,40}")
_UUID = lazy_compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = lazy_compile(
    r"(\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31))"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d(?:\.\d{1,6})?))?(Z|[+-]\d\d(?::?\d\d)?)?)?"
)
"""A day that is in every year's calendar, and perhaps a time with or without its zone."""
INFINITIES = ("-infinity", "infinity")
"""Moments whose texts come before and after those of all other moments."""
_BOOLEANS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}
_ORDERED = frozenset((*_LIMITS, oids.NUMERIC, oids.BOOL, oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.UUID))
TEXTS = (oids.TEXT, oids.VARCHAR, oids.BPCHAR)
_BY_CODE = (950, 951, 962)
"""The collations C, POSIX and ucs_basic: texts in the order of their characters."""


def is_ordered(column: Column) -> bool:
    """Return whether the order of a column's values is known; texts have the order of their collation."""
    return column.type in _ORDERED or (column.type in TEXTS and column.collation in _BY_CODE)


def read_value(session: Session, column: Column, constant: Node) -> tuple[Any] | None:
    """Return an A_Const as a value of a column, in a tuple of one; None if that cannot be known.

    Moments are texts in the order of time, with "Z" at their end if they have a time zone.
    """
    oid = column.type
    text: str | None = constant.get("sval", {}).get("sval", "") if "sval" in constant else None
    written = str(constant["ival"].get("ival", 0)) if "ival" in constant else constant.get("fval", {}).get("fval")
    if oid in _LIMITS or oid == oids.NUMERIC:
        digits = written or text or ""
        if _NUMBER.fullmatch(digits) is None or abs(int(digits)) >= _LIMITS.get(oid, 1 << 200):
            return None
        return (int(digits),) if oid in _LIMITS or column.typmod < 0 else None
    if oid in TEXTS:
        string = text if text is not None else written
        if string is None or (column.typmod >= 0 and len(string) > column.typmod - 4):
            return None
        return (string.rstrip(" ") if oid == oids.BPCHAR else string,)
    if oid == oids.BOOL:
        string = (text or "").lower()
        truth = constant["boolval"].get("boolval", False) if "boolval" in constant else _BOOLEANS.get(string)
        return (truth,) if truth is not None else None
    if text is None:
        return None
    if oid >= FIRST_NORMAL_OID:
        row = session.catalog.types.get(oid)
        return (text,) if row is not None and text in row.labels else None
    if oid == oids.UUID:
        return (text,) if _UUID.fullmatch(text) else None
    moment = _moment(session, column, text) if oid in (oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ) else None
    return (moment,) if moment is not None else None


_MIDNIGHT = "00:00:00.000000"


def _moment(session: Session, column: Column, text: str) -> str | None:
    if text in INFINITIES:
        return text
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    day, minute, second, zone = match.groups()
    if column.type == oids.DATE:
        return day if minute is None else None
    whole, _, part = (second or "00").partition(".")
    if len(part.rstrip("0")) > column.typmod >= 0:
        return None  # it is rounded
    time = f"{minute or '00:00'}:{whole}.{part:0<6}"
    if column.type == oids.TIMESTAMP:
        return f"{day} {time}"
    if zone is None:
        # In the session's time zone, whatever that is: days have the same order in all.
        return f"{day} {time}" if time == _MIDNIGHT and session.setting("timezone") is None else None
    if zone not in ("Z", "+00", "+00:00", "-00"):
        return _in_utc(f"{day} {time}", zone)
    return f"{day} {time}Z"


def _in_utc(moment: str, zone: str) -> str:
    digits = zone[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    utc = datetime.fromisoformat(moment) + (ahead if zone[0] == "-" else -ahead)
    return f"{utc.isoformat(' ', 'microseconds')}Z"


def with_partition_key(session: Session, row: Relation, spec: Node) -> Relation:
    """Return the table with its partition key; it also depends on the columns inside expressions of the key."""
    if spec["strategy"] == "PARTITION_STRATEGY_LIST" and len(spec.get("partParams", ())) > 1:
        raise ServerError("42P17", 'cannot use "list" partition strategy with more than one column')
    keys = partition_key(row, spec)
    _refuse_keys(session, row, spec, keys)
    expressions = [item["PartitionElem"].get("expr") for item in spec["partParams"]]
    named = (row.column(name) for name in column_names(expressions))
    return replace(
        row,
        partition_key=keys,
        partition_reads=tuple(column.number for column in named if column is not None),
        strategy=STRATEGIES[spec["strategy"]],
        usual_order=has_usual_order(session.catalog, row, spec),
    )


def depend_on_key(catalog: Catalog, row: Relation) -> None:
    """The columns of a partition key go only with the whole table, which goes with their types (StorePartitionKey)."""
    for number in sorted({*row.partition_key, *row.partition_reads} - {0}):
        catalog.depend((RELATION, row.oid, number), (RELATION, row.oid, 0), INTERNAL)


def has_usual_order(catalog: Catalog, row: Relation, spec: Node) -> bool:
    """Return whether values of a partition key are compared as values of its columns are elsewhere."""
    return all(_is_usual(catalog, row, item["PartitionElem"], spec["strategy"]) for item in spec["partParams"])


def _is_usual(catalog: Catalog, row: Relation, element: Node, strategy: str) -> bool:
    if "opclass" in element:
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.index_elements import BTREE

        *schema, name = names(element["opclass"])
        if schema not in ([], ["pg_catalog"]) or name not in BTREE:
            return False
    if "collation" in element:
        # Texts that are equal under one of these are equal under any deterministic collation.
        by_bytes = names(element["collation"])[-1] in ("C", "POSIX", "ucs_basic")
        return by_bytes and strategy == "PARTITION_STRATEGY_LIST"
    column = row.column(element.get("name", ""))
    collation = catalog.collations.get(column.collation) if column is not None else None
    return collation is None or collation.deterministic


def partition_key(row: Relation, spec: Node) -> tuple[int, ...]:
    """Return the numbers of a partition key's columns, 0 for an expression (transformPartitionSpec)."""
    keys = []
    for item in spec.get("partParams", ()):
        name = item["PartitionElem"].get("name")
        column = row.column(name) if name else None
        if name in SYSTEM_COLUMNS:
            raise ServerError("42P17", f'cannot use system column "{name}" in partition key')
        if name and column is None and row.seen:
            raise ServerError("42703", f'column "{name}" named in partition key does not exist')
        if column is not None and column.generated:
            raise ServerError("42P17", "cannot use generated column in partition key")
        keys.append(column.number if column else 0)
    return tuple(keys)


def _refuse_keys(session: Session, row: Relation, spec: Node, keys: tuple[int, ...]) -> None:
    """Raises ServerError for what certainly is not a partition key of any table: what a closer look finds, where one is
    needed."""
    for item, number in zip(spec["partParams"], keys, strict=True):
        element = item["PartitionElem"]
        if "expr" in element or "opclass" in element or "collation" in element:
            pass
        elif not number or row.columns[number - 1].type in ORDERED:
            continue
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.stored_expressions import refuse_key

        refuse_key(session, row, element, number, "h" if spec["strategy"] == "PARTITION_STRATEGY_HASH" else "b")


Bound = tuple[Any, ...]

_WORDS = {"l": "list", "r": "range", "h": "hash"}
STRATEGIES = {"PARTITION_STRATEGY_LIST": "l", "PARTITION_STRATEGY_RANGE": "r", "PARTITION_STRATEGY_HASH": "h"}


def read_bound(session: Session, parent: Relation, spec: Node) -> Bound | None:
    """Return the bound of a PartitionBoundSpec; that of merged partitions is ``known``.

    Raises ServerError 42P16 if it does not fit the strategy, and the certain errors of its values.
    """
    if not parent.strategy:
        return None
    if "known" in spec:
        known: Bound | None = spec["known"]
        return known
    if spec.get("is_default"):
        if parent.strategy == "h":
            raise ServerError("42P16", "a hash-partitioned table may not have a default partition")
        return ("d",)
    strategy = spec.get("strategy")
    if strategy != parent.strategy:
        raise ServerError("42P16", f"invalid bound specification for a {_WORDS[parent.strategy]} partition")
    if strategy == "h":
        modulus, remainder = spec.get("modulus", 0), spec.get("remainder", 0)
        if modulus <= 0:
            raise ServerError("42P16", "modulus for hash partition must be an integer value greater than zero")
        if remainder < 0:
            raise ServerError(
                "42P16", "remainder for hash partition must be an integer value greater than or equal to zero"
            )
        if remainder >= modulus:
            raise ServerError("42P16", "remainder for hash partition must be less than modulus")
        return "h", modulus, remainder
    columns = [parent.columns[key - 1] if key else None for key in parent.partition_key]
    if strategy == "l":
        values = [_value(session, item, columns[0]) for item in spec.get("listdatums", ())]
        if any(value is None for value in values) or not parent.usual_order:
            return None
        return "l", frozenset(value[0] for value in values if value is not None)
    ends = []
    for side, word in (("lowerdatums", "FROM"), ("upperdatums", "TO")):
        items = spec.get(side, ())
        if len(items) != len(columns):
            raise ServerError("42P16", f"{word} must specify exactly one value per partitioning column")
        end = [_end(session, item, column) for item, column in zip(items, columns, strict=True)]
        for endpoint, following in pairwise(end):
            if endpoint in _ENDS.values() and following != endpoint:
                infinity = next(word.upper() for word, infinite in _ENDS.items() if infinite == endpoint)
                raise ServerError("42804", f"every bound following {infinity} must also be {infinity}")
        ends.append(end)
    if any(end is None for side in ends for end in side) or not parent.usual_order:
        return None
    bound: Bound = ("r", tuple(ends[0]), tuple(ends[1]))
    return bound if _comparable(session, parent, bound) else None


def _end(session: Session, item: Node, column: Column | None) -> tuple[int, Any] | None:
    fields = item.get("ColumnRef", {}).get("fields", ())
    word = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
    if word in _ENDS:
        return _ENDS[word]
    value = _value(session, item, column)
    if value is not None and value[0] is None:
        raise ServerError("42P17", "cannot specify NULL in range bound")
    return (0, value[0]) if value is not None and column is not None and is_ordered(column) else None


_ENDS = {"minvalue": (-1, 0), "maxvalue": (1, 0)}


def _value(session: Session, item: Node, column: Column | None) -> tuple[Any] | None:
    """A constant as a value of the key column's type, in a tuple of one; None where that cannot be known.

    Raises ServerError where it certainly is none.
    """
    if column is None or not column.type:
        return None
    constant = item.get("A_Const")
    if constant is not None and constant.get("isnull"):
        return (None,)
    value = read_value(session, column, constant) if constant is not None else None
    if value is None:
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.stored_expressions import value_of

        return value_of(session, column, item)
    return value


def _comparable(session: Session, parent: Relation, bound: Bound) -> bool:
    """Return whether all moments are written alike: those with a time zone cannot be compared with those without."""
    if all(parent.columns[key - 1].type != TIMESTAMPTZ for key in parent.partition_key if key):
        return True
    zoned = _zoned(bound)
    return not zoned or zoned | _taken_bounds(session, parent).zoned == zoned != {True, False}


def _zoned(bound: Bound) -> set[bool]:
    """Return whether the moments in a range's bounds have time zones. Infinities have the same place in all of them."""
    texts = (value for side in bound[1:] for _, value in side if isinstance(value, str) and value not in INFINITIES)
    return {text.endswith("Z") for text in texts}


def refuse_overlap(session: Session, parent: Relation, name: str, bound: Bound | None) -> None:
    """check_new_partition_bound. Raises ServerError 42P17."""
    if bound is None:
        return
    catalog, kind = session.catalog, bound[0]
    if kind == "r" and bound[1] >= bound[2]:
        raise ServerError("42P17", f'empty range bound specified for partition "{name}"')
    if _taken_bounds(session, parent).certainly_free(bound):
        return
    if kind == "h":
        bounds = (catalog.relations[oid].bound for oid in catalog.children.get(parent.oid))
        moduli = sorted({bound[1], *(sibling[1] for sibling in bounds if sibling is not None and sibling[0] == "h")})
        if any(larger % smaller for smaller, larger in pairwise(moduli)):
            raise ServerError("42P17", "every hash partition modulus must be a factor of the next larger modulus")
    for oid in catalog.children.get(parent.oid):
        sibling = catalog.relations[oid]
        held: Bound | None = sibling.bound
        if held is None or held[0] != kind:
            continue
        if kind == "d":
            raise ServerError("42P17", f'partition "{name}" conflicts with existing default partition "{sibling.name}"')
        if kind == "r":
            overlap = bound[1] < held[2] and held[1] < bound[2]
        elif kind == "l":
            overlap = not bound[1].isdisjoint(held[1])
        else:
            overlap = (bound[2] - held[2]) % gcd(bound[1], held[1]) == 0
        if overlap:
            raise ServerError("42P17", f'partition "{name}" would overlap partition "{sibling.name}"')


def relabel(session: Session, of_type: int, old: str, new: str) -> None:
    """Rename a label of an enum in the bounds of partitions."""
    relations = session.catalog.relations
    for parent in [row for row in relations.values() if row.strategy == "l" and row.partition_key[:1] != (0,)]:
        if parent.columns[parent.partition_key[0] - 1].type != of_type:
            continue
        session.taken.pop(parent.oid, None)
        for oid in session.catalog.children.get(parent.oid):
            row = relations[oid]
            held: Bound | None = row.bound
            if held is not None and held[0] == "l" and old in held[1]:
                relations.put(oid, replace(row, bound=("l", held[1] - {old} | {new})))


class TakenBounds(Struct):
    """The bounds of all partitions of a table, so that a new one need not be compared with each.

    ``state`` is that of the catalog for which it holds. Range partitions do not overlap, so their sorted lower bounds
    decide; ``uppers`` are the upper bounds next to them, ``zoned`` says whether timestamps with time zone are among
    them. ``remainders`` are those of hash partitions by modulus.
    """

    state: tuple[int, int]
    lowers: list[Any]
    uppers: list[Any]
    values: set[Any]
    zoned: set[bool]
    remainders: dict[int, set[int]]

    def certainly_free(self, bound: Bound) -> bool:
        """Return whether no partition overlaps a bound, which is then added."""
        kind = bound[0]
        if kind == "r":
            position = bisect_right(self.lowers, bound[1])
            if (position and self.uppers[position - 1] > bound[1]) or (
                position < len(self.lowers) and self.lowers[position] < bound[2]
            ):
                return False
            self.zoned |= _zoned(bound)
            self.lowers.insert(position, bound[1])
            self.uppers.insert(position, bound[2])
        elif kind == "l":
            if not self.values.isdisjoint(bound[1]):
                return False
            self.values |= bound[1]
        elif kind == "h":
            if not self._is_free(bound[1], bound[2]):
                return False
            self.remainders.setdefault(bound[1], set()).add(bound[2])
        else:
            return False
        self.state = (self.state[0], self.state[1] + 1)
        return True

    def _is_free(self, modulus: int, remainder: int) -> bool:
        """Return whether the moduli are factors of each other and no row has both this remainder and that of a
        partition."""
        for taken_modulus, taken_remainders in self.remainders.items():
            smaller, larger = sorted((modulus, taken_modulus))
            if larger % smaller:
                return False
            overlapping = (
                range(remainder, taken_modulus, modulus) if taken_modulus > modulus else (remainder % taken_modulus,)
            )
            if not taken_remainders.isdisjoint(
                overlapping
                if len(overlapping) < len(taken_remainders)
                else [n for n in taken_remainders if n in overlapping]
            ):
                return False
        return True


def _taken_bounds(session: Session, parent: Relation) -> TakenBounds:
    catalog = session.catalog
    children = catalog.children.groups.get(parent.oid, ())
    state = (catalog.journal.undos, len(children))
    taken_bounds = session.taken.get(parent.oid)
    if taken_bounds is None or taken_bounds.state != state:
        bounds: list[Bound] = [bound for oid in children if (bound := catalog.relations[oid].bound) is not None]
        ranges = sorted(bound[1:] for bound in bounds if bound[0] == "r")
        remainders: dict[int, set[int]] = {}
        for kind, *parts in bounds:
            if kind == "h":
                remainders.setdefault(parts[0], set()).add(parts[1])
        taken_bounds = session.taken[parent.oid] = TakenBounds(
            state,
            [lower for lower, _ in ranges],
            [upper for _, upper in ranges],
            {value for bound in bounds if bound[0] == "l" for value in bound[1]},
            {zoned for bound in bounds if bound[0] == "r" for zoned in _zoned(bound)},
            remainders,
        )
    return taken_bounds
