"""Runs a script on a server and through pubcheck, statement by statement, and says where they differ."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import psycopg
from msgspec import Struct

from pubcheck.checks.write.replica_identity import WRITES, is_replaced
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.blocks import BlockRunner
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog.rows import EMBEDDED
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.frames import Raised
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.postgres.replication.result_relations import members
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.source import Source
from tests.differential.scripts import DATABASE, MADE, ROLES
from tests.support.servers import Answer, Server, execute

OF_ROLES = re.compile(r'(?:22023|42704) role "\w+" does not exist')
"""Roles belong to the cluster: one that a unit does not create is taken for granted, or changes nothing."""


class Difference(Struct, frozen=True):
    """One disagreement: at which statement, what the server said and what pubcheck said."""

    statement: str
    server: str
    pubcheck: str

    @property
    def kind(self) -> str:
        """What is wrong with the answer; "assumed" if it is right but for its certainty."""
        if OF_ROLES.match(self.server):
            return "of a missing role"
        if self.pubcheck == f"{self.server} (assumed)":
            return "assumed"
        if self.server == ACCEPTED:
            return "invented, assumed" if self.pubcheck.endswith(" (assumed)") else "invented"
        return "missed" if self.pubcheck == ACCEPTED else "other words"


class Probe(Struct, frozen=True):
    """One write asked for at the end of a script, with the two answers.

    ``part``: the table is a partition or has an inheritance parent. An answer is SQLSTATE, message, detail and hint.
    """

    statement: str
    part: bool
    server: str
    pubcheck: str

    @property
    def refused(self) -> bool:
        return self.server != ACCEPTED

    @property
    def agrees(self) -> bool:
        return self.server == self.pubcheck


class Compared(Struct, frozen=True):
    """What a script showed: refusals that differ, and every write that was asked for.

    ``judged`` and ``followed`` count its statements about publications and replica identities, and the others.
    """

    differences: tuple[Difference, ...]
    probes: tuple[Probe, ...]
    judged: int = 0
    followed: int = 0


ACCEPTED = "accepted"

_TABLES = """
    SELECT n.nspname || '.' || c.relname, format('%I.%I', n.nspname, c.relname),
           (SELECT quote_ident(a.attname) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
              AND a.attidentity <> 'a' ORDER BY a.attnum LIMIT 1),
           EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid),
           c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384 AND c.relpersistence <> 't' AND n.nspname !~ '^pg_'
    ORDER BY 1
"""

_JUDGED = ("PUBLICATION", "REPLICA IDENTITY")


def compare(server: Server, statements: list[str]) -> Compared:
    """Runs a script on both sides.

    A statement inside a transaction that failed is not run on the server but rolled back to a savepoint, as the
    design has it: a refused statement is judged as if it had been left out.
    """
    with without_roles(server), server.database() as name:
        statements = [statement.replace(DATABASE, name) for statement in statements]
        with server.connect(name) as conn:
            answers = [answer_alone(conn, statement) for statement in statements]
            execute(conn, "COMMIT")
        # A session keeps what it read of an index that was marked invalid by hand; another one reads it again.
        with server.connect(name) as conn:
            asked = list(writes_asked(conn))
    # What the rows of a table refuse (23xxx) a script does not say: such a statement is left out on both sides.
    data = [bool(answer.sqlstate and answer.sqlstate.startswith("23")) for answer in answers]
    statements = ["SELECT 1" if refused else text for text, refused in zip(statements, data, strict=True)]
    answers = [Answer(True) if refused else answer for answer, refused in zip(answers, data, strict=True)]
    unit = Unit((Source("script.sql", ";\n".join(statements)),))
    config = Config(postgres=(server.major,), complete=True, database=name, select=("PUB",))
    with _watched() as watched:
        findings = Linter(config).lint(unit).diagnostics
    writes = [
        (d.object or "", d.operation or "", predicted_answer(d))
        for d in findings
        if d.phase == "write" and d.server is not None and not d.after_count
    ]
    predicted = predicted_writes(watched.session, {(table, operation): refusal for table, operation, refusal in writes})
    probes = [
        Probe(statement, part, answer, predicted.get((table, operation, only), ACCEPTED))
        for table, operation, only, part, statement, answer in asked
    ]
    there = {key[0] for key in asked}
    probes += [
        Probe(f"{operation} of {table}, which the server does not have", False, ACCEPTED, refusal)
        for table, operation, refusal in writes
        if table not in there
    ]
    differences = (
        *_differences(statements, answers, findings, watched.left_out),
        *_notices(statements, answers, watched),
        *(Difference("(internal error)", ACCEPTED, d.message) for d in findings if d.rule == "PUB000"),
    )
    judged = sum(map(_is_judged, statements))
    return Compared(differences, tuple(probes), judged, len(statements) - judged)


def _is_judged(statement: str) -> bool:
    return any(word in statement for word in _JUDGED) and not statement.startswith(_QUOTING)


_QUOTING = ("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", "CREATE EVENT TRIGGER")
"""Statements that may speak of publications without being about them."""


def _differences(
    statements: list[str], answers: list[Answer], findings: tuple[Diagnostic, ...], left_out: dict[int, str]
) -> Iterator[Difference]:
    refused: dict[int, Diagnostic] = {
        d.statement.index: d for d in findings if d.statement is not None and d.phase == "ddl" and d.server is not None
    }
    for index, (statement, answer) in enumerate(zip(statements, answers, strict=True)):
        mine = refused.get(index)
        judged = _is_judged(statement)
        if not judged and mine is None and answer.ok != (index not in left_out):
            predicted = f"left out: {left_out[index]}" if index in left_out else ACCEPTED
            expected = ACCEPTED if answer.ok else f"{answer.sqlstate} {answer.message}"
            yield Difference(f"(followed) {statement}", expected, predicted)
        if mine is not None or (judged and not answer.ok):
            predicted = predicted_answer(mine) if mine is not None else ACCEPTED
            expected = ACCEPTED if answer.ok else answer_text(answer)
            if predicted != expected:
                yield Difference(statement, expected, predicted)


def _notices(statements: list[str], answers: list[Answer], watched: _Watched) -> Iterator[Difference]:
    """Where a CASCADE takes tables out of publications, both sides must say so in the same words."""
    for index, (statement, answer) in enumerate(zip(statements, answers, strict=True)):
        ours = [f"NOTICE: {notice}" for notice in watched.notices.get(index, ())]
        theirs, mine = ("\n".join(line for line in lines if _UNPUBLISHED in line) for lines in (answer.notices, ours))
        if answer.ok and theirs != mine:
            yield Difference(f"(notice) {statement}", theirs, mine)


_UNPUBLISHED = " in publication "


class _Watched(Struct):
    """What is seen of a run: its session, and by statement what was told and the reason if it was left out."""

    left_out: dict[int, str] = {}
    notices: dict[int, list[str]] = {}
    session: Session | None = None


@contextlib.contextmanager
def _watched() -> Iterator[_Watched]:
    seen = _Watched()

    def watched(session: Session, name: str, node: Node) -> bool:
        seen.session = session
        try:
            perhaps_refused = apply_with_triggers(session, name, node)
        except ServerError as error:
            if error.key is None and session.statement < EMBEDDED:
                seen.left_out[session.statement] = f"{error.sqlstate} {error.message}"
            raise
        seen.notices[session.statement] = list(session.notices)
        return perhaps_refused

    def refused(inside: BlockRunner, raised: Raised, basis: Basis) -> None:
        seen.left_out[inside.statement.index] = f"{raised.error.sqlstate} {raised.error.message}"
        refuse(inside, raised, basis)

    refuse = BlockRunner.refuse
    with (
        mock.patch("pubcheck.engine.replay.apply_with_triggers", watched),
        mock.patch.object(BlockRunner, "refuse", refused),
    ):
        yield seen


def predicted_writes(session: Session | None, writes: dict[tuple[str, str], str]) -> dict[tuple[str, str, bool], str]:
    """The refusals of writes of tables (ONLY) and of them with all their members, of which the first one speaks."""
    answers_of_writes = {(table, operation, True): answer for (table, operation), answer in writes.items()}
    if session is None:
        return answers_of_writes
    for relation in session.catalog.relations.values():
        if relation.kind in "rp":
            for operation in WRITES:
                # A rule that replaces a write is one for statements that name the table.
                if is_replaced(session.catalog, relation, operation):
                    answers_of_writes.pop((session.qualified(relation), operation, True), None)
            try:
                names = [session.qualified(member) for member in members(session.catalog, relation)]
            except ValueError:
                continue  # the order of its partitions is not known, nor which of them speaks first
            for operation in WRITES:
                refusal = next((writes[name, operation] for name in names if (name, operation) in writes), None)
                if refusal is not None and not is_replaced(session.catalog, relation, operation):
                    answers_of_writes[session.qualified(relation), operation, False] = refusal
    return answers_of_writes


@contextlib.contextmanager
def without_roles(server: Server) -> Iterator[None]:
    """The scripts' roles belong to the whole server and go when the database that they own things in is gone."""
    try:
        yield
    finally:
        with server.connect() as admin:
            for role in (*ROLES, MADE):
                admin.execute(f"DROP ROLE IF EXISTS {role}")


def answer_alone(conn: psycopg.Connection[Any], statement: str) -> Answer:
    """The answer to a statement; one that is refused within a transaction does not end it."""
    inside = conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    if not inside or statement.split()[0] in ("ROLLBACK", "COMMIT", "SAVEPOINT", "RELEASE"):
        return execute(conn, statement)
    execute(conn, "SAVEPOINT pubcheck_guard")
    answer = execute(conn, statement)
    execute(conn, "RELEASE pubcheck_guard" if answer.ok else "ROLLBACK TO pubcheck_guard")
    return answer


def writes_asked(conn: psycopg.Connection[Any]) -> Iterator[tuple[str, str, bool, bool, str, str]]:
    """(table, operation, ONLY, is it a part, statement, answer) for each table's writes.

    An inheritance parent is asked with its children and without them; a root only with its leaves.
    """
    for table, quoted, column, part, parent in conn.execute(_TABLES).fetchall():
        for only in (False, True) if parent else (False,):
            target = f"ONLY {quoted}" if only else quoted
            asked = {"delete": f"EXPLAIN DELETE FROM {target}"}
            if column is not None:
                asked["update"] = f"EXPLAIN UPDATE {target} SET {column} = {column}"
            for operation, statement in asked.items():
                answer = execute(conn, statement)
                yield table, operation, only, part, statement, ACCEPTED if answer.ok else answer_text(answer)


def predicted_answer(diagnostic: Diagnostic) -> str:
    return answer_text(diagnostic.server) + ("" if diagnostic.certainty == "certain" else " (assumed)")


def answer_text(answer: Any) -> str:
    text = f"{answer.sqlstate} {answer.message} | {answer.detail} | {answer.hint} | {answer.position}"
    # The temporary schema's number is the session's; pubcheck writes <n>.
    return re.sub(r"pg_temp_\d+", "pg_temp_<n>", text)
