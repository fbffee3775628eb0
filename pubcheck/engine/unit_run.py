"""Replay a unit from its first statement to its last. Each statement is parsed once and executed once per major."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span, StatementRef
from pubcheck.engine.connections import Databases, included_source
from pubcheck.engine.replay import Replay
from pubcheck.engine.statement_runner import UNPARSED, StatementRunner, end, is_parsed, skip
from pubcheck.engine.suppressions import may_hold_comments
from pubcheck.engine.unit import REPLICATED, Notes, majors_of, platform_of
from pubcheck.engine.unknown_names import MISSING
from pubcheck.faults import Fault, Faults
from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.session.statement_context import wording
from pubcheck.rulebook import selected
from pubcheck.source import Source, has_unknown_order
from pubcheck.statement_index import Statements, StatementText

if TYPE_CHECKING:
    from pubcheck.engine.unit import Unit
    from pubcheck.lexing.items import Statement


def without_repeated_notes(diagnostics: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings. The note that statements are in a program appears once per file, and only if a finding there
    is assumed."""
    assumed = {id(row.span.source) for row in diagnostics if row.certainty == "assumed" and row.rule != _NOT_SEEN}
    reported = False
    for diagnostic in diagnostics:
        if diagnostic.rule != _OF_A_PROGRAM:
            yield diagnostic
        elif not reported and id(diagnostic.span.source) in assumed:
            reported = True
            yield diagnostic


_OF_A_PROGRAM, _NOT_SEEN = "PUB010", "PUB009"


def merged(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Return equal findings of several majors as one finding with all their majors."""
    majors_of: dict[Diagnostic, tuple[int, ...]] = {}
    for diagnostic in diagnostics:
        key = replace(diagnostic, postgres=())
        majors_of[key] = tuple(sorted({*majors_of.get(key, ()), *diagnostic.postgres}))
    return [replace(key, postgres=majors) for key, majors in majors_of.items()]


def at_statements(diagnostics: Iterable[Diagnostic], statements: Statements) -> Iterator[Diagnostic]:
    """Yield findings; those at an object of a database that point at a statement of a file, too, at that statement: it
    is what the user can change, and what a report that needs a file and a line can show."""
    for diagnostic in diagnostics:
        cause = diagnostic.span
        span = next((span for span in diagnostic.related if span.source.listing is None), None)
        if cause.source.listing is None or span is None:
            yield diagnostic
            continue
        others = tuple(other for other in diagnostic.related if other is not span)
        yield replace(
            diagnostic,
            span=span,
            related=(replace(cause, message="the object that this finding is about"), *others),
            statement=_statement(span, statements),
        )


def _statement(span: Span, statements: Statements) -> StatementRef | None:
    number = next(number for number, source in enumerate(statements.sources) if source is span.source)
    starts, _ = statements.bounds(number)
    index = bisect_right(starts, span.start) - 1
    return StatementRef(span.source, index, starts[index]) if index >= 0 else None


_READING_RULES = frozenset(("PUB003", "PUB004", "PUB005", "PUB006", "PUB007", "PUB008"))
"""Rules about how files were read. They matter only in a unit with something to check."""


class Run:
    """One unit under one configuration. ``idle``: there is nothing to check, so statements are only read."""

    def __init__(self, config: Config, unit: Unit, *, idle: bool = False) -> None:
        self.config, self.unit = config, unit
        self.majors, note = majors_of(unit, config)
        self.notes = Notes(self.majors)
        self.notes.diagnostics += [*unit.reading_notes, *note]
        platform = platform_of(config, unit.convention)
        self.statements = Statements(unit.sources)
        self._faults = Faults(self.majors, self.statements)
        replays = [
            Replay(
                major,
                complete=config.complete,
                database=config.database,
                platform=platform,
                statements=self.statements,
                consumers=config.consumers,
            )
            for major in self.majors
        ]
        self.databases = Databases(replays, config.database)
        self.runner = StatementRunner(config, self.databases, self.statements, self.notes, self._faults, idle=idle)
        self.reading_notes: tuple[Diagnostic, ...] = ()
        """Notes that are not reported: how files were read that are not about replication."""
        self.reported_unread_file = False
        """Whether it was reported that a file outside the unit is run."""
        self._context_ended = False
        self._reached: set[int] = set()
        """The sources that ran, or began to run."""
        self._unreached: set[int] = set()
        """The sources that a script includes in a part that does not run."""

    def findings(self) -> tuple[Diagnostic, ...]:
        """Replay the unit, and return the findings of the selected rules in report order."""
        self.replay()
        return self.final_findings()

    def replay(self, first: int = 0, last: int | None = None) -> None:
        """Replay the sources from one to another, by their numbers in the order in which they run; by default all."""
        # Statements that run at an unknown time come last: their changes are assumed and must not make the rest
        # uncertain.
        in_order = sorted(enumerate(self.unit.sources), key=lambda numbered: has_unknown_order(numbered[1]))
        for number, source in in_order[first:last]:
            if number >= self.unit.context > 0 and not self._context_ended:
                self._end_context()
            if number not in self._reached:
                self._guarded_source(number, source, dict(self.config.variables), number not in self._unreached)

    def _guarded_source(self, number: int, source: Source, variables: dict[str, str], runs: bool | None) -> None:
        with self._faults.guard(Span(source, 0, 0)) as guard:
            self._source(number, source, variables, runs)
        if guard.failed:
            self.databases.unfollowed(None)

    def _end_context(self) -> None:
        """Remember the findings that the context alone has."""
        self._context_ended = True
        reported = selected(self.config.select, self.config.ignore, self.config.extend_select)
        for replay in self.databases.all_replays():
            with self._faults.guard(None):
                replay.end_context(self.unit.context, reported)

    def continue_with(self, unit: Unit, replayed: int) -> None:
        """Replace the sources after the first ``replayed`` ones, whose text must be the same, by those of ``unit``."""
        sources = (*self.unit.sources[:replayed], *unit.sources[replayed:])
        self.unit = replace(unit, sources=sources)
        self.statements.replace_sources(sources, replayed)

    def final_findings(self) -> tuple[Diagnostic, ...]:
        """Check the final state, and return the findings of the selected rules in report order."""
        reported = selected(self.config.select, self.config.ignore, self.config.extend_select)
        if any(replay.session.begun is not None for replay in self.databases.replays):
            from pubcheck.engine.transactions import report_open

            report_open(self.unit, self.databases.replays, self.statements, self.notes)
        diagnostics = self.notes.diagnostics
        for replay in self.databases.all_replays():
            with self._faults.guard(None):
                end(replay, reported)
            diagnostics.extend(replay.diagnostics)
        chosen = [diagnostic for diagnostic in merged(diagnostics) if diagnostic.rule in reported]
        self.reading_notes = tuple(
            diagnostic for diagnostic in chosen if diagnostic.rule in _READING_RULES and self._is_irrelevant(diagnostic)
        )
        useful = [diagnostic for diagnostic in chosen if not self._is_irrelevant(diagnostic)]
        if any(source.listing is not None for source in self.unit.sources):
            useful = list(at_statements(useful, self.statements))
        return tuple(sorted(without_repeated_notes(useful), key=Diagnostic.sort_key))

    def _is_irrelevant(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is not useful.

        Such a finding is about an unknown name (for example one that a program does not create, because the program is
        not the whole database), or about how a unit was read that is not about replication.
        """
        if diagnostic.rule in _READING_RULES and not self.speaks_of_replication:
            return True
        if self.unit.loose and diagnostic.rule in _READING_RULES and not REPLICATED.search(diagnostic.span.source.text):
            return True
        if (
            diagnostic.rule in MISSING
            and diagnostic.severity == "note"
            and not any(diagnostic.span in replay.reporter.offered for replay in self.databases.all_replays())
            # A loose script that creates no table runs where the tables are.
            and (has_unknown_order(diagnostic.span.source) or (self.unit.loose and not self._creates_tables()))
        ):
            return True
        return self.runner.unknown_names.concerns(diagnostic)

    def _creates_tables(self) -> bool:
        catalog = self.databases.replays[0].session.catalog
        return any(row.seen and row.place is not None for row in catalog.relations.values())

    def faults(self) -> tuple[Fault, ...]:
        """Return the internal errors so far."""
        return tuple(fault for faults in self._all_faults() for fault in faults.faults)

    def _all_faults(self) -> Iterator[Faults]:
        yield self._faults
        for replay in self.databases.all_replays():
            yield replay.faults

    def reported(self, findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return the findings that comments and the configuration leave, and all internal errors."""
        with self._faults.guard(None) as guard:
            remaining = self._suppressed(findings)
        if guard.failed:
            remaining = findings
        internal = self.internal()
        return tuple(sorted((*remaining, *internal), key=Diagnostic.sort_key)) if internal else remaining

    def internal(self) -> list[Diagnostic]:
        """Return the findings about internal errors."""
        return merged([diagnostic for faults in self._all_faults() for diagnostic in faults.diagnostics])

    def _suppressed(self, findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        config, sources = self.config, self.unit.sources
        if (
            not config.per_file_ignores
            and not config.severity
            and not any(may_hold_comments(source) for source in sources)
        ):
            return findings
        from pubcheck.engine.suppressions.apply import apply_suppressions

        remaining = apply_suppressions(findings, sources, self.statements, config, self.majors)
        return tuple(sorted(remaining, key=Diagnostic.sort_key))

    def counts(self) -> tuple[int, ...]:
        """Return the number of statements in each source."""
        return tuple(len(self.statements.bounds(number)[0]) for number in range(len(self.unit.sources)))

    def _load(self, number: int) -> None:
        """Take over the catalogs that a source lists."""
        from pubcheck.live.document import snapshots, statement

        snapshot = snapshots(self.unit.sources)[number]
        self.statements.describe(number, lambda index: statement(snapshot.objects[index]))
        for replay in self.databases.replays:
            replay.load(snapshot, number)
        self.databases.loaded(snapshot.server.database)

    def _source(self, number: int, source: Source, variables: dict[str, str], runs_itself: bool | None) -> None:
        """Replay a source. ``variables`` are those of psql, which a file shares with the one that includes it;
        ``runs_itself``: whether it runs, None if unknown."""
        self._reached.add(number)
        if source.listing is not None:
            self._load(number)
            return
        splitter = Splitter(source, variables)
        if "\\if" in source.text or runs_itself is not True:
            # Loaded only for scripts of psql.
            from pubcheck.lexing.psql import Branches

            splitter.branches = Branches(runs_itself)
        put = self.statements.put
        before, database = StatementText(source, 0, 0, ""), self.databases.current
        query: list[Statement] = []
        unsent: list[tuple[Statement, bool | None]] = []
        self._begin(source)
        named = list(reversed(source.view.named)) if source.view is not None else []
        if has_unknown_order(source):
            from pubcheck.engine.reruns import RunObjects

            self.runner.run_objects = RunObjects(source.view.cases if source.view is not None else ())
            self.runner.transaction(before, number, "TRANS_STMT_BEGIN")
        for item in splitter:
            if isinstance(item, PsqlCommand):
                if splitter.repeats(item):
                    self._repeat(number, query, splitter)
                self._command(number, item, before, splitter, variables)
                continue
            put(number, item.index, item.start, item.end)
            runs = splitter.branches is None or splitter.branches.runs
            if runs is False:
                continue
            query = [*query, item] if query and query[-1].joined else [item]
            if "AUTOCOMMIT" in variables or "SINGLELINE" in variables:
                runs = self._switched(number, item.keyword, before, variables) and runs
            if named and named[-1][0] < item.start:
                self.runner.call(source, named, item.start)
            if not (item.joined or unsent):
                sent = self._run(number, source, item, splitter, runs)
            else:
                unsent.append((item, runs))
                if not self.runner.is_sent(item, conditional=runs is None):
                    continue
                sent = self._run_query(number, source, unsent, splitter)
                unsent = []
            if sent is None:
                return
            before = sent
        before = self._run_query(number, source, unsent, splitter) or before
        self._end(number, source, named, before, database)

    def _run_query(
        self, number: int, source: Source, parts: Sequence[tuple[Statement, bool | None]], splitter: Splitter
    ) -> StatementText | None:
        """Run the statements that psql sends together, each with whether it runs. Return as ``_run`` does."""
        sent: StatementText | None = None
        for item, runs in parts:
            sent = self._run(number, source, item, splitter, runs)
            if sent is None:
                break
        return sent

    def _run(
        self, number: int, source: Source, item: Statement, splitter: Splitter, runs: bool | None
    ) -> StatementText | None:
        """Run a statement and return it as it is sent, or None if the rest of the source must not be read."""
        sent = StatementText(source, item.index, item.start, item.text)
        try:
            if item.keyword not in UNPARSED or is_parsed(item):
                sent = _sent(source, item)
                if item.edits:
                    self.statements.keep(number, sent)
                if not self.runner.run(number, sent, item, splitter, conditional=runs is None):
                    return None
            else:
                self.databases.set_place((number, item.index), "")
                for replay in self.runner.enter_query(number, sent, item):
                    skip(replay, source, number, item, conditional=runs is None)
                if not item.joined:
                    self.runner.end_batch(number, sent)
        except Exception as error:
            self._faults.report(error, Place(number, item.index, 0, 0))
            self.databases.unfollowed(item.text)
        return sent

    def _end(
        self,
        number: int,
        source: Source,
        named: list[tuple[int, str]],
        before: StatementText,
        database: tuple[str, str],
    ) -> None:
        """Do what the end of a source does. ``named`` are the calls after its last statement, ``before``; ``database``
        is the one that it began with."""
        if named:
            self.runner.call(source, named, len(source.text))
        self.runner.end_batch(number, before)
        if self.runner.run_objects is not None:
            for kind in (*self.runner.run_objects.reach(len(source.text)), "TRANS_STMT_COMMIT"):
                self.runner.transaction(before, number, kind)
            self.runner.run_objects = None
        if database != self.databases.current and source.view is not None and source.view.quoted:
            # The database of a shell script does not carry over to the next file.
            from pubcheck.lexing.psql import Connection

            self.databases.connect(number, before, Connection(database[1], "", database[0]))

    def _begin(self, source: Source) -> None:
        """Report the notes from extracting the SQL of a source."""
        for note in source.view.notes if source.view is not None else ():
            span = Span(source, note.start, note.end)
            self.notes.add(note.rule, "certain", note.message, span, help=note.help)
            if note.rule in ("PUB009", "PUB013"):
                self.databases.set_place(span, "the content of this, which cannot be read")
                self.databases.unfollowed(None)
                self.notes.first_unseen(source.label)

    def _switched(self, source: int, keyword: str, before: StatementText, variables: Mapping[str, str]) -> bool | None:
        """Begin the transaction that psql begins before a statement, and return whether the statement is surely sent as
        it is read. ``before`` is the statement before it."""
        from pubcheck.lexing.psql import begins_transaction, takes_lines_for_statements

        if begins_transaction(keyword, variables):
            self.runner.transaction(before, source, "TRANS_STMT_BEGIN")
        return None if takes_lines_for_statements(variables) else True

    def _repeat(self, source: int, query: Sequence[Statement], splitter: Splitter) -> None:
        """Run the last query once more, which psql does at a command that sends a query where there is none."""
        runs = splitter.branches is None or splitter.branches.runs
        items = query if runs is not False else ()
        parsed = [item for item in items if item.keyword not in UNPARSED or is_parsed(item)]
        statements = [(item, _sent(self.unit.sources[source], item)) for item in parsed]
        try:
            for _, statement in statements:
                parse(statement.text, self.config.max_statement_size)
        except (SyntaxRefused, TooDeep):
            return  # the server refuses all of it, as it did before
        for item, statement in statements:
            self.runner.run(source, statement, item, splitter, conditional=runs is None)

    def _command(
        self, source: int, command: PsqlCommand, before: StatementText, splitter: Splitter, variables: dict[str, str]
    ) -> None:
        """Follow a command of psql. ``before`` is the statement before it."""
        # Loaded only for scripts of psql.
        from pubcheck.lexing.psql import Branches, assign, connection, encoding, included

        if splitter.branches is None:
            splitter.branches = Branches()
        branches = splitter.branches
        if branches.follow(command, variables):
            return
        if branches.runs is False:
            path = included(command, variables)
            number = None if path is None else included_source(path, before.source.label, self.unit.sources)
            if number is not None:
                self._unreached.add(number)
            return
        if assign(command, variables, before.text, runs=branches.runs):
            return
        if connection(command, variables) is not None:
            splitter.reconnect()
        if splitter.encoding is not None and (name := encoding(command, variables)) is not None:
            splitter.encoding.command(*name, runs=branches.runs)
        self._run_command(source, command, before, variables, branches.runs)

    def _run_command(
        self, source: int, command: PsqlCommand, before: StatementText, variables: dict[str, str], runs: bool | None
    ) -> None:
        """Follow a command that runs statements from elsewhere, if it ``runs``; None if unknown."""
        from pubcheck.lexing.psql import HOME, connection, included, words

        target, path = connection(command, variables), included(command, variables)
        self.databases.set_place(
            Span(before.source, command.start, command.end),
            "the statements that this runs, which are not in these files",
        )
        if target is not None:
            if target.database == HOME:
                target = replace(target, database=self.databases.home, server="")
            self.databases.connect(source, before, target)
        elif words(command)[0] == "gexec":
            self.databases.unfollowed(wording(before.text))
        elif path is not None:
            self._include(source, path, command, before, variables, runs)

    def _include(
        self,
        source: int,
        path: str,
        command: PsqlCommand,
        before: StatementText,
        variables: dict[str, str],
        runs: bool | None,
    ) -> None:
        """Run the file that a command includes, unless it ran before."""
        sources, context = self.unit.sources, self.unit.context
        number = included_source(path, before.source.label, sources)
        if number is None:
            self.databases.unfollowed(None)
            if self.speaks_of_replication and not self.reported_unread_file:
                self.reported_unread_file = True
                self.notes.report_unseen(
                    Span(before.source, command.start, command.end),
                    None,
                    "this runs a file that pubcheck did not read",
                    "lint the two files together: the changes of the other file are not followed",
                )
        elif (
            number not in self._reached
            and not has_unknown_order(sources[number])
            and (number < context) == (source < context)
        ):
            self._guarded_source(number, sources[number], variables, runs)

    @cached_property
    def speaks_of_replication(self) -> bool:
        """Whether any source is about replication."""
        return self.unit.speaks_of_replication()


def _sent(source: Source, item: Statement) -> StatementText:
    """Return a statement as the server receives it."""
    statement = StatementText(source, item.index, item.start, item.text)
    return replace(statement, text=item.sent(), edits=item.edits) if item.edits else statement
