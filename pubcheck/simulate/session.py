"""One connection of a simulated server: it runs statements one after the other."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.simulate import transaction_blocks
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor import run_statement
from pubcheck.simulate.executor.foreign_key_actions import act
from pubcheck.simulate.executor.foreign_keys import Action
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.older_grammar import refuse_newer_merge

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
        except RecursionError:
            self.end_failed()
            failure = NotFollowed("triggers, functions or expressions that are nested too deeply")
            failure.statement = sql
            raise failure from None
        except (NotFollowed, Unknowable) as unknown:
            failure = unknown if isinstance(unknown, NotFollowed) else NotFollowed(unknown.reason, unknown.location)
            failure.statement = failure.statement or sql
            self.end_failed()
            raise failure from None

    def _execute(self, sql: str, data: str | None) -> Result:
        try:
            parsed = parse_with(self.database.catalog.major.newer_grammar, sql)
            if parsed is None:
                return NOTHING
            name, node = parsed
            refuse_newer_merge(self.database.catalog.major, name, node)
        except SyntaxRefused as refused:
            self.end_failed()
            raise ServerError(refused.sqlstate, refused.message, location=refused.location) from None
        except ServerError:
            self.end_failed()
            raise
        if name == "TransactionStmt":
            try:
                return transaction_blocks.run(self, node)
            except ServerError:
                self.end_failed()
                raise
        self.refuse_failed()
        implicit = self.transaction is None
        if implicit:
            self.begin(implicit=True)
        try:
            result = self.run_parsed(name, node, sql, data)
            if implicit and self.transaction is not None and self.transaction.implicit:
                self.commit()
        except ServerError:
            self.end_failed()
            raise
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
