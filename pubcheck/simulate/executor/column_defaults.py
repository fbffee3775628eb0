"""Defaults of columns (rewrite/rewriteHandler.c: build_column_default)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.executor.steps import Constant
from pubcheck.simulate.executor.expressions import Step
from pubcheck.simulate.executor.sequences import next_value, sequence_of_column

if TYPE_CHECKING:
    from pubcheck.simulate.executor.tables import Table


def default_of(table: Table, column: Column) -> Step:
    """The default of a column, as a function of no row in particular."""
    session = table.session
    if column.identity or (column.has_default and column.tree is None):
        sequence = sequence_of_column(session, table.relation, column)
        return lambda row: next_value(session, sequence)
    if column.has_default:
        return table.expression(column.tree, column)
    return Constant(None)
