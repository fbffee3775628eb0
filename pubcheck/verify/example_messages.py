"""The example rows of an explanation as the messages that a subscriber gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from pubcheck.explain.document import Answer, Publication, Row, UnitExplained
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.replication.publication_lookup import ReplicaIdentity, replica_identity
from pubcheck.postgres.session import Session, type_namer
from pubcheck.stream import AnyMessage, Column, Delete, Insert, Relation, Truncate, Type, Update, encode
from pubcheck.stream import Row as StreamRow
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.stream.render.events import Events
from pubcheck.stream.render.text import render
from pubcheck.verify.publisher import FIRST_DESCRIBED_TYPE, Publisher, Route, State

ANY = "…"
"""A value that an example does not have."""


def with_messages(unit: UnitExplained, session: Session) -> UnitExplained:
    """Return an explanation whose answers have their example rows as messages."""
    return replace(unit, publications=tuple(_publication(publication, session) for publication in unit.publications))


def _publication(publication: Publication, session: Session) -> Publication:
    publisher = Publisher([State(session, (publication.name,))])
    answers = tuple(
        replace(answer, messages=tuple(_lines(_messages(answer, publisher), publisher.major)))
        for answer in publication.answers
    )
    return replace(publication, answers=answers)


def _lines(messages: Iterator[AnyMessage], major: int) -> Iterator[str]:
    events = Events(type_name=type_namer(major))
    for message in messages:
        for line in render(events.event(Frame(None, None, encode(message), Place(1))), events):
            yield line.strip()


def _messages(answer: Answer, publisher: Publisher) -> Iterator[AnyMessage]:
    route = _route(answer, publisher)
    if route is None or not answer.operations:
        return
    catalog = route.state.catalog
    columns = [(column, shape) for column, shape in zip(route.columns, route.shape.columns, strict=True)]
    for column, shape in columns:
        if column.type >= FIRST_DESCRIBED_TYPE and shape.type is not None:
            yield Type(column.type, shape.type.namespace, shape.type.name)
    oid, shape_of_relation = route.target.oid, route.shape
    yield Relation(
        oid,
        shape_of_relation.namespace,
        shape_of_relation.name,
        shape_of_relation.replica_identity,
        tuple(Column(column.name, column.type, column.typmod, shape.key) for column, shape in columns),
    )
    identity = replica_identity(catalog, route.table)
    names = {route.table.columns[number - 1].name for number in identity.columns}
    key = [column.name in names for column in route.columns]
    yield from _changes(answer, route, oid, identity, key)
    if answer.truncate:
        yield Truncate((oid,))


def _changes(
    answer: Answer, route: Route, oid: int, identity: ReplicaIdentity, key: Sequence[bool]
) -> Iterator[AnyMessage]:
    def old_row(example: Row | None) -> StreamRow:
        row = _row(route, example)
        if identity.full:
            return row
        return tuple(value if is_key else None for value, is_key in zip(row, key, strict=True))

    letter = "O" if route.shape.replica_identity == "f" else "K"
    matching = [example.row for example in answer.examples if example.result == "true"]
    if "insert" in answer.operations:
        yield Insert(oid, _row(route, matching[0] if matching else None))
    if answer.filter is None and "update" in answer.operations and identity.exists:
        yield _update(oid, _row(route, None), old_row(None), letter, identity, key)
    for change in answer.changes:
        if change.old is None or change.new is None:
            continue
        if change.sent == "INSERT":
            yield Insert(oid, _row(route, change.new))
        elif change.sent == "DELETE":
            yield Delete(oid, old_row(change.old), letter)  # type: ignore[arg-type]
        elif change.sent == "UPDATE":
            yield _update(oid, _row(route, change.new), old_row(change.old), letter, identity, key)
    if "delete" in answer.operations and answer.filter is None and identity.exists:
        yield Delete(oid, old_row(None), letter)  # type: ignore[arg-type]


def _update(
    oid: int, new: StreamRow, old: StreamRow, letter: str, identity: ReplicaIdentity, key: Sequence[bool]
) -> Update:
    """An old key is sent only if it changed."""
    changed = any(is_key and value != after for value, after, is_key in zip(old, new, key, strict=True))
    if identity.full or changed:
        return Update(oid, new, old, letter)  # type: ignore[arg-type]
    return Update(oid, new)


def _route(answer: Answer, publisher: Publisher) -> Route | None:
    catalog: Catalog = publisher.states[-1].catalog
    namespace, _, name = answer.tables[0].partition(".")
    schema = catalog.namespace_names.get(namespace)
    table = None if schema is None else catalog.relation_names.get((schema, name))
    namespace, _, name = (answer.arrives_as or answer.tables[0]).partition(".")
    return next((route for route in publisher.routes(namespace, name) if route.table.oid == table), None)


def _row(route: Route, example: Row | None) -> StreamRow:
    values: Mapping[str, str] = {} if example is None else {value.column: value.sql for value in example}
    return tuple(_text(values.get(column.name, ANY)) for column in route.columns)


def _text(sql: str) -> str | None:
    """Return a value as it is sent, from a literal of an example."""
    if sql == "NULL":
        return None
    if sql.startswith("'") and sql.endswith("'"):
        return sql[1:-1].replace("''", "'")
    return {"true": "t", "false": "f"}.get(sql, sql)
