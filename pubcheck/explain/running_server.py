"""The facts of a running server about its publications and tables, as `explain` shows them."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Estimate, FullCost, SlotReader
from pubcheck.live.server_facts import ServerFacts, Statistics
from pubcheck.postgres.catalog.rows import PublicationRel
from pubcheck.source import Source

_DAY = 86_400


def server_of(replay: Replay, sources: Sequence[Source]) -> RunningServer | None:
    """Return the server, or the snapshot with statistics, among the sources of a unit."""
    if all(source.listing is None for source in sources):
        return None
    from pubcheck.live.source import statistics_among

    statistics = statistics_among(sources)
    return None if statistics is None else RunningServer(replay, statistics)


class RunningServer:
    """Answers questions about publications and tables from the facts of a server, or statistics alone."""

    def __init__(self, replay: Replay, statistics: Statistics) -> None:
        from pubcheck.live.published_shares import Shares

        self._statements = replay.statements
        self._facts = statistics if isinstance(statistics, ServerFacts) else None
        self._tables = {row.table: row for row in statistics.tables}
        self._shares = Shares(replay.session, statistics)

    def slots_of(self, publication: str) -> tuple[SlotReader, ...] | None:
        """Return the slots whose readers ask for a publication, or may do so; None if nothing is known of slots."""
        if self._facts is None:
            return None
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
        from pubcheck.live.filter_share import UNKNOWN

        stored = self._statements.sources[entry.place.source].listing is not None
        estimate = self._shares.of(entry, stored=stored)
        return None if estimate is None or estimate[1] == UNKNOWN else Estimate(estimate[0], *estimate[1].true)

    def full_cost(self, table: str) -> FullCost | None:
        """Return the cost of REPLICA IDENTITY FULL for a table, by its counters."""
        row = self._tables.get(table)
        if row is None or not row.rows:
            return None
        return FullCost(row.rows, round(row.size / row.rows), (row.updates + row.deletes) / row.seconds * _DAY)
