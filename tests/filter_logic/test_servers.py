"""Rows that were found are given to servers: each filter has the answer for which the row was found."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from msgspec import Struct

from pubcheck.filter_logic.questions import TableFilters, Witness
from pubcheck.filter_logic.truth import NULL, TRUE
from pubcheck.postgres.executor import Context
from tests.filter_logic.random_filters import Filters
from tests.filter_logic.random_tables import KINDS, Kind, table
from tests.filter_logic.world import QUESTIONS, World, witnesses
from tests.support.servers import Servers

PAIRS = 30
"""Pairs of filters for each kind of table."""


class Question(Struct):
    """Two filters, a row by the names of its columns, and the answers wanted of the filters, as bits."""

    filters: tuple[str, str]
    row: dict[str, str | None]
    wanted: tuple[int, int]


def questions(world: World, kind: Kind, first: int, last: int) -> list[Question]:
    asked = []
    row_of_table = TableFilters(world.session, world.relation, world.conditions)
    example = row_of_table.rows.find(*((number, TRUE | NULL) for number in range(len(world.conditions))))
    base = example.row if isinstance(example, Witness) else {}
    writer = Context(world.context.inputs, defaults=True).output.writer
    names = {column.number: column for column in world.relation.live()}
    columns = ("gs", "gb", "ge", "gf") if kind == "generated" else ()
    for seed in range(first, last):
        filters = Filters(seed, usual=seed % 2 == 0, columns=columns).pair()
        for name, witness in witnesses(world.compare(*map(world.filter, filters))).items():
            row = {
                names[number].name: None if value is None else writer(names[number].type)(value)
                for number, value in (base | witness.row).items()
                if not names[number].generated
            }
            asked.append(Question(filters, row, QUESTIONS[name]))
    return asked


_REQUIRED = {"id": "0", "b": "0", "name": "", "g": "t"}


def are_true(connection: psycopg.Connection[Any], question: Question) -> list[bool]:
    """Return whether the filters are true for a row, which the table takes; one that fails is not."""
    row = question.row | {name: text for name, text in _REQUIRED.items() if name not in question.row}
    answers = []
    for condition in question.filters:
        with connection.transaction(force_rollback=True):
            places = ", ".join(["%s"] * len(row))
            connection.execute(f"INSERT INTO t ({', '.join(row)}) VALUES ({places})", list(row.values()))
            try:
                with connection.transaction():
                    shown = condition.replace("%", "%%")
                    answer = connection.execute(f"SELECT ({shown}) IS TRUE FROM t WHERE %s", [True]).fetchone()
            except psycopg.DataError:
                answers.append(False)
            else:
                assert answer is not None
                answers.append(bool(answer[0]))
    return answers


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_rows_that_were_found_give_the_answers(servers: Servers, major: int) -> None:
    for kind in KINDS:
        made = table(kind, major)
        world = World(made.schema, major, made)
        asked = questions(world, kind, major * 1000, major * 1000 + PAIRS)
        assert len(asked) > PAIRS
        with servers[major].database() as name, servers[major].connect(name) as connection:
            connection.execute(made.schema.encode())
            wrong = []
            for question in asked:
                for answer, wanted in zip(are_true(connection, question), question.wanted, strict=True):
                    if not wanted & TRUE if answer else wanted == TRUE:
                        wrong.append((question.filters, question.row, answer))
            assert not wrong
