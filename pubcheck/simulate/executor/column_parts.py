"""Assignments to a part of a column: an element of an array, a field of a composite value, a member of a document."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import JSONB, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.array_elements import element_assignment
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.not_followed import NotFollowed


def part_assignment(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    """Return the new value of a column after an assignment to a part of it (transformAssignmentIndirection)."""
    cache = session.catalog_session.syscache
    base = cache.base_type(column.type)[0]
    first = target["indirection"][0]
    if "String" in first and cache.type(base).kind == "c" and len(target["indirection"]) == 1:
        return _field(session, scope, column, target, first["String"]["sval"])
    if base == JSONB and all("A_Indices" in item for item in target["indirection"]):
        return _member(session, scope, column, target)
    return element_assignment(session, scope, column, target)


def _field(session: Backend, scope: Scope, column: Column, target: Node, name: str) -> Step:
    fields = [field for field in session.catalog_session.syscache.fields(column.type) if not field.dropped]
    place = next((place for place, field in enumerate(fields) if field.name == name), None)
    if place is None:
        raise ServerError("42703", f'cannot assign to field "{name}" of column "{column.name}"')
    part = replace(column, type=fields[place].type, typmod=fields[place].typmod)
    value = compile_expression(session, scope, assigned(scope, part, target["val"]), in_order=True)

    def step(row: Any) -> Any:
        values = list(row[0][column.number] or [None] * len(fields))
        values[place] = value(row)
        return tuple(values)

    return step


def _member(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    """SET document['key'] = ...: objects that are missing on the way are made (jsonb_set_element)."""
    keys = []
    for item in target["indirection"]:
        index = scope.transform(item["A_Indices"]["uidx"])
        text = coerce_to_target_type(scope, index, index.type, TEXT, -1, "i", IMPLICIT, -1)
        if text is None:
            raise NotFollowed("a subscript of a document that is not a text")
        assign_collations(scope, text)
        keys.append(compile_expression(session, scope, text))
    value = compile_expression(session, scope, assigned(scope, column, target["val"]), in_order=True)

    def step(row: Any) -> Any:
        document, path, new = row[0][column.number], [key(row) for key in keys], value(row)
        if None in path or new is None:
            raise NotFollowed("a NULL that is assigned to a member of a document")
        return _with_member({} if document is None else document, path, new)

    return step


def _with_member(document: Any, path: list[str], new: Any) -> Any:
    if not isinstance(document, dict):
        raise NotFollowed("an assignment to a member of a document that is not an object")
    key, *rest = path
    return {**document, key: _with_member(document.get(key, {}), rest, new) if rest else new}
