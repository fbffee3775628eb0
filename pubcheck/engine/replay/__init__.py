"""Folding a unit's statements into the catalog of one major, and what is found on the way.

One ``Fold`` a major. It applies each statement as the server would, and keeps for every table the statement after which
its UPDATE or DELETE became refused. Beside: what is said of the statement at hand, what is there by assumption only,
and what is said of the final state.
"""

from __future__ import annotations

import itertools
import re
from functools import cached_property
from typing import TYPE_CHECKING

from pubcheck.checks.grounds import Grounds
from pubcheck.checks.write.replica_identity import WRITING
from pubcheck.checks.write.write_refusal_history import Change, RefusedWrites
from pubcheck.config import Config
from pubcheck.engine.assumptions import assume_changes, assume_refused, assume_statement, assume_targets, assume_unknown
from pubcheck.engine.reporter import StatementReporter
from pubcheck.faults import Faults
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.reasons import MAY_NOT_RUN
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.postgres.session import Session
from pubcheck.source import Source
from pubcheck.statement_index import Statements, StatementText

if TYPE_CHECKING:
    from pubcheck.checks.publication_history import History
    from pubcheck.checks.refused_dml import RefusedDmlCollector
    from pubcheck.checks.write.replica_identity import Refusal
    from pubcheck.engine.final_state import Outcome
    from pubcheck.lexing.items import Statement
    from pubcheck.postgres.session.platform import Platform

_CALLING = frozenset(("DoStmt", "SelectStmt", "CallStmt"))
WITH_FILTERS = ("CreatePublicationStmt", "AlterPublicationStmt")
_MAY_CALL = frozenset(
    ("copy", "declare", "delete", "explain", "insert", "merge", "prepare", "refresh", "update", "values", "with")
)
_MAY_WRITE = frozenset(
    ("copy", "deallocate", "delete", "execute", "explain", "insert", "merge", "prepare", "update", "with")
)
_PREPARING = ("prepare", "deallocate")
_FOR_WANT_OF_IDENTITY = ("PUB302", "PUB301", "PUB304")
_ANALYZES = lazy_compile(r"analy[sz]e", re.IGNORECASE)


class Replay:
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
        self.faults = Faults((major,), self.statements)
        self.at_hand = StatementReporter(self.session, self.faults, self.statements)
        self.diagnostics = self.at_hand.diagnostics
        self._refused_writes = RefusedWrites(self.session, self.faults)
        self._history: History | None = None
        self.perhaps_made: set[str] = set()
        """Names of what blocks made, or took away, that perhaps failed."""
        self.called: set[int] = set()
        """Functions whose bodies were run."""
        self.told_not_seen: set[int] = set()
        """Sources of which it was said that a statement about a publication is not seen."""
        self.outcome: Outcome | None = None
        """What is said of the final state, once the unit is over."""

    def apply(self, statement: StatementText, source: int, name: str, node: Node, *, filled: bool = False) -> None:
        """Do one statement. ``source`` numbers the unit's sources.

        ``filled``: a placeholder in it was filled in, or whether it runs is not known.
        """
        if name in _CALLING and (name == "DoStmt" or self.catalog.routines):
            # Loaded only where there are DO blocks, or calls of functions whose bodies may matter.
            from pubcheck.postgres.plpgsql.routines import calls

            if name == "DoStmt" or calls(self.session, node):
                from pubcheck.engine.blocks import BlockRunner

                BlockRunner(self, statement, source, filled=filled).run(name, node)
                return
        if name in WRITING and self._refused_writes and not filled:
            with self.faults.guard(statement):
                self.stopped.check(statement, source, name, node)
        session, journal = self.session, self.catalog.journal
        session.begin_statement(source, statement.index, statement.text)
        session.assumed = filled
        if filled:
            session.because.append(self.catalog.reasons.here(MAY_NOT_RUN))
        mark = journal.mark() if session.transaction is not None else 0
        if not mark:
            journal.entries.clear()
        journal.undone.clear()
        with self.faults.guard(statement, TooDeep) as guard:
            perhaps_refused = self._applied(statement, name, node, mark)
            if perhaps_refused is None:
                return
            if perhaps_refused:
                assume_statement(self.catalog, name, mark)
            elif filled:
                assume_changes(self.catalog, journal.entries[mark:])
            assume_unknown(session, name, node, journal.entries[mark:])
        if guard.failed:
            journal.undo(mark)
            session.forget_path()
            session.unfollowed(statement.text)
            return
        if session.unseen:
            self.at_hand.report_unseen(statement, session.unseen)
        if name in WITH_FILTERS:
            self.at_hand.report_filters(statement, journal.entries[mark:])
        if self._history is not None or self.catalog.publications or self.catalog.subscriptions:
            self.follow(name, node, source, statement.index, journal.entries[mark:], journal.undone)

    def _applied(self, statement: StatementText, name: str, node: Node, mark: int) -> bool | None:
        """Change the catalog as the server would; None where it refuses, and else whether an event trigger perhaps
        does. ``mark``: the journal's before it."""
        session, journal = self.session, self.catalog.journal
        try:
            perhaps_refused = apply_with_triggers(session, name, node)
            if name == "CreateFunctionStmt" and self.catalog.routines and "publication" in statement.text.lower():
                from pubcheck.engine.blocks import check_body

                check_body(self, statement)
        except ServerError as error:
            journal.undo(mark)
            session.forget_path()
            if error.rule is not None:
                self.at_hand.refuse(statement, error)
                if session.assumed:
                    assume_refused(session, name, node)
            elif session.assumed:
                assume_targets(session, name, node)
            return None
        except RecursionError:
            journal.undo(mark)
            session.forget_path()
            raise TooDeep from None
        return perhaps_refused

    @cached_property
    def stopped(self) -> RefusedDmlCollector:
        """The statements that are refused because of what they write; loaded when one may be."""
        from pubcheck.checks.refused_dml import RefusedDmlCollector

        return RefusedDmlCollector(self.session, self._refused_writes, Grounds(self.session, self.statements))

    @property
    def refuses_writes(self) -> bool:
        """Whether any write is refused as things stand."""
        return bool(self._refused_writes)

    def pass_over(self, source: Source, number: int, item: Statement, *, conditional: bool) -> None:
        """A statement that changes no catalog, but for the functions that it calls: they are not followed.

        ``perhaps``: whether it runs at all is not known.
        """
        if item.keyword in _MAY_WRITE and not conditional and (self._refused_writes or item.keyword in _PREPARING):
            self.stopped.skip(source, number, item)
        if not self.catalog.routines or item.keyword not in _MAY_CALL:
            return
        if item.keyword == "explain" and not _ANALYZES.search(item.text):
            return
        # Loaded only where there are functions whose bodies may matter.
        from pubcheck.engine.blocks import BlockRunner
        from pubcheck.postgres.plpgsql.routines import called_in

        for routine in called_in(self.catalog, item.text):
            statement = StatementText(source, item.index, item.start, item.text)
            BlockRunner(self, statement, number).unfollowed(None, routine.body.text)

    def follow(
        self, name: str, node: Node, source: int, number: int, changes: list[Change], undone: list[Change]
    ) -> None:
        """Take in what a statement changed, and what it took back, for what is said of the unit's history."""
        if self._history is not None or self.catalog.publications or self.catalog.subscriptions:
            if self._history is None:
                # Loaded only where there are publications or subscriptions.
                from pubcheck.checks.publication_history import History

                self._history = History(self.session)
            with self.faults.guard(Place(source, number, 0, 0)):
                self._history.follow(name, node, changes)
            self._refused_writes.follow(source, number, itertools.chain(changes, undone))

    def follow_back(self, source: int, number: int, undone: list[Change]) -> None:
        """Take in that statements that were followed never happened."""
        self._refused_writes.follow(source, number, undone)

    def connect(self, statement: StatementText, source: int, user: str) -> None:
        """A connection of its own for what follows, after this statement."""
        self.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_ROLLBACK"})
        self.apply(statement, source, "Connect", {"user": user})

    def in_other_database(self, database: str) -> Replay:
        """Another database of the same server, with nothing in it."""
        session = self.session
        return Replay(
            self.major,
            complete=session.complete,
            database=database,
            platform=session.platform,
            statements=self.statements,
        )

    def share(self, other: Replay) -> None:
        """Take over what all databases of a server have in common."""
        self.catalog.share_roles(other.catalog)
        self.session.defaults = other.session.defaults

    def _identity_unknown(self, refusal: Refusal) -> bool:
        """Whether a replica identity that the files set for tables of unknown names may allow a refused write."""
        return self.session.identified and refusal.rule in _FOR_WANT_OF_IDENTITY

    def end(self, wanted: frozenset[str]) -> None:
        """The unit is over: say what that comes to; of silent losses, what the rules of these codes find."""
        if any(routine.about for routine in self.catalog.routines.values()):
            # What stands in functions that nothing called may be run some day.
            from pubcheck.engine.blocks import rehearse

            rehearse(self)
        self.at_hand.complete(self.statements)
        refused = [each for each in self._refused_writes.refused() if not self._identity_unknown(each[0])]
        stopped = self.stopped if "stopped" in self.__dict__ else None
        if refused or stopped is not None or self._history is not None:
            # Loaded only where there may be something to say.
            from pubcheck.engine.final_state import Outcome

            self.outcome = Outcome(self.session, self.statements, refused, self._history, stopped, self.faults)
            self.diagnostics.extend(self.outcome.diagnostics(wanted))
