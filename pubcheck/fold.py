"""Folding a unit's statements into the catalog of one major, and what is found on the way.

One ``Fold`` a major. It applies each statement as the server would, keeps for every table the statement after which
its UPDATE or DELETE became refused, and turns what it saw into diagnostics.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks import texts
from pubcheck.checks.refusals import explain, explain_unseen, frozen_words, unjudged_words
from pubcheck.checks.write import WRITES, Refusal, Write, refusals
from pubcheck.config import Config
from pubcheck.diagnostics import Certainty, Diagnostic, Edit, Fix, ServerAnswer, Severity, Span, StatementRef
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import (
    Index,
    Place,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.scan import name_end
from pubcheck.postgres.session import Session
from pubcheck.rulebook import Rule, by_name, rule_for_spec
from pubcheck.sources.text import Source, utf8

if TYPE_CHECKING:
    from pubcheck.checks.filters import Told


class StatementText(Struct, frozen=True):
    """A statement as it stands in its source; ``start`` is the offset of its first token in code points."""

    source: Source
    index: int
    start: int
    text: str

    def ref(self) -> StatementRef:
        return StatementRef(self.source, self.index, self.start)

    def offset(self, byte: int) -> int:
        """A byte offset in the statement as an offset in its source."""
        return self.start + utf8(self.text).offset(byte)

    def position(self, byte: int | None) -> int | None:
        """A byte offset as the server's 1-based character position."""
        return None if byte is None else self.offset(byte) - self.start + 1

    def span(self, start: int, end: int = 0, message: str = "") -> Span:
        """The token or name at a byte offset, or what lies between two."""
        text = utf8(self.text).data
        start = min(start, len(text))
        if end <= start:
            end = name_end(text, start)
        return Span(self.source, self.offset(start), self.offset(end), message)


class Statements:
    """The statements of a unit by source and index; kept as offsets, for a schema can have a hundred thousand."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._starts = [array("q") for _ in sources]
        self._ends = [array("q") for _ in sources]

    def __len__(self) -> int:
        return sum(map(len, self._starts))

    def put(self, source: int, index: int, start: int, end: int) -> None:
        """The next statement of a source, or another end for its last one; offsets in the source."""
        starts, ends = self._starts[source], self._ends[source]
        if index == len(starts):
            starts.append(start)
            ends.append(end)
        else:
            starts[index], ends[index] = start, end

    def __getitem__(self, key: tuple[int, int]) -> StatementText:
        source, index = key
        start, end = self._starts[source][index], self._ends[source][index]
        return StatementText(self._sources[source], index, start, self._sources[source].text[start:end])


class Since(Struct, frozen=True):
    """Where an operation on a table became refused: the statement and the culprit in it."""

    place: Place
    column: str


_WITH_FILTERS = ("CreatePublicationStmt", "AlterPublicationStmt")
_SETTINGS = {"zone": "timezone", "datestyle": "datestyle"}
_MAX_REWRITINGS = 200
"""Refused filters for which another way of writing is looked for, at about a millisecond each; nobody reads more."""


class Fold:
    """One major's view of a unit."""

    def __init__(self, major: int, *, complete: bool, database: str) -> None:
        self.catalog = Catalog(major, database, database_known=database != Config().database)
        self.session = Session(self.catalog, complete=complete)
        self.major = major
        self.diagnostics: list[Diagnostic] = []
        self.hidden = False
        """Something that could not be followed may have changed replica identities."""
        self._since: dict[tuple[int, Write], Since] = {}
        self._rewritings = 0

    def apply(self, statement: StatementText, source: int, name: str, node: Node, *, filled: bool = False) -> None:
        """Do one statement. ``source`` numbers the unit's sources; ``filled``: a placeholder in it was filled in."""
        session, journal = self.session, self.catalog.journal
        session.begin_statement(source, statement.index, statement.text)
        session.assumed = filled
        mark = journal.mark() if session.transaction is not None else 0
        if not mark:
            journal.entries.clear()
        journal.undone.clear()
        try:
            apply(session, name, node)
        except ServerError as error:
            journal.undo(mark)
            session.forget_path()
            if error.rule is not None:
                self._refused(statement, error)
            return
        except RecursionError:
            journal.undo(mark)
            session.forget_path()
            raise TooDeep from None
        if filled:
            self._doubt(journal.entries[mark:])
        if session.unseen:
            self._unseen(statement, session.unseen)
        if name in _WITH_FILTERS:
            self._filters(statement, journal.entries[mark:])
        if self.catalog.publications or self._since:
            self._follow(source, statement, journal.entries[mark:] + journal.undone)

    def _doubt(self, changes: list[tuple[dict[Any, Any], Any, Any]]) -> None:
        """What a statement with a filled-in placeholder made is there by assumption."""
        for heap, key, former in changes:
            row = heap.get(key)
            if former is not row and isinstance(row, Relation | Publication) and row.seen:
                self.catalog.journal.entries.append((heap, key, row))
                heap[key] = replace(row, seen=False)

    # Findings about the statement at hand.

    def _refused(self, statement: StatementText, error: ServerError) -> None:
        rule = rule_for_spec(error.rule or "", error.sqlstate)
        certainty: Certainty = "assumed" if self.session.assumed else "certain"
        told = self._told(error)
        if told is None:
            message, help_text = explain(error)
            self._report(rule, rule.severity, certainty, message, help_text, statement, error)
            return
        span = statement.span(told.start, told.end)
        fixes: tuple[Fix, ...] = ()
        if told.title:
            edited = Span(statement.source, statement.offset(told.edit_start), statement.offset(told.edit_end))
            safe = told.safe and certainty == "certain"
            fixes = (Fix(told.title, "safe" if safe else "unsafe", (Edit(edited, told.text),)),)
        self._report(rule, rule.severity, certainty, told.headline, told.help, statement, error, (), span, fixes)

    def _told(self, error: ServerError) -> Told | None:
        """Of a refused filter, what of it is refused and how else to write it."""
        if error.evidence is None:
            return None
        # Loaded only where a filter is refused.
        from pubcheck.checks.filters import tell

        self._rewritings += 1
        return tell(error, with_rewriting=self._rewritings <= _MAX_REWRITINGS)

    def _filters(self, statement: StatementText, changes: Iterable[tuple[dict[Any, Any], Any, Any]]) -> None:
        """What is to be said of filters that the statement gave to members of publications."""
        said: set[tuple[str, Place]] = set()
        for heap, key, former in changes:
            row = heap.get(key)
            if not isinstance(row, PublicationRel) or row.filter is None or row == former:
                continue
            if not row.filter.judged and self.catalog.relations[row.relation].seen:
                self._of_filter("filter-not-judged", row, row.place, statement, said, row.filter.unknown)
            for place, frozen_by in row.filter.frozen:
                # What the unit itself sets is the same for whoever runs it.
                kinds = [kind for kind in frozen_by if self.session.setting(_SETTINGS.get(kind, "")) is None]
                if kinds:
                    self._of_filter("filter-literal-frozen", row, place, statement, said, *kinds)

    def _of_filter(
        self,
        name: str,
        row: PublicationRel,
        place: Place,
        statement: StatementText,
        said: set[tuple[str, Place]],
        *what: str,
    ) -> None:
        """A remark about an accepted filter; once for a place, however many children have the filter too."""
        if (name, place) in said:
            return
        said.add((name, place))
        rule = by_name(name)
        span = statement.span(place.start, place.end)
        if name == "filter-literal-frozen":
            literal = span.source.text[span.start : span.end]
            severity, message, help_text = frozen_words(literal, what)
        else:
            severity, (message, help_text) = rule.severity, unjudged_words(what[0])
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase=rule.phase,
                severity=severity,
                certainty="certain" if row.filter is not None and row.filter.judged else "assumed",
                postgres=(self.major,),
                message=message,
                help=help_text,
                span=span,
                statement=statement.ref(),
                object=self.session.qualified(self.catalog.relations[row.relation]),
                publications=(self.catalog.publications[row.publication].name,),
            )
        )

    def _unseen(self, statement: StatementText, errors: list[ServerError]) -> None:
        """One note for all names of a statement that are not visible, with the server's answer for the first."""
        first = errors[0]
        rule = rule_for_spec(first.rule or "")
        message, help_text = explain_unseen(first, [error.message for error in errors[1:]])
        related = tuple(
            statement.span(error.culprit, message=error.message)
            for error in errors[1:]
            if error.culprit is not None
        )
        self._report(rule, "note", "assumed", message, help_text, statement, first, related)

    def _report(
        self,
        rule: Rule,
        severity: Severity,
        certainty: Certainty,
        message: str,
        help_text: str | None,
        statement: StatementText,
        error: ServerError,
        related: tuple[Span, ...] = (),
        span: Span | None = None,
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase=rule.phase,
                severity=severity,
                certainty=certainty,
                postgres=(self.major,),
                message=message,
                help=help_text,
                span=span or statement.span(error.culprit or 0),
                related=related,
                statement=statement.ref(),
                object=error.relation,
                publications=(error.publication,) if error.publication else (),
                server=ServerAnswer(
                    error.sqlstate,
                    error.message,
                    error.detail,
                    error.hint,
                    statement.position(error.location),
                ),
                notices=tuple(self.session.notices),
                fixes=fixes,
            )
        )

    # Refused writes, followed through the history.

    def _follow(
        self, source: int, statement: StatementText, changes: Iterable[tuple[dict[Any, Any], Any, Any]]
    ) -> None:
        touched = self._touched(changes)
        for oid in touched:
            relation = self.catalog.relations.get(oid)
            refused = refusals(self.catalog, relation) if relation is not None else {}
            for operation in WRITES:
                key = (oid, operation)
                found = refused.get(operation)
                if found is None:
                    self._since.pop(key, None)
                elif key not in self._since:
                    self._since[key] = Since(self._culprit(source, statement, found), found.column)

    def _touched(self, changes: Iterable[tuple[dict[Any, Any], Any, Any]]) -> set[int]:
        """The tables whose verdict a change of the catalog can have changed."""
        catalog = self.catalog
        found: set[int] = set()
        everything = False
        for heap, key, former in changes:
            for row in (former, heap.get(key)):
                if isinstance(row, Relation):
                    found.add(row.oid)
                elif isinstance(row, Index):
                    found.add(row.table)
                elif isinstance(row, PublicationRel):
                    found.add(row.relation)
                elif isinstance(row, PublicationNamespace):
                    found.update(catalog.relations_in.get(row.namespace))
                elif isinstance(row, Publication):
                    everything = everything or row.all_tables
                    for member in catalog.members_of.get(row.oid):
                        found.add(catalog.publication_rels[member].relation)
                    for member in catalog.schemas_of.get(row.oid):
                        found.update(catalog.relations_in.get(catalog.publication_namespaces[member].namespace))
        if everything:
            return {oid for oid, relation in catalog.relations.items() if relation.kind == "r"}
        for oid in list(found):
            if catalog.children.has(oid):
                found.update(catalog.descendants(oid))
        return found

    def _culprit(self, source: int, statement: StatementText, found: Refusal) -> Place:
        """Where in the statement at hand the reason stands: filter column, column list, table, schema, publication."""
        catalog, here = self.catalog, (source, statement.index)
        candidates = [found.place]
        if found.entry is not None:
            candidates.append(found.entry.place)
        family = (found.relation, *catalog.ancestors(found.relation))
        for publication in found.publications:
            for oid in family:
                member = catalog.members.get((publication, oid))
                if member is not None:
                    candidates.append(catalog.publication_rels[member].place)
        for oid in family:
            if oid in self.session.mentions:
                start = self.session.mentions[oid]
                candidates.append(Place(*here, start, 0))
        for publication in found.publications:
            for oid in family:
                schema = catalog.schema_members.get((publication, catalog.relations[oid].namespace))
                if schema is not None:
                    candidates.append(catalog.publication_namespaces[schema].place)
            candidates.append(catalog.publications[publication].place)
        for place in candidates:
            if place is not None and (place.source, place.statement) == here:
                return place
        return Place(*here, 0, 0)

    def writes(self, statements: Statements) -> None:
        """Report what is refused in the final state; ``statements`` are all of the unit, by source and index."""
        for (oid, operation), since in sorted(self._since.items(), key=lambda item: item[0]):
            found = refusals(self.catalog, self.catalog.relations[oid]).get(operation)
            if found is not None:
                self._write(found, since, statements)

    def _write(self, found: Refusal, since: Since, statements: Statements) -> None:
        catalog = self.catalog
        rule = rule_for_spec(found.rule)
        relation = catalog.relations[found.relation]
        place = since.place
        statement = statements[place.source, place.statement]
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase="write",
                severity=rule.severity,
                certainty="certain" if found.certain and not self.hidden else "assumed",
                postgres=(self.major,),
                message=texts.headline(catalog, found),
                help=texts.help_text(catalog, found),
                span=statement.span(place.start, place.end),
                related=tuple(self._related(found, relation, place, statements)),
                statement=statement.ref(),
                object=self.session.qualified(relation),
                publications=tuple(catalog.publications[oid].name for oid in found.publications),
                operation=found.operation,
                server=found.server,
            )
        )

    def _related(
        self, found: Refusal, relation: Relation, place: Place, statements: Statements
    ) -> Iterable[Span]:
        """The other side of the matter: the table with its key, and the publication where it is said elsewhere."""
        table = relation.place
        if table is not None and table != place:
            message = texts.identity_text(self.catalog, found.relation)
            yield statements[table.source, table.statement].span(table.start, table.end, message)
        entry = found.place or (found.entry.place if found.entry is not None else None)
        if entry is not None and (entry.source, entry.statement) != (place.source, place.statement):
            name = self.catalog.publications[found.publications[0]].name
            yield statements[entry.source, entry.statement].span(entry.start, entry.end, f'publication "{name}"')
