"""The rows of a table that each publication publishes, as conditions that Spark can count."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.config import suggestion
from pubcheck.engine.replay import Replay
from pubcheck.measure.spark_sql import SparkFilter, spark_filter
from pubcheck.measure.spark_types import NotExact
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.executor import Context
from pubcheck.postgres.replication.publication_lookup import Operation, PublishedChanges, published_by
from pubcheck.postgres.tokens import tokens
from pubcheck.source import utf8
from pubcheck.statement_index import Statements

_COMMENT_OR_BLANKS = re.compile(
    r"""('(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|\$(?:\w*)\$.*?\$\w*\$)|(?:\s|--[^\n\r]*|/\*.*?\*/)+""", re.DOTALL
)


def condition(statement: str, member: int) -> str | None:
    """The condition of the WHERE that follows a member's name at a byte offset, on one line, without its parentheses;
    None where none is found."""
    text = utf8(statement).data
    depth, begin, where = 0, -1, False
    for kind, token, offset in tokens(text, member):
        if token == b"(":
            if where and depth == 0:
                begin = offset + 1
            depth += 1
        elif token == b")":
            depth -= 1
            if depth == 0 and begin >= 0:
                return one_line(text[begin:offset].decode(errors="replace"))
            if depth < 0:
                return None
        elif depth == 0:
            if token in (b",", b";"):
                return None
            where = kind == "name" and token.lower() == b"where"
    return None


def one_line(sql: str) -> str:
    """SQL without comments and line ends, a blank for each; texts and quoted names stay as they are."""
    return _COMMENT_OR_BLANKS.sub(lambda match: match[1] or " ", sql).strip()


class NoTable(ValueError):
    """There is no such table, or more than one; the message says which there are."""


class Sending(Struct, frozen=True):
    """The rows of a table that a publication publishes: those for which ``spark`` is true, or all without a ``filter``.

    ``filter`` is the condition as written. ``reason`` says why the rows cannot be counted; then there is no ``spark``.
    """

    publication: str
    operations: tuple[Operation, ...]
    certain: bool
    filter: str | None = None
    spark: SparkFilter | None = None
    reason: str | None = None


class Measurable(Struct, frozen=True):
    """A table, and the rows that each publication publishes of it, in the order of the publications' creation."""

    name: str
    relation: Relation
    sendings: tuple[Sending, ...]


def measurable(replay: Replay, statements: Statements, name: str) -> Measurable:
    """A table by its name, with its schema or without, in the final state of a unit. Raises NoTable.

    A partitioned table represents its leaves.
    """
    catalog = replay.catalog
    relation = _find(replay, name)
    leaves = [relation.oid]
    if relation.kind == "p":
        leaves = [oid for oid in catalog.descendants(relation.oid) if catalog.relations[oid].kind == "r"]
    relations = set(leaves)
    sendings = []
    for publication in sorted(catalog.publications.values(), key=lambda row: row.oid):
        sents = [sending for sending in published_by(catalog, publication.oid) if sending.relation in relations]
        if sents:
            failed = Sending(publication.name, sents[0].operations, certain=False, reason="pubcheck failed at it")
            attempt = replay.faults.value
            sendings.append(
                attempt(publication.place, failed, _sending, replay, statements, publication.name, sents, len(leaves))
            )
    return Measurable(replay.session.qualified(relation), relation, tuple(sendings))


_FEW = 12
"""Tables that are all named to who named another."""


def _find(replay: Replay, name: str) -> Relation:
    relations = replay.catalog.relations.values()
    rows = [row for row in relations if row.kind in "rp" and row.oid >= FIRST_NORMAL_OID]
    tables = {replay.session.qualified(row): row for row in rows}
    if name in tables:
        return tables[name]
    namesakes = sorted(qualified for qualified, row in tables.items() if row.name == name)
    if len(namesakes) == 1:
        return tables[namesakes[0]]
    if namesakes:
        raise NoTable(f"there are several tables {name}: {', '.join(namesakes)}")
    near = suggestion(name, sorted(tables)) if tables else "; it makes none"
    raise NoTable(f"the schema makes no table {name}{near if len(tables) <= _FEW or 'mean' in near else ''}")


def _sending(
    replay: Replay, statements: Statements, publication: str, sents: list[PublishedChanges], leaves: int
) -> Sending:
    first, entry = sents[0], sents[0].entry
    sending = Sending(publication, first.operations, all(sent.certain for sent in sents))
    if len(sents) < leaves:
        return replace(sending, reason="it publishes only some of the partitions: measure these one by one")
    if len({id(sent.filter) for sent in sents}) > 1:
        return replace(sending, reason="it publishes the partitions with different filters: measure them one by one")
    if first.filter is None or entry is None:
        return sending
    relation = replay.catalog.relations[entry.relation]
    statement = statements[entry.place.source, entry.place.statement]
    sending = replace(sending, filter=condition(statement.text, entry.place.start) or "(its text was not found)")
    try:
        spark = spark_filter(first.filter, relation, Context(parse_state(replay.session, relation).inputs))
    except NotExact as why:
        return replace(sending, reason=str(why))
    return replace(sending, spark=spark)
