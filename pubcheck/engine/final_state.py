"""Findings about the final state of a unit: refused writes, and silent losses. And findings at objects that context
created: those that the reported files cause, and the statements that cause them.

A statement can take rows or columns from the subscribers of a publication that it does not name: ALTER COLUMN DROP NOT
NULL does, if a row filter reads the column. Such a finding is about the publication. It is moved to the statement if
the context alone does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.context import RuleFinding
from pubcheck.checks.grounds import Grounds
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.diagnostics import SEVERITIES, Diagnostic, Earlier, Fix, Span
from pubcheck.faults import Faults
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH
from pubcheck.postgres.tokens import find_name, names_in
from pubcheck.rulebook import RULES
from pubcheck.source import utf8
from pubcheck.statement_index import Statements

if TYPE_CHECKING:
    from pubcheck.checks.context import RuleContext, RuleFinding
    from pubcheck.checks.publication_history import History
    from pubcheck.checks.refused_dml import RefusedDmlCollector
    from pubcheck.checks.remedies.remedy import Keys, Remedy
    from pubcheck.checks.remedies.write_remedies import Remedies
    from pubcheck.consumers.profiles import ConsumerUse

_CHANGES_IDENTITY = (" REPLICA IDENTITY ", "CREATE UNIQUE INDEX ", " SET NOT NULL", " (publish_generated_columns = ")


class Outcome:
    """Turns the final state of one major into diagnostics."""

    def __init__(
        self,
        session: Session,
        statements: Statements,
        refused: Sequence[tuple[Refusal, Place]],
        history: History | None,
        refused_dml: RefusedDmlCollector | None,
        faults: Faults,
        consumers: Sequence[ConsumerUse] = (),
        context_findings: ContextFindings | None = None,
    ) -> None:
        """``refused`` has the writes that are refused in the final state, each with the place after which it is
        refused.

        ``refused_dml`` has the statements of the unit whose writes are refused, if there are any. ``consumers`` are
        the configured ones; ``context_findings`` are the findings that the context alone has.
        """
        self.session, self.statements, self.majors = session, statements, (session.catalog.major.number,)
        self.refused, self.history, self._refused_dml, self._faults = refused, history, refused_dml, faults
        self.consumers, self._context_findings = consumers, context_findings
        self._keys: Keys = {}
        self._remedies: Remedies | None = None
        self._grounds = Grounds(session, statements)

    def diagnostics(self, codes: frozenset[str]) -> Iterator[Diagnostic]:
        """Yield all findings. Of the rules about silent losses, only those with these codes are run."""
        if self._refused_dml is not None:
            self._refused_dml.end(self.refused)
        for refusal, place in self.refused:
            with self._faults.guard(place):
                yield self._write(refusal, place)
        if self._refused_dml is not None:
            with self._faults.guard(None):
                yield from self._refused_dml.resolved_later(self.statements)
        losses = self.silent_losses(codes)
        if self._context_findings is not None:
            losses = self._context_findings.moved_to_their_causes(losses)
        for finding in losses:
            with self._faults.guard(finding.place):
                yield self._silent_loss(finding)

    def silent_losses(self, codes: frozenset[str]) -> Iterator[RuleFinding]:
        """Yield the findings of the rules about silent losses with these codes."""
        if self.history is None:
            return
        from pubcheck.checks.registry import run_final_state_rules

        yield from run_final_state_rules(self.context(self.history), codes, self._faults)

    def context(self, history: History) -> RuleContext:
        """Return the context in which the rules about silent losses run."""
        from pubcheck.checks.context import RuleContext
        from pubcheck.engine.suppressions import may_hold_comments

        commented: dict[tuple[int, int], tuple[ConsumerUse, ...]] = {}
        if any(may_hold_comments(source) for source in self.statements.sources):
            from pubcheck.engine.suppressions.comments import consumer_comments

            commented = consumer_comments(self.statements)
        return RuleContext(self.session, history, self.refused, self.statements, self.consumers, commented)

    # Refused writes.

    def _write(self, refusal: Refusal, place: Place) -> Diagnostic:
        from pubcheck.checks.messages import writes

        catalog = self.session.catalog
        attempt = self._faults.value
        table_remedies = attempt(place, None, self._remedies_of, refusal.relation)
        remedies = attempt(place, [], table_remedies.of, refusal) if table_remedies is not None else []
        refused_statements = (
            attempt(place, (), self._refused_dml.still_refused, refusal) if self._refused_dml is not None else ()
        )
        span, related = self.statements.span(place), tuple(self._related(refusal, place))
        lists_first = table_remedies is None or table_remedies.lists_first
        fixes = attempt(place, (), self._fixes, refusal, remedies, lists_first=lists_first)
        text = writes.text(catalog, refusal)
        write = attempt(place, text, writes.with_help, text, catalog, refusal, remedies, fixes)
        return RULES[refusal.rule].diagnostic(
            "certain" if refusal.certain and not self.session.healed else "assumed",
            self.majors,
            write.message,
            span,
            help=write.help or None,
            # For a database the statements come first: the finding is shown there.
            related=(*related, *refused_statements) if span.source.listing is None else (*refused_statements, *related),
            statement=self.statements.at(place).ref(),
            object=self.session.qualified(catalog.relations[refusal.relation]),
            publications=(catalog.publications[refusal.publication].name,),
            operation=refusal.operation,
            mentions=(catalog.publications[refusal.publication].name, refusal.column),
            server=refusal.server,
            fixes=fixes,
            write=write,
            after=tuple(Earlier(catalog.publications[oid].name, rule) for oid, rule in refusal.after),
            after_count=refusal.number,
            assumptions=() if refusal.certain and not self.session.healed else self._grounds.of_refusal(refusal),
        )

    def _remedies_of(self, relation: int) -> Remedies:
        """Return the ways to fix a table's refused writes. Its causes follow each other: only the last is kept."""
        if self._remedies is None or self._remedies.relation != relation:
            from pubcheck.checks.remedies.write_remedies import Remedies

            self._remedies = Remedies(self.session, relation, self._written, self._keys)
        return self._remedies

    def _fixes(self, refusal: Refusal, remedies: Sequence[Remedy], *, lists_first: bool) -> tuple[Fix, ...]:
        """Return the fix for a refusal: a wider column list, or another replica identity.

        The replica identity is set after the last statement of the unit, or before the first statement that the refusal
        stops.

        Adding columns to a table, or publishing less, is for the user to decide.
        """
        if not refusal.certain or self.session.healed:
            return ()
        kinds = (self._wider_list_fix, self._identity_fix)
        fixes = (fix(refusal, remedies) for fix in (kinds if lists_first else reversed(kinds)))
        fix = next(filter(None, fixes), None)
        return () if fix is None else (fix,)

    def _wider_list_fix(self, refusal: Refusal, remedies: Sequence[Remedy]) -> Fix | None:
        entry = refusal.entry
        if entry is None or self.history is None or not any(remedy.lists for remedy in remedies):
            return None
        from pubcheck.checks.remedies import edits
        from pubcheck.checks.remedies.statement_fixes import widened

        statement, columns = self.statements.at(entry.place), self.history.columns_then.get(entry.oid, ())
        replacement = widened(self.session.catalog, refusal, utf8(statement.text).data, columns)
        return None if replacement is None else edits.as_fix(statement, replacement, certain=True)

    def _identity_fix(self, refusal: Refusal, remedies: Sequence[Remedy]) -> Fix | None:
        from pubcheck.checks.remedies import edits

        session = self.session
        plain = session.setting("search_path") == DEFAULT_PATH and session.superuser() and session.transaction is None
        remedy = next((candidate for candidate in remedies if all(map(_changes_identity, candidate.statements))), None)
        if not plain or remedy is None:
            return None
        refused_statement = self._refused_dml.earliest(refusal.relation) if self._refused_dml is not None else None
        if refused_statement is None:
            reason = "a new column is for you to choose" if "ADD COLUMN" in remedies[0].statements[-1] else ""
            return edits.appended(self.statements, remedy.statements, whole=remedy.ends == "table", reason=reason)
        if len(remedy.statements) == 1 and " REPLICA IDENTITY " in remedy.statements[0]:
            # The unit's own statements stop here.
            return edits.insert_before(refused_statement, remedy.statements[0])
        return None

    def _written(self, entry: PublicationRel) -> str | None:
        from pubcheck.checks.remedies.write_remedies import written_filter

        statement = self.statements.at(entry.place)
        return written_filter(utf8(statement.text).data, entry, self.session.catalog.relations[entry.relation])

    def _related(self, refusal: Refusal, place: Place) -> Iterable[Span]:
        """Yield the related places: the table with its key, and the publication if it is defined elsewhere."""
        table = self.session.catalog.relations[refusal.relation].place
        if table is not None and table != place:
            from pubcheck.checks.messages import writes

            message = writes.identity_text(self.session.catalog, refusal.relation)
            yield self.statements.span(table, message)
        entry = refusal.cause.place or self._published_at(refusal)
        if entry is not None and (entry.source, entry.statement) != (place.source, place.statement):
            name = self.session.catalog.publications[refusal.publication].name
            yield self.statements.span(entry, f'publication "{name}"')

    def _published_at(self, refusal: Refusal) -> Place | None:
        """Return where the publication names the table, an ancestor or their schema; otherwise where it is created."""
        if refusal.entry is not None:
            return refusal.entry.place
        catalog, publication = self.session.catalog, refusal.publication
        for oid in (refusal.relation, *catalog.ancestors(refusal.relation)):
            if (publication, oid) in catalog.members:
                return catalog.publication_rels[catalog.members[publication, oid]].place
            schema = (publication, catalog.relations[oid].namespace)
            if schema in catalog.schema_members:
                return catalog.publication_namespaces[catalog.schema_members[schema]].place
        return catalog.publications[publication].place

    # Silent losses, and failures at subscribers.

    def _silent_loss(self, finding: RuleFinding) -> Diagnostic:
        return RULES[finding.rule].diagnostic(
            "certain" if finding.certain else "assumed",
            self.majors,
            finding.message,
            self.statements.span(finding.place),
            severity=finding.severity,
            help=finding.help,
            related=tuple(self.statements.span(place, message) for place, message in finding.related),
            statement=self.statements.at(finding.place).ref(),
            object=finding.object,
            publications=finding.publications,
            operation=finding.operation,
            server=finding.server,
            notices=finding.notices,
            assumptions=() if finding.certain else self._grounds.of_finding(finding),
            also=finding.also,
            mentions=(*finding.publications, *finding.also, *finding.columns, *finding.mentions),
            claim=finding.claim,
        )


def _changes_identity(statement: str) -> bool:
    return any(part in statement for part in _CHANGES_IDENTITY)


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
