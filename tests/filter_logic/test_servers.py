"""Rows that were found are given to servers: each filter has the answer for which the row was found."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from msgspec import Struct

from pubcheck.filter_logic.truth import TRUE
from pubcheck.postgres.executor import Context
from tests.filter_logic.random_filters import TABLE, Filters
from tests.filter_logic.world import QUESTIONS, World, witnesses
from tests.support.servers import Servers

PAIRS = 60


class Question(Struct):
    """Two filters, a row by the names of its columns, and the answers wanted of the filters, as bits."""

    filters: tuple[str, str]
    row: dict[str, str | None]
    wanted: tuple[int, int]


def questions(world: World, first: int, last: int) -> list[Question]:
    asked = []
    writer = Context(world.context.inputs, defaults=True).output.writer
    names = {column.number: column for column in world.relation.live()}
    for seed in range(first, last):
        filters = Filters(seed, usual=seed % 2 == 0).pair()
        for name, witness in witnesses(world.compare(*map(world.filter, filters))).items():
            row = {
                names[number].name: None if value is None else writer(names[number].type)(value)
                for number, value in witness.row.items()
            }
            asked.append(Question(filters, row, QUESTIONS[name]))
    return asked


def is_true(connection: psycopg.Connection[Any], condition: str, row: dict[str, str | None]) -> bool:
    """Return whether a filter is true for a row on a server; one that fails is not."""
    try:
        with connection.transaction(force_rollback=True):
            places = ", ".join(["%s"] * len(row))
            connection.execute(f"INSERT INTO t ({', '.join(row)}) VALUES ({places})", list(row.values()))
            answer = connection.execute(
                f"SELECT ({condition.replace('%', '%%')}) IS TRUE FROM t WHERE %s", [True]
            ).fetchone()
    except psycopg.DataError:
        return False
    assert answer is not None
    return bool(answer[0])


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_rows_that_were_found_give_the_answers(servers: Servers, major: int) -> None:
    world = World(TABLE, major)
    asked = questions(world, major * 1000, major * 1000 + PAIRS)
    assert len(asked) > PAIRS
    wrong = []
    with servers[major].database() as name, servers[major].connect(name) as connection:
        connection.execute(TABLE.replace("PRIMARY KEY", "").replace("NOT NULL", ""))
        for question in asked:
            for condition, wanted in zip(question.filters, question.wanted, strict=True):
                answer = is_true(connection, condition, question.row)
                if not wanted & TRUE if answer else wanted == TRUE:
                    wrong.append((condition, question.row, answer))
    assert not wrong
