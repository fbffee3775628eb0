"""Relation and Type messages against the schema; and changes of relations that a stream has not described, because its
capture begins in mid-stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pubcheck.checks.context import NOT_ELSEWHERE
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.rulebook import finder
from pubcheck.stream import Column, Delete, Insert, Relation, Row, Type, Update
from pubcheck.verify.publisher import FIRST_DESCRIBED_TYPE, ColumnShape, Publisher, Route, Shape, TypeName
from pubcheck.verify.rows import Problem, listed


def shown(namespace: str, name: str) -> str:
    return f"{namespace or 'pg_catalog'}.{name}"


def relation_fault(message: Relation, shape: Shape, types: dict[int, Type]) -> str | None:
    """Return the first difference between a Relation message and a shape. ``types`` are the types described so far."""
    if message.replica_identity != shape.replica_identity:
        expected = f"{shape.replica_identity!r} ({_IDENTITIES[shape.replica_identity]})"
        return f"has replica identity {message.replica_identity!r}, but the table has {expected}"
    names, expected_names = [column.name for column in message.columns], [column.name for column in shape.columns]
    if names != expected_names:
        return _names_fault(names, expected_names)
    for column, expected_column in zip(message.columns, shape.columns, strict=True):
        name = column.name
        if column.key != expected_column.key:
            marked, is_in = ("marks", "is not") if column.key else ("does not mark", "is")
            return f'{marked} column "{name}" as part of the replica identity, which it {is_in}'
        if column.type_modifier != expected_column.type_modifier and expected_column.type is not None:
            modifiers = f"{column.type_modifier}, not {expected_column.type_modifier}"
            return f'has another type modifier for column "{name}": {modifiers}'
        fault = _type_fault(column.type_oid, expected_column, types)
        if fault is not None:
            return fault
    return None


_IDENTITIES = {"d": "default", "n": "nothing", "f": "full", "i": "index"}


def _names_fault(names: Sequence[str], expected: Sequence[str]) -> str:
    missing = [name for name in expected if name not in names]
    more = [name for name in names if name not in expected]
    if more:
        return f'has column "{more[0]}", which is not published'
    if missing:
        return f'lacks column "{missing[0]}"'
    if len(names) != len(expected):
        return "has a column twice"
    return f"has the columns in another order ({', '.join(names)}) than the table ({', '.join(expected)})"


def _type_fault(oid: int, column: ColumnShape, types: dict[int, Type]) -> str | None:
    expected = column.type
    if expected is None:
        return None
    if expected.oid:
        return None if oid == expected.oid else f'has type {oid} for column "{column.name}", not {expected.oid}'
    if oid < FIRST_DESCRIBED_TYPE:
        return f'has type {oid} for column "{column.name}", which is of type {shown(expected.namespace, expected.name)}'
    described = types.get(oid)
    if described is None:
        return f'has type {oid} for column "{column.name}", which no Type message describes'
    if TypeName(0, described.namespace, described.name) != expected:
        return (
            f'has type {shown(described.namespace, described.name)} for column "{column.name}", which is of type '
            f"{shown(expected.namespace, expected.name)}"
        )
    return None


@finder("PUB853", "PUB854")
def matching(
    publisher: Publisher, message: Relation, types: dict[int, Type], publications: Sequence[str]
) -> tuple[list[Route], Problem | None]:
    """Return the routes whose description a Relation message is, or those of its relation and the problem."""
    routes = publisher.routes(message.namespace, message.name)
    if not routes:
        name = shown(message.namespace, message.name)
        known = publisher.relation(message.namespace, message.name)
        if known is None:
            assumption = None if publisher.states[-1].session.complete else NOT_ELSEWHERE
            return [], Problem("PUB853", f"describes {name}, which is not in the schema", assumption=assumption)
        if not known.seen:
            return [], None
        more = ""
        if known.kind == "p":
            more = " itself: its changes are published under its partitions"
        text = f"describes {name}, which is not in {listed(publications)}{more}"
        return [], Problem("PUB854", text, publications=tuple(publications))
    matches = [route for route in routes if relation_fault(message, route.shape, types) is None]
    if matches:
        return matches, None
    if not all(route.certain for route in routes):
        return [], None
    return routes, Problem("PUB853", relation_fault(message, routes[0].shape, types) or "")


def described_types(message: Relation) -> Iterator[int]:
    """Yield the types that Type messages before a Relation message describe, in their order."""
    for column in message.columns:
        if column.type_oid >= FIRST_DESCRIBED_TYPE:
            yield column.type_oid


_NUMBER = re.compile(r"-?[0-9]+")
_TEXTS: Mapping[int, re.Pattern[str]] = {
    16: re.compile(r"[tf]"),
    20: _NUMBER,
    21: _NUMBER,
    23: _NUMBER,
    1082: re.compile(r"[-0-9./ BCa-z]+|-?infinity", re.IGNORECASE),
    1700: re.compile(r"-?[0-9]+(?:\.[0-9]+)?|NaN|-?Infinity"),
    2950: re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
}
"""The texts that the server writes for values of a type, by its OID."""


class UnnamedRelations:
    """Finds out which published relation an OID is, if only one of them fits its changes: the number of columns, and
    texts that are values of their types."""

    def __init__(self, publisher: Publisher) -> None:
        self._relations = list(_published(publisher))
        self._candidates: dict[int, list[Relation]] = {}

    def match(self, change: Insert | Update | Delete) -> Relation | None:
        """Return the only relation that this change and the earlier ones of its OID fit, or None."""
        rows = [row for row in (getattr(change, "new", None), getattr(change, "old", None)) if row is not None]
        candidates = [
            relation
            for relation in self._candidates.get(change.relation, self._relations)
            if all(_fits(row, relation.columns) for row in rows)
        ]
        self._candidates[change.relation] = candidates
        return candidates[0] if len(candidates) == 1 else None

    def notes(self) -> Iterator[str]:
        """Yield for each OID which relation it is taken for, or why it is not known."""
        for oid, candidates in self._candidates.items():
            names = [f"{relation.namespace or 'pg_catalog'}.{relation.name}" for relation in candidates]
            if len(names) == 1:
                yield f"relation {oid} is taken for {names[0]}: no other published table fits its rows"
            else:
                fit = f"its rows fit {', '.join(names)}" if names else "its rows fit no published table"
                yield f"relation {oid} is unknown: no Relation message was seen, and {fit}"


def _published(publisher: Publisher) -> Iterator[Relation]:
    """Yield the descriptions of all relations under which changes are published."""
    catalog = publisher.states[-1].catalog
    for row in list(catalog.relations.values()):
        if row.kind in "rp" and row.oid >= FIRST_NORMAL_OID:
            routes = publisher.routes(catalog.namespaces[row.namespace].name, row.name)
            shapes: list[Shape] = []
            for route in routes:
                if route.published is not None and route.shape not in shapes:
                    shapes.append(route.shape)
            yield from map(_relation, shapes)


def _relation(shape: Shape) -> Relation:
    columns = tuple(
        Column(column.name, 0 if column.type is None else column.type.oid, column.type_modifier, column.key)
        for column in shape.columns
    )
    return Relation(0, shape.namespace, shape.name, shape.replica_identity, columns)


def _fits(row: Row, columns: tuple[Column, ...]) -> bool:
    if len(row) != len(columns):
        return False
    for value, column in zip(row, columns, strict=True):
        texts = _TEXTS.get(column.type_oid)
        if texts is not None and isinstance(value, str) and texts.fullmatch(value) is None:
            return False
    return True
