"""Findings that rest on a server's statistics: all of them are estimates, and assumed."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding
from pubcheck.checks.running_server import about, finds_by_statistics
from pubcheck.checks.tables import table_name
from pubcheck.live.published_shares import Shares
from pubcheck.live.server_facts import Statistics, TableStatistics
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.replication.publication_lookup import publications_of
from pubcheck.words import count_text, size_text

WIDE_ROW = 2048
"""Bytes of a row from which PostgreSQL itself moves values out of it (TOAST_TUPLE_THRESHOLD, a quarter of a page). FULL
writes these values into the WAL again with each change."""

SCANNED_ROWS = 10_000_000
"""Rows that a subscriber compares in a second when it searches a table in memory (measured: 3 to 11 million)."""

BUSY = 0.1
"""The share of its time that an apply worker spends on searching. It is an average, and the load of a working day is
often ten times the average: then the worker does nothing else."""

TYPICAL_PERIOD = 86_400
"""Seconds that counters must cover to say what is usual: nights are quiet, and imports are not."""

FEW_ROWS = 100
"""With fewer rows the next one changes the share by more than a percent."""


@finds_by_statistics("PUB868")
def filter_takes_all_or_nothing(context: RuleContext, statistics: Statistics) -> Iterator[RuleFinding]:
    """Row filters that are true for every row of the statistics, or for none."""
    shares = Shares(context.session, statistics)
    for filtered in context.visit(context.filtered):
        relation, publication = filtered.relation, filtered.publication
        # A share in a snapshot is that of the filter in it.
        estimate = shares.of(filtered.entry, stored=context.is_listed(filtered.entry.place))
        if estimate is None:
            continue
        rows, share = estimate
        if rows < FEW_ROWS or not (share.takes_all or share.takes_none):
            continue
        amount = "every row" if share.takes_all else "no row"
        yield RuleFinding(
            rule="PUB868",
            message=f'the row filter of {context.name(relation)} in publication "{publication.name}" publishes '
            f"{amount}, by the statistics of the table (about {count_text(rows)} rows)",
            help="a filter that is true for all rows can be removed"
            if share.takes_all
            else "compare the literals of the filter with the values of its columns",
            place=filtered.entry.place,
            certain=False,
            severity="note" if share.takes_all else "warning",
            object=context.session.qualified(relation),
            publications=(publication.name,),
            assumptions=("whether the sample of the last ANALYZE has every kind of row",),
        )


@finds_by_statistics("PUB869")
def identity_full(context: RuleContext, known: Statistics) -> Iterator[RuleFinding]:
    """Tables with REPLICA IDENTITY FULL whose old rows are wide, or are searched for all the time."""
    catalog = context.catalog
    statistics = {row.table: row for row in known.tables}
    for relation in context.visit(catalog.relations.values()):
        name = context.session.qualified(relation)
        if relation.identity != "f" or relation.kind != "r" or name not in statistics:
            continue
        publications = [row for row in publications_of(catalog, relation) if row.update or row.delete]
        costs = list(_costs(context, relation, statistics[name])) if publications else []
        if costs:
            yield about(
                context,
                "PUB869",
                f"table {name}",
                f"{context.name(relation)} has REPLICA IDENTITY FULL: {'; '.join(costs)}",
                _remedy(context, relation),
                certain=False,
                object=name,
                publications=tuple(row.name for row in publications),
                assumptions=("whether the statistics of the table are typical",),
            )


def _costs(context: RuleContext, relation: Relation, table: TableStatistics) -> Iterator[str]:
    if table.seconds < TYPICAL_PERIOD:
        return
    changes = table.updates + table.deletes
    per_day = changes / table.seconds * 86_400
    width = table.size / table.rows if table.rows else 0
    if changes and width >= WIDE_ROW:
        yield (
            f"about {count_text(per_day)} UPDATEs and DELETEs a day log and send the whole old row, of about "
            f"{size_text(width)} (estimates)"
        )
    search = changes / table.seconds * table.rows / 2 / SCANNED_ROWS
    if search >= BUSY and not _has_key(context, relation):
        yield (
            f"without a key the subscriber searches about {count_text(table.rows)} rows for each of about "
            f"{count_text(changes / table.seconds)} changes a second, which takes about {search:.0%} of its time "
            "(estimates)"
        )


def _remedy(context: RuleContext, relation: Relation) -> str:
    indexes = (context.catalog.indexes[oid] for oid in context.catalog.indexes_of.get(relation.oid))
    if any(index.primary and index.immediate and index.valid for index in indexes):
        name = table_name(context.session, relation)
        return f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT, which is the primary key, unless a row filter needs more"
    return "add a primary key, or use REPLICA IDENTITY USING INDEX with a unique index over NOT NULL columns"


def _has_key(context: RuleContext, relation: Relation) -> bool:
    """Whether the table has a unique index: then the subscriber's table probably has one, and uses it."""
    catalog = context.catalog
    return any(catalog.indexes[oid].unique for oid in catalog.indexes_of.get(relation.oid))
