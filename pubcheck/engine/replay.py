"""Replay the statements of a unit against the catalog of one major.

There is one ``Replay`` for each major. It executes each statement as the server would. For every table it keeps the
statement after which UPDATE or DELETE is refused. ``statement_runner`` decides which statements run directly, and which
contain others (``blocks``).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pubcheck.checks.grounds import Grounds
from pubcheck.checks.write.replica_identity import WRITING
from pubcheck.checks.write.write_refusal_history import Change, RefusedWrites
from pubcheck.config import Config
from pubcheck.engine.assumptions import (
    AFFECTED,
    TO_DROP,
    assume_changes,
    assume_refused,
    assume_statement,
    assume_targets,
    assume_unknown,
)
from pubcheck.engine.reporter import StatementReporter
from pubcheck.faults import Faults
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, Reason
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.source import Source
from pubcheck.statement_index import Statements, StatementText

if TYPE_CHECKING:
    from pubcheck.checks.publication_history import History
    from pubcheck.checks.refused_dml import RefusedDmlCollector
    from pubcheck.checks.write.replica_identity import Refusal
    from pubcheck.consumers.profiles import ConsumerUse
    from pubcheck.engine.final_state import ContextFindings, Outcome
    from pubcheck.lexing.items import Statement
    from pubcheck.live.document import Snapshot
    from pubcheck.postgres.ddl.tables.known_columns import KnownColumns
    from pubcheck.postgres.session.statement_context import Platform

WITH_FILTERS = ("CreatePublicationStmt", "AlterPublicationStmt")
_MAY_WRITE = frozenset(
    ("copy", "deallocate", "delete", "execute", "explain", "insert", "merge", "prepare", "update", "with")
)
_PREPARING = ("prepare", "deallocate")
_MISSING_IDENTITY = ("PUB302", "PUB301", "PUB304")


class Execution:
    """How a top-level statement is executed; blocks override this for the statements inside them.

    ``source`` and ``number`` identify it in the unit's statements. ``conditional``: it is unknown whether it runs.
    ``assumed``: its result rests on ``reason``. ``recorded``: its changes belong to the unit's history.
    """

    conditional = False
    recorded = True

    def __init__(self, replay: Replay, statement: StatementText, source: int, *, filled: bool) -> None:
        self.replay, self.statement, self.source = replay, statement, source
        self.number = statement.index
        self.assumed = filled

    def reason(self) -> Reason:
        """Return why the statement is assumed from its beginning."""
        return self.replay.catalog.reasons.current(MAY_NOT_RUN)

    def basis(self) -> Basis:
        """Return what the server's answer rests on before the statement begins."""
        if not (self.assumed or self.conditional):
            return Basis()
        reason = self.reason()
        return Basis(reason if self.assumed else None, conditional=reason if self.conditional else None)

    def check_body(self, name: str, mark: int, *, perhaps_refused: bool) -> None:
        """Check the body of a function that the statement has created since ``mark``. Raises ServerError."""

    def refuse(self, error: ServerError, name: str, node: Node) -> None:
        """Report that the server refuses the statement."""
        session = self.replay.session
        if error.key is not None:
            self.replay.reporter.refuse(self.statement, error, session.basis)
            if not session.basis.certain:
                assume_refused(session, name, node)
        elif not session.basis.certain:
            assume_targets(session, name, node)

    def assume(self, name: str, node: Node, mark: int, *, perhaps_refused: bool) -> None:
        """Mark as assumed what the statement has changed since ``mark``, as far as that is not certain."""
        session, catalog = self.replay.session, self.replay.catalog
        if perhaps_refused or (self.assumed and name in TO_DROP):
            assume_statement(catalog, name, mark)
        elif self.assumed:
            assume_changes(catalog, catalog.journal.entries[mark:])
        if name in AFFECTED:
            assume_unknown(session, name, node, catalog.journal.entries[mark:])

    def excuses(self, error: ServerError) -> bool:
        """Return whether an unknown name is not reported."""
        return False


class Replay:
    """The state of a unit in one major."""

    def __init__(
        self,
        major: int,
        *,
        complete: bool,
        database: str,
        platform: Platform | None = None,
        statements: Statements | None = None,
        consumers: Sequence[ConsumerUse] = (),
    ) -> None:
        self.statements = Statements(()) if statements is None else statements
        self.catalog = Catalog(major, database, database_known=database != Config().database)
        self.session = Session(self.catalog, complete=complete, platform=platform)
        self.major = major
        self.consumers = consumers
        self.faults = Faults((major,), self.statements)
        self.reporter = StatementReporter(self.session, self.faults, self.statements)
        self.diagnostics = self.reporter.diagnostics
        self._refused_writes = RefusedWrites(self.session, self.faults)
        self._history: History | None = None
        self.uncertain_names: set[str] = set()
        """Names of objects that blocks created or dropped and that may have failed."""
        self.called_functions: set[int] = set()
        """Functions whose bodies ran."""
        self.sources_reported_unseen: set[int] = set()
        """Sources for which an unseen statement about a publication was reported."""
        self._context_findings: ContextFindings | None = None
        self.refused = False
        """Whether a statement was refused for certain, since this was last set to False."""
        self.outcome: Outcome | None = None
        """The final state, once the unit is over."""

    def apply(
        self,
        statement: StatementText,
        source: int,
        name: str,
        node: Node,
        *,
        filled: bool = False,
        execution: type[Execution] | None = None,
    ) -> None:
        """Run one statement of a file, without those inside it. ``source`` is the number of its source.

        ``filled``: a placeholder in it was replaced, or it is unknown whether it runs.
        """
        if name in WRITING and self._refused_writes and not filled:
            with self.faults.guard(statement):
                self.refused_dml.check(statement, source, name, node)
        session, journal = self.session, self.catalog.journal
        if session.transaction is None:
            journal.clear()
        journal.undone.clear()
        mark = len(journal.entries)
        try:
            self.execute((execution or Execution)(self, statement, source, filled=filled), name, node)
        except (TooDeep, RecursionError):
            raise TooDeep from None
        except Exception as error:
            self.faults.report(error, statement)
            journal.undo(mark)
            session.forget_path()
            session.note_unknown_effect(statement.text)

    def execute(self, run: Execution, name: str, node: Node) -> None:
        """Execute one statement as the server would.

        This changes the catalog, marks uncertain changes as assumed, reports, and follows the changes in the history. A
        refused statement changes nothing. Raises RecursionError if it is nested too deeply, and then changes nothing
        either.
        """
        session, journal, statement = self.session, self.catalog.journal, run.statement
        session.begin_statement(run.source, run.number, statement.text, run.basis())
        mark, undone = len(journal.entries), len(journal.undone)
        try:
            perhaps_refused = apply_with_triggers(session, name, node)
            run.check_body(name, mark, perhaps_refused=perhaps_refused)
        except ServerError as error:
            journal.undo(mark)
            session.forget_path()
            run.refuse(error, name, node)
            self.refused = self.refused or (run.recorded and session.basis.certain)
            return
        except RecursionError:
            journal.undo(mark)
            session.forget_path()
            raise
        run.assume(name, node, mark, perhaps_refused=perhaps_refused)
        if session.basis.unseen:
            unseen = [error for error in session.unseen_names() if not run.excuses(error)]
            if unseen:
                self.reporter.report_unseen(statement, unseen, session.basis)
        if name in WITH_FILTERS:
            self.reporter.report_filters(statement, journal.entries[mark:])
        if self._context_findings is not None and run.recorded:
            self._context_findings.follow(run.source, run.number, journal.entries[mark:])
        if run.recorded and (self._history is not None or self.catalog.publications or self.catalog.subscriptions):
            self.follow(name, node, run.source, run.number, journal.entries[mark:], journal.undone[undone:])

    def load(self, snapshot: Snapshot, source: int) -> None:
        """Take over the catalogs of a server, before any statement. ``source`` is the number of their source."""
        from pubcheck.live.load import load

        load(self.session, snapshot, source)
        if self.catalog.publications or self.catalog.subscriptions or snapshot.facts is not None:
            self._begin_history()
        self._refused_writes.start()

    def _begin_history(self) -> History:
        """Return the history; it begins with the first publication or subscription."""
        if self._history is None:
            from pubcheck.checks.publication_history import History

            self._history = History(self.session)
        return self._history

    @cached_property
    def known_columns(self) -> KnownColumns:
        """The columns of tables so far by their definitions; loaded for the first table as a dump writes it."""
        from pubcheck.postgres.ddl.tables.known_columns import KnownColumns

        return KnownColumns(self.session)

    @cached_property
    def refused_dml(self) -> RefusedDmlCollector:
        """The statements that are refused because of the rows they write; loaded when one may be."""
        from pubcheck.checks.refused_dml import RefusedDmlCollector

        return RefusedDmlCollector(self.session, self._refused_writes, Grounds(self.session, self.statements))

    @property
    def refuses_writes(self) -> bool:
        """Whether any write is refused at this point."""
        return bool(self._refused_writes)

    def skip(self, source: Source, number: int, item: Statement, *, conditional: bool) -> None:
        """Skip a statement that is not parsed. It changes no catalog, but may write a table.

        ``conditional``: it is unknown whether it runs.
        """
        if item.keyword in _MAY_WRITE and not conditional and (self._refused_writes or item.keyword in _PREPARING):
            self.refused_dml.skip(source, number, item)

    def follow(
        self, name: str, node: Node, source: int, number: int, changes: list[Change], undone: list[Change]
    ) -> None:
        """Record in the unit's history what a statement changed and what it undid."""
        history = self._begin_history()
        with self.faults.guard(Place(source, number, 0, 0)):
            history.follow(name, node, changes)
        self._refused_writes.follow(source, number, itertools.chain(changes, undone))

    def follow_undo(self, source: int, number: int, undone: list[Change]) -> None:
        """Record that earlier statements were undone."""
        self._refused_writes.follow(source, number, undone)

    def connect(self, statement: StatementText, source: int, user: str) -> None:
        """Open a new connection after this statement."""
        self.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_ROLLBACK"})
        self.apply(statement, source, "Connect", {"user": user})

    def another_database(self, database: str) -> Replay:
        """Return an empty database of the same server."""
        session = self.session
        return Replay(
            self.major,
            complete=session.complete,
            database=database,
            platform=session.platform,
            statements=self.statements,
            consumers=self.consumers,
        )

    def share(self, neighbour: Replay) -> None:
        """Take over what all databases of a server share."""
        self.catalog.share_roles(neighbour.catalog)
        self.session.defaults = neighbour.session.defaults

    def _identity_unknown(self, refusal: Refusal) -> bool:
        """Return whether an identity that the files set for unknown tables may allow a refused write."""
        return self.session.identified and refusal.rule in _MISSING_IDENTITY

    def end_context(self, sources: int, codes: frozenset[str]) -> None:
        """Remember the findings so far: those of the first ``sources`` sources, which are context."""
        from pubcheck.engine.final_state import ContextFindings

        outcome = self._outcome()
        findings = outcome.silent_losses(codes) if outcome is not None else ()
        self._context_findings = ContextFindings(self.session, self.statements, sources, findings)

    def end(self, codes: frozenset[str]) -> None:
        """Finish the unit: add the findings about its final state. ``codes`` are the rules that are reported."""
        self.reporter.complete(self.statements)
        self.outcome = self._outcome()
        if self.outcome is not None:
            self.diagnostics.extend(self.outcome.diagnostics(codes))

    def _outcome(self) -> Outcome | None:
        """Return the state at this point, if there may be findings about it."""
        refused = [refusal for refusal in self._refused_writes.refused() if not self._identity_unknown(refusal[0])]
        refused_dml = self.refused_dml if "refused_dml" in self.__dict__ else None
        if not refused and refused_dml is None and self._history is None:
            return None
        from pubcheck.engine.final_state import Outcome

        return Outcome(
            self.session,
            self.statements,
            refused,
            self._history,
            refused_dml,
            self.faults,
            self.consumers,
            self._context_findings,
        )
