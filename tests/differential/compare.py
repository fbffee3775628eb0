"""Runs a script on a server and through pubcheck, statement by statement, and says where they differ."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import psycopg
from msgspec import Struct

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.linter import Linter, Unit
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.sources.text import Source
from tests.differential.scripts import DATABASE, ROLES
from tests.support.servers import Answer, Server, execute


class Difference(Struct, frozen=True):
    """One disagreement: at which statement, what the server said and what pubcheck said."""

    statement: str
    server: str
    pubcheck: str


_TABLES = """
    SELECT format('%I.%I', n.nspname, c.relname), n.nspname || '.' || c.relname,
           (SELECT quote_ident(a.attname) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
              AND a.attidentity <> 'a' ORDER BY a.attnum LIMIT 1)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.oid >= 16384 AND c.relpersistence <> 't' AND n.nspname !~ '^pg_'
      AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
    ORDER BY 2
"""

_JUDGED = ("PUBLICATION", "REPLICA IDENTITY")


def compare(server: Server, statements: list[str]) -> list[Difference]:
    """Differences in refusals of judged statements, and in which tables' writes are refused at the end.

    A statement inside a transaction that failed is not run on the server but rolled back to a savepoint, as the
    design has it: a refused statement is judged as if it had been left out.
    """
    differences: list[Difference] = []
    with _without_roles(server), server.database() as name, server.connect(name) as conn:
        statements = [statement.replace(DATABASE, name) for statement in statements]
        answers = [_answer(conn, statement) for statement in statements]
        for statement in ("COMMIT", "RESET SESSION AUTHORIZATION", "RESET ROLE"):
            execute(conn, statement)
        writes = _writes(conn)
        tables = {row[1] for row in conn.execute(_TABLES).fetchall()}
    # What the rows of a table refuse (23xxx) a script does not say: such a statement is left out on both sides.
    data = [bool(answer.sqlstate and answer.sqlstate.startswith("23")) for answer in answers]
    statements = ["SELECT 1" if refused else text for text, refused in zip(statements, data, strict=True)]
    answers = [Answer(True) if refused else answer for answer, refused in zip(answers, data, strict=True)]
    unit = Unit((Source("script.sql", ";\n".join(statements)),))
    config = Config(postgres=(server.major,), complete=True, database=name, select=("PUB",))
    with _left_out() as followed:
        found = Linter(config).lint(unit).diagnostics
    refused: dict[int, Diagnostic] = {
        d.statement.index: d for d in found if d.statement is not None and d.phase == "ddl" and d.server is not None
    }
    for index, (statement, answer) in enumerate(zip(statements, answers, strict=True)):
        mine = refused.get(index)
        judged = any(word in statement for word in _JUDGED)
        if not judged and mine is None and answer.ok != (index not in followed):
            said = "accepted" if index not in followed else f"left out: {followed[index]}"
            expected = "accepted" if answer.ok else f"{answer.sqlstate} {answer.message}"
            differences.append(Difference(f"(followed) {statement}", expected, said))
        if mine is not None or (judged and not answer.ok):
            said = _said(mine.server) + ("" if mine.certainty == "certain" else " (assumed)") if mine else "accepted"
            expected = "accepted" if answer.ok else _said(answer)
            if said != expected:
                differences.append(Difference(statement, expected, said))
    predicted: dict[tuple[str, str], str] = {
        (d.object, d.operation): _said(d.server) + ("" if d.certainty == "certain" else " (assumed)")
        for d in found
        if d.phase == "write" and d.object in tables and d.object and d.operation
    }
    for key in sorted({*writes, *predicted}, key=str):
        if writes.get(key) != predicted.get(key):
            theirs, ours = writes.get(key, "accepted"), predicted.get(key, "accepted")
            differences.append(Difference(f"{key[1]} {key[0]}", theirs, ours))
    return differences


@contextlib.contextmanager
def _left_out() -> Iterator[dict[int, str]]:
    """The statements that pubcheck leaves out without a word, by index, with the reason; filled while linting."""
    found: dict[int, str] = {}

    def watched(session: Session, name: str, node: Node) -> None:
        try:
            apply(session, name, node)
        except ServerError as error:
            if error.rule is None:
                found[session.statement] = f"{error.sqlstate} {error.message}"
            raise

    with mock.patch("pubcheck.fold.apply", watched):
        yield found


@contextlib.contextmanager
def _without_roles(server: Server) -> Iterator[None]:
    """The scripts' roles belong to the whole server and go when the database that they own things in is gone."""
    try:
        yield
    finally:
        with server.connect() as admin:
            for role in ROLES:
                admin.execute(f"DROP ROLE IF EXISTS {role}")


def _answer(conn: psycopg.Connection[Any], statement: str) -> Answer:
    inside = conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    if not inside or statement.split()[0] in ("ROLLBACK", "COMMIT", "SAVEPOINT", "RELEASE"):
        return execute(conn, statement)
    execute(conn, "SAVEPOINT pubcheck_guard")
    answer = execute(conn, statement)
    execute(conn, "RELEASE pubcheck_guard" if answer.ok else "ROLLBACK TO pubcheck_guard")
    return answer


def _writes(conn: psycopg.Connection[Any]) -> dict[tuple[str, str], str]:
    """Refused writes by table and operation; ONLY, because a child is another table."""
    found: dict[tuple[str, str], str] = {}
    for quoted, shown, column in conn.execute(_TABLES).fetchall():
        asked = {"delete": f"EXPLAIN DELETE FROM ONLY {quoted}"}
        if column is not None:
            asked["update"] = f"EXPLAIN UPDATE ONLY {quoted} SET {column} = {column}"
        for operation, statement in asked.items():
            answer = execute(conn, statement)
            if not answer.ok:
                found[shown, operation] = _said(answer)
    return found


def _said(answer: Any) -> str:
    said = f"{answer.sqlstate} {answer.message} | {answer.detail} | {answer.hint} | {answer.position}"
    # The temporary schema's number is the session's; pubcheck writes <n>.
    return re.sub(r"pg_temp_\d+", "pg_temp_<n>", said)
