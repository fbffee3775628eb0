"""Findings at objects that context created: those that the reported files cause, and the statements that cause them.

A statement can take rows or columns from the subscribers of a publication that it does not name: ALTER COLUMN DROP NOT
NULL does, if a row filter reads the column. Such a finding is about the publication. It is moved to the statement if
the context alone does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.context import RuleFinding
from pubcheck.diagnostics import SEVERITIES
from pubcheck.postgres.catalog.rows import Place, Publication, Relation
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import find_name, names_in
from pubcheck.rulebook import RULES
from pubcheck.source import utf8
from pubcheck.statement_index import Statements


class _Known(Struct, frozen=True):
    """A finding by the OIDs of its relations and publications, so that names can change."""

    finding: RuleFinding
    relations: frozenset[int]
    publications: frozenset[int]

    @property
    def severity(self) -> int:
        return SEVERITIES.index(self.finding.severity or RULES[self.finding.rule].severity)


class _Change(Struct, frozen=True):
    """A change of an object: the statement, and its number in the journal, which was cleared ``clears`` times."""

    oid: int
    place: Place
    clears: int
    number: int


class ContextFindings:
    """The findings that the context alone has, and the objects that each later statement changed."""

    def __init__(self, session: Session, statements: Statements, sources: int, findings: Iterable[RuleFinding]) -> None:
        """``findings`` are those of the session's catalog as it is, after the first ``sources`` sources."""
        self._catalog, self._statements, self._sources = session.catalog, statements, sources
        self._session = session
        self._former_relations = dict(session.catalog.relations)
        self._findings: dict[tuple[str, int], list[_Known]] = {}
        oids = self._oids()
        for finding in findings:
            known = self._known(finding, oids)
            for oid in known.relations or (0,):
                self._findings.setdefault((finding.rule, oid), []).append(known)
        self._changes: list[_Change] = []

    def follow(self, source: int, statement: int, changes: Sequence[tuple[dict[Any, Any], Any, Any]]) -> None:
        """Record the objects that the current statement changed; ``changes`` are the last ones of the journal."""
        self._forget_undone(self._catalog.journal.mark() - len(changes))
        mentions, journal = self._session.mentions, self._catalog.journal
        for number, (heap, key, former) in enumerate(changes, journal.mark() - len(changes)):
            row = heap.get(key) or former
            oids = {getattr(row, field, 0) for field in _OWNERS}
            if isinstance(row, Relation | Publication):
                oids.add(row.oid)
            for oid in sorted(oids - {0}):
                place = Place(source, statement, mentions.get(oid, 0), 0)
                self._changes.append(_Change(oid, place, journal.clears, number))

    def _forget_undone(self, mark: int) -> None:
        """Forget the changes from a mark of the journal on, which were undone if there are other ones now."""
        changes, clears = self._changes, self._catalog.journal.clears
        while changes and changes[-1].clears == clears and changes[-1].number >= mark:
            changes.pop()

    def moved_to_their_causes(self, findings: Iterable[RuleFinding]) -> Iterator[RuleFinding]:
        """Yield the findings of the final state. Those at objects of the context that the context alone does not have
        are at the statements that cause them; those that it has point at no statement of the other files."""
        self._forget_undone(self._catalog.journal.mark())
        oids = self._oids()
        for finding in findings:
            if not self._is_context(finding.place):
                yield finding
                continue
            known = self._known(finding, oids)
            if self._was_there(known):
                related = tuple(place for place in finding.related if self._is_context(place[0]))
                yield replace(finding, related=related)
            elif all(self._is_context(place) for place, _ in finding.related) and (cause := self._cause(known)):
                yield replace(finding, place=cause, related=((finding.place, _SUBJECT), *finding.related))
            else:
                yield finding

    def _is_context(self, place: Place) -> bool:
        return place.source < self._sources

    def _oids(self) -> dict[str, int]:
        return {self._session.qualified(row): row.oid for row in self._catalog.relations.values()}

    def _known(self, finding: RuleFinding, oids: dict[str, int]) -> _Known:
        names = (finding.object, *finding.also)
        publications = self._catalog.publication_names
        return _Known(
            finding,
            frozenset(oids[name] for name in names if name in oids),
            frozenset(publications[name] for name in finding.publications if name in publications),
        )

    def _was_there(self, known: _Known) -> bool:
        """Return whether a finding of the context alone is about as much, and as severe."""
        alike = self._findings.get((known.finding.rule, next(iter(known.relations), 0)), ())
        return any(
            former.relations >= known.relations
            and former.publications >= known.publications
            and former.severity >= known.severity
            and former.finding.claim == known.finding.claim
            and former.finding.operation == known.finding.operation
            and (known.relations or known.publications or former.finding.place == known.finding.place)
            and self._changed_columns.isdisjoint(set(known.finding.columns).difference(former.finding.columns))
            for former in alike
        )

    @cached_property
    def _changes_of(self) -> dict[int, list[_Change]]:
        """The changes of the files, by the OID of their object."""
        changes: dict[int, list[_Change]] = {}
        for change in self._changes:
            changes.setdefault(change.oid, []).append(change)
        return changes

    @cached_property
    def _changed_columns(self) -> set[str]:
        """The names of the columns of changed relations, without those of renamed columns."""
        changed: set[str] = set()
        for oid in self._changes_of:
            row, former = self._catalog.relations.get(oid), self._former_relations.get(oid)
            if row is not None:
                names = {column.number: column.name for column in former.columns} if former is not None else {}
                changed.update(c.name for c in row.columns if names.get(c.number, c.name) == c.name and not c.dropped)
        return changed

    def _cause(self, known: _Known) -> Place | None:
        """Return the last statement that changed the objects of a finding and names most of its columns."""
        catalog, relations = self._catalog, known.relations
        created = [oid for oid in relations if oid not in self._former_relations]
        family = [
            other
            for oid in relations
            if oid in catalog.relations
            for other in (*catalog.ancestors(oid), *catalog.descendants(oid))
        ]
        for oids in (created, relations, family, known.publications, self._changes_of):
            changes = [change for oid in oids for change in self._changes_of.get(oid, ())]
            if changes:
                columns = self._changed_columns.intersection(known.finding.columns)
                place = max(changes, key=lambda row: (self._naming(columns, row.place), row.clears, row.number)).place
                return self._at_name(place, known.finding) if not place.start else place
        return None

    def _at_name(self, place: Place, finding: RuleFinding) -> Place:
        """Return where a statement names a publication of a finding, or its beginning."""
        text = utf8(self._statements.at(place).text).data
        starts = (find_name(text, name) for name in finding.publications)
        return replace(place, start=next((start for start in starts if start is not None), 0))

    def _naming(self, columns: set[str], place: Place) -> int:
        """Return how many of these columns a statement names."""
        return len(columns & names_in(utf8(self._statements.at(place).text).data)) if columns else 0


_OWNERS = ("relation", "table", "publication")
"""The fields of other rows that hold the OID of a relation or a publication."""
_SUBJECT = "the object that this finding is about"
