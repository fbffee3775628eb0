"""The facts of a running server about its publications and tables, as `explain` shows them."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Estimate, FullCost, SlotReader
from pubcheck.live.server_facts import ServerFacts
from pubcheck.postgres.catalog.rows import PublicationRel
from pubcheck.postgres.primnodes import Expr
from pubcheck.source import Source

_DAY = 86_400


def server_of(replay: Replay, sources: Sequence[Source]) -> RunningServer | None:
    """Return the running server among the sources of a unit."""
    if all(source.listing is None for source in sources):
        return None
    # Loaded only for databases.
    from pubcheck.live.source import facts_among

    facts = facts_among(sources)
    return None if facts is None else RunningServer(replay, facts)


class RunningServer:
    """Answers questions about publications and tables from the facts of a server."""

    def __init__(self, replay: Replay, facts: ServerFacts) -> None:
        self._replay, self._facts = replay, facts
        self._tables = {row.table: row for row in facts.tables}
        self._columns = facts.columns_by_table()

    def slots_of(self, publication: str) -> tuple[SlotReader, ...]:
        """Return the slots whose readers ask for a publication, or may do so."""
        slots = (slot for slot in self._facts.slots if slot.may_read_publications)
        return tuple(
            SlotReader(
                slot.name,
                slot.active,
                "unknown" if slot.reader is None else "certain" if slot.reader.subscription is None else "assumed",
                slot.reader.subscription if slot.reader is not None else None,
                slot.wal_status,
                slot.unconfirmed,
            )
            for slot in slots
            if slot.reader is None or publication in slot.reader.publications
        )

    def estimate(self, entry: PublicationRel) -> Estimate | None:
        """Return the estimated share of rows that match the row filter of a membership."""
        # Loaded only for databases.
        from pubcheck.live.filter_share import UNKNOWN, filter_share
        from pubcheck.postgres.analysis.row_filter import parse_state
        from pubcheck.postgres.executor import Context

        relation = self._replay.catalog.relations[entry.relation]
        columns = self._columns.get(self._replay.session.qualified(relation))
        if columns is None or entry.filter is None or not isinstance(entry.filter.expr, Expr):
            return None
        context = Context(parse_state(self._replay.session, relation).inputs)
        share = filter_share(entry.filter.expr, relation, columns, context)
        rows = max(column.rows for column in columns.values())
        return None if share == UNKNOWN else Estimate(rows, *share.true)

    def full_cost(self, table: str) -> FullCost | None:
        """Return the cost of REPLICA IDENTITY FULL for a table, by its counters."""
        row = self._tables.get(table)
        if row is None or not row.rows:
            return None
        return FullCost(row.rows, round(row.size / row.rows), (row.updates + row.deletes) / row.seconds * _DAY)
