"""The table of the random filters, in a session in which filters are analysed."""

from __future__ import annotations

import random
from itertools import product
from math import prod
from typing import Any

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.filter_logic.questions import Finding, NoRow, TableFilters, Witness, columns_read
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres import input
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import analyze, parse_state
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, Prepared
from pubcheck.postgres.parse import parse
from pubcheck.postgres.primnodes import Expr
from pubcheck.source import Source
from tests.filter_logic.random_filters import values_near
from tests.filter_logic.random_tables import Table

_MOST_ROWS = 400
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
    """A schema with one table ``t``, whose filters are compared.

    ``conditions`` are what no row makes false, and ``generated`` the expressions of its generated columns, as grids of
    rows have them.
    """

    def __init__(self, schema: str, major: int = 18, table: Table | None = None) -> None:
        followed = Linter(Config(postgres=(major,))).follow(Unit((Source("schema.sql", schema),)))
        self.session = followed.replays[0].session
        catalog = self.session.catalog
        self.relation = next(row for row in catalog.relations.values() if row.name == "t")
        self.context = Context(parse_state(self.session, self.relation).inputs)
        self.columns = {column.name: column for column in self.relation.live()}
        self._grid: dict[str, list[Any]] = {}
        self.conditions = [self.filter(text) for text in table.conditions] if table else []
        generated = table.generated if table else ()
        self.generated = {self.columns[name].number: self.value(text) for name, text in generated}

    def filter(self, text: str) -> Expr:
        """Return a filter analysed. Raises ServerError where the server refuses it."""
        return analyze(parse_state(self.session, self.relation), self._tree(text))

    def value(self, text: str) -> Expr:
        """Return an expression analysed."""
        state = parse_state(self.session, self.relation)
        expr = state.transform(self._tree(text))
        assign_collations(state, expr)
        return expr

    @staticmethod
    def _tree(text: str) -> Any:
        parsed = parse(f"SELECT {text}")
        assert parsed is not None
        return parsed[1]["targetList"][0]["ResTarget"]["val"]

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
        conditions = [Prepared(condition, self.context) for condition in self.conditions]
        read = {*columns_read([first, second, *self.conditions])}
        generated = {number: expr for number, expr in self.generated.items() if number in read}
        computed = {number: Prepared(expr, self.context) for number, expr in generated.items()}
        read |= {*columns_read([*generated.values()])}
        columns = [name for name, column in self.columns.items() if column.number in read - generated.keys()]
        for values in self._rows(columns, rng):
            row = {self.columns[name].number: value for name, value in zip(columns, values, strict=True)}
            try:
                row.update({number: run(row) for number, run in computed.items()})
                if any(run(row) is False for run in conditions):
                    continue
            except (ServerError, Unknowable):
                continue
            answers = [self._answer(run, row) for run in prepared]
            for name in proved:
                if all(answer & wanted for answer, wanted in zip(answers, QUESTIONS[name], strict=True)):
                    return f"{name}: {dict(zip(columns, values, strict=True))}"
        return None

    def _rows(self, columns: list[str], rng: random.Random) -> list[tuple[Any, ...]]:
        values = [self._values(name) for name in columns]
        if prod(map(len, values)) <= _MOST_ROWS:
            return list(product(*values))
        return [tuple(rng.choice(choices) for choices in values) for _ in range(_MOST_ROWS)]

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
                    values.append(
                        input.read(
                            self.context.inputs, self.context.cache.base_type(column.type)[0], text, column.typmod
                        )
                    )
                except (ServerError, Unknowable):
                    continue
            self._grid[name] = values + ([] if column.not_null else [None])
        return self._grid[name]


def witnesses(findings: dict[str, Finding]) -> dict[str, Witness]:
    return {name: finding for name, finding in findings.items() if isinstance(finding, Witness)}
