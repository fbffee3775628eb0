"""What is said of a unit when it is over: which writes are refused in its final state, and what is lost in silence."""

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

_CHANGES_IDENTITY = (" REPLICA IDENTITY ", "CREATE UNIQUE INDEX ", " SET NOT NULL", " (publish_generated_columns = ")


class Outcome:
    """The final state of one major as diagnostics."""

    def __init__(
        self,
        session: Session,
        statements: Statements,
        refused: Sequence[tuple[Refusal, Place]],
        history: History | None,
        stopped: RefusedDmlCollector | None,
        faults: Faults,
    ) -> None:
        """``refused`` is what is refused in the end, with the place after which it was; ``stopped``, if there are any,
        the statements that are refused for what they write."""
        self.session, self.statements, self.majors = session, statements, (session.catalog.major.number,)
        self.refused, self.history, self._stopped, self._faults = refused, history, stopped, faults
        self._keys: Keys = {}
        self._remedies: Remedies | None = None
        self._grounds = Grounds(session, statements)

    def diagnostics(self, wanted: frozenset[str]) -> Iterator[Diagnostic]:
        """All that is found, of silent losses what the rules of these codes find."""
        if self._stopped is not None:
            self._stopped.end(self.refused)
        for found, place in self.refused:
            with self._faults.guard(place):
                yield self._write(found, place)
        if self._stopped is not None:
            with self._faults.guard(None):
                yield from self._stopped.resolved_later(self.statements)
        if self.history is not None:
            # Loaded only where there are publications or subscriptions.
            from pubcheck.checks.registry import run_final_state_rules

            for finding in run_final_state_rules(self.ground(self.history), wanted, self._faults):
                with self._faults.guard(finding.place):
                    yield self._silent(finding)

    def ground(self, history: History) -> RuleContext:
        """What the rules about silent losses look at."""
        from pubcheck.checks.context import RuleContext

        return RuleContext(self.session, history, self.refused, self.statements.sources)

    # Refused writes.

    def _write(self, found: Refusal, place: Place) -> Diagnostic:
        # Loaded only where a write is refused.
        from pubcheck.checks.messages import writes

        catalog = self.session.catalog
        attempt = self._faults.value
        remedies = attempt(place, None, self._remedies_of, found.relation)
        ways = attempt(place, [], remedies.of, found) if remedies is not None else []
        stopped = attempt(place, (), self._stopped.still_refused, found) if self._stopped is not None else ()
        return RULES[found.rule].diagnostic(
            "certain" if found.certain and not self.session.healed else "assumed",
            self.majors,
            writes.headline(catalog, found),
            self.statements.span(place),
            help=attempt(place, None, writes.help_text, self.session, found, ways),
            related=(*self._related(found, place), *stopped),
            statement=self.statements.at(place).ref(),
            object=self.session.qualified(catalog.relations[found.relation]),
            publications=(catalog.publications[found.publication].name,),
            operation=found.operation,
            server=found.server,
            fixes=attempt(place, (), self._way_out, found, ways, lists_first=remedies is None or remedies.lists_first),
            after=tuple(Earlier(catalog.publications[oid].name, rule) for oid, rule in found.after),
            after_count=found.number,
            assumptions=() if found.certain and not self.session.healed else self._grounds.of_refusal(found),
        )

    def _remedies_of(self, relation: int) -> Remedies:
        """What can be done about the refused writes of a table; its causes come one after the other."""
        if self._remedies is None or self._remedies.relation != relation:
            # Loaded only where a write is refused.
            from pubcheck.checks.remedies.write_remedies import Remedies

            self._remedies = Remedies(self.session, relation, self._written, self._keys)
        return self._remedies

    def _way_out(self, found: Refusal, ways: Sequence[Remedy], *, lists_first: bool) -> tuple[Fix, ...]:
        """A wider column list where it stands, or else another replica identity after the last statement of the unit,
        or before the first that the refusal stops.

        Whether a table should get another column, or send less, is for people to say.
        """
        if not found.certain or self.session.healed:
            return ()
        kinds = (self._wider_list, self._other_identity)
        fixes = (fix(found, ways) for fix in (kinds if lists_first else reversed(kinds)))
        fix = next(filter(None, fixes), None)
        return () if fix is None else (fix,)

    def _wider_list(self, found: Refusal, ways: Sequence[Remedy]) -> Fix | None:
        entry = found.entry
        if entry is None or self.history is None or not any(way.lists for way in ways):
            return None
        from pubcheck.checks.remedies import edits
        from pubcheck.checks.remedies.statement_fixes import widened

        statement, then = self.statements.at(entry.place), self.history.columns_then.get(entry.oid, ())
        mending = widened(self.session.catalog, found, utf8(statement.text).data, then)
        return None if mending is None else edits.as_fix(statement, mending, certain=True)

    def _other_identity(self, found: Refusal, ways: Sequence[Remedy]) -> Fix | None:
        from pubcheck.checks.remedies import edits

        session = self.session
        plain = session.setting("search_path") == DEFAULT_PATH and session.superuser() and session.transaction is None
        way = next((way for way in ways if all(map(_of_identity, way.statements))), None)
        if not plain or way is None:
            return None
        stopped = self._stopped.earliest(found.relation) if self._stopped is not None else None
        if stopped is None:
            return edits.appended(self.statements, way.statements, whole=way.ends == "table")
        if len(way.statements) == 1 and " REPLICA IDENTITY " in way.statements[0]:
            # The unit's own statements come no further than this.
            return edits.insert_before(stopped, way.statements[0])
        return None

    def _written(self, entry: PublicationRel) -> str | None:
        from pubcheck.checks.remedies.written_filters import written_filter

        statement = self.statements.at(entry.place)
        return written_filter(utf8(statement.text).data, entry, self.session.catalog.relations[entry.relation])

    def _related(self, found: Refusal, place: Place) -> Iterable[Span]:
        """The other side of the matter: the table with its key, and the publication where it is said elsewhere."""
        table = self.session.catalog.relations[found.relation].place
        if table is not None and table != place:
            from pubcheck.checks.messages import writes

            message = writes.identity_text(self.session.catalog, found.relation)
            yield self.statements.span(table, message)
        entry = found.cause.place or self._published_at(found)
        if entry is not None and (entry.source, entry.statement) != (place.source, place.statement):
            name = self.session.catalog.publications[found.publication].name
            yield self.statements.span(entry, f'publication "{name}"')

    def _published_at(self, found: Refusal) -> Place | None:
        """Where the publication at fault names the table, an ancestor or their schema, or else its own name."""
        if found.entry is not None:
            return found.entry.place
        catalog, publication = self.session.catalog, found.publication
        for oid in (found.relation, *catalog.ancestors(found.relation)):
            if (publication, oid) in catalog.members:
                return catalog.publication_rels[catalog.members[publication, oid]].place
            schema = (publication, catalog.relations[oid].namespace)
            if schema in catalog.schema_members:
                return catalog.publication_namespaces[catalog.schema_members[schema]].place
        return catalog.publications[publication].place

    # What is lost in silence, and what fails for subscribers.

    def _silent(self, finding: RuleFinding) -> Diagnostic:
        return RULES[finding.rule].diagnostic(
            "certain" if finding.certain else "assumed",
            self.majors,
            finding.message,
            self.statements.span(finding.place),
            severity=finding.severity,
            help=finding.help,
            related=tuple(self.statements.span(there, message) for there, message in finding.related),
            statement=self.statements.at(finding.place).ref(),
            object=finding.object,
            publications=finding.publications,
            operation=finding.operation,
            server=finding.server,
            notices=finding.notices,
            assumptions=() if finding.certain else self._grounds.of_finding(finding),
            also=finding.also,
        )


def _of_identity(statement: str) -> bool:
    return any(part in statement for part in _CHANGES_IDENTITY)
