"""The shares of rows that row filters publish: estimated from the statistics of columns, or read from a snapshot."""

from __future__ import annotations

from pubcheck.live import document as doc
from pubcheck.live.filter_share import UNKNOWN, Share, filter_share
from pubcheck.live.load import load
from pubcheck.live.server_facts import PublishedShare, Statistics
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import PublicationRel
from pubcheck.postgres.executor import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session

_DIGITS = 7
"""Digits of a share in a file, more than the rounding of the server's frequencies."""


class Shares:
    """The shares that filters of a session publish, by the statistics of its database."""

    def __init__(self, session: Session, statistics: Statistics) -> None:
        self._session = session
        self._columns = statistics.columns_by_table()
        self._stored = {(row.publication, row.table): row for row in statistics.shares}

    def of(self, entry: PublicationRel, *, stored: bool) -> tuple[float, Share] | None:
        """Return the number of rows and the share of a membership with a filter, None if nothing is known of it.
        ``stored``: its filter is that of the snapshot."""
        relation = self._session.catalog.relations[entry.relation]
        table = self._session.qualified(relation)
        known = self._stored.get((self._session.catalog.publications[entry.publication].name, table))
        if known is not None and stored:
            return known.rows, Share(known.true, known.false)
        columns = self._columns.get(table)
        if columns is None or entry.filter is None or not isinstance(entry.filter.expr, Expr):
            return None
        context = Context(parse_state(self._session, relation).inputs)
        share = filter_share(entry.filter.expr, relation, columns, context)
        return max(column.rows for column in columns.values()), share


def without_values(snapshot: doc.Snapshot, statistics: Statistics) -> Statistics:
    """Return statistics of a snapshot's database with the shares of its filters in the place of values."""
    session = Session(Catalog(snapshot.server.postgres), complete=True)
    load(session, snapshot, 0)
    catalog, shares, rows = session.catalog, Shares(session, statistics), list[PublishedShare]()
    for entry in catalog.publication_rels.values():
        estimate = shares.of(entry, stored=False)
        if estimate is not None and estimate[1] != UNKNOWN:
            count, share = estimate
            rows.append(
                PublishedShare(
                    publication=catalog.publications[entry.publication].name,
                    table=session.qualified(catalog.relations[entry.relation]),
                    rows=count,
                    true=_rounded(share.true),
                    false=_rounded(share.false),
                )
            )
    return Statistics(
        tables=statistics.tables, shares=tuple(sorted(rows, key=lambda row: (row.publication, row.table)))
    )


def _rounded(bounds: tuple[float, float]) -> tuple[float, float]:
    return round(bounds[0], _DIGITS), round(bounds[1], _DIGITS)
