"""What a server and pubcheck say to the statements of a batch, and how the two compare."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from typing import Any
from unittest import mock

import psycopg
from msgspec import Struct
from psycopg.pq import DiagnosticField, ExecStatus

from pubcheck.config import Config
from pubcheck.diagnostics import ServerAnswer
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.postgres.session import Session
from pubcheck.source import Source
from tests.differential.filters.schemas import Definition

ACCEPTED = ServerAnswer("00000", "accepted")
"""Stands for no error."""


class Kind(Enum):
    """How the answers to one statement compare, the worst first."""

    INVENTED = "invented"
    """pubcheck certainly refuses what the server accepts."""
    RAISED = "raised"
    """pubcheck failed."""
    MISSED = "missed"
    """The server refuses what pubcheck certainly accepts."""
    ASSUMED = "assumed"
    """pubcheck does not know."""
    SQLSTATE = "sqlstate"
    WORDING = "wording"
    """Message, detail, hint or position differ."""
    AGREE = "agree"


class Said(Struct, frozen=True):
    """pubcheck's answer; ``assumed``: it does not know, with the reason or what it would say."""

    answer: ServerAnswer = ACCEPTED
    assumed: str | None = None
    raised: str | None = None


def compared(server: ServerAnswer, answer: Said) -> Kind:
    if answer.raised is not None:
        return Kind.RAISED
    if answer.assumed is not None:
        return Kind.ASSUMED
    if server is ACCEPTED or answer.answer is ACCEPTED:
        if server is answer.answer:
            return Kind.AGREE
        return Kind.INVENTED if server is ACCEPTED else Kind.MISSED
    if server.sqlstate != answer.answer.sqlstate:
        return Kind.SQLSTATE
    return Kind.AGREE if server == answer.answer else Kind.WORDING


# The server.


def asked(conn: psycopg.Connection[Any], statements: Sequence[str]) -> list[ServerAnswer]:
    """The server's answers, each statement in the state that the transaction of ``conn`` is in now."""
    conn.execute("SAVEPOINT before_filter")
    back = b"ROLLBACK TO before_filter;"
    pgconn = conn.pgconn
    answers = []
    for statement in statements:
        # One round trip: the position counts from the beginning of what is sent.
        result = pgconn.exec_(back + statement.encode())
        if result.status == ExecStatus.FATAL_ERROR:
            answers.append(_error(result, len(back)))
        else:
            answers.append(ACCEPTED)
    conn.execute("ROLLBACK TO before_filter; RELEASE before_filter")
    return answers


def _error(result: Any, before: int) -> ServerAnswer:
    def field(name: DiagnosticField) -> str | None:
        value = result.error_field(name)
        return None if value is None else value.decode()

    position = field(DiagnosticField.STATEMENT_POSITION)
    return ServerAnswer(
        field(DiagnosticField.SQLSTATE) or "",
        field(DiagnosticField.MESSAGE_PRIMARY) or "",
        field(DiagnosticField.MESSAGE_DETAIL),
        field(DiagnosticField.MESSAGE_HINT),
        None if position is None else int(position) - before,
    )


def prepared(conn: psycopg.Connection[Any], setup: Sequence[Definition]) -> bool:
    """Run a setup inside the transaction of ``conn``; whether all of it succeeded."""
    conn.execute("SAVEPOINT before_setup")
    for definition in setup:
        result = conn.pgconn.exec_(definition.text.encode())
        if result.status == ExecStatus.FATAL_ERROR:
            conn.execute("ROLLBACK TO before_setup")
            return False
    return True


# pubcheck.


class Told(Struct, frozen=True):
    """pubcheck's answers to a batch's statements, what it left out of the setup, and the seconds it took."""

    ours: tuple[Said, ...]
    left_out: tuple[str, ...]
    seconds: float


def told(major: int, database: str, setup: Sequence[Definition], statements: Sequence[str]) -> Told:
    """Lint the setup and the statements as one script, in which each statement is rolled back."""
    texts = [definition.text for definition in setup]
    for statement in statements:
        texts += ["BEGIN", statement, "ROLLBACK"]
    starts: dict[int, int] = {}
    offset = 0
    for index, text in enumerate(texts):
        starts[offset] = index
        offset += len(text) + 2
    first = len(setup)
    source = Source("filters.sql", ";\n".join(texts))
    config = Config(postgres=(major,), complete=True, database=database, select=("PUB",))
    unjudged: dict[int, str] = {}
    left_out: dict[int, str] = {}

    def watched(session: Session, name: str, node: Node) -> bool:
        try:
            perhaps_refused = apply_with_triggers(session, name, node)
        except ServerError as error:
            if error.key is None:
                left_out[session.statement] = f"{error.sqlstate} {error.message}"
            raise
        if name in ("CreatePublicationStmt", "AlterPublicationStmt"):
            for row in session.catalog.publication_rels.values():
                if row.filter is not None and not row.filter.analysed:
                    unjudged[session.statement] = row.filter.unknown or "not judged"
        return perhaps_refused

    began = time.perf_counter()
    try:
        with mock.patch("pubcheck.engine.replay.apply_with_triggers", watched):
            findings = Linter(config).lint(Unit((source,))).diagnostics
    except Exception as error:
        if len(statements) == 1:
            return Told((Said(raised=repr(error)),), (), time.perf_counter() - began)
        # One by one, to find out which of them it is.
        singles = [told(major, database, setup, [statement]) for statement in statements]
        answers_of_singles = tuple(single.ours[0] for single in singles)
        return Told(answers_of_singles, singles[0].left_out, sum(single.seconds for single in singles))
    seconds = time.perf_counter() - began
    answers: dict[int, Said] = {number: Said(assumed=reason) for number, reason in unjudged.items()}
    for diagnostic in findings:
        if diagnostic.statement is None or diagnostic.phase != "ddl":
            continue
        index = starts.get(diagnostic.statement.start, -1)
        if diagnostic.refused:
            assert diagnostic.server is not None
            if index >= first:
                answers[index] = Said(diagnostic.server)
            else:
                left_out[index] = f"{diagnostic.server.sqlstate} {diagnostic.server.message}"
        elif diagnostic.certainty == "assumed" and index not in answers:
            answers[index] = Said(assumed=diagnostic.message)
    in_order = tuple(answers.get(first + 3 * number + 1, Said()) for number in range(len(statements)))
    shown = tuple(f"{texts[number]}  -- {reason}" for number, reason in sorted(left_out.items()) if number < first)
    return Told(in_order, shown, seconds)
