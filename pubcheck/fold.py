"""Folding a unit's statements into the catalog of one major, and what is found on the way.

One ``Fold`` a major. It applies each statement as the server would, keeps for every table the statement after which
its UPDATE or DELETE became refused, and turns what it saw into diagnostics.
"""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.history import Change, RefusedWrites
from pubcheck.checks.refusals import NOT_CREATED, explain, explain_unseen, frozen_words, unjudged_words
from pubcheck.checks.write import WRITING, Refusal
from pubcheck.config import Config
from pubcheck.diagnostics import (
    Applicability,
    Certainty,
    Diagnostic,
    Edit,
    Fix,
    ServerAnswer,
    Severity,
    Span,
    StatementRef,
)
from pubcheck.postgres.catalog import RELATION, Catalog
from pubcheck.postgres.catalog.rows import (
    EMBEDDED,
    Constraint,
    Index,
    Place,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Type,
)
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.scan import name_end
from pubcheck.postgres.session import DEFAULT_PATH, Session
from pubcheck.rulebook import Rule, by_name, rule_for_spec
from pubcheck.sources.text import Source, utf8

if TYPE_CHECKING:
    from pubcheck.checks.filters import Told
    from pubcheck.checks.findings import Finding
    from pubcheck.checks.later import History
    from pubcheck.checks.stopped import Stopped
    from pubcheck.checks.ways import Keys, Way
    from pubcheck.platform import Platform
    from pubcheck.sources.statements import Statement


class StatementText(Struct, frozen=True, gc=False):
    """A statement and its place in its source; ``start`` is the offset of its first token in code points.

    ``text`` is what the server gets; ``edits`` are the (start, end, sent) offsets from ``start`` where that has another
    length than what stands in the source. A statement inside another one has that one's index and ``embedded``, its
    own number there.
    """

    source: Source
    index: int
    start: int
    text: str
    edits: tuple[tuple[int, int, str], ...] = ()
    embedded: tuple[int, ...] = ()

    def ref(self) -> StatementRef:
        return StatementRef(self.source, self.index, self.start, self.embedded)

    def offset(self, byte: int, *, end: bool = False) -> int:
        """A byte offset in the statement as an offset in its source; ``end``: as that of what ends there."""
        return self.place(utf8(self.text).offset(byte), end=end)

    def place(self, at: int, *, end: bool = False) -> int:
        """An offset in ``text`` as an offset in the source."""
        shift = 0
        for begin, stop, sent in self.edits:
            first = begin - shift
            last = first + len(sent)
            if at < first or (end and at == first):
                break
            if at < last or (end and at == last):
                return self.start + (stop if end else begin)
            shift = stop - last
        return self.start + at + shift

    def position(self, byte: int | None) -> int | None:
        """A byte offset as the server's 1-based character position."""
        return None if byte is None else utf8(self.text).offset(byte) + 1

    def span(self, start: int, end: int = 0, message: str = "") -> Span:
        """The token or name at a byte offset, or what lies between two."""
        text = utf8(self.text).data
        start = min(start, len(text))
        if end <= start:
            end = name_end(text, start)
        begin = self.offset(start)
        return Span(self.source, begin, max(begin, self.offset(end, end=True)), message)


class Statements:
    """The statements of a unit by source and index; kept as offsets, for a schema can have a hundred thousand."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self._starts = [array("q") for _ in sources]
        self._ends = [array("q") for _ in sources]
        self._long: tuple[tuple[int, int], StatementText] | None = None
        """The long statement asked for last, with its key: one can have thousands of findings."""
        self._edited: dict[tuple[int, int], StatementText] = {}
        """Those of which the server gets another text than that of the source."""
        self._inside: list[StatementText] = []
        """Those inside others; their number, modulo ``EMBEDDED``, is where they stand here."""
        self._numbers: dict[tuple[int, int, tuple[int, ...], int, str], int] = {}

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
            self._long = None

    def keep(self, source: int, statement: StatementText) -> None:
        """A statement that cannot be cut out of its source again."""
        self._edited[source, statement.index] = statement

    def embed(self, source: int, statement: StatementText) -> int:
        """The number by which a statement inside another one of the source is to be asked for."""
        key = (source, statement.index, statement.embedded, statement.start, statement.text)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = (statement.index + 1) * EMBEDDED + len(self._inside)
            self._inside.append(statement)
        return number

    def bounds(self, source: int) -> tuple[Sequence[int], Sequence[int]]:
        """The offsets in a source at which its statements begin, and those at which they end."""
        return self._starts[source], self._ends[source]

    def __getitem__(self, key: tuple[int, int]) -> StatementText:
        if self._long is not None and self._long[0] == key:
            return self._long[1]
        source, index = key
        if index >= EMBEDDED:
            return self._inside[index % EMBEDDED]
        if key in self._edited:
            return self._edited[key]
        start, end = self._starts[source][index], self._ends[source][index]
        found = StatementText(self.sources[source], index, start, self.sources[source].text[start:end])
        if end - start > _LONG:
            self._long = key, found
        return found


_CHANGES_IDENTITY = (" REPLICA IDENTITY ", "CREATE UNIQUE INDEX ", " SET NOT NULL", " (publish_generated_columns = ")


def _of_identity(statement: str) -> bool:
    return any(part in statement for part in _CHANGES_IDENTITY)


_LONG = 4096
"""Characters from which on it takes longer to cut a statement out of its source than to keep it."""


_CALLING = frozenset(("DoStmt", "SelectStmt", "CallStmt"))
WITH_FILTERS = ("CreatePublicationStmt", "AlterPublicationStmt")
_MAY_CALL = frozenset(
    ("copy", "declare", "delete", "explain", "insert", "merge", "prepare", "refresh", "update", "values", "with")
)
_MAY_WRITE = frozenset(
    ("copy", "deallocate", "delete", "execute", "explain", "insert", "merge", "prepare", "update", "with")
)
_PREPARING = ("prepare", "deallocate")
_ANALYZES = re.compile(r"analy[sz]e", re.IGNORECASE)
_DUPLICATE = "42710"
_SETTINGS = {"zone": "timezone", "datestyle": "datestyle"}
_MAX_REWRITINGS = 200
"""Refused filters for which another way of writing is looked for, at about a millisecond each; nobody reads more."""


def _wider(former: Relation, row: Relation) -> bool:
    """Whether a relation has only been given more columns: what it had before it has for certain."""
    count = len(former.columns)
    return row.columns[:count] == former.columns and replace(row, columns=former.columns) == former


class Fold:
    """One major's view of a unit."""

    def __init__(
        self,
        major: int,
        *,
        complete: bool,
        database: str,
        platform: Platform | None = None,
        statements: Statements | None = None,
    ) -> None:
        self.statements = Statements(()) if statements is None else statements
        self.catalog = Catalog(major, database, database_known=database != Config().database)
        self.session = Session(self.catalog, complete=complete, platform=platform)
        self.major = major
        self.diagnostics: list[Diagnostic] = []
        self._refused_writes = RefusedWrites(self.session)
        self._history: History | None = None
        self._refused_now: list[tuple[Refusal, Place]] = []
        self.repeats: list[tuple[int, Place, str]] = []
        """Findings that point at what was said before, by their number: the place, and what is to be said of it."""
        self._rewritings = 0
        self._keys: Keys = {}
        self.called: set[int] = set()
        """Functions whose bodies were run."""
        self.told_not_seen: set[int] = set()
        """Sources of which it was said that a statement about a publication is not seen."""
        self._missing: list[tuple[int, str, str, int, str]] = []
        """Notes that a relation is not created, by their number: what they say, and its kind, namespace and name."""

    def apply(self, statement: StatementText, source: int, name: str, node: Node, *, filled: bool = False) -> None:
        """Do one statement. ``source`` numbers the unit's sources.

        ``filled``: a placeholder in it was filled in, or whether it runs is not known.
        """
        if name in _CALLING and (name == "DoStmt" or self.catalog.routines):
            # Loaded only where there are DO blocks, or calls of functions whose bodies may matter.
            from pubcheck.postgres.plpgsql.routines import calls

            if name == "DoStmt" or calls(self.session, node):
                from pubcheck.inside import Inside

                Inside(self, statement, source, filled=filled).run(name, node)
                return
        if name in WRITING and self._refused_writes and not filled:
            self.stopped.judge(statement, source, name, node)
        session, journal = self.session, self.catalog.journal
        session.begin_statement(source, statement.index, statement.text)
        session.assumed = filled
        mark = journal.mark() if session.transaction is not None else 0
        if not mark:
            journal.entries.clear()
        journal.undone.clear()
        try:
            apply(session, name, node)
            if name == "CreateFunctionStmt" and self.catalog.routines and "publication" in statement.text.lower():
                from pubcheck.inside import check_body

                check_body(self, statement)
        except ServerError as error:
            journal.undo(mark)
            session.forget_path()
            if error.rule is not None:
                self.refuse(statement, error)
                if session.assumed:
                    self.perhaps(name, node)
            return
        except RecursionError:
            journal.undo(mark)
            session.forget_path()
            raise TooDeep from None
        if filled:
            self.doubt_changes(journal.entries[mark:])
        if session.unseen:
            self.tell_unseen(statement, session.unseen)
        if name in WITH_FILTERS:
            self.tell_filters(statement, journal.entries[mark:])
            self.doubt_publication(name, node, journal.entries[mark:])
        if self._history is not None or self.catalog.publications or self.catalog.subscriptions:
            self.follow(name, node, source, statement.index, journal.entries[mark:], journal.undone)

    @cached_property
    def stopped(self) -> Stopped:
        """The statements that are refused because of what they write; loaded when one may be."""
        from pubcheck.checks.stopped import Stopped

        return Stopped(self.session, self._refused_writes)

    @property
    def refuses_writes(self) -> bool:
        """Whether any write is refused as things stand."""
        return bool(self._refused_writes)

    def pass_over(self, source: Source, number: int, item: Statement, *, perhaps: bool) -> None:
        """A statement that changes no catalog, but for the functions that it calls: they are not followed.

        ``perhaps``: whether it runs at all is not known.
        """
        if item.keyword in _MAY_WRITE and not perhaps and (self._refused_writes or item.keyword in _PREPARING):
            self.stopped.passed_over(source, number, item)
        if not self.catalog.routines or item.keyword not in _MAY_CALL:
            return
        if item.keyword == "explain" and not _ANALYZES.search(item.text):
            return
        # Loaded only where there are functions whose bodies may matter.
        from pubcheck.inside import Inside
        from pubcheck.postgres.plpgsql.routines import called_in

        for routine in called_in(self.catalog, item.text):
            statement = StatementText(source, item.index, item.start, item.text)
            Inside(self, statement, number).unfollowed(None, routine.body.text)

    def follow(
        self, name: str, node: Node, source: int, number: int, changes: list[Change], undone: list[Change]
    ) -> None:
        """Take in what a statement changed, and what it took back, for what is said of the unit's history."""
        if self._history is not None or self.catalog.publications or self.catalog.subscriptions:
            self._remember(name, node, changes)
            self._refused_writes.follow(source, number, itertools.chain(changes, undone))

    def follow_back(self, source: int, number: int, undone: list[Change]) -> None:
        """Take in that statements that were followed never happened."""
        self._refused_writes.follow(source, number, undone)

    def connect(self, statement: StatementText, source: int, user: str) -> None:
        """A connection of its own for what follows, after this statement."""
        self.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_ROLLBACK"})
        self.apply(statement, source, "Connect", {"user": user})

    def beside(self, database: str) -> Fold:
        """Another database of the same server, with nothing in it."""
        session = self.session
        return Fold(
            self.major,
            complete=session.complete,
            database=database,
            platform=session.platform,
            statements=self.statements,
        )

    def share(self, other: Fold) -> None:
        """Take over what all databases of a server have in common."""
        self.catalog.share_roles(other.catalog)
        self.session.defaults = other.session.defaults

    def perhaps(self, name: str, node: Node) -> None:
        """A statement whose refusal is only assumed: what it would have made may be there after all."""
        if name == "AlterTableStmt":
            self.session.blind = True
        elif name == "CreatePublicationStmt":
            self.session.doubted.add(node["pubname"])

    def doubt(self, source: int) -> None:
        """What a source made is there by assumption: it may not be meant for this database."""
        relations = self.catalog.relations
        for oid, row in [*relations.items()]:
            if row.seen and row.place is not None and row.place.source == source:
                relations[oid] = replace(row, seen=False)

    def doubt_changes(self, changes: list[tuple[dict[Any, Any], Any, Any]]) -> None:
        """What a statement with a filled-in placeholder made is there by assumption."""
        for heap, key, former in changes:
            row = heap.get(key)
            if former is row or (key in heap and row == former):
                continue
            if isinstance(row, Relation):
                if not (isinstance(former, Relation) and _wider(former, row)):
                    self.unsee(heap, key)
            elif isinstance(row, Publication | Type):
                self.unsee(heap, key)
            other = row if row is not None else former
            if isinstance(other, PublicationRel | PublicationNamespace):
                self.unsee(self.catalog.publications, other.publication)
            elif isinstance(other, Index):
                self.unsee(self.catalog.relations, other.table)
            elif isinstance(other, Constraint) and other.kind in "pux":
                self.unsee(self.catalog.relations, other.relation)

    def unsee(self, heap: dict[Any, Any], key: Any) -> None:
        row = heap.get(key)
        if row is not None and row.seen:
            self.catalog.journal.entries.append((heap, key, row))
            heap[key] = replace(row, seen=False)

    def doubt_publication(self, name: str, node: Node, changes: list[tuple[dict[Any, Any], Any, Any]]) -> None:
        """What CREATE or ALTER PUBLICATION did, where it names something that is not visible: without that, nothing.

        Of an ALTER that names one thing there is nothing else to doubt.
        """
        if not self.session.assumed or (name == "AlterPublicationStmt" and len(node.get("pubobjects", ())) < 2):
            return
        for heap, key, _ in changes:
            row = heap.get(key)
            if isinstance(row, PublicationRel | PublicationNamespace):
                self.unsee(self.catalog.publications, row.publication)
            elif isinstance(row, Publication):
                self.unsee(heap, key)

    # Findings about the statement at hand.

    def refuse(self, statement: StatementText, error: ServerError) -> None:
        rule = rule_for_spec(error.rule or "", error.sqlstate)
        certainty: Certainty = "assumed" if self.session.assumed else "certain"
        told = self._told(error)
        if told is None:
            message, help_text = explain(error)
            if error.sqlstate == _DUPLICATE:
                # Loaded only where something is said twice.
                from pubcheck.checks.chain.earlier import said_before

                before = said_before(self.session, error)
                if before is not None:
                    self.repeats.append((len(self.diagnostics), *before))
            mended = self._mended(rule, statement, error, certain=certainty == "certain")
            self.report(rule, rule.severity, certainty, message, help_text, statement, error, fixes=mended)
            return
        span = statement.span(told.start, told.end)
        fixes = () if told.title else self._mended(rule, statement, error, certain=certainty == "certain")
        if told.title:
            end = statement.offset(told.edit_end, end=True)
            edited = Span(statement.source, statement.offset(told.edit_start), end)
            applicability: Applicability = "safe" if told.safe and certainty == "certain" else "unsafe"
            view = statement.source.view
            in_string = bool(statement.embedded) and "'" in told.text
            if statement.edits or in_string or (view is not None and view.quoted):
                applicability = "display"  # what stands there is not SQL letter by letter
            fixes = (Fix(told.title, applicability, (Edit(edited, told.text),)),)
        self.report(rule, rule.severity, certainty, told.headline, told.help, statement, error, (), span, fixes)

    def _mended(self, rule: Rule, statement: StatementText, error: ServerError, *, certain: bool) -> tuple[Fix, ...]:
        """How to write the statement at hand so that it is not refused, where that is known."""
        self._rewritings += rule.fix
        if not rule.fix or self._rewritings > _MAX_REWRITINGS:
            return ()
        # Loaded only where a statement is refused that can be mended.
        from pubcheck import edits
        from pubcheck.checks.mending import mend

        mending = mend(rule.name, self.session, error, utf8(statement.text).data)
        return () if mending is None else (edits.mended(statement, mending, certain=certain),)

    def _told(self, error: ServerError) -> Told | None:
        """Of a refused filter, what of it is refused and how else to write it."""
        if error.evidence is None:
            return None
        # Loaded only where a filter is refused.
        from pubcheck.checks.filters import tell

        self._rewritings += 1
        return tell(error, with_rewriting=self._rewritings <= _MAX_REWRITINGS)

    def tell_filters(self, statement: StatementText, changes: Iterable[tuple[dict[Any, Any], Any, Any]]) -> None:
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

    def tell_unseen(self, statement: StatementText, errors: list[ServerError]) -> None:
        """One note for all names of a statement that are not visible, with the server's answer for the first."""
        first = errors[0]
        rule = rule_for_spec(first.rule or "")
        message, help_text = explain_unseen(first, [error.message for error in errors[1:]])
        related = tuple(
            statement.span(error.culprit, message=error.message) for error in errors[1:] if error.culprit is not None
        )
        if first.missing and not errors[1:]:
            self._missing.append((len(self.diagnostics), message, *first.missing))
        self.report(rule, "note", "assumed", message, help_text, statement, first, related)

    def report(
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

    def rehearse(self) -> None:
        """Judge what stands in functions that nothing called: they may be some day."""
        if any(routine.about for routine in self.catalog.routines.values()):
            from pubcheck.inside import rehearse

            rehearse(self)

    def _tell_later(self, statements: Statements) -> None:
        """Of relations that were not created where they were named, and are later: where."""
        catalog = self.catalog
        for number, message, kind, namespace, name in self._missing:
            oid = catalog.relation_names.get((namespace, name)) if kind == RELATION else None
            place = catalog.relations[oid].place if oid is not None else None
            if place is None or number >= len(self.diagnostics) or self.diagnostics[number].message != message:
                continue
            span = statements[place.source, place.statement].span(place.start, place.end, "created here")
            here = self.diagnostics[number].span.source
            line = span.source.text.count("\n", 0, span.start) + 1
            where = f"on line {line}" if span.source is here else f"in {span.source.label}, line {line}"
            self.diagnostics[number] = replace(
                self.diagnostics[number],
                message=f"{message.removesuffix(NOT_CREATED)} is created only later, {where}",
                help="create it before this statement",
                related=(span,),
            )

    def writes(self, statements: Statements) -> None:
        """Report what is refused in the final state; ``statements`` are all of the unit, by source and index."""
        self._tell_later(statements)
        for number, place, message in self.repeats:
            related = statements[place.source, place.statement].span(place.start, place.end, message)
            self.diagnostics[number] = replace(self.diagnostics[number], related=(related,))
        self._refused_now = list(self._refused_writes.refused())
        for found, place in self._refused_now:
            self._write(found, place, statements)
        if "stopped" in self.__dict__:
            self.diagnostics.extend(self.stopped.mended(statements))

    def _write(self, found: Refusal, place: Place, statements: Statements) -> None:
        # Loaded only where a write is refused.
        from pubcheck.checks import texts
        from pubcheck.checks.ways import ways_out

        catalog = self.catalog
        rule = rule_for_spec(found.rule)
        relation = catalog.relations[found.relation]
        statement = statements[place.source, place.statement]
        ways = ways_out(self.session, found, partial(self._written, statements), self._keys)
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase="write",
                severity=rule.severity,
                certainty="certain" if found.certain and not self.session.healed else "assumed",
                postgres=(self.major,),
                message=texts.headline(catalog, found),
                help=texts.help_text(self.session, found, ways),
                span=statement.span(place.start, place.end),
                related=(*self._related(found, relation, place, statements), *self._stopped_by(found, place)),
                statement=statement.ref(),
                object=self.session.qualified(relation),
                publications=tuple(catalog.publications[oid].name for oid in found.publications),
                operation=found.operation,
                server=found.server,
                fixes=self._way_out(found, ways, statements),
            )
        )

    def _stopped_by(self, found: Refusal, place: Place) -> tuple[Span, ...]:
        """The statements of the unit that a refusal has stopped already."""
        return self.stopped.still(found, place) if "stopped" in self.__dict__ else ()

    def _way_out(self, found: Refusal, ways: Sequence[Way], statements: Statements) -> tuple[Fix, ...]:
        """A wider column list where it stands, or else another replica identity after the last statement of the unit.

        Whether a table should get another column, or send less, is for people to say.
        """
        session = self.session
        if not found.certain or session.healed:
            return ()
        from pubcheck import edits

        if found.rule == "ri-column-list" and found.entry is not None and any(way.lists for way in ways):
            from pubcheck.checks.mending import widened

            statement = statements[found.entry.place.source, found.entry.place.statement]
            mending = widened(self.catalog, found, utf8(statement.text).data)
            if mending is not None:
                return (edits.mended(statement, mending, certain=True),)
        plain = session.setting("search_path") == DEFAULT_PATH and session.superuser() and session.transaction is None
        way = next((way for way in ways if all(map(_of_identity, way.statements))), None)
        fix = edits.appended(statements, way.statements) if plain and way is not None else None
        return () if fix is None else (fix,)

    def _written(self, statements: Statements, entry: PublicationRel) -> str | None:
        from pubcheck.checks.ways import written_filter

        statement = statements[entry.place.source, entry.place.statement]
        return written_filter(utf8(statement.text).data, entry, self.catalog.relations[entry.relation])

    def _related(self, found: Refusal, relation: Relation, place: Place, statements: Statements) -> Iterable[Span]:
        """The other side of the matter: the table with its key, and the publication where it is said elsewhere."""
        table = relation.place
        if table is not None and table != place:
            from pubcheck.checks import texts

            message = texts.identity_text(self.catalog, found.relation)
            yield statements[table.source, table.statement].span(table.start, table.end, message)
        entry = found.place or self._published_at(found)
        if entry is not None and (entry.source, entry.statement) != (place.source, place.statement):
            name = self.catalog.publications[found.publications[0]].name
            yield statements[entry.source, entry.statement].span(entry.start, entry.end, f'publication "{name}"')

    def _published_at(self, found: Refusal) -> Place | None:
        """Where the first publication at fault names the table, an ancestor or their schema, or else its own name."""
        if found.entry is not None:
            return found.entry.place
        catalog, publication = self.catalog, found.publications[0]
        for oid in (found.relation, *catalog.ancestors(found.relation)):
            if (publication, oid) in catalog.members:
                return catalog.publication_rels[catalog.members[publication, oid]].place
            schema = (publication, catalog.relations[oid].namespace)
            if schema in catalog.schema_members:
                return catalog.publication_namespaces[catalog.schema_members[schema]].place
        return catalog.publications[publication].place

    # What is lost in silence, and what fails for subscribers.

    def _remember(self, name: str, node: Node, changes: list[tuple[dict[Any, Any], Any, Any]]) -> None:
        if self._history is None:
            # Loaded only where there are publications or subscriptions.
            from pubcheck.checks.later import History

            self._history = History(self.session)
        self._history.follow(name, node, changes)

    def afterwards(self, statements: Statements, wanted: frozenset[str]) -> None:
        """Report what the rules of these codes find in the final state and the history that led to it."""
        if self._history is None:
            return
        from pubcheck.checks.findings import Ground
        from pubcheck.checks.silent import afterwards

        ground = Ground(self.session, self._history, self._refused_now, statements.sources)
        for finding in afterwards(ground, wanted):
            self._found(finding, statements)

    def _found(self, finding: Finding, statements: Statements) -> None:
        rule, place = by_name(finding.rule), finding.place
        statement = statements[place.source, place.statement]
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase=rule.phase,
                severity=finding.severity or rule.severity,
                certainty="certain" if finding.certain else "assumed",
                postgres=(self.major,),
                message=finding.message,
                help=finding.help,
                span=statement.span(place.start, place.end),
                related=tuple(
                    statements[there.source, there.statement].span(there.start, there.end, message)
                    for there, message in finding.related
                ),
                statement=statement.ref(),
                object=finding.object,
                publications=finding.publications,
                operation=finding.operation,
                server=finding.server,
                notices=finding.notices,
                also=finding.also,
            )
        )
