"""Run statements inside others: DO blocks, and the bodies of functions that statements call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.messages.refusals import explain
from pubcheck.checks.write.replica_identity import WRITING, RefusedDml
from pubcheck.diagnostics import Certainty
from pubcheck.engine.assumptions import (
    TO_DROP,
    IdentityChanges,
    assume_changes,
    assume_refused,
    assume_statement,
    assume_unknown,
    created_names,
    dropped_names,
    identity_changes,
    joined_identities,
    net_changes,
    rests_on_unseen,
    sets_identities_only,
)
from pubcheck.engine.replay import WITH_FILTERS, Execution, Replay
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.catalog.rows import Proc, Publication, Relation, Type
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, Reason, Routine
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.control_flow import ALREADY
from pubcheck.postgres.plpgsql.frames import ExecutionContext, Exhausted, Inner, Raised
from pubcheck.postgres.plpgsql.interpret import Interpreter
from pubcheck.postgres.plpgsql.parse import check_sql, program
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.plpgsql.variables import all_types_exist, first_refusal
from pubcheck.postgres.process_utility import MAY_BE_REFUSED
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.postgres.source_text import Text, do_body, language_of
from pubcheck.postgres.tokens import in_bytes
from pubcheck.rulebook import RULES, finder
from pubcheck.statement_index import StatementText


def embedded(outer: StatementText, inner: Inner) -> StatementText:
    """Return a statement inside another one, with its exact place in the source."""
    text, number = inner.text, (*outer.embedded, *inner.number)
    if not text.sites:
        start = text.start
        edits: tuple[tuple[int, int, str], ...] = ((0, max(0, text.end - start), text.text),)
        return StatementText(outer.source, outer.index, start, text.text, edits, number)
    start = text.sites[0][1]
    edits_of_pieces: list[tuple[int, int, str]] = []
    for (inside, outside), (after, next_outside) in itertools.pairwise(text.sites):
        # The text between two pieces: source text without a counterpart, or inserted text.
        end = outside + after - inside
        edits_of_pieces.append((min(end, next_outside) - start, next_outside - start, "?" * max(0, end - next_outside)))
    return StatementText(outer.source, outer.index, start, text.text, tuple(edits_of_pieces), number)


def with_sites(statement: StatementText) -> Text:
    """Return the text of a top-level statement, with its offsets in the source."""
    text = statement.text
    sites = [(0, statement.start)]
    for start, end, sent in statement.edits:
        shift = sites[-1][0] + statement.start - sites[-1][1] if len(sites) > 1 else 0
        inside = start + shift + len(sent)
        extra = len(sent) - (end - start)
        sites += [(inside - extra + position, statement.start + end) for position in range(extra)]
        sites.append((inside, statement.start + end))
    return Text(text, tuple(sites), statement.start, statement.place(len(text), end=True))


# The body of a function that a statement creates, checked as CREATE FUNCTION checks it (plpgsql_validator).


def compile_error(statement: str, body: Text, failure: NotParsed) -> ServerError:
    """Return the server's error for a body that does not parse, with the position in the statement around it."""
    location = None
    if failure.location is not None and body.sites:
        location = in_bytes(statement, body.outside(failure.location))
    return failure.error(location)


def created_function(replay: Replay, since: int) -> Routine | None:
    """Return the function that a statement created. ``since`` is the journal's mark before the statement."""
    catalog = replay.catalog
    created = (key for heap, key, _ in reversed(catalog.journal.entries[since:]) if heap is catalog.routines)
    return catalog.routines.get(next(created, 0))


def refused_body(replay: Replay, routine: Routine) -> NotParsed | None:
    """Return the error in the body of a function, if there is one."""
    if replay.session.setting("check_function_bodies") == "off":
        return None
    trial, newer = QueryChecker(replay.session, Budget()), replay.catalog.major.newer_grammar
    try:
        if routine.language == "plpgsql":
            all_types_exist(trial, routine.body.text, program(routine.header(), routine.body.text, newer=newer))
        else:
            check_sql(routine.body.text, newer=newer)
    except NotParsed as refusal:
        return first_refusal(trial, routine.body.text, refusal)
    except TooDeep:
        pass
    return None


_PUBLICATION = re.compile("publication", re.IGNORECASE)
_ABOUT_PUBLICATIONS = re.compile(
    r"\b(?:create|alter|drop)\s+publication\b|\breplica\s+identity\s+(?:full|nothing|default|using)\b", re.IGNORECASE
)
_UNFINISHED = "end each statement with a semicolon, also END, END IF, END LOOP and END CASE"
_MAY_NOT_GET_HERE = Reason("whether the block gets here")
_NOT_INLINE = ("sql", "c", "internal")


class _Mark(Struct, frozen=True):
    """A point to return to: the lengths of the journal and of the lists of findings."""

    entries: int
    diagnostics: int
    repeats: int


class BlockRunner:
    """Host of an interpreter (``interpret.Host``): one top-level statement and everything inside it."""

    def __init__(self, replay: Replay, statement: StatementText, source: int, *, filled: bool = False) -> None:
        self.replay = replay
        self.session = replay.session
        self.statement = statement
        self.source = source
        self.filled = filled
        """Whether it is unknown that the statement runs as written."""
        self.rehearsing = False
        self.text = with_sites(statement)
        """The statement, with offsets in the source."""
        self.implicit = False
        self.start_mark = _Mark(0, 0, 0)
        self.about_publication = False
        """Whether something changed a publication, or a called function may."""

    # Running.

    def run(self, name: str, node: Node) -> None:
        """Run a DO block, or a statement that calls functions."""
        session, journal = self.session, self.replay.catalog.journal
        session.begin_statement(self.source, self.statement.index, self.statement.text)
        self.implicit = session.transaction is None
        if self.implicit:
            journal.clear()
            session.begin()
        journal.undone.clear()
        self.start_mark = self.mark()
        interpreter = Interpreter(self, self.routine_of)
        interpreter.uncertainty.branches = int(self.filled)
        interpreter.atomic = interpreter.in_transaction = not self.implicit
        with self.replay.faults.guard(self.statement) as guard:
            try:
                self._interpret(interpreter, name, node)
                interpreter.settle()
            except Raised as raised:
                self.undo(self.start_mark)
                self.refuse(raised, Basis(_MAY_NOT_GET_HERE if interpreter.uncertainty.maybe_undone else None))
            except (Exhausted, TooDeep, RecursionError):
                self.unfollowed(None, self.statement.text)
        if guard.failed:
            self.undo(self.start_mark)
            self.unfollowed(None, self.statement.text)
        if self.implicit and session.transaction is not None:
            apply(session, "TransactionStmt", {"kind": "TRANS_STMT_COMMIT"})
        session.forget_path()

    def _interpret(self, interpreter: Interpreter, name: str, node: Node) -> None:
        if name != "DoStmt":
            interpreter.statement(self.text, name, node)
            return
        body = do_body(self.text, node)
        if body is None:
            language = language_of(node)
            if language in _NOT_INLINE:
                message = f'language "{language}" does not support inline code execution'
                raise Raised(ServerError("0A000", message), None)
            # In another language.
            self.unfollowed(None, self.statement.text)
            return
        try:
            interpreter.block(body)
        except NotParsed as refusal:
            failure = None if self.filled else first_refusal(interpreter.trial, body.text, refusal)
            if failure is None:
                self.unfollowed(None, body.text)
                return
            within = do_body(Text(self.text.text, ((0, 0),)), node)
            raise Raised(compile_error(self.text.text, within or body, failure), None, compiled=True) from None

    def routine_of(self, row: Proc) -> Routine | None:
        routine = self.replay.catalog.routines.get(row.oid)
        if not isinstance(routine, Routine):
            return None
        self.replay.called_functions.add(row.oid)
        self.about_publication = self.about_publication or _ABOUT_PUBLICATIONS.search(routine.body.text) is not None
        return routine

    # interpret.Host.

    def do(self, inner: Inner, name: str, node: Node, standing: ExecutionContext) -> bool | ServerError:
        run = _InnerExecution(self, inner, standing)
        if name in WRITING and self.replay.refuses_writes and not (standing.doubtful or standing.unsure):
            self._check_write(run, name, node)
        try:
            self.replay.execute(run, name, node)
        except RecursionError:
            self.unfollowed(inner, run.statement.text)
            return False
        return run.answer

    def place_in(self, body: str, location: int, inner: Inner) -> tuple[Inner | None, int]:
        """Return the byte position at which the server reports an error in the body of a function
        (function_parse_error_transpose).

        That is a position in the statement that was sent, if the body occurs there exactly once as it is. Otherwise it
        is a position in the body.
        """
        sent, written = self.text.text, re.escape(body)
        literals = list(re.finditer(rf"'{written}'(?!')|\${written}\$", sent))
        if len(literals) == 1:
            return None, in_bytes(sent, literals[0].start() + 1 + location)
        text = Text(body, (), inner.text.start, inner.text.end)
        return Inner(text, inner.number), in_bytes(body, location)

    def _check_write(self, run: _InnerExecution, name: str, node: Node) -> None:
        """Check a statement that writes a table. Raises Raised if it is certainly refused."""
        block, text = self.statement.text, run.statement
        self.session.begin_statement(run.source, run.number, text.text)
        stop = self.replay.refused_dml.stop(
            name, node, block.replace(text.text.strip(), "") if block != text.text else ""
        )
        if stop is not None and stop.certain:
            raise Raised(self.replay.refused_dml.error(text, stop), run.inner)

    def unfollowed(self, inner: Inner | None, known: str | None) -> None:
        session = self.session
        if self.rehearsing:
            return
        session.note_unknown_effect(known)
        if _PUBLICATION.search(known) if known else self.replay.catalog.publications:
            self._report_unseen(inner)

    @finder("PUB009")
    def _report_unseen(self, inner: Inner | None) -> None:
        """Report, once per source, that an unknown statement about a publication may run."""
        replay = self.replay
        if self.source in replay.sources_reported_unseen:
            return
        replay.sources_reported_unseen.add(self.source)
        statement = self.statement if inner is None else self.statement_text(inner)
        replay.diagnostics.append(
            RULES["PUB009"].diagnostic(
                "assumed",
                (replay.major,),
                "the SQL that this runs is known only at run time, and it may be about a publication",
                statement.span(0),
                help="later findings about the same publications and tables are assumed",
                statement=statement.ref(),
            )
        )

    def mark(self) -> _Mark:
        replay = self.replay
        return _Mark(replay.catalog.journal.mark(), len(replay.diagnostics), len(replay.reporter.repeats))

    def undo(self, mark: _Mark) -> None:
        replay, journal = self.replay, self.replay.catalog.journal
        before = len(journal.undone)
        journal.undo(mark.entries)
        del replay.diagnostics[mark.diagnostics :]
        del replay.reporter.repeats[mark.repeats :]
        self.session.forget_path()
        if not self.rehearsing:
            replay.follow_undo(self.source, self.statement.index, journal.undone[before:])

    def assume_since(self, mark: _Mark) -> None:
        journal = self.replay.catalog.journal
        changes, before = net_changes(journal.entries[mark.entries :]), journal.mark()
        self.replay.uncertain_names.update((*created_names(changes), *dropped_names(changes)))
        self.replay.uncertain_names.discard("")
        assume_changes(self.replay.catalog, changes)
        kinds = (Relation, Publication, Type, Proc)
        if any(isinstance(former, kinds) and key not in heap for heap, key, former in changes):
            # The dropped object may still exist.
            self.session.note_unknown_effect(self.statement.text)
        for heap, key, former in changes:
            row = heap.get(key)
            if not isinstance(row, Relation) or not isinstance(former, Relation):
                continue
            if row.identity == "f" and former.identity in "dn":
                # The table may still have its former identity, under which more is refused, but only assumed.
                journal.entries.append((heap, key, row))
                heap[key] = replace(row, identity=former.identity)
        self._follow_since(before)

    def skip(self, mark: _Mark) -> None:
        journal = self.replay.catalog.journal
        before = journal.mark()
        assume_changes(self.replay.catalog, journal.entries[mark.entries :])
        self._follow_since(before)

    def _follow_since(self, before: int) -> None:
        """Follow the changes since ``before``, which no statement made."""
        if not self.rehearsing:
            self.replay.follow_undo(self.source, self.statement.index, self.replay.catalog.journal.entries[before:])

    def start_alternative(self, mark: _Mark) -> IdentityChanges:
        journal, relations = self.replay.catalog.journal, self.replay.catalog.relations
        before = journal.mark()
        changes = identity_changes(relations, journal.entries[mark.entries :])
        for oid, (former, _) in changes.items():
            relations.put(oid, former)
        self._follow_since(before)
        return changes

    def join(self, alternatives: Sequence[IdentityChanges], *, complete: bool) -> None:
        catalog = self.replay.catalog
        before = catalog.journal.mark()
        for oid, row in joined_identities(catalog.relations, alternatives, complete=complete):
            catalog.relations.put(oid, row)
            if not row.seen:
                catalog.reasons.assume_row(oid, MAY_NOT_RUN)
        self._follow_since(before)

    def finish(self, *, commit: bool) -> bool:
        if not self.implicit or self.rehearsing:
            return False
        session = self.session
        apply(session, "TransactionStmt", {"kind": f"TRANS_STMT_{'COMMIT' if commit else 'ROLLBACK'}"})
        session.begin()
        self.start_mark = self.mark()
        return True

    @finder("PUB135")
    def swallowed(self, raised: Raised) -> None:
        """Report a certain refusal that EXCEPTION WHEN OTHERS hides."""
        error = raised.error
        if error.key is None or raised.inner is None:
            return
        statement = self.statement_text(raised.inner)
        refused_dml = error.evidence if isinstance(error.evidence, RefusedDml) else None
        message = refused_dml.diagnostic.message if refused_dml is not None else explain(error)[0]
        self.replay.diagnostics.append(
            RULES["PUB135"].diagnostic(
                "certain",
                (self.replay.major,),
                f"this never works, and EXCEPTION WHEN OTHERS hides it: {message}",
                statement.span(error.culprit or 0),
                help="name the expected condition, for example WHEN duplicate_object, to see other errors",
                statement=statement.ref(),
                object=error.relation,
                publications=(error.publication,) if error.publication else (),
            )
        )

    # Places.

    def statement_text(self, inner: Inner) -> StatementText:
        """Return an inner statement with its place in the source."""
        return embedded(self.statement, inner)

    def refuse(self, raised: Raised, basis: Basis) -> None:
        """Report that the block is refused: one finding, with the first error that the server raises."""
        error, inner = raised.error, raised.inner
        self.replay.refused = self.replay.refused or basis.certain
        statement = self.statement if inner is None else self.statement_text(inner)
        self.session.notices = []
        if error.key is None:
            if self.about_publication or any(
                _ABOUT_PUBLICATIONS.search(text.text) for text in (self.statement, statement)
            ):
                self._report_failure(statement, error, basis, compiled=raised.compiled)
        elif error.key == "syntax-error" or raised.compiled:
            self._refuse_syntax(statement, error, basis, compiled=raised.compiled)
        elif isinstance(error.evidence, RefusedDml):
            self.replay.refused_dml.record(error.evidence)
        else:
            self.replay.reporter.refuse(statement, error, basis)

    @finder("PUB137")
    def _report_failure(self, statement: StatementText, error: ServerError, basis: Basis, *, compiled: bool) -> None:
        """Report that an error about something else undoes, or prevents, what the statement does about publications."""
        message = f"this fails, so its changes to publications are undone: {error.message}"
        help_text = "fix the failing statement; if it may fail, put it in its own block with EXCEPTION WHEN"
        if compiled:
            message = f"PostgreSQL cannot parse this body, and runs none of it: {error.message}"
            help_text = _UNFINISHED
        certainty: Certainty = "certain" if basis.certain else "assumed"
        span, answer = statement.span(error.culprit or 0), self.replay.reporter.answer(statement, error, basis)
        self.replay.diagnostics.append(
            RULES["PUB137"].diagnostic(certainty, (self.replay.major,), message, span, help=help_text, **answer)
        )

    def _refuse_syntax(self, statement: StatementText, error: ServerError, basis: Basis, *, compiled: bool) -> None:
        from pubcheck.checks.ddl.syntax_help import code_of_syntax_error, syntax_help

        code, detail = code_of_syntax_error(error.message)
        error.detail = error.detail or detail
        refused_text = statement.text if error.evidence is None else str(error.evidence)
        self.replay.diagnostics.append(
            RULES[code].diagnostic(
                "certain",
                (self.replay.major,),
                f"PostgreSQL cannot parse this statement: {error.message}",
                statement.span(error.culprit or 0),
                help=syntax_help(refused_text, newer=self.replay.catalog.major.newer_grammar)
                or (_UNFINISHED if compiled else None),
                **self.replay.reporter.answer(statement, error, basis),
            )
        )


class _InnerExecution(Execution):
    """How a statement inside a block is executed.

    ``answer`` is the result for the interpreter: whether the statement depends on nothing unknown, or the refusal that
    is only assumed.
    """

    def __init__(self, runner: BlockRunner, inner: Inner, context: ExecutionContext) -> None:
        super().__init__(runner.replay, runner.statement_text(inner), runner.source, filled=context.unsure)
        self.runner, self.inner, self.context = runner, inner, context
        self.number = runner.replay.statements.embed(runner.source, self.statement)
        self.conditional = context.doubtful
        self.recorded = not runner.rehearsing
        self.answer: bool | ServerError = False
        self._raised_at: Inner | None = inner

    def reason(self) -> Reason:
        return Reason(MAY_NOT_RUN, (self.source, self.number))

    def check_body(self, name: str, mark: int, *, perhaps_refused: bool) -> None:
        if perhaps_refused:
            self.replay.session.assume(self.replay.catalog.reasons.current(MAY_BE_REFUSED))
        function = created_function(self.replay, mark) if name == "CreateFunctionStmt" else None
        failure = refused_body(self.replay, function) if function is not None else None
        if function is not None and failure is not None:
            body, offset = function.body.text, failure.location or 0
            self._raised_at, location = self.runner.place_in(body, offset, self.inner)
            raise failure.error(location)

    def refuse(self, error: ServerError, name: str, node: Node) -> None:
        """Report the refusal. Raises Raised if it is certain."""
        replay, session = self.replay, self.replay.session
        if error.sqlstate in ALREADY and not replay.uncertain_names.isdisjoint(error.arguments.values()):
            session.assume("whether an earlier block, which may fail, has created it")
        if session.basis.certain:
            raise Raised(error, self._raised_at) from None
        if error.key is not None and not self.context.excuse(error, False):
            replay.reporter.refuse(self.statement, error, session.basis)
            assume_refused(session, name, node)
        self.answer = error

    def assume(self, name: str, node: Node, mark: int, *, perhaps_refused: bool) -> None:
        replay, session, context = self.replay, self.replay.session, self.context
        changes = replay.catalog.journal.entries[mark:]
        self.runner.about_publication = self.runner.about_publication or name in WITH_FILTERS
        in_branch = context.in_branch and name not in TO_DROP
        # A statement of a branch that may be skipped does not make later statements uncertain.
        # Rows and replica identities that a branch may change leave later statements certain.
        harmless = in_branch and sets_identities_only(session.catalog.relations, changes)
        sure = session.basis.certain_if_run if harmless else session.basis.certain
        sure = sure and not rests_on_unseen(changes)
        if sure and replay.uncertain_names:
            sure = replay.uncertain_names.isdisjoint(created_names(changes))
        if not in_branch and (context.doubtful or (context.handled and not sure)):
            assume_statement(replay.catalog, name, mark)
        elif not context.doubtful:
            assume_unknown(session, name, node, changes)
        self.answer = sure

    def excuses(self, error: ServerError) -> bool:
        return self.context.excuse(error, True)
