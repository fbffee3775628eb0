"""What other publications of a table have to do with one: they send more of it, or the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from pubcheck.explain.document import Same, Widening
from pubcheck.explain.table_facts import Facts
from pubcheck.postgres.replication.published_changes import Sent

_COMPARED = 100
"""Other publications of a table with which one is compared, those without a filter first."""


class Neighbours:
    """Compares what publications send of the same table, ``of_table`` by the table."""

    def __init__(self, facts: Facts, of_table: Mapping[int, Sequence[Sent]]) -> None:
        self.facts, self._of_table = facts, of_table
        self._same_name: dict[tuple[int, int], list[Sent]] = {}

    def _alongside(self, sent: Sent) -> list[Sent]:
        """What publications send of the same table under the same name, those without a filter first."""
        key = sent.relation, sent.arrives_as
        if key not in self._same_name:
            found = [other for other in self._of_table[sent.relation] if other.arrives_as == sent.arrives_as]
            self._same_name[key] = sorted(found, key=lambda other: other.filter is not None)
        return self._same_name[key]

    def _others(self, sent: Sent) -> list[Sent]:
        """The others among them, as many as are compared."""
        others = (other for other in self._alongside(sent) if other.publication != sent.publication)
        return list(islice(others, _COMPARED))

    def not_compared(self, sent: Sent) -> int:
        """How many there are beyond those that are compared."""
        return max(0, len(self._alongside(sent)) - 1 - _COMPARED)

    def widening(self, sent: Sent) -> list[Widening]:
        """Those that would send more of the table in one subscription with it."""
        found = []
        for other in self._others(sent):
            operations = tuple(one for one in other.operations if one in sent.operations and one != "truncate")
            if not operations:
                continue
            sql = None
            if other.filter is not None:
                if self._alike(sent, other):
                    continue
                sql = self.facts.condition(other).sql
            found.append(Widening(self.facts.catalog.publications[other.publication].name, sql, operations))
        return found

    def same(self, sent: Sent) -> list[Same]:
        """Those whose filter means the same."""
        return [
            Same(
                self.facts.catalog.publications[other.publication].name,
                self.facts.condition(other).sql == self.facts.condition(sent).sql,
            )
            for other in self._others(sent)
            if other.filter is not None and self._alike(sent, other)
        ]

    def _alike(self, sent: Sent, other: Sent) -> bool:
        """Whether two filters of one table have the same canonical form, and no literal in them whose value was fixed
        when the filter was read: then the same text can mean two things."""
        if sent.filter is None or other.filter is None or sent.filter.frozen or other.filter.frozen:
            return False
        one, two = self.facts.condition(sent), self.facts.condition(other)
        return one.of == two.of and one.canonical is not None and one.canonical == two.canonical
