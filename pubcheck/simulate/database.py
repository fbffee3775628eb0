"""A PostgreSQL server in memory: one database of one major, its sessions, and the log that decoding reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.postgres.versions import Major
from pubcheck.simulate import transaction_blocks
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.decoding.slot import PluginFactory, Slot
from pubcheck.simulate.executor import run_statement
from pubcheck.simulate.executor.foreign_key_actions import act
from pubcheck.simulate.executor.foreign_keys import Action
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.script import Step, statements
from pubcheck.simulate.server_state import ServerState


def refuse_newer_merge(major: Major, name: str, node: Node) -> None:
    """Raise ServerError 42601 for what MERGE has since 17, in a statement or in its WITH queries."""
    if major.merge_returning:
        return
    for merge in _merges(name, node):
        kinds = {clause["MergeWhenClause"].get("matchKind", "") for clause in merge["mergeWhenClauses"]}
        if "MERGE_WHEN_NOT_MATCHED_BY_SOURCE" in kinds:
            raise ServerError("42601", 'syntax error at or near "BY"')
        if "returningClause" in merge:
            raise ServerError("42601", 'syntax error at or near "RETURNING"')


def _merges(name: str, node: Node) -> Iterator[Node]:
    if name == "MergeStmt":
        yield node
    for item in node.get("withClause", {}).get("ctes", ()):
        for kind, body in item["CommonTableExpr"]["ctequery"].items():
            yield from _merges(kind, body)


__all__ = ["NOTHING", "Result", "ServerSession"]


class ServerSession(Backend):
    """A connection. Made by ``Database.session``."""

    def run(self, sql: str) -> Result:
        """Run one statement. Raises ServerError where the server refuses it, NotFollowed where that is not known."""
        return self._run(sql, None)

    def copy(self, sql: str, data: str) -> Result:
        """COPY ... FROM STDIN with its data."""
        return self._run(sql, data)

    def _run(self, sql: str, data: str | None) -> Result:
        self.database.activate(self)
        self.text, self.steps = sql, 0
        try:
            return self._execute(sql, data)
        except SyntaxRefused as refused:
            failure: Exception = ServerError(refused.sqlstate, refused.message, location=refused.location)
        except RecursionError:
            failure = NotFollowed("triggers, functions or expressions that are nested too deeply")
        except Unknowable as unknown:
            failure = NotFollowed(unknown.reason, unknown.location)
        except (ServerError, NotFollowed) as error:
            failure = error
        if isinstance(failure, NotFollowed):
            failure.statement = failure.statement or sql
        self.end_failed()
        raise failure from None

    def _execute(self, sql: str, data: str | None) -> Result:
        parsed = parse_with(self.database.catalog.major.newer_grammar, sql)
        if parsed is None:
            return NOTHING
        name, node = parsed
        refuse_newer_merge(self.database.catalog.major, name, node)
        if name == "TransactionStmt":
            return transaction_blocks.run(self, node)
        self.refuse_failed()
        implicit = self.transaction is None
        if implicit:
            self.begin(implicit=True)
        result = self.run_parsed(name, node, sql, data)
        if implicit and self.transaction is not None and self.transaction.implicit:
            self.commit()
        return result

    def run_parsed(self, name: str, node: Node, sql: str, data: str | None = None) -> Result:
        """Run a statement in the current transaction, with the triggers that it queues."""
        self.catalog_session.begin_statement(0, 0, sql)
        outer, self.running = self.running, self.snapshot()
        try:
            result = run_statement(self, name, node, data)
        finally:
            self.running = outer
        self.increment_command()
        return result

    def run_event(self, event: Any) -> None:
        """Run a queued trigger, or a check or an action of a foreign key."""
        if isinstance(event, Action):
            act(self, event)
        else:
            event()


class Database(ServerState):
    """A database of one major. ``setup`` is run first, in session "a"; a refused statement raises ServerError.

    ``log`` has the records in their order, ``listeners`` are called with each as it is appended. ``clock`` gives the
    time in microseconds since 2000-01-01; without one, commits have made-up times, and statements that ask for the
    time cannot be followed. ``seed`` makes up the values of random() and gen_random_uuid(); without one, statements
    that ask for them cannot be followed.
    """

    def __init__(
        self,
        major: int,
        setup: str | Sequence[str] = "",
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(major, clock, seed)
        for text in statements(setup):
            self.session("a").run(text)

    def session(self, name: str = "a") -> ServerSession:
        """The session of that name, which is connected when it is first asked for."""
        if name not in self.sessions:
            self.sessions[name] = ServerSession(self, name)
        session: ServerSession = self.sessions[name]
        return session

    def disconnect(self) -> None:
        """End all sessions, rolling back their open transactions: further statements come from new ones."""
        for session in list(self.sessions.values()):
            if session.transaction is not None:
                session.run("ROLLBACK")
            self.close(session)

    def run(self, step: Step) -> None:
        """Run a statement of a script in its session. Raises ServerError and NotFollowed."""
        session = self.session(step.session)
        if step.data is None:
            session.run(step.sql)
        else:
            session.copy(step.sql, step.data)

    def slot(self, plugin: str | PluginFactory, *, two_phase: bool = False) -> Slot:
        """Create a replication slot at the current end of the log, for pgoutput, test_decoding or a plugin's class."""
        return Slot(self, plugin, two_phase=two_phase)
