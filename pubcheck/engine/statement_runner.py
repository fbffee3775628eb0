"""Run the statements of a source: parse each once, and execute it in every major.

DO blocks and function calls run with everything inside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.engine.connections import Databases
from pubcheck.engine.replay import Replay
from pubcheck.engine.unit import Notes
from pubcheck.engine.unknown_names import UnknownNames
from pubcheck.faults import Faults
from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import Statement
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, VARIABLE, Reason
from pubcheck.postgres.ddl.new_objects import NAME_BYTES, truncate
from pubcheck.postgres.newer_grammar import newly_refused
from pubcheck.postgres.older_grammars import MAY_DIFFER, has_fewer_keywords, parse_with_names
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, TooLarge, parse
from pubcheck.postgres.tokens import tokens
from pubcheck.rulebook import finder
from pubcheck.source import Source, has_unknown_order
from pubcheck.statement_index import Statements, StatementText
from pubcheck.words import word_set

if TYPE_CHECKING:
    from pubcheck.engine.reruns import RunObjects
    from pubcheck.engine.syntax_errors import SyntaxErrorReporter
    from pubcheck.engine.transactions import Batch
    from pubcheck.lexing.items import Statement
    from pubcheck.lexing.splitter import Splitter


UNPARSED = word_set("""
    analyse analyze checkpoint close cluster comment copy deallocate declare delete execute explain fetch insert
    listen load lock merge move notify prepare refresh reindex security show table truncate unlisten update vacuum
    values with
""")
"""First words of statements that change no modelled catalog. They are not parsed, and their syntax is not checked.

Only the first word counts, never a later one.
"""

_COMMENT = lazy_compile(r"comment\s+on\s+publication\b", re.IGNORECASE)
_EXPLAINED = lazy_compile(
    r"prepare\s+transaction\b|explain\b(?:(?!\b(?:insert|merge)\b).)*?\b(?:create|into)\b|\w+\b.*?\b(?:create|alter|drop)\s+publication\b",
    re.IGNORECASE | re.DOTALL,
)

_WRITING = ("delete", "insert", "merge", "truncate", "update")
_OF_CATALOG = lazy_compile(
    r"(?:update|delete\s+from|(?:insert|merge)\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:pg_catalog\s*\.\s*)?pg_",
    re.IGNORECASE,
)


def checked_in_any_case(item: Statement) -> bool:
    """Return whether a statement with such a first word is parsed nevertheless.

    That is DML on a pg_ table, EXPLAIN of a statement that creates something, PREPARE TRANSACTION, and COMMENT ON
    PUBLICATION.
    """
    if item.keyword == "comment":
        return _COMMENT.match(item.text) is not None
    if item.keyword in ("explain", "prepare"):
        return _EXPLAINED.match(item.text) is not None
    return item.keyword in _WRITING and _OF_CATALOG.match(item.text) is not None


def is_parsed(item: Statement) -> bool:
    """Return whether a statement is parsed; only then is it known how many an unclosed quote swallowed."""
    return item.keyword not in UNPARSED or checked_in_any_case(item) or item.restartable()


def unknown_reason(item: Statement) -> str:
    """Return why a statement is uncertain: it may not run, or not as written."""
    if item.placeholders:
        return "the part of this statement that is known only at run time"
    return VARIABLE if item.variables else MAY_NOT_RUN


_HEAD = 10_000


def known_text(text: str) -> str | None:
    """Return the beginning of a long statement that is not read; None if its rest may matter."""
    rest = text[_HEAD:].lower()
    return None if any(word in rest for word in ("publication", "identity", "primary", "unique")) else text[:_HEAD]


_CALLING = frozenset(("DoStmt", "SelectStmt", "CallStmt"))
_MAY_CALL = frozenset(
    ("copy", "declare", "delete", "explain", "insert", "merge", "prepare", "refresh", "update", "values", "with")
)
_ANALYZES = lazy_compile(r"analy[sz]e", re.IGNORECASE)
_ANY_TABLE = "ALTER TABLE, PRIMARY KEY, UNIQUE INDEX, REPLICA IDENTITY"
"""The known text of a call for which a framework may change any table."""
_PUBLICATION_NODES = frozenset(("CreatePublicationStmt", "AlterPublicationStmt"))


class StatementRunner:
    """Runs statements in the databases of a unit. ``idle``: there is nothing to check, so they are only parsed."""

    def __init__(
        self, config: Config, databases: Databases, statements: Statements, notes: Notes, faults: Faults, *, idle: bool
    ) -> None:
        self._config, self._databases, self._statements, self._notes = config, databases, statements, notes
        self._faults, self._idle = faults, idle
        self._newer_grammar = any(replay.catalog.major.newer_grammar for replay in databases.replays)
        self._has_older_keywords = any(has_fewer_keywords(replay.catalog.major) for replay in databases.replays)
        self.unknown_names = UnknownNames()
        self._batch: Batch | None = None
        self.run_objects: RunObjects | None = None
        """The objects that a program created so far, if the current source is one."""

    @cached_property
    def _syntax_errors(self) -> SyntaxErrorReporter:
        """The reporter of statements that do not parse; loaded when the first one is met."""
        from pubcheck.engine.syntax_errors import SyntaxErrorReporter

        return SyntaxErrorReporter(self._notes, self._databases, self._statements)

    def run(
        self, source: int, statement: StatementText, item: Statement, splitter: Splitter, *, conditional: bool
    ) -> bool:
        """Parse and run one statement. Returns False if the rest of the source must not be read.

        ``conditional``: it is unknown whether it runs.
        """
        if self._batch is None and not item.joined:
            return self._run(source, statement, item, splitter, self._databases.replays, conditional=conditional)
        replays = self.enter_query(source, statement, item)
        goes_on = not replays or self._run(source, statement, item, splitter, replays, conditional=conditional)
        if self._batch is not None and not conditional:
            self._batch.undo_refused(replays, statement, source)
        if not item.joined:
            self.end_batch(source, statement)
        return goes_on

    def is_sent(self, item: Statement, *, conditional: bool) -> bool:
        """Return whether psql sends the query of several statements to which this one belongs, after reading it.

        It sends the query once it has read all of it. What every major refuses is run before that, for the splitter.
        """
        batch = self._query()
        if not conditional:
            batch.refuse(item.index, self._refusing(item))
        return not item.joined or batch.is_refused(self._databases.replays)

    def _refusing(self, item: Statement) -> list[Replay]:
        """Return the replays that certainly refuse the syntax of a statement."""
        if item.perhaps or item.placeholders or item.variables:
            return []
        from pubcheck.engine.syntax_errors import is_newer

        text = item.sent()
        replays = self._databases.replays
        newer = [replay for replay in replays if replay.catalog.major.newer_grammar]
        older = [replay for replay in replays if replay not in newer]
        try:
            parse(text, self._config.max_statement_size)
        except TooDeep:
            return []
        except SyntaxRefused:
            if self._parse_filled(item) is not None:
                return []
            return older if newer and is_newer(text) else replays
        return newer if newer and newly_refused(text) is not None else []

    def _query(self) -> Batch:
        """Return the query of several statements that has begun, or a new one."""
        if self._batch is None:
            from pubcheck.engine.transactions import Batch

            self._batch = Batch()
        return self._batch

    def enter_query(self, source: int, statement: StatementText, item: Statement) -> list[Replay]:
        """Return the replays in which a statement runs; one of several begins their query or goes on with it."""
        if self._batch is None and not item.joined:
            return self._databases.replays
        return self._query().enter(self._databases.replays, statement, source)

    def end_batch(self, source: int, statement: StatementText) -> None:
        """End the query to which the last statement belongs, if it is one of several."""
        if self._batch is not None:
            self._batch.end(self._databases.replays, statement, source)
            self._batch = None

    def _run(
        self,
        source: int,
        statement: StatementText,
        item: Statement,
        splitter: Splitter,
        replays: list[Replay],
        *,
        conditional: bool,
    ) -> bool:
        unsure = conditional or item.perhaps or bool(item.placeholders)
        filled = False
        if self._has_older_keywords and MAY_DIFFER.search(item.text) is not None:
            replays = self._without_later_keywords(source, statement, item, replays, unsure=unsure)
            if not replays:
                return True
        try:
            try:
                if item.keyword == "create" and item.sql.endswith("\n)") and not (unsure or item.edits):
                    parsed = self._parse_table(item.sql)
                else:
                    parsed = parse(statement.text if item.edits else item.sql, self._config.max_statement_size)
            except SyntaxRefused:
                if item.keyword in UNPARSED and not checked_in_any_case(item):
                    raise
                parsed = self._parse_filled(item)
                if parsed is None:
                    raise
                unsure = filled = True
        except TooDeep as error:
            self._too_deep(statement, error)
            return True
        except SyntaxRefused as refusal:
            from pubcheck.engine.syntax_errors import RefusedStatement

            refused = RefusedStatement(source, statement, item, refusal, conditional, replays)
            accepted = self._syntax_errors.accepted(refused)
            if accepted is None:
                return self._syntax_errors.report(refused, splitter)
            parsed, replays = accepted
        else:
            if self._newer_grammar and not filled:
                replays = self._accepting(source, statement, item, replays, conditional=conditional)
        if parsed is not None and not self._idle:
            self._run_parsed(source, statement, item, *parsed, replays=replays, unsure=unsure)
        return True

    def _run_parsed(
        self,
        source: int,
        statement: StatementText,
        item: Statement,
        name: str,
        node: Node,
        *,
        replays: Sequence[Replay],
        unsure: bool,
    ) -> None:
        """Run a statement in these replays; ``unsure``: not all of it is known, or whether it runs."""
        if name in _PUBLICATION_NODES and not item.placeholders and not item.variables:
            with self._faults.guard(statement):
                self._long_names(statement)
        self._databases.set_place((source, item.index), unknown_reason(item) if unsure else "")
        if unsure:
            # Its changes become assumed when it runs. Only objects that it names by a generated name are unknown.
            unknown = self.unknown_names.record(statement, item)
            self._databases.unfollowed(item.text if unknown and name != "CreateStmt" else "")
            if unknown and self.unknown_names.sets_identity(name, node):
                for replay in self._databases.replays:
                    replay.session.identified = True
            if unknown and name in _PUBLICATION_NODES and not has_unknown_order(statement.source):
                self._notes.report_unseen(
                    statement.span(0),
                    statement,
                    "part of this statement about a publication is known only at run time",
                    "pubcheck does not report on names it cannot resolve",
                )
        if self.run_objects is not None:
            if name == "TransactionStmt":
                return
            for kind in (
                *self.run_objects.reach(statement.start),
                *self.run_objects.record(name, node, self.unknown_names.names),
            ):
                self.transaction(statement, source, kind)
        try:
            for replay in replays:
                run_statement(replay, statement, source, name, node, filled=unsure)
        except TooDeep as error:
            self._too_deep(statement, error)

    def _without_later_keywords(
        self, source: int, statement: StatementText, item: Statement, replays: list[Replay], *, unsure: bool
    ) -> list[Replay]:
        """Run a statement for the majors to which keywords of later ones in it are names. Return the other replays."""
        others: list[Replay] = []
        for replay in replays:
            text = statement.text if item.edits else item.sql
            parsed = parse_with_names(text, replay.catalog.major, self._config.max_statement_size)
            if parsed is None:
                others.append(replay)
            elif not self._idle:
                self._run_parsed(source, statement, item, *parsed, replays=[replay], unsure=unsure)
        return others

    def _accepting(
        self, source: int, statement: StatementText, item: Statement, replays: list[Replay], *, conditional: bool
    ) -> list[Replay]:
        """Return those of the replays whose majors accept a statement that 18 accepts, and report it for the others."""
        refusal = newly_refused(statement.text if item.edits else item.sql)
        if refusal is None:
            return replays
        from pubcheck.engine.syntax_errors import RefusedStatement

        refused = RefusedStatement(source, statement, item, refusal, conditional, replays, newly=True)
        return self._syntax_errors.report_newly_refused(refused)

    def _parse_table(self, sql: str) -> tuple[str, Node] | None:
        """Parse a statement that is probably a CREATE TABLE as a dump has it."""
        from pubcheck.postgres.ddl.tables.known_columns import parse_table

        known = [replay.known_columns for replay in self._databases.replays]
        return parse_table(sql, known, self._config.max_statement_size)

    def _parse_filled(self, item: Statement) -> tuple[str, Node] | None:
        """Parse a refused statement with values in place of its placeholders, if the grammar then accepts it."""
        from pubcheck.lexing.placeholders import filled

        for text in filled(item):
            try:
                return parse(text)
            except SyntaxRefused:
                continue
        return None

    @finder("PUB006")
    def _too_deep(self, statement: StatementText, error: TooDeep) -> None:
        message, help_text = "this statement is nested too deeply to be checked", "it was skipped"
        if isinstance(error, TooLarge):
            message = f"this statement is too large to be parsed: {len(statement.text):,} characters"
            help_text += "; raise --max-statement-size to parse it, which takes about 20 bytes of memory per character"
        self._databases.unfollowed(known_text(statement.text))
        self._notes.add(
            "PUB006",
            "assumed",
            message,
            statement.span(0),
            help=f"{help_text}; objects that it creates are treated as unknown",
            statement=statement.ref(),
        )

    @finder("PUB104")
    def _long_names(self, statement: StatementText) -> None:
        """Report identifiers longer than NAMEDATALEN: the server cuts them, with a NOTICE that scripts do not show."""
        if len(statement.text) <= NAME_BYTES and statement.text.isascii():
            return
        for kind, token, offset in tokens(statement.text.encode(errors="surrogatepass")):
            if kind == "name" and len(token) > NAME_BYTES:
                name = token.decode(errors="replace").strip('"')
                if len(name.encode()) > NAME_BYTES:
                    short = truncate(name)
                    self._notes.add(
                        "PUB104",
                        "certain",
                        f'the name "{name}" is longer than {NAME_BYTES} bytes and is truncated to "{short}"',
                        statement.span(offset),
                        help="choose a shorter name",
                        statement=statement.ref(),
                        notices=(f'identifier "{name}" will be truncated to "{short}"',),
                    )

    def call(self, source: Source, named: list[tuple[int, str]], end: int) -> None:
        """Mark as assumed the tables that a program's calls before ``end`` name; remove these calls from ``named``."""
        while named and named[-1][0] < end:
            name = named.pop()[1]
            self.unknown_names.called.add(name.lower().rpartition(".")[2])
            if has_unknown_order(source):
                continue
            if not name:
                self._databases.unfollowed(_ANY_TABLE)
                continue
            quoted = ".".join(f'"{part}"' for part in name.split("."))
            for replay in self._databases.replays:
                row = replay.session.regclass(quoted)
                if row is None:
                    replay.session.blind = replay.session.blind or self._config.complete
                elif row.seen:
                    replay.catalog.relations.put(row.oid, replace(row, seen=False))
                    replay.catalog.reasons.rows.setdefault(
                        row.oid, Reason(f"what the program's own calls do to {name}")
                    )

    def transaction(self, before: StatementText, source: int, kind: str) -> None:
        """Begin or end a transaction that no statement of the source does."""
        for replay in self._databases.replays:
            replay.apply(before, source, "TransactionStmt", {"kind": kind, "pretended": True})


def run_statement(
    replay: Replay, statement: StatementText, source: int, name: str, node: Node, *, filled: bool = False
) -> None:
    """Run one statement of a file; the parameters are those of ``Replay.apply``."""
    if name in _CALLING and (name == "DoStmt" or replay.catalog.routines):
        from pubcheck.postgres.ddl.function_bodies import calls_routines

        if name == "DoStmt" or calls_routines(replay.session, node):
            from pubcheck.engine.blocks import BlockRunner

            BlockRunner(replay, statement, source, filled=filled).run(name, node)
            return
    if name == "CreateFunctionStmt" and "publication" in statement.text.lower():
        from pubcheck.engine.functions import FunctionDefinition

        replay.apply(statement, source, name, node, filled=filled, execution=FunctionDefinition)
        return
    replay.apply(statement, source, name, node, filled=filled)


def skip(replay: Replay, source: Source, number: int, item: Statement, *, conditional: bool) -> None:
    """Skip a statement of source ``number`` that is not parsed; functions that it calls are not followed."""
    replay.skip(source, number, item, conditional=conditional)
    if not replay.catalog.routines or item.keyword not in _MAY_CALL:
        return
    if item.keyword == "explain" and not _ANALYZES.search(item.text):
        return
    from pubcheck.engine.blocks import BlockRunner
    from pubcheck.postgres.ddl.function_bodies import called_in

    for routine in called_in(replay.catalog, item.text):
        statement = StatementText(source, item.index, item.start, item.text)
        BlockRunner(replay, statement, number).unfollowed(None, routine.body.text)


def end(replay: Replay, codes: frozenset[str]) -> None:
    """Finish the unit. Functions that nothing called are checked too: they may run some day."""
    if any(routine.about for routine in replay.catalog.routines.values()):
        from pubcheck.engine.functions import rehearse

        rehearse(replay)
    replay.end(codes)
