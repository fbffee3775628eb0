"""Pairs of an expression and a row: the text of the value, or the error, from a server and from pubcheck."""

from __future__ import annotations

import contextlib
from collections import Counter
from random import Random
from typing import Any

import psycopg
from msgspec import Struct, field

from pubcheck.postgres import older_grammars
from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.postgres.versions import BY_NUMBER
from tests.differential.evaluation.rows import COLUMNS, TABLE, make_row
from tests.differential.evaluation.run import LOCALE, Evaluator
from tests.differential.values.expressions import make_expression
from tests.support.servers import Server

ROWS = 5
EXPRESSIONS = 100
_EACH = """
CREATE FUNCTION each(expression text) RETURNS TABLE (number int, answer text, state text, message text)
LANGUAGE plpgsql AS $$
BEGIN
  FOR number IN SELECT e.id FROM e ORDER BY 1 LOOP
    answer := NULL; state := NULL; message := NULL;
    BEGIN
      EXECUTE 'SELECT CASE num_nulls(x) WHEN 0 THEN format(''%s'', x) END FROM (SELECT ' || expression
        || ' AS x FROM e WHERE id = ' || number || ') s' INTO answer;
    EXCEPTION WHEN OTHERS THEN
      state := SQLSTATE; message := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$
"""
Answer = str | None | tuple[str, str]
"""The text of a value, None for NULL, or the SQLSTATE and message of an error."""


class Difference(Struct, frozen=True):
    expression: str
    row: dict[str, str | None]
    server: Answer
    pubcheck: Answer


class Figures(Struct):
    pairs: int = 0
    errors: int = 0
    refused: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = []


class Values(Evaluator):
    """pubcheck's side for one major. ``zone`` is the session's TimeZone."""

    zone = "UTC"

    def inputs(self) -> InputContext:
        return InputContext(self.major, self.session.syscache, {"timezone": self.zone}.get)

    def analysed(self, text: str) -> Expr | None:
        statement = f"SELECT {text}"
        self.session.begin_statement(0, 0, statement)
        try:
            parsed = parse(statement)
            older_grammars.check(BY_NUMBER[self.major], self.session.text)
            assert parsed is not None
            tree: Node = parsed[1]["targetList"][0]["ResTarget"]["val"]
            state = parse_state(self.session, self.relation)
            state.inputs = self.inputs()
            expr = transform(state, tree)
            assign_collations(state, expr)
        except (SyntaxRefused, ServerError, Unknowable):
            return None
        return expr

    def answers(self, expr: Expr, rows: list[dict[int, Any]]) -> list[Answer | Unknowable]:
        context = Context(self.inputs(), LOCALE, defaults=True)
        return [self._answer(context, expr, row) for row in rows]

    def _answer(self, context: Context, expr: Expr, row: dict[int, Any]) -> Answer | Unknowable:
        try:
            value = Builder(context).build(expr)(row)
            return None if value is None else context.output.writer(expr.type)(value)
        except ServerError as error:
            return error.sqlstate, error.message
        except Unknowable as unknown:
            return unknown
        except Exception as failure:
            return "raised", repr(failure)


class Run:
    """One major: a database with the table, and pubcheck's evaluator."""

    def __init__(self, server: Server, seed: int, only: str = "") -> None:
        self.server, self.seed, self.only = server, seed, only
        self.figures = Figures()
        self.zone = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")[seed % 4]
        self.values = Values(server.major)
        self.values.zone = self.zone
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Run:
        database = self._stack.enter_context(self.server.database())
        self.conn: psycopg.Connection[Any] = self._stack.enter_context(self.server.connect(database))
        self.conn.execute(f"SET timezone = '{self.zone}'")
        self.conn.execute(TABLE)
        self.conn.execute(_EACH)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def batch(self, number: int) -> None:
        """Make and judge a batch of pairs and add it to the figures."""
        random = Random(f"{self.seed}/{number}")
        rows = [make_row(random, COLUMNS) for _ in range(ROWS)]
        self.conn.execute("TRUNCATE e")
        marks = ", ".join(f"%s::{type_}" for type_ in COLUMNS.values())
        with self.conn.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO e (id, {', '.join(COLUMNS)}) VALUES (%s, {marks})",
                [(place, *row.values()) for place, row in enumerate(rows)],
            )
        values = [self.values.read(place, row) for place, row in enumerate(rows)]
        for _ in range(EXPRESSIONS):
            self.judge(make_expression(random, self.only), rows, values)

    def judge(self, text: str, rows: list[dict[str, str | None]], values: list[dict[int, Any]]) -> None:
        expr = self.values.analysed(text)
        if expr is None:
            self.figures.refused += 1
            return
        if not any(node.node == "Var" for node in nodes(expr)):
            rows, values = rows[:1], values[:1]
        answers = self.values.answers(expr, values)
        try:
            asked = self.conn.execute("SELECT answer, state, message FROM each(%s) ORDER BY number", (text,)).fetchall()
        except UnicodeDecodeError:
            return  # a message that holds half a character
        for row, (answer, state, message), own in zip(rows, asked, answers, strict=False):
            server = answer if state is None else (state, message)
            self.figures.pairs += 1
            self.figures.errors += state is not None
            if isinstance(own, Unknowable):
                self.figures.unknown[own.reason] += 1
            elif own != server:
                self.figures.differences.append(Difference(text, row, server, own))
