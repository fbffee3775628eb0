"""The engine: a unit in, its diagnostics out. Opens no file, prints nothing, knows no driver."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.anew import Made, in_any_order
from pubcheck.config import Config
from pubcheck.diagnostics import Certainty, Diagnostic, ServerAnswer, Severity, Span, StatementRef
from pubcheck.fold import Fold
from pubcheck.fold.doubts import doubt_source
from pubcheck.platform import Platform
from pubcheck.postgres.ddl.names import NAME_BYTES, truncate
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.scan import tokens
from pubcheck.postgres.session import wording
from pubcheck.postgres.versions import DEFAULT_MAJOR, MAJORS, nearest
from pubcheck.rulebook import by_name, rule_for_spec, selected
from pubcheck.sources.statements import PsqlCommand, Splitter, Statement
from pubcheck.sources.text import Source
from pubcheck.statements import Statements, StatementText

if TYPE_CHECKING:
    from pubcheck.sources.psql import Branches, Connection


MARK = "pubcheck:"
"""What comments begin with that are for pubcheck, in any case."""


def marked(text: str) -> bool:
    """Whether a text may hold such comments."""
    return any(mark in text for mark in (MARK, "PUBCHECK:", "Pubcheck:", "PubCheck:"))


class Unit(Struct, frozen=True):
    """The ordered sources that together build one database."""

    sources: tuple[Source, ...]
    postgres: tuple[int, ...] = ()
    """The majors to judge it for, empty for those of the configuration."""
    habit: str = ""
    """The habit by which it was found, which may say what platform is below it: `supabase`."""
    remarks: tuple[Diagnostic, ...] = ()
    """What is to be said of reading its files; reported with what is found in them."""


class Result(Struct, frozen=True):
    """What was found in a unit: diagnostics in the order of design section 5, the majors judged, statements counted,
    and these in each source."""

    diagnostics: tuple[Diagnostic, ...]
    postgres: tuple[int, ...]
    statements: int
    counts: tuple[int, ...] = ()


class Linter:
    """Lints units under one configuration; keeps no state between units."""

    def __init__(self, config: Config = Config()) -> None:
        self.config = config

    def lint(self, unit: Unit) -> Result:
        """Judge a unit for every major asked for. Never raises for what its sources hold."""
        return _Run(self.config, unit, idle=self._idle(unit)).result()

    def _idle(self, unit: Unit) -> bool:
        if self.config.variables or sum(len(source.text) for source in unit.sources) > _SMALL:
            return False
        return not any(map(_about_replication, unit.sources))

    def follow(self, unit: Unit) -> Followed:
        """As ``lint``, and what the judgement rests on: the final state of each major."""
        run = _Run(self.config, unit)
        result = run.result()
        return Followed(result, tuple(run.folds), run.statements, run.found)


_SMALL = 1 << 20
"""Characters up to which a unit that speaks of no replication is only read, as most in a tree of thousands of files.
What a large schema costs does not double with its first publication."""


class Followed(Struct, frozen=True):
    """A unit followed to its end: what was found, one fold a major in the order of ``result.postgres``.

    ``found`` is what the selected rules say, that too which comments and the configuration keep out of the result.
    """

    result: Result
    folds: tuple[Fold, ...]
    statements: Statements
    found: tuple[Diagnostic, ...]


# First words of statements that change no catalog kept here. Their syntax is not ours to judge and they are not parsed;
# no word inside a statement is ever looked for.
_PASSED_OVER = frozenset(
    [
        "analyse",
        "analyze",
        "checkpoint",
        "close",
        "cluster",
        "comment",
        "copy",
        "deallocate",
        "declare",
        "delete",
        "execute",
        "explain",
        "fetch",
        "insert",
        "listen",
        "load",
        "lock",
        "merge",
        "move",
        "notify",
        "prepare",
        "refresh",
        "reindex",
        "security",
        "show",
        "table",
        "truncate",
        "unlisten",
        "update",
        "vacuum",
        "values",
        "with",
    ]
)
_DUMP_HEADER = re.compile(r"^-- Dumped from database version (\d+)", re.MULTILINE)
_HEADER_LENGTH = 2000
# Templates and placeholders: what stands there when the text is run is not known.
_PLACEHOLDER = re.compile(r"\{\{|\$\{|#\{|<%|%\(|%[sIqL]\b|@\w+@|:\w|:[\"']")
_NAMES = re.compile(r"\$?[{%#<]+[^\"]*?[}>]+|%\w|\w+")
"""Names in what is said of them, and placeholders within quotes."""
_OF_OPTIONS = "PUB12"
_MISSING = ("PUB106", "PUB107")
_LIST_ERRORS = {
    "invalid publication object list": "bad-object-list",
    "invalid table name": "continuation-kind",
    "invalid schema name": "continuation-kind",
    "WHERE clause not allowed for schema": "continuation-kind",
    "column specification not allowed for schema": "continuation-kind",
}
_LIST_DETAIL = "One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name."


_JUDGED = ("publication", "subscription", "replica", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")
"""What every statement that is judged speaks of, or one before it: no index may hold a system column either."""


def _about_replication(source: Source) -> bool:
    """Whether there may be anything to judge."""
    text = source.text.lower()
    return any(word in text for word in _JUDGED)


class _Run:
    """One unit under one configuration: every statement parsed once, folded once a major. ``idle``: there is nothing to
    judge, so statements are only read."""

    def __init__(self, config: Config, unit: Unit, *, idle: bool = False) -> None:
        self.config, self.unit = config, unit
        self.diagnostics: list[Diagnostic] = [*unit.remarks]
        self.found: tuple[Diagnostic, ...] = ()
        self.majors = unit.postgres or config.postgres or self._major_of_dump() or (DEFAULT_MAJOR,)
        platform = Platform(config, unit.habit)
        self.statements = Statements(unit.sources)
        self.folds = [
            Fold(
                major,
                complete=config.complete,
                database=config.database,
                platform=platform,
                statements=self.statements,
            )
            for major in self.majors
        ]
        self.idle = idle
        self.database = "", config.database
        """The server ("" for that which everything begins with) and the name of the database at hand."""
        self.databases: dict[tuple[str, str], list[Fold]] = {}
        """The databases that psql's \\connect led away from."""
        self.foreign: bool | None = None
        """Whether the source at hand is another database's; None until a statement of it is refused."""
        self.made: Made | None = None
        """What a program has made so far, if the source at hand is one."""
        self.stand_ins: set[str] = set()
        """Names that were put in the place of what is not known: nothing is said of what they name."""
        self.programs = False
        """Whether it was said that statements stand in programs: once is enough."""
        self.templates: set[int] = set()
        """Sources of which it was said that something with a placeholder cannot be read."""
        self.unknown: set[StatementRef] = set()
        """Statements with such names."""
        self.variables: dict[StatementRef | None, frozenset[str]] = {}
        """By the statement, what stands for psql's variables in it: nobody knows whether that is there."""
        self.not_seen: set[str] = set()
        """Labels of sources of which it was said that part of them is not seen: once is enough."""
        self.called: set[str] = set()
        """What calls of programs name: they may have made it."""

    def _major_of_dump(self) -> tuple[int, ...]:
        """The major that a pg_dump header names; another than the supported ones is judged as the nearest."""
        for source in self.unit.sources:
            header = _DUMP_HEADER.search(source.text, 0, _HEADER_LENGTH)
            if header is None:
                continue
            number = int(header[1])
            major = nearest(number)
            if major != number:
                self._note(
                    "dump-of-another-major",
                    "certain",
                    f"a dump of PostgreSQL {number} is judged as PostgreSQL {major}",
                    f"majors that can be judged: {', '.join(map(str, MAJORS))}; choose one with --postgres",
                    Span(source, header.start(), header.end()),
                    None,
                    majors=(major,),
                )
            return (major,)
        return ()

    def result(self) -> Result:
        # What runs at no known time is followed last: what it does is assumed, and shall not put the rest in doubt.
        for number, source in sorted(enumerate(self.unit.sources), key=lambda each: in_any_order(each[1])):
            self._source(number, source)
        reported = selected(self.config.select, self.config.ignore, self.config.extend_select)
        self.databases[self.database] = self.folds
        for fold in itertools.chain.from_iterable(self.databases.values()):
            fold.end(reported)
            self.diagnostics.extend(fold.diagnostics)
        if self.stand_ins or self.called or self.variables:
            self.diagnostics = [found for found in self.diagnostics if not self._of_a_stand_in(found)]
        found = (each for each in _merged(self.diagnostics) if each.rule in reported)
        self.found = tuple(sorted(found, key=Diagnostic.sort_key))
        counts = tuple(len(self.statements.bounds(number)[0]) for number in range(len(self.unit.sources)))
        return Result(self._reported(), tuple(self.majors), sum(counts), counts)

    def _reported(self) -> tuple[Diagnostic, ...]:
        """What is left of what was found when comments and the configuration have had their say."""
        config, sources = self.config, self.unit.sources
        if not config.per_file_ignores and not config.severity and not any(marked(each.shown) for each in sources):
            return self.found
        # Loaded only where there is something to leave out.
        from pubcheck.suppress import settle

        chosen = settle(self.found, sources, self.statements, config, tuple(self.majors))
        return tuple(sorted(chosen, key=Diagnostic.sort_key))

    def _stand_in(self, statement: StatementText, item: Statement) -> bool:
        """Take note of the names in a statement that stand for what is not known; whether there are any."""
        # As they are in what is said: in lower case, and no longer than a name may be.
        names = {name.lower()[:NAME_BYTES] for name in item.stand_ins()}
        if names:
            self.stand_ins |= names
            self.unknown.add(statement.ref())
        if item.variables:
            self.variables[statement.ref()] = frozenset(name[:NAME_BYTES] for name in item.variable_names())
        return bool(names or item.variables)

    def _of_a_stand_in(self, found: Diagnostic) -> bool:
        """Whether something is said of what stands for something unknown: of its name, or as the value of an option."""
        if found.certainty == "certain":
            return False
        if found.rule.startswith(_OF_OPTIONS) and found.statement in self.unknown:
            return True
        said = f"{found.message} {found.server.message if found.server is not None else ''} {found.object}"
        names = _NAMES.findall(said.lower())
        if found.rule in _MISSING:
            unseen = self.variables.get(found.statement, frozenset()) | self.called
            return not (unseen | self.stand_ins).isdisjoint(names)
        return not self.stand_ins.isdisjoint(names)

    def _source(self, number: int, source: Source) -> None:
        variables = dict(self.config.variables)
        splitter = Splitter(source, variables)
        put = self.statements.put
        branches: Branches | None = None
        before, database = StatementText(source, 0, 0, ""), self.database
        self._begin(source)
        named = list(reversed(source.view.named)) if source.view is not None else []
        if in_any_order(source):
            self.made = Made()
            self._transaction(before, number, "TRANS_STMT_BEGIN")
        for item in splitter:
            if isinstance(item, PsqlCommand):
                if branches is None:
                    # Loaded only for scripts of psql.
                    from pubcheck.sources.psql import Branches, assign

                    branches = Branches()
                if branches.follow(item, variables) or branches.runs is False:
                    continue
                if not assign(item, variables, before.text, runs=branches.runs):
                    self._command(number, item, before, variables)
                continue
            put(number, item.index, item.start, item.end)
            runs = branches is None or branches.runs
            if runs is False:
                continue
            if named and named[-1][0] < item.start:
                self._call(source, named, item.start)
            if item.keyword not in _PASSED_OVER or _judged_all_the_same(item) or item.restartable():
                before = StatementText(source, item.index, item.start, item.text)
                if item.edits:
                    before = replace(before, text=item.sent(), edits=item.edits)
                    self.statements.keep(number, before)
                self._statement(number, before, item, splitter, perhaps=runs is None)
                if self.foreign:
                    return
            else:
                if branches is not None:
                    before = StatementText(source, item.index, item.start, item.text)
                for fold in self.folds:
                    fold.pass_over(source, number, item, perhaps=runs is None)
        if named:
            self._call(source, named, len(source.text))
        if self.made is not None:
            self._transaction(before, number, "TRANS_STMT_COMMIT")
            self.made = None
        if database != self.database and source.view is not None and source.view.quoted:
            # Where a script of the shell leaves off is no other file's business.
            from pubcheck.sources.psql import Connection

            self._connect(number, before, Connection(database[1], "", database[0]))

    def _call(self, source: Source, named: list[tuple[int, str]], end: int) -> None:
        """What a program's calls before ``end`` do to the tables that they name, is not known; takes them off the end
        of ``named``."""
        while named and named[-1][0] < end:
            name = named.pop()[1]
            self.called.add(name.lower().rpartition(".")[2])
            if in_any_order(source):
                continue
            quoted = ".".join(f'"{part}"' for part in name.split("."))
            for fold in self.folds:
                row = fold.session.regclass(quoted)
                if row is None:
                    fold.session.blind = fold.session.blind or self.config.complete
                elif row.seen:
                    fold.catalog.relations.put(row.oid, replace(row, seen=False))

    def _transaction(self, before: StatementText, source: int, kind: str) -> None:
        for fold in self.folds:
            fold.apply(before, source, "TransactionStmt", {"kind": kind, "pretended": True})

    def _begin(self, source: Source) -> None:
        """What is to be said of how the source became SQL."""
        self.foreign = None
        for note in source.view.notes if source.view is not None else ():
            if note.rule == "statements-of-a-program":
                if self.programs:
                    continue
                self.programs = True
            self._note(note.rule, "certain", note.message, note.help, Span(source, note.start, note.end), None)
            if note.rule in ("publication-not-seen", "git-lfs-pointer"):
                self._hidden(None)
                self.not_seen.add(source.label)

    def _command(self, source: int, command: PsqlCommand, before: StatementText, variables: Mapping[str, str]) -> None:
        """A command of psql that makes statements run that are not in the text, or elsewhere; ``before`` it stood."""
        from pubcheck.sources.psql import HOME, connection, included, words

        wanted, path = connection(command, variables), included(command, variables)
        if wanted is not None:
            if wanted.database == HOME:
                wanted = replace(wanted, database=self.config.database, server="")
            self._connect(source, before, wanted)
        elif words(command)[0] == "gexec":
            self._hidden(wording(before.text))
        elif path is not None and not any(_same_file(path, one.label) for one in self.unit.sources):
            self._hidden(None)
            if not self.idle:
                self._not_seen(
                    Span(before.source, command.start, command.end),
                    None,
                    "this runs a file that is not among those that were read",
                    "lint it together with this one: what it changes is not followed",
                )

    def _connect(self, source: int, before: StatementText, wanted: Connection) -> None:
        server, name = self.database
        database = server if wanted.server is None else wanted.server, wanted.database or name
        if database != self.database:
            self.databases.pop(self.database, None)
            self.databases[self.database] = self.folds
            others = self.databases.get(database) or [fold.beside(database[1]) for fold in self.folds]
            beside = self.folds
            if database[0] != server:
                # What databases of a server share is that of the one that was there last.
                of_server = [folds for (where, _), folds in self.databases.items() if where == database[0]]
                beside = of_server[-1] if of_server else others
            for fold, other, sharing in zip(self.folds, others, beside, strict=True):
                if sharing is not other:
                    other.share(sharing)
                # A variable, the first name that is said, or another server may be what was met before.
                unknown = database[1].startswith(":") or name == Config().database or database[0] != server
                other.session.blind = other.session.blind or (unknown and fold.catalog.holds_something())
            self.database, self.folds = database, others
        for fold in self.folds:
            fold.connect(before, source, wanted.user)

    def _statement(
        self, source: int, statement: StatementText, item: Statement, splitter: Splitter, *, perhaps: bool
    ) -> None:
        """``perhaps``: whether it runs at all is not known."""
        unsure = perhaps or item.perhaps or bool(item.placeholders)
        try:
            try:
                parsed = parse(statement.text if item.edits else item.sql)
            except SyntaxRefused:
                if item.keyword in _PASSED_OVER:
                    raise
                unsure, parsed = True, self._guessed(item)
                if parsed is None:
                    raise
        except TooDeep:
            self._too_deep(statement)
            return
        except SyntaxRefused as refusal:
            self._unparsed(source, statement, item, splitter, refusal, perhaps)
            return
        if parsed is None or self.idle:
            return
        name, node = parsed
        if name in _PUBLICATION_NODES and not item.placeholders and not item.variables:
            self._long_names(statement)
        if unsure:
            # What it changes is doubted where it changes it. Only of what it names by a stand-in that is not known.
            unknown = self._stand_in(statement, item)
            self._hidden(item.text if unknown and name != "CreateStmt" else "")
            if unknown and name in _PUBLICATION_NODES and not in_any_order(statement.source):
                self._not_seen(
                    statement.span(0),
                    statement,
                    "part of this statement about a publication is only known at run time",
                    "of what stands for it nothing is said",
                )
        if self.made is not None:
            if name == "TransactionStmt":
                return
            if self.made.again(name, node):
                self._transaction(statement, source, "TRANS_STMT_ROLLBACK")
                self._transaction(statement, source, "TRANS_STMT_BEGIN")
        try:
            for fold in self.folds:
                fold.apply(statement, source, name, node, filled=unsure)
        except TooDeep:
            self._too_deep(statement)

    def _guessed(self, item: Statement) -> tuple[str, Node] | None:
        """A refused statement with something in the place of what is not known in it, if the grammar then takes it."""
        for text in item.filled():
            try:
                return parse(text)
            except SyntaxRefused:
                continue
        return None

    def _too_deep(self, statement: StatementText) -> None:
        self._hidden(statement.text)
        self._note(
            "statement-too-deep",
            "assumed",
            "this statement is nested too deeply to be judged",
            "it was passed over; what it makes is taken as not visible",
            statement.span(0),
            statement,
        )

    # Statements that the grammar refuses.

    def _unparsed(
        self,
        source: int,
        statement: StatementText,
        item: Statement,
        splitter: Splitter,
        refusal: SyntaxRefused,
        perhaps: bool,
    ) -> None:
        rest = splitter.recover(item)
        if rest is not None:
            self.statements.put(source, item.index, rest.start, rest.end)
        if _about_publications(statement.text):
            view = statement.source.view
            # A string may hold no more than the beginning of a statement.
            cut = refusal.location is None and view is not None and view.quoted
            if item.placeholders or cut:
                self._hidden(statement.text)
                self._not_seen(
                    statement.span(0),
                    statement,
                    "this statement about a publication cannot be read: part of it is only known at run time",
                    "what it changes is not followed",
                )
            else:
                unsure = perhaps or item.perhaps or bool(item.variables)
                self._syntax_error(statement, refusal, "assumed" if unsure else "certain")
            return
        skipped = item.text if rest is None else rest.text
        if _PLACEHOLDER.search(skipped) or item.placeholders:
            self._hidden(skipped)
        view = statement.source.view
        if view is not None and view.quoted:
            self._hidden(skipped)  # a string that only begins like a statement, or one for another database
            return
        if self.foreign is None and self._of_another_database(source, statement.source):
            return
        if item.placeholders:
            if source in self.templates:
                return
            self.templates.add(source)
        shown = statement if rest is None else self.statements[source, item.index]
        name = "statement-not-parsed" if rest is None else "text-skipped"
        message = (
            "this statement is not PostgreSQL and was passed over"
            if rest is None
            else "this text is not PostgreSQL and was skipped; reading goes on at the next line that begins a statement"
        )
        at = refusal.location
        place = (
            Span(statement.source, statement.place(at), max(statement.place(at), statement.place(at + 1, end=True)))
            if at is not None
            else None
        )
        self._note(
            name,
            "assumed",
            message,
            None,
            shown.span(0),
            shown,
            related=(replace(place, message=refusal.message),) if place is not None and rest is None else (),
        )

    def _of_another_database(self, number: int, source: Source) -> bool:
        """Whether a source with a refused statement is written for another database; it is then said, once."""
        # Loaded only where a statement is refused.
        from pubcheck.checks.foreign import foreign

        found = foreign(source)
        self.foreign = found is not None
        if found is None:
            return False
        name, at = found
        self._note(
            "other-dialect",
            "certain",
            f"this file is written for {name}, not for PostgreSQL, and was passed over"
            if name
            else "hardly a statement of this file is PostgreSQL, and it was passed over",
            "exclude it in the configuration",
            Span(source, at, at + 1),
            None,
        )
        for fold in self.folds:
            doubt_source(fold.catalog, number)
        return True

    def _not_seen(self, span: Span, statement: StatementText | None, message: str, help_text: str) -> None:
        """Something that may change publications and is not seen, or only in part; said once a file."""
        if span.source.label not in self.not_seen:
            self.not_seen.add(span.source.label)
            self._note("publication-not-seen", "assumed", message, help_text, span, statement)

    def _syntax_error(self, statement: StatementText, refusal: SyntaxRefused, certainty: Certainty) -> None:
        # Loaded only where a statement about publications is refused.
        from pubcheck import edits
        from pubcheck.checks.corrections import correction
        from pubcheck.checks.syntax import syntax_help

        message = refusal.message
        spec, detail = spec_of_syntax_error(message)
        rule = rule_for_spec(spec)
        at = refusal.location
        text = statement.text
        if at is None:
            end = statement.place(len(text), end=True)
            span = Span(statement.source, max(statement.start, end - 1), end)
        else:
            span = statement.span(len(text[:at].encode(errors="surrogatepass")))
        position = None if at is None else at + 1
        if at is None and "end of input" in message:
            position = len(text) + 1
        meant = correction(text)
        fixes = (edits.mended(statement, meant, certain=certainty == "certain"),) if meant is not None else ()
        self.diagnostics.extend(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase="ddl",
                severity=rule.severity,
                certainty=certainty,
                postgres=majors,
                message=f"PostgreSQL cannot read this statement: {said}",
                help=syntax_help(text),
                span=span,
                statement=statement.ref(),
                server=ServerAnswer(
                    refusal.sqlstate,
                    said,
                    detail,
                    refusal.hint,
                    position=position,
                ),
                fixes=fixes,
            )
            for said, majors in _wordings(message, self.majors)
        )

    # Notes.

    def _hidden(self, text: str | None) -> None:
        """What was run is not followed: missing names may exist; ``text`` is what is known of it, None for nothing."""
        for fold in self.folds:
            fold.session.unfollowed(text)

    def _long_names(self, statement: StatementText) -> None:
        """Identifiers longer than NAMEDATALEN are cut, with a NOTICE that scripts do not show."""
        if len(statement.text) <= NAME_BYTES:
            return
        for kind, token, offset in tokens(statement.text.encode(errors="surrogatepass")):
            if kind == "name" and len(token) > NAME_BYTES:
                name = token.decode(errors="replace").strip('"')
                if len(name.encode()) > NAME_BYTES:
                    short = truncate(name)
                    self._note(
                        "name-truncated",
                        "certain",
                        f'the name "{name}" is longer than {NAME_BYTES} bytes and is cut to "{short}"',
                        "give it a shorter name",
                        statement.span(offset),
                        statement,
                        notices=(f'identifier "{name}" will be truncated to "{short}"',),
                    )

    def _note(
        self,
        name: str,
        certainty: Certainty,
        message: str,
        help_text: str | None,
        span: Span,
        statement: StatementText | None,
        *,
        notices: tuple[str, ...] = (),
        related: tuple[Span, ...] = (),
        majors: tuple[int, ...] = (),
    ) -> None:
        rule = by_name(name)
        severity: Severity = rule.severity
        self.diagnostics.append(
            Diagnostic(
                rule=rule.code,
                name=rule.name,
                phase=rule.phase,
                severity=severity,
                certainty=certainty,
                postgres=majors or tuple(self.majors),
                message=message,
                help=help_text,
                span=span,
                related=related,
                statement=statement.ref() if statement is not None else None,
                notices=notices,
            )
        )


_COMMENT = re.compile(r"comment\s+on\s+publication\b", re.IGNORECASE)
_EXPLAINED = re.compile(
    r"explain\b(?:(?!\b(?:insert|merge)\b).)*?\b(?:create|into)\b|\w+\b.*?\b(?:create|alter|drop)\s+publication\b",
    re.IGNORECASE | re.DOTALL,
)
_CATALOG_UPDATE = re.compile(r"update\s+(only\s+)?(pg_catalog\s*\.\s*)?pg_", re.IGNORECASE)
_PUBLICATION_NODES = frozenset(("CreatePublicationStmt", "AlterPublicationStmt"))


def _judged_all_the_same(item: Statement) -> bool:
    """UPDATE of a pg_ table, the one kind of plain DML that changes catalogs, EXPLAIN of what makes a table, and
    whatever is said of publications."""
    if item.keyword == "comment":
        return _COMMENT.match(item.text) is not None
    if item.keyword in ("explain", "prepare"):
        return _EXPLAINED.match(item.text) is not None
    return item.keyword == "update" and _CATALOG_UPDATE.match(item.text) is not None


def _same_file(path: str, label: str) -> bool:
    """Whether the file that a script includes is probably the source of that label: their names are equal."""
    return path.replace("\\", "/").rpartition("/")[2] == label.replace("\\", "/").rpartition("/")[2]


def spec_of_syntax_error(message: str) -> tuple[str, str | None]:
    """The specification's rule for what the grammar says of a statement about publications, and its DETAIL."""
    spec = _LIST_ERRORS.get(message, "relation-missing" if message.startswith("improper") else "syntax-error")
    return spec, _LIST_DETAIL if spec == "bad-object-list" else None


_INNER = (b"create", b"alter", b"drop")
_BEFORE_PUBLICATION = {
    b"explain": _INNER,
    b"grant": (b"on",),
    b"prepare": _INNER,
    b"revoke": (b"on",),
    b"schema": _INNER,
}
"""The word before PUBLICATION by which a statement that begins otherwise is about one; CREATE SCHEMA under "schema"."""


def _about_publications(text: str) -> bool:
    """Whether a statement that does not parse is CREATE, ALTER, DROP or COMMENT ON PUBLICATION, has such a one in it
    where none can be, is one of a subscription, or ALTER TABLE ... REPLICA IDENTITY."""
    words = [token.lower() for _, token, _ in tokens(text[:1000].encode(errors="surrogatepass"))]
    if words[:3] == [b"comment", b"on", b"publication"]:
        return True
    if not words:
        return False
    before = _BEFORE_PUBLICATION.get(words[0] if words[:2] != [b"create", b"schema"] else b"schema")
    if before is not None:
        return any(first in before and second == b"publication" for first, second in itertools.pairwise(words))
    if words[0] not in (b"create", b"alter", b"drop"):
        return False
    if words[:2] == [b"alter", b"table"]:
        return any(pair == (b"replica", b"identity") for pair in itertools.pairwise(words))
    if words[1:2] == [b"subscription"]:
        return words[3:4] != [b"on"]  # InfluxQL has some of its own
    return words[1:2] == [b"publication"] or words[1:4] == [b"or", b"replace", b"publication"]


_PREFIX_ALONE = re.compile(r"invalid (?:hexadecimal|octal|binary) integer (?=at or near)")


def _wordings(message: str, majors: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A syntax error in the words of each of the majors; numbers in other bases came with 16."""
    earlier = tuple(major for major in majors if major < 16) if _PREFIX_ALONE.match(message) else ()
    if earlier:
        yield _PREFIX_ALONE.sub("trailing junk after numeric literal ", message), earlier
    later = tuple(major for major in majors if major not in earlier)
    if later:
        yield message, later


def _merged(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Equal findings of several majors as one, with all their majors."""
    found: dict[Diagnostic, tuple[int, ...]] = {}
    for diagnostic in diagnostics:
        key = replace(diagnostic, postgres=())
        found[key] = tuple(sorted({*found.get(key, ()), *diagnostic.postgres}))
    return [replace(key, postgres=majors) for key, majors in found.items()]
