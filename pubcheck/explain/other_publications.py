"""Compare the publications of a table: which of them publish more of it, and which the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from pubcheck.explain.document import Same, Widening
from pubcheck.explain.table_facts import Facts
from pubcheck.postgres.replication.published_changes import PublishedChanges

_COMPARED = 100
"""The maximum number of other publications of a table to compare, those without a filter first."""


class Neighbours:
    """Compares what publications send of the same table. ``of_table`` has that by table."""

    def __init__(self, facts: Facts, of_table: Mapping[int, Sequence[PublishedChanges]]) -> None:
        self.facts, self._of_table = facts, of_table
        self._same_name: dict[tuple[int, int], list[PublishedChanges]] = {}

    def _alongside(self, sent: PublishedChanges) -> list[PublishedChanges]:
        """Return what publications send of the same table under the same name, those without a filter first."""
        key = sent.relation, sent.arrives_as
        if key not in self._same_name:
            neighbours = [near for near in self._of_table[sent.relation] if near.arrives_as == sent.arrives_as]
            self._same_name[key] = sorted(neighbours, key=lambda neighbour: neighbour.filter is not None)
        return self._same_name[key]

    def _neighbours(self, sent: PublishedChanges) -> list[PublishedChanges]:
        """Return the other publications, as many as are compared."""
        neighbours = (neighbour for neighbour in self._alongside(sent) if neighbour.publication != sent.publication)
        return list(islice(neighbours, _COMPARED))

    def not_compared(self, sent: PublishedChanges) -> int:
        """Return the number of publications that are not compared."""
        return max(0, len(self._alongside(sent)) - 1 - _COMPARED)

    def widening(self, sent: PublishedChanges) -> list[Widening]:
        """Return the publications that send more of the table in one subscription with this one."""
        widenings = []
        for neighbour in self._neighbours(sent):
            operations = tuple(name for name in neighbour.operations if name in sent.operations and name != "truncate")
            if not operations:
                continue
            sql = None
            if neighbour.filter is not None:
                if self._alike(sent, neighbour):
                    continue
                sql = self.facts.condition(neighbour).sql
            widenings.append(Widening(self.facts.catalog.publications[neighbour.publication].name, sql, operations))
        return widenings

    def same(self, sent: PublishedChanges) -> list[Same]:
        """Return the publications whose filter means the same."""
        return [
            Same(
                self.facts.catalog.publications[neighbour.publication].name,
                self.facts.condition(neighbour).sql == self.facts.condition(sent).sql,
            )
            for neighbour in self._neighbours(sent)
            if neighbour.filter is not None and self._alike(sent, neighbour)
        ]

    def _alike(self, sent: PublishedChanges, neighbour: PublishedChanges) -> bool:
        """Return whether two filters of one table have the same canonical form.

        Filters with literals whose value was fixed when the filter was read never count as equal: the same text can
        mean two things.
        """
        if sent.filter is None or neighbour.filter is None or sent.filter.frozen or neighbour.filter.frozen:
            return False
        condition, other = self.facts.condition(sent), self.facts.condition(neighbour)
        return condition.of == other.of and condition.canonical is not None and condition.canonical == other.canonical
