"""Servers for scripts of a few statements, thousands of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from tests.support.servers import Answer, Servers, execute, rolled_back
from tests.support.subscribing import no_subscription_left

_OWN_TRANSACTIONS = re.compile(r"(?i)\b(begin|commit|rollback|subscription)\b")


class Scripts:
    """Runs scripts on the servers: in a transaction of a shared database that is rolled back, which is ten times as
    fast, if the answers are then the expected ones, otherwise in a database of their own."""

    def __init__(self, servers: Servers, stack: ExitStack) -> None:
        self._servers, self._stack = servers, stack
        self._shared: dict[int, psycopg.Connection[Any]] = {}

    def answers(self, major: int, statements: Sequence[str], expected: Callable[[list[Answer]], bool]) -> list[Answer]:
        """The answer to each statement; a refused one does not end the script."""
        if not any(_OWN_TRANSACTIONS.search(statement) for statement in statements):
            answers = self._in_transaction(major, statements)
            if expected(answers):
                return answers
        server = self._servers[major]
        with server.database() as name, server.connect(name) as connection, no_subscription_left(connection):
            return [execute(connection, statement) for statement in statements]

    def _in_transaction(self, major: int, statements: Sequence[str]) -> list[Answer]:
        if major not in self._shared:
            name = self._stack.enter_context(self._servers[major].database())
            self._shared[major] = self._stack.enter_context(self._servers[major].connect(name))
        connection, answers = self._shared[major], []
        with rolled_back(connection):
            for statement in statements:
                connection.execute("SAVEPOINT before_statement")
                answers.append(execute(connection, statement))
                if not answers[-1].ok:
                    connection.execute("ROLLBACK TO before_statement")
        return answers


@pytest.fixture(scope="session")
def scripts(servers: Servers) -> Iterator[Scripts]:
    with ExitStack() as stack:
        yield Scripts(servers, stack)
