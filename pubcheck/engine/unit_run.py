"""A unit followed from its first statement to its last: each parsed once, folded once a major."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.engine import top_level
from pubcheck.engine.connections import Databases
from pubcheck.engine.dump_major import major_of_dump
from pubcheck.engine.merged_findings import merged, without_repeated_notes
from pubcheck.engine.parsed_statements import UNPARSED, checked_in_any_case, is_parsed, known_of, unknown_of
from pubcheck.engine.platform_objects import platform_of
from pubcheck.engine.replay import Replay
from pubcheck.engine.reruns import RunObjects
from pubcheck.engine.suppressions import may_hold_comments
from pubcheck.engine.unit_notes import Notes
from pubcheck.engine.unknown_names import MISSING, UnknownNames
from pubcheck.faults import Fault, Faults
from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import PsqlCommand, Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog.reasons import Reason
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.ddl.generated_names import NAME_BYTES, truncate
from pubcheck.postgres.opaque_sql import wording
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, TooLarge, parse
from pubcheck.postgres.tokens import tokens
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.rulebook import selected
from pubcheck.source import Source, has_unknown_order
from pubcheck.statement_index import Statements, StatementText

if TYPE_CHECKING:
    from pubcheck.engine.syntax_errors import SyntaxErrorReporter
    from pubcheck.engine.unit import Unit
    from pubcheck.lexing.psql import Branches


_OF_READING = frozenset(("PUB003", "PUB004", "PUB005", "PUB006", "PUB007", "PUB008"))
"""Rules about how well a file was read, which matter only in a unit with something to check."""
_REPLICATED = lazy_compile(r"(?i)(?:create|alter|drop)\s+(?:publication|subscription)\b|replica\s+identity")


class Run:
    """One unit under one configuration. ``idle``: there is nothing to judge, so statements are only read."""

    def __init__(self, config: Config, unit: Unit, *, idle: bool = False) -> None:
        self.config, self.unit, self.idle = config, unit, idle
        told = unit.postgres or config.postgres
        written, note = ((), ()) if told else major_of_dump(unit.sources)
        self.majors = told or written or (DEFAULT_MAJOR,)
        self.notes = Notes(self.majors)
        self.notes.diagnostics += [*unit.remarks, *note]
        platform = platform_of(config, unit.convention)
        self.statements = Statements(unit.sources)
        self._faults = Faults(self.majors, self.statements)
        folds = [
            Replay(
                major,
                complete=config.complete,
                database=config.database,
                platform=platform,
                statements=self.statements,
            )
            for major in self.majors
        ]
        self.databases = Databases(folds, config.database)
        self.stand_ins = UnknownNames()
        self.made: RunObjects | None = None
        """What a program has made so far, if the source at hand is one."""
        self.of_reading: tuple[Diagnostic, ...] = ()
        """What is not reported: how the files of a unit were read that is not about replication."""
        self.told_of_files = False
        """And that a file is run which was not read."""

    @cached_property
    def unread(self) -> SyntaxErrorReporter:
        """What is said of statements that the grammar refuses; loaded when it first refuses one."""
        from pubcheck.engine.syntax_errors import SyntaxErrorReporter

        return SyntaxErrorReporter(self.notes, self.databases, self.statements)

    def found(self) -> tuple[Diagnostic, ...]:
        """Follow the unit to its end: what the selected rules say of it, in the order of design section 5."""
        # What runs at no known time is followed last: what it does is assumed, and shall not put the rest in doubt.
        for number, source in sorted(enumerate(self.unit.sources), key=lambda each: has_unknown_order(each[1])):
            with self._faults.guard(Span(source, 0, 0)) as guard:
                self._source(number, source)
            if guard.failed:
                self.databases.unfollowed(None)
        reported = selected(self.config.select, self.config.ignore, self.config.extend_select)
        diagnostics = self.notes.diagnostics
        for fold in self.databases.all():
            with self._faults.guard(None):
                top_level.end(fold, reported)
            diagnostics.extend(fold.diagnostics)
        chosen = [each for each in merged(diagnostics) if each.rule in reported]
        self.of_reading = tuple(each for each in chosen if each.rule in _OF_READING and self._of_no_use(each))
        useful = [each for each in chosen if not self._of_no_use(each)]
        return tuple(sorted(without_repeated_notes(useful), key=Diagnostic.sort_key))

    def _of_no_use(self, found: Diagnostic) -> bool:
        """Whether a finding is about what nobody knows, such as a name that a program does not create, which is not the
        whole database; or about how a unit was read that is not about replication."""
        if found.rule in _OF_READING and not self.speaks_of_replication:
            return True
        if self.unit.loose and found.rule in _OF_READING and not _REPLICATED.search(found.span.source.text):
            return True
        if (
            found.rule in MISSING
            and found.severity == "note"
            and not any(found.span in replay.at_hand.offered for replay in self.databases.all())
            # A loose script that creates no table is run where the tables are.
            and (has_unknown_order(found.span.source) or (self.unit.loose and not self._creates_tables()))
        ):
            return True
        return self.stand_ins.concerns(found)

    def _creates_tables(self) -> bool:
        catalog = self.databases.folds[0].session.catalog
        return any(row.seen and row.place is not None for row in catalog.relations.values())

    def faults(self) -> tuple[Fault, ...]:
        """The internal errors so far."""
        return tuple(each for one in self._all_faults() for each in one.faults)

    def _all_faults(self) -> Iterator[Faults]:
        yield self._faults
        for fold in self.databases.all():
            yield fold.faults

    def reported(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """What is left of what was found when comments and the configuration have had their say, and the internal
        errors, in which they have none."""
        with self._faults.guard(None) as guard:
            left = self._settled(found)
        if guard.failed:
            left = found
        internal = self.internal()
        return tuple(sorted((*left, *internal), key=Diagnostic.sort_key)) if internal else left

    def internal(self) -> list[Diagnostic]:
        """The findings of internal errors."""
        return merged([each for one in self._all_faults() for each in one.diagnostics])

    def _settled(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        config, sources = self.config, self.unit.sources
        if (
            not config.per_file_ignores
            and not config.severity
            and not any(may_hold_comments(each.shown) for each in sources)
        ):
            return found
        # Loaded only where there is something to leave out.
        from pubcheck.engine.suppressions.apply import apply_suppressions

        chosen = apply_suppressions(found, sources, self.statements, config, self.majors)
        return tuple(sorted(chosen, key=Diagnostic.sort_key))

    def counts(self) -> tuple[int, ...]:
        """The statements in each source."""
        return tuple(len(self.statements.bounds(number)[0]) for number in range(len(self.unit.sources)))

    def _source(self, number: int, source: Source) -> None:
        variables = dict(self.config.variables)
        splitter = Splitter(source, variables)
        put = self.statements.put
        branches: Branches | None = None
        before, database = StatementText(source, 0, 0, ""), self.databases.at_hand
        self._begin(source)
        named = list(reversed(source.view.named)) if source.view is not None else []
        if has_unknown_order(source):
            self.made = RunObjects(source.view.cases if source.view is not None else ())
            self._transaction(before, number, "TRANS_STMT_BEGIN")
        for item in splitter:
            if isinstance(item, PsqlCommand):
                if branches is None:
                    # Loaded only for scripts of psql.
                    from pubcheck.lexing.psql import Branches, assign

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
            with self._faults.guard(Place(number, item.index, 0, 0)) as guard:
                if named and named[-1][0] < item.start:
                    self._call(source, named, item.start)
                if is_parsed(item):
                    before = StatementText(source, item.index, item.start, item.text)
                    if item.edits:
                        before = replace(before, text=item.sent(), edits=item.edits)
                        self.statements.keep(number, before)
                    if not self._statement(number, before, item, splitter, conditional=runs is None):
                        return
                else:
                    if branches is not None:
                        before = StatementText(source, item.index, item.start, item.text)
                    self.databases.at((number, item.index), "")
                    for fold in self.databases.folds:
                        top_level.pass_over(fold, source, number, item, conditional=runs is None)
            if guard.failed:
                self.databases.unfollowed(item.text)
        if named:
            self._call(source, named, len(source.text))
        if self.made is not None:
            for kind in (*self.made.reach(len(source.text)), "TRANS_STMT_COMMIT"):
                self._transaction(before, number, kind)
            self.made = None
        if database != self.databases.at_hand and source.view is not None and source.view.quoted:
            # Where a script of the shell leaves off is no other file's business.
            from pubcheck.lexing.psql import Connection

            self.databases.connect(number, before, Connection(database[1], "", database[0]))

    def _call(self, source: Source, named: list[tuple[int, str]], end: int) -> None:
        """What a program's calls before ``end`` do to the tables that they name, is not known; takes them off the end
        of ``named``."""
        while named and named[-1][0] < end:
            name = named.pop()[1]
            self.stand_ins.called.add(name.lower().rpartition(".")[2])
            if has_unknown_order(source):
                continue
            if not name:
                self.databases.unfollowed(_ANY_TABLE)
                continue
            quoted = ".".join(f'"{part}"' for part in name.split("."))
            for fold in self.databases.folds:
                row = fold.session.regclass(quoted)
                if row is None:
                    fold.session.blind = fold.session.blind or self.config.complete
                elif row.seen:
                    fold.catalog.relations.put(row.oid, replace(row, seen=False))
                    fold.catalog.reasons.rows.setdefault(row.oid, Reason(f"what the program's own calls do to {name}"))

    def _transaction(self, before: StatementText, source: int, kind: str) -> None:
        for fold in self.databases.folds:
            fold.apply(before, source, "TransactionStmt", {"kind": kind, "pretended": True})

    def _begin(self, source: Source) -> None:
        """What is to be said of how the source became SQL."""
        for note in source.view.notes if source.view is not None else ():
            span = Span(source, note.start, note.end)
            self.notes.add(note.rule, "certain", note.message, span, help=note.help)
            if note.rule in ("PUB009", "PUB013"):
                self.databases.at(span, "this cannot be read")
                self.databases.unfollowed(None)
                self.notes.hide(source.label)

    def _command(self, source: int, command: PsqlCommand, before: StatementText, variables: Mapping[str, str]) -> None:
        """A command of psql that makes statements run that are not in the text, or elsewhere; ``before`` it stood."""
        from pubcheck.lexing.psql import HOME, connection, included, words

        wanted, path = connection(command, variables), included(command, variables)
        self.databases.at(
            Span(before.source, command.start, command.end), "this runs statements that are not in these files"
        )
        if wanted is not None:
            if wanted.database == HOME:
                wanted = replace(wanted, database=self.config.database, server="")
            self.databases.connect(source, before, wanted)
        elif words(command)[0] == "gexec":
            self.databases.unfollowed(wording(before.text))
        elif path is not None and not any(_same_file(path, one.label) for one in self.unit.sources):
            self.databases.unfollowed(None)
            if self.speaks_of_replication and not self.told_of_files:
                self.told_of_files = True
                self.notes.report_unseen(
                    Span(before.source, command.start, command.end),
                    None,
                    "this runs a file that is not among those that were read",
                    "lint it together with this one: what it changes is not followed",
                )

    @cached_property
    def speaks_of_replication(self) -> bool:
        """Whether what is not read may matter to anything that is."""
        return any(_REPLICATED.search(one.text) for one in self.unit.sources)

    def _statement(
        self, source: int, statement: StatementText, item: Statement, splitter: Splitter, *, conditional: bool
    ) -> bool:
        """False where the rest of the source is not to be read. ``perhaps``: whether it runs at all is not known."""
        unsure = conditional or item.perhaps or bool(item.placeholders)
        try:
            try:
                parsed = parse(statement.text if item.edits else item.sql, self.config.max_statement_size)
            except SyntaxRefused:
                if item.keyword in UNPARSED and not checked_in_any_case(item):
                    raise
                unsure, parsed = True, self._guessed(item)
                if parsed is None:
                    raise
        except TooDeep as error:
            self._too_deep(statement, error)
            return True
        except SyntaxRefused as refusal:
            return self.unread.explain(source, statement, item, splitter, refusal, conditional=conditional)
        if parsed is None or self.idle:
            return True
        name, node = parsed
        if name in _PUBLICATION_NODES and not item.placeholders and not item.variables:
            with self._faults.guard(statement):
                self._long_names(statement)
        self.databases.at((source, item.index), unknown_of(item) if unsure else "")
        if unsure:
            # What it changes is doubted where it changes it. Only of what it names by a stand-in that is not known.
            unknown = self.stand_ins.record(statement, item)
            self.databases.unfollowed(item.text if unknown and name != "CreateStmt" else "")
            if unknown and self.stand_ins.is_identified(name, node):
                for fold in self.databases.folds:
                    fold.session.identified = True
            if unknown and name in _PUBLICATION_NODES and not has_unknown_order(statement.source):
                self.notes.report_unseen(
                    statement.span(0),
                    statement,
                    "part of this statement about a publication is only known at run time",
                    "of what stands for it nothing is said",
                )
        if self.made is not None:
            if name == "TransactionStmt":
                return True
            for kind in (*self.made.reach(statement.start), *self.made.record(name, node, self.stand_ins.names)):
                self._transaction(statement, source, kind)
        try:
            for fold in self.databases.folds:
                top_level.run_statement(fold, statement, source, name, node, filled=unsure)
        except TooDeep as error:
            self._too_deep(statement, error)
        return True

    def _guessed(self, item: Statement) -> tuple[str, Node] | None:
        """A refused statement with something in the place of what is not known in it, if the grammar then takes it."""
        # Loaded only where a statement is refused.
        from pubcheck.lexing.placeholder_values import filled

        for text in filled(item):
            try:
                return parse(text)
            except SyntaxRefused:
                continue
        return None

    def _too_deep(self, statement: StatementText, error: TooDeep) -> None:
        message, help_text = "this statement is nested too deeply to be judged", "it was skipped"
        if isinstance(error, TooLarge):
            message = f"this statement is too large to be read: {len(statement.text):,} characters"
            help_text += "; --max-statement-size lets larger ones be read, which takes some 20 bytes of memory for one"
        self.databases.unfollowed(known_of(statement.text))
        self.notes.add(
            "PUB006",
            "assumed",
            message,
            statement.span(0),
            help=f"{help_text}; objects that it creates are treated as unknown",
            statement=statement.ref(),
        )

    def _long_names(self, statement: StatementText) -> None:
        """Identifiers longer than NAMEDATALEN are cut, with a NOTICE that scripts do not show."""
        if len(statement.text) <= NAME_BYTES and statement.text.isascii():
            return
        for kind, token, offset in tokens(statement.text.encode(errors="surrogatepass")):
            if kind == "name" and len(token) > NAME_BYTES:
                name = token.decode(errors="replace").strip('"')
                if len(name.encode()) > NAME_BYTES:
                    short = truncate(name)
                    self.notes.add(
                        "PUB104",
                        "certain",
                        f'the name "{name}" is longer than {NAME_BYTES} bytes and is cut to "{short}"',
                        statement.span(offset),
                        help="give it a shorter name",
                        statement=statement.ref(),
                        notices=(f'identifier "{name}" will be truncated to "{short}"',),
                    )


_ANY_TABLE = "ALTER TABLE, PRIMARY KEY, UNIQUE INDEX, REPLICA IDENTITY"
"""What is known of a call for which a framework may change any table."""


_PUBLICATION_NODES = frozenset(("CreatePublicationStmt", "AlterPublicationStmt"))


def _same_file(path: str, label: str) -> bool:
    """Whether the file that a script includes is probably the source of that label: their names are equal."""
    return path.replace("\\", "/").rpartition("/")[2] == label.replace("\\", "/").rpartition("/")[2]
