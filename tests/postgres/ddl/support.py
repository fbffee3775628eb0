"""Scripts folded into a catalog, and the same scripts run on servers: what the tests of statements share."""

from __future__ import annotations

from typing import Any

import psycopg

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import parse, split_statements
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from tests.support.scripts import Outcome
from tests.support.servers import Server, execute

RelationSummary = tuple[str, str, str, str, str, tuple[str, ...]]
"""Schema, name, relkind, relpersistence, owner, names of columns."""


def play(session: Session, sql: str) -> list[Outcome]:
    """Apply the statements of a script one after the other; a refused one leaves no trace."""
    outcomes: list[Outcome] = []
    for number, text in enumerate(split_statements(sql)):
        parsed = parse_with(session.catalog.major.newer_grammar, text)
        if parsed is None:
            continue
        session.begin_statement(0, number)
        mark = session.catalog.journal.mark()
        try:
            apply(session, *parsed)
            outcomes.append(None)
        except ServerError as refusal:
            session.catalog.journal.undo(mark)
            session.forget_path()
            outcomes.append(refusal.sqlstate)
    return outcomes


def fold(sql: str, major: int = 18, complete: bool = True) -> Session:
    """A session after a script, in an empty database."""
    session = Session(Catalog(major), complete=complete)
    play(session, sql)
    return session


def cache(sql: str = "", major: int = 18, complete: bool = True) -> SysCache:
    """The objects that a session knows after a script, in an empty database."""
    return SysCache(fold(sql, major, complete))


def type_oid(over: SysCache, *names: str) -> int:
    """The type of that name in the session of ``cache``."""
    assert isinstance(over.session, Session)
    return over.session.named_type([*names])


def outcomes(sql: str, major: int = 18, complete: bool = True) -> list[Outcome]:
    """What becomes of each statement of a script, in an empty database."""
    return play(Session(Catalog(major), complete=complete), sql)


def relation(session: Session, name: str) -> Relation:
    """A relation by its name, as written without quotes; it must exist."""
    row = find(session, name)
    assert row is not None, f"{name} does not exist"
    return row


def find(session: Session, name: str) -> Relation | None:
    """A relation by its (qualified) name, or None."""
    *schema, last = name.split(".")
    return session.find_relation({"relname": last, **({"schemaname": schema[0]} if schema else {})})


def columns(session: Session, name: str) -> list[str]:
    """The names of a relation's columns in order."""
    return [column.name for column in relation(session, name).live()]


def summary(session: Session) -> set[RelationSummary]:
    """All relations that a unit made, as ``server_summary`` gives them."""
    catalog = session.catalog
    return {
        (
            "pg_temp" if row.persistence == "t" else catalog.namespaces[row.namespace].name,
            row.name,
            row.kind,
            row.persistence,
            catalog.roles[row.owner].name,
            () if row.kind == "S" else tuple(column.name for column in row.live()),
        )
        for row in catalog.relations.values()
        if row.kind in "rvmpS" and row.oid >= FIRST_NORMAL_OID
    }


_RELATIONS = """
    SELECT CASE WHEN c.relpersistence = 't' THEN 'pg_temp' ELSE n.nspname END, c.relname, c.relkind::text,
           c.relpersistence::text, r.rolname,
           CASE WHEN c.relkind = 'S' THEN '{}' ELSE
             array(SELECT attname::text FROM pg_attribute a WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                   ORDER BY attnum) END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'v', 'm', 'p', 'S') AND n.nspname <> 'pg_toast'
"""


def server_summary(conn: psycopg.Connection[Any]) -> set[RelationSummary]:
    """All relations of a database: schema, name, relkind, relpersistence, owner, names of columns."""
    return {(*row[:5], tuple(row[5])) for row in conn.execute(_RELATIONS).fetchall()}


def answers(server: Server, sql: str) -> tuple[list[tuple[str, Outcome]], set[RelationSummary]]:
    """Run a script in a database of its own: each statement with its SQLSTATE, and the relations after the last one.

    Roles outlive a database: those the script makes are dropped with it.
    """
    with server.database() as name, server.connect(name) as conn:
        before = {row[0] for row in conn.execute("SELECT rolname FROM pg_roles")}
        # A refused statement does not end the transaction here, as it does not in a fold.
        states: list[tuple[str, Outcome]] = []
        for text in split_statements(sql):
            inside = conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
            if inside and not _is_transaction(text):
                execute(conn, "SAVEPOINT before_statement")
                answer = execute(conn, text)
                execute(conn, "RELEASE before_statement" if answer.ok else "ROLLBACK TO before_statement")
            else:
                answer = execute(conn, text)
            states.append((text, answer.sqlstate))
        execute(conn, "RESET SESSION AUTHORIZATION")
        relations = server_summary(conn)
        execute(conn, "ROLLBACK")
        for (role,) in conn.execute("SELECT rolname FROM pg_roles").fetchall():
            if role not in before:
                conn.execute(psycopg.sql.SQL("DROP OWNED BY {} CASCADE").format(psycopg.sql.Identifier(role)))
        for (role,) in conn.execute("SELECT rolname FROM pg_roles").fetchall():
            if role not in before:
                conn.execute(psycopg.sql.SQL("DROP ROLE {}").format(psycopg.sql.Identifier(role)))
    return states, relations


def _is_transaction(text: str) -> bool:
    parsed = parse(text)
    return parsed is not None and parsed[0] == "TransactionStmt"


def assert_agrees(server: Server, sql: str) -> None:
    """A script gives the same outcomes and leaves the same relations here and on a server."""
    session = Session(Catalog(server.major), complete=True)
    ours = play(session, sql)
    theirs, relations = answers(server, sql)
    differing = [
        f"{text}\n    ours {mine}, PostgreSQL {server.major} {state}"
        for mine, (text, state) in zip(ours, theirs, strict=True)
        if mine != state
    ]
    assert not differing, "\n".join(differing)
    assert summary(session) == relations
