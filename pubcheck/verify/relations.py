"""Relation and Type messages against the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.checks.context import NOT_ELSEWHERE
from pubcheck.rulebook import finder
from pubcheck.stream import Relation, Type
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
