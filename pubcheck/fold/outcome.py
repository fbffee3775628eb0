"""What is said of a unit when it is over: which writes are refused in its final state, and what is lost in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.checks.write import Refusal
from pubcheck.diagnostics import Diagnostic, Fix, Span
from pubcheck.faults import Faults
from pubcheck.postgres.catalog.rows import Place, PublicationRel
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH
from pubcheck.rulebook import by_name, rule_for_spec
from pubcheck.sources.text import utf8
from pubcheck.statements import Statements

if TYPE_CHECKING:
    from pubcheck.checks.findings import Finding, Ground
    from pubcheck.checks.later import History
    from pubcheck.checks.stopped import Stopped
    from pubcheck.checks.ways import Keys, Way

_CHANGES_IDENTITY = (" REPLICA IDENTITY ", "CREATE UNIQUE INDEX ", " SET NOT NULL", " (publish_generated_columns = ")


class Outcome:
    """The final state of one major as diagnostics."""

    def __init__(
        self,
        session: Session,
        statements: Statements,
        refused: Sequence[tuple[Refusal, Place]],
        history: History | None,
        stopped: Stopped | None,
        faults: Faults,
    ) -> None:
        """``refused`` is what is refused in the end, with the place after which it was; ``stopped``, if there are any,
        the statements that are refused for what they write."""
        self.session, self.statements, self.majors = session, statements, (session.catalog.major.number,)
        self.refused, self.history, self._stopped, self._faults = refused, history, stopped, faults
        self._keys: Keys = {}

    def diagnostics(self, wanted: frozenset[str]) -> Iterator[Diagnostic]:
        """All that is found, of silent losses what the rules of these codes find."""
        if self._stopped is not None:
            self._stopped.end(self.refused)
        for found, place in self.refused:
            with self._faults.guard(place):
                yield self._write(found, place)
        if self._stopped is not None:
            with self._faults.guard(None):
                yield from self._stopped.mended(self.statements)
        if self.history is not None:
            # Loaded only where there are publications or subscriptions.
            from pubcheck.checks.silent import afterwards

            for finding in afterwards(self.ground(self.history), wanted, self._faults):
                with self._faults.guard(finding.place):
                    yield self._silent(finding)

    def ground(self, history: History) -> Ground:
        """What the rules about silent losses look at."""
        from pubcheck.checks.findings import Ground

        return Ground(self.session, history, self.refused, self.statements.sources)

    # Refused writes.

    def _write(self, found: Refusal, place: Place) -> Diagnostic:
        # Loaded only where a write is refused.
        from pubcheck.checks import texts
        from pubcheck.checks.ways import ways_out

        catalog = self.session.catalog
        attempt = self._faults.value
        ways = attempt(place, [], ways_out, self.session, found, self._written, self._keys)
        stopped = attempt(place, (), self._stopped.still, found, place) if self._stopped is not None else ()
        return rule_for_spec(found.rule).diagnostic(
            "certain" if found.certain and not self.session.healed else "assumed",
            self.majors,
            texts.headline(catalog, found),
            self.statements.span(place),
            help=attempt(place, None, texts.help_text, self.session, found, ways),
            related=(*self._related(found, place), *stopped),
            statement=self.statements.at(place).ref(),
            object=self.session.qualified(catalog.relations[found.relation]),
            publications=tuple(catalog.publications[oid].name for oid in found.publications),
            operation=found.operation,
            server=found.server,
            fixes=attempt(place, (), self._way_out, found, ways),
        )

    def _way_out(self, found: Refusal, ways: Sequence[Way]) -> tuple[Fix, ...]:
        """A wider column list where it stands, or else another replica identity after the last statement of the unit,
        or before the first that the refusal stops.

        Whether a table should get another column, or send less, is for people to say.
        """
        session = self.session
        if not found.certain or session.healed:
            return ()
        from pubcheck import edits

        listed = found.entry if found.rule == "ri-column-list" and any(way.lists for way in ways) else None
        if listed is not None and self.history is not None:
            from pubcheck.checks.mending import widened

            statement, then = self.statements.at(listed.place), self.history.columns_then.get(listed.oid, ())
            mending = widened(session.catalog, found, utf8(statement.text).data, then)
            if mending is not None:
                return (edits.mended(statement, mending, certain=True),)
        plain = session.setting("search_path") == DEFAULT_PATH and session.superuser() and session.transaction is None
        way = next((way for way in ways if all(map(_of_identity, way.statements))), None)
        if not plain or way is None:
            return ()
        stopped = self._stopped.earliest(found.relation) if self._stopped is not None else None
        if stopped is None:
            fix = edits.appended(self.statements, way.statements)
        elif len(way.statements) == 1 and " REPLICA IDENTITY " in way.statements[0]:
            # The unit's own statements come no further than this.
            fix = edits.put_before(stopped, way.statements[0])
        else:
            fix = None
        return () if fix is None else (fix,)

    def _written(self, entry: PublicationRel) -> str | None:
        from pubcheck.checks.ways import written_filter

        statement = self.statements.at(entry.place)
        return written_filter(utf8(statement.text).data, entry, self.session.catalog.relations[entry.relation])

    def _related(self, found: Refusal, place: Place) -> Iterable[Span]:
        """The other side of the matter: the table with its key, and the publication where it is said elsewhere."""
        table = self.session.catalog.relations[found.relation].place
        if table is not None and table != place:
            from pubcheck.checks import texts

            message = texts.identity_text(self.session.catalog, found.relation)
            yield self.statements.span(table, message)
        entry = found.place or self._published_at(found)
        if entry is not None and (entry.source, entry.statement) != (place.source, place.statement):
            name = self.session.catalog.publications[found.publications[0]].name
            yield self.statements.span(entry, f'publication "{name}"')

    def _published_at(self, found: Refusal) -> Place | None:
        """Where the first publication at fault names the table, an ancestor or their schema, or else its own name."""
        if found.entry is not None:
            return found.entry.place
        catalog, publication = self.session.catalog, found.publications[0]
        for oid in (found.relation, *catalog.ancestors(found.relation)):
            if (publication, oid) in catalog.members:
                return catalog.publication_rels[catalog.members[publication, oid]].place
            schema = (publication, catalog.relations[oid].namespace)
            if schema in catalog.schema_members:
                return catalog.publication_namespaces[catalog.schema_members[schema]].place
        return catalog.publications[publication].place

    # What is lost in silence, and what fails for subscribers.

    def _silent(self, finding: Finding) -> Diagnostic:
        return by_name(finding.rule).diagnostic(
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
            also=finding.also,
        )


def _of_identity(statement: str) -> bool:
    return any(part in statement for part in _CHANGES_IDENTITY)
