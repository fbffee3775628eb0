"""Plays a case of the corpus on a server and writes down the answer.

Each case has a database of its own and one session, as superuser. A decoding case makes its slot after the setup and
reads it with the SQL functions, in the same session.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import Any

import psycopg
from msgspec import Struct
from psycopg import sql
from psycopg.pq import TransactionStatus

from tests.support.cases import Case, Decode, Recorded
from tests.support.pgoutput import describe
from tests.support.recording import after, normalised, recorded
from tests.support.servers import Answer, Server, SetupFailed, TransactionLeft, execute, prepare, rolled_back
from tests.support.subscribing import no_subscription_left, play_subscription


def play(server: Server, case: Case) -> Recorded:
    """The server's answer in the corpus' form. Raises SetupFailed when a statement of the setup is refused, unless that
    is what the case says of this major."""
    try:
        if case.sub:
            return play_subscription(server, case, case.sub)
        with server.database() as database, server.connect(database) as conn, no_subscription_left(conn):
            return _play(_Ground(conn, database, server.port), case)
    except SetupFailed as failure:
        expected = case.answers.get(server.major)
        if expected is None or expected.at != "setup":
            raise
        answer = failure.answer
        return Recorded(
            ok=False,
            sqlstate=answer.sqlstate,
            message=answer.message,
            detail=answer.detail,
            hint=answer.hint,
            at="setup",
            placed=False,
        )


class Quick:
    """Plays cases one after the other in one database, each in a transaction that is rolled back: some times faster.

    Some statements answer otherwise inside a transaction, so an answer that is not the recorded one is asked for again
    in a database of its own, and that one counts. Recording uses ``play`` only.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open = contextlib.ExitStack()

    def play(self, case: Case) -> Recorded:
        """As ``play``."""
        if case.decode is None and case.sub is None:
            with contextlib.suppress(SetupFailed):
                answer = self._in_transaction(case)
                if answer == case.answers.get(self._server.major):
                    return answer
        return play(self._server, case)

    def _in_transaction(self, case: Case) -> Recorded:
        try:
            with rolled_back(self._ground.conn):
                return _play(self._ground, case)
        except TransactionLeft:
            self.close()
            return play(self._server, case)

    @cached_property
    def _ground(self) -> _Ground:
        database = self._open.enter_context(self._server.database())
        return _Ground(self._open.enter_context(self._server.connect(database)), database, self._server.port)

    def close(self) -> None:
        """Drops the database; another one is made when it is needed."""
        self.__dict__.pop("_ground", None)
        self._open.close()


class _Ground(Struct, frozen=True):
    """Where a case is played."""

    conn: psycopg.Connection[Any]
    database: str
    port: int

    def filled(self, statement: str) -> str:
        return statement.replace("@@DB@@", self.database).replace("@@PORT@@", str(self.port))

    def execute(self, statement: str) -> Answer:
        """In a transaction a refused statement is taken back alone, as it would be without one."""
        if self.conn.info.transaction_status != TransactionStatus.INTRANS:
            return execute(self.conn, self.filled(statement))
        self.conn.execute("SAVEPOINT played")
        answer = execute(self.conn, self.filled(statement))
        if not answer.ok:
            self.conn.execute("ROLLBACK TO played")
        return answer


def _play(context: _Ground, case: Case) -> Recorded:
    try:
        prepare(context.conn, [context.filled(statement) for statement in case.setup])
    except SetupFailed as failure:
        raise SetupFailed(f"{case.rule}/{case.id}: {failure}", failure.answer) from None
    answer = context.execute(case.statement)
    if case.decode and answer.ok:
        return _decode(context.conn, case.decode, context.database)
    then = tuple(after(context.execute(statement), context.database) for statement in case.then) if answer.ok else ()
    return recorded(answer, context.database, then)


def _decode(conn: psycopg.Connection[Any], decode: Decode, database: str) -> Recorded:
    """What a slot, made before the DML, sends for the publications. An error loses its context, which has an LSN."""
    conn.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [database])
    try:
        notices: list[str] = []
        for statement in decode.sql:
            server_answer = execute(conn, statement)
            notices += server_answer.notices
            if not server_answer.ok:
                return recorded(server_answer, database)
        # As a statement without parameters, for execute keeps the whole of an ERROR.
        changes = sql.SQL(
            "SELECT encode(data, 'hex') FROM pg_logical_slot_get_binary_changes({slot}, NULL, NULL,"
            " 'proto_version', '1', 'publication_names', {publications})"
        ).format(slot=database, publications=decode.publications)
        server_answer = execute(conn, changes.as_string(conn))
        notices = [normalised(notice, database) for notice in (*notices, *server_answer.notices)]
        if server_answer.rows is None:
            answer = recorded(server_answer, database)
            return Recorded(
                ok=False,
                sqlstate=answer.sqlstate,
                message=answer.message,
                detail=answer.detail,
                hint=answer.hint,
                at="decoding",
                notices=tuple(notices),
            )
        messages = (bytes.fromhex(str(row[0])) for row in server_answer.rows)
        return Recorded(ok=True, notices=tuple(notices), changes=tuple(describe(messages, decode.relations)))
    finally:
        conn.execute("SELECT pg_drop_replication_slot(%s)", [database])
