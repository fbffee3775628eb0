"""Changes of relations that a stream has not described, because its capture begins in mid-stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.stream import Column, Delete, Insert, Relation, Row, Update
from pubcheck.verify.publisher import Publisher, Shape

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
