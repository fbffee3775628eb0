"""The table of the random filters, in a session in which filters are analysed."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.filter_logic.comparison import TableFilters
from pubcheck.filter_logic.questions import Finding, NoRow, Witness, columns_read
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres import input
from pubcheck.postgres.analysis.row_filter import analyze, parse_state
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, Prepared
from pubcheck.postgres.parse import parse
from pubcheck.postgres.primnodes import Expr
from pubcheck.source import Source
from tests.filter_logic.random_filters import values_near

QUESTIONS: dict[str, tuple[int, int]] = {
    "first": (TRUE, TRUE | NOT_TRUE),
    "not first": (NOT_TRUE, TRUE | NOT_TRUE),
    "first only": (TRUE, NOT_TRUE),
    "second only": (NOT_TRUE, TRUE),
    "both": (TRUE, TRUE),
    "neither": (NOT_TRUE, NOT_TRUE),
}
"""The answers of two filters that each question asks for."""


class World:
    """A schema with one table ``t``, whose filters are compared."""

    def __init__(self, schema: str, major: int = 18) -> None:
        followed = Linter(Config(postgres=(major,))).follow(Unit((Source("schema.sql", schema),)))
        self.session = followed.replays[0].session
        catalog = self.session.catalog
        self.relation = next(row for row in catalog.relations.values() if row.name == "t")
        self.context = Context(parse_state(self.session, self.relation).inputs)
        self.columns = {column.name: column for column in self.relation.live()}
        self._grid: dict[str, list[Any]] = {}

    def filter(self, text: str) -> Expr:
        """Return a filter analysed. Raises ServerError where the server refuses it."""
        parsed = parse(f"SELECT {text}")
        assert parsed is not None
        tree = parsed[1]["targetList"][0]["ResTarget"]["val"]
        return analyze(parse_state(self.session, self.relation), tree)

    def compare(self, first: Expr, second: Expr) -> dict[str, Finding]:
        """Return the answer to each question about two filters."""
        filters = TableFilters(self.session, self.relation, [first, second])
        return {name: filters.rows.find(*enumerate(answers)) for name, answers in QUESTIONS.items()}

    def counterexample(self, findings: dict[str, Finding], first: Expr, second: Expr, rng: random.Random) -> str | None:
        """Return a row of the grid that should not exist by an answer, in words."""
        proved = [name for name, finding in findings.items() if isinstance(finding, NoRow)]
        if not proved:
            return None
        prepared = Prepared(first, self.context), Prepared(second, self.context)
        numbers = columns_read([first, second])
        columns = [name for name, column in self.columns.items() if column.number in numbers]
        rows = list(product(*map(self._values, columns)))
        for values in rng.sample(rows, 300) if len(rows) > 300 else rows:
            row = {self.columns[name].number: value for name, value in zip(columns, values, strict=True)}
            answers = [self._answer(run, row) for run in prepared]
            for name in proved:
                if all(answer & wanted for answer, wanted in zip(answers, QUESTIONS[name], strict=True)):
                    return f"{name}: {dict(zip(columns, values, strict=True))}"
        return None

    @staticmethod
    def _answer(run: Prepared, row: dict[int, Any]) -> int:
        try:
            return TRUE if run(row) is True else NOT_TRUE
        except ServerError:
            return NOT_TRUE
        except Unknowable:
            return 0

    def _values(self, name: str) -> list[Any]:
        if name not in self._grid:
            column = self.columns[name]
            values = []
            for text in values_near(name):
                try:
                    values.append(input.read(self.context.inputs, column.type, text, column.typmod))
                except ServerError:
                    continue
            self._grid[name] = values + ([] if column.not_null else [None])
        return self._grid[name]


def witnesses(findings: dict[str, Finding]) -> dict[str, Witness]:
    return {name: finding for name, finding in findings.items() if isinstance(finding, Witness)}
