"""Findings about the final state of a unit: refused writes, and silent losses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.checks.grounds import Grounds
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.diagnostics import Diagnostic, Earlier, Fix, Span
from pubcheck.faults import Faults
from pubcheck.postgres.catalog.rows import Place, PublicationRel
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH
from pubcheck.rulebook import RULES
from pubcheck.source import utf8
from pubcheck.statement_index import Statements

if TYPE_CHECKING:
    from pubcheck.checks.context import RuleContext, RuleFinding
    from pubcheck.checks.publication_history import History
    from pubcheck.checks.refused_dml import RefusedDmlCollector
    from pubcheck.checks.remedies.remedy import Keys, Remedy
    from pubcheck.checks.remedies.write_remedies import Remedies
    from pubcheck.consumers.options import ConsumerUse
    from pubcheck.engine.context_findings import ContextFindings

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
        the configured ones; ``context_findings`` has the findings that the context alone has.
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
