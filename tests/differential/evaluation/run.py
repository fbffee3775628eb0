"""Pairs of a filter and a row, judged by a server and by pubcheck, and how the answers compare."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import psycopg
from msgspec import Struct, field

from pubcheck.engine.replay import Replay
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres import input, older_grammars
from pubcheck.postgres.analysis.row_filter import analyze, check_simple, parse_state
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, prepare
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.source import Source
from pubcheck.statement_index import StatementText
from tests.differential.evaluation.filters import make_filter
from tests.differential.evaluation.rows import COLUMNS, TABLE, WIDE_COLUMNS, make_row
from tests.differential.filters.batches import Deck
from tests.differential.filters.batches import make_filter as make_wide_filter
from tests.differential.filters.catalog import Catalog
from tests.differential.filters.schemas import WIDE, Ground
from tests.support.servers import Server

LOCALE = "C.UTF-8"
"""What the test servers' databases have."""
ROWS = 25
"""Rows that a batch of filters meets."""
FILTERS = 40

_EACH = """
CREATE FUNCTION each(condition text) RETURNS TABLE (number int, answer bool, state text, message text)
LANGUAGE plpgsql AS $$
BEGIN
  FOR number IN SELECT TABLE_NAME.id FROM TABLE_NAME ORDER BY 1 LOOP
    answer := NULL; state := NULL; message := NULL;
    BEGIN
      EXECUTE 'SELECT (' || condition || ')::bool FROM TABLE_NAME WHERE id = ' || number INTO answer;
    EXCEPTION WHEN OTHERS THEN
      state := SQLSTATE; message := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$
"""

Said = bool | None | tuple[str, str]
"""An answer, or the SQLSTATE and message of an error."""


class Difference(Struct, frozen=True):
    filter: str
    row: dict[str, str | None]
    server: Said
    ours: Said


class Figures(Struct):
    """Counts of pairs."""

    pairs: int = 0
    refused: int = 0
    """Filters (not pairs) that no publication takes."""
    trues: int = 0
    falses: int = 0
    nulls: int = 0
    errors: int = 0
    seconds: float = 0.0
    """What pubcheck's evaluation took, preparation included."""
    unknown: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = []
    wording: list[Difference] = []
    """The same SQLSTATE with another message."""


def opened(major: int, table: str = TABLE) -> Session:
    """A session of pubcheck's with the table."""
    fold = Replay(major, complete=True, database="x")
    source = Source("table.sql", table)
    for item in Splitter(source):
        assert isinstance(item, Statement)
        parsed = parse(item.sql)
        assert parsed is not None
        fold.apply(StatementText(source, item.index, item.start, item.text), 0, *parsed)
    assert not fold.diagnostics
    return fold.session


class Evaluator:
    """pubcheck's side for one major: the table, and what filters give for its rows."""

    def __init__(self, major: int, name: str = "e", table: str = TABLE) -> None:
        self.major, self.name = major, name
        self.session = opened(major, table)
        relation = self.session.find_unqualified(name)
        assert relation is not None
        self.relation = relation

    def inputs(self) -> InputContext:
        return InputContext(self.major, self.session.syscache)

    def read(self, number: int, row: dict[str, str | None]) -> dict[int, Any]:
        """A row's values by attribute number; ``number`` is its id."""
        inputs = self.inputs()
        values: dict[int, Any] = {1: number}
        for column in self.relation.columns[1:]:
            text = row[column.name]
            values[column.number] = None if text is None else input.read(inputs, column.type, text, column.typmod)
        return values

    def analysed(self, text: str) -> Expr | None:
        """The filter as the walk leaves it; None where no publication takes it."""
        statement = f"CREATE PUBLICATION p FOR TABLE {self.name} WHERE ({text})"
        self.session.begin_statement(0, 0, statement)
        try:
            parsed = parse(statement)
            older_grammars.check(BY_NUMBER[self.major], self.session.text)
            assert parsed is not None
            tree: Node = parsed[1]["pubobjects"][0]["PublicationObjSpec"]["pubtable"]["whereClause"]
            state = parse_state(self.session, self.relation)
            expr = analyze(state, tree)
            # What is assumed to exist the server may not have.
            return expr if check_simple(state, expr) is None and self.session.basis.certain else None
        except (SyntaxRefused, ServerError, Unknowable):
            return None

    def predictions(self, expr: Expr, rows: Iterable[dict[int, Any]]) -> list[Said | Unknowable]:
        run = prepare(expr, Context(self.inputs(), LOCALE))
        answers: list[Said | Unknowable] = []
        for row in rows:
            try:
                answers.append(run(row))
            except ServerError as error:
                answers.append((error.sqlstate, error.message))
            except Unknowable as unknown:
                answers.append(unknown)
            except Exception as failure:
                answers.append(("raised", repr(failure)))
        return answers


class Run:
    """One major: a database with the table, and pubcheck's evaluator.

    ``wide``: filters of the generator that knows every function and operator, over its wide table.
    """

    def __init__(self, server: Server, seed: int, *, wide: bool = False) -> None:
        self.server, self.seed, self.wide = server, seed, wide
        self.figures = Figures()
        self.columns = WIDE_COLUMNS if wide else COLUMNS
        self.name = "w" if wide else "e"
        self.table = f"CREATE TABLE w ({', '.join(WIDE)})" if wide else TABLE
        self.evaluator = Evaluator(server.major, self.name, self.table)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Run:
        database = self._stack.enter_context(self.server.database())
        self.conn: psycopg.Connection[Any] = self._stack.enter_context(self.server.connect(database))
        self.conn.execute("SET timezone = 'UTC'")
        self.conn.execute(self.table)
        self.conn.execute(_EACH.replace("TABLE_NAME", self.name))
        if self.wide:
            self.catalog = Catalog(self.conn)
            self.deck = Deck(self.catalog, self.seed)
            ground = Ground(self.conn, self.catalog, Random(self.seed), self.conn.info.dbname)
            self.world = ground.seen([("public", "w"), ("public", "w")])
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def batch(self, number: int) -> None:
        """Make and judge a batch of pairs and add it to the figures."""
        random = Random(f"{self.seed}/{number}")
        rows = [make_row(random, self.columns) for _ in range(ROWS)]
        filters = self.filters(random, number)
        self.insert(rows)
        values = [self.evaluator.read(place, row) for place, row in enumerate(rows)]
        for text in filters:
            self.judge(text, rows, values)

    def filters(self, random: Random, number: int) -> list[str]:
        if not self.wide:
            return [make_filter(random) for _ in range(FILTERS)]
        turns = range(number * FILTERS, (number + 1) * FILTERS)
        return [make_wide_filter(random, self.catalog, self.world, self.deck, turn).tree.text for turn in turns]

    def insert(self, rows: Sequence[dict[str, str | None]]) -> None:
        """These rows and no others."""
        self.conn.execute(f"TRUNCATE {self.name}")
        names = ", ".join(self.columns)
        marks = ", ".join(f"%s::{type_}" for type_ in self.columns.values())
        with self.conn.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self.name} (id, {names}) VALUES (%s, {marks})",
                [(number, *row.values()) for number, row in enumerate(rows)],
            )

    def judge(self, text: str, rows: list[dict[str, str | None]], values: list[dict[int, Any]]) -> None:
        expr = self.evaluator.analysed(text)
        if expr is None:
            self.figures.refused += 1
            return
        began = time.perf_counter()
        answers = self.evaluator.predictions(expr, values)
        self.figures.seconds += time.perf_counter() - began
        try:
            asked = self.asked(text)
        except UnicodeDecodeError:
            return  # a message that holds half a character
        for row, server, answer in zip(rows, asked, answers, strict=True):
            self.compare(text, row, server, answer)

    def asked(self, text: str) -> list[Said]:
        """The server's answers, in the order of the rows: one by one where a row makes it fail."""
        try:
            rows = self.conn.execute(f"SELECT ({text})::bool FROM {self.name} ORDER BY id").fetchall()
        except psycopg.Error:
            rows_of_each = self.conn.execute(
                "SELECT answer, state, message FROM each(%s) ORDER BY number", (text,)
            ).fetchall()
            return [answer if state is None else (state, message) for answer, state, message in rows_of_each]
        return [row[0] for row in rows]

    def compare(self, text: str, row: dict[str, str | None], server: Said, ours: Said | Unknowable) -> None:
        figures = self.figures
        figures.pairs += 1
        if isinstance(server, tuple):
            figures.errors += 1
        elif server is None:
            figures.nulls += 1
        elif server:
            figures.trues += 1
        else:
            figures.falses += 1
        if isinstance(ours, Unknowable):
            figures.unknown[ours.reason] += 1
        elif ours != server or type(ours) is not type(server):
            difference = Difference(text, row, server, ours)
            if isinstance(ours, tuple) and isinstance(server, tuple) and ours[0] == server[0]:
                figures.wording.append(difference)
            else:
                figures.differences.append(difference)
