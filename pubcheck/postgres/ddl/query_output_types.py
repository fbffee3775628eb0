"""The types of a query's columns that are not written down, for the tables that CREATE TABLE AS makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.namespace_items import Output as Analysed
from pubcheck.postgres.analysis.parse_state import NOTHING
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.query_dependencies.references import OutputColumn, Outputs
from pubcheck.postgres.ddl.types import UNSEEN_COLLATION
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import RECORD, RECORD_ARRAY
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.session import Session

_OF_VALUES = frozenset(("22007", "22008", "22P02", "42725", "42803", "42804", "42846", "42883", "42P20"))
"""The errors that types and values can raise. More is known of names when the query is read."""


@contextmanager
def _for_values() -> Iterator[None]:
    try:
        yield
    except ServerError as error:
        if error.sqlstate not in _OF_VALUES:
            raise Unknowable("the query") from None
        raise


def with_types(session: Session, query: Node, columns: Outputs) -> Outputs:
    """Return the columns with the types from the analysis of the whole query, unchanged if they are unknown.

    Raises ServerError if the server certainly refuses the query.
    """
    certain, analysed = False, None
    nested = Nested(parse_state(session, NOTHING))
    if any("SelectStmt" not in body["ctequery"] for _, body in find(query, "CommonTableExpr")):
        return columns  # what changes data is only read here as part of a query
    with only_certain(session) as basis, suppress(RecursionError), _for_values():
        analysed = analyze_query(nested, query)
        certain = basis.certain
    if not certain or analysed is None or nested.outer:
        return columns
    if columns is None:
        if any(output.type in (0, RECORD, RECORD_ARRAY) for output in analysed):
            return None
        return [OutputColumn(output.name, output.type, output.collation, None, output.typmod) for output in analysed]
    if [output.name for output in analysed] != [output.name for output in columns]:
        return columns
    return [
        replace(column, type=output.type, typmod=output.typmod, collation=output.collation)
        if _adds(column, output)
        else column
        for column, output in zip(columns, analysed, strict=True)
    ]


def _adds(column: OutputColumn, output: Analysed) -> bool:
    """Return whether analysis found more of a column than reading did: its type, or the collation of a string."""
    if not column.type:
        return output.type not in (RECORD, RECORD_ARRAY)
    return column.type == output.type and column.collation == UNSEEN_COLLATION
