"""The types of a query's columns that are not written down, for the tables that CREATE TABLE AS makes."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.queries.columns import Outputs
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.expressions.filters import parse_state
from pubcheck.postgres.expressions.queries import analyze_query
from pubcheck.postgres.expressions.scopes import Nested
from pubcheck.postgres.oids import RECORD, RECORD_ARRAY
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_NOTHING = Relation(0, "", 0, "r", 0)
"""What a query that stands alone is inside of."""


def with_types(session: Session, query: Node, columns: Outputs) -> Outputs:
    """The columns with the types that the analysis of the whole query finds; as they are where it cannot tell."""
    if columns is None or all(column.type for column in columns):
        return columns
    before, unseen = session.assumed, len(session.unseen)
    nested = Nested(parse_state(session, _NOTHING))
    try:
        found = analyze_query(nested, query)
    except (ServerError, Unknowable, RecursionError):
        found = None
    certain, session.assumed = session.assumed == before, before
    del session.unseen[unseen:]
    if not certain or found is None or nested.outer or [one.name for one in found] != [one.name for one in columns]:
        return columns
    return [
        known
        if known.type or one.type in (RECORD, RECORD_ARRAY)
        else replace(known, type=one.type, typmod=one.typmod, collation=one.collation)
        for known, one in zip(columns, found, strict=True)
    ]
