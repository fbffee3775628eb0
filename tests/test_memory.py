"""What is done with is freed: the audit lints thousands of units in one process."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from pubcheck import Config, Linter, Source, Unit
from pubcheck.postgres.session import Session
from pubcheck.simulate.database import Database

SCRIPT = """
CREATE TABLE places (id int PRIMARY KEY, size int);
CREATE TABLE log (id int, value numeric);
CREATE PUBLICATION small FOR TABLE places WHERE ({column} < 10);
INSERT INTO log SELECT id, sum(id) OVER (ORDER BY size) FROM places WHERE id < (SELECT max(value) FROM log);
DO $$ BEGIN UPDATE places SET size = 1 WHERE EXISTS (SELECT FROM log WHERE log.id = places.id); END $$;
"""


def lint() -> None:
    Linter(Config()).lint(Unit((Source("schema.sql", SCRIPT.format(column="size")),)))


def simulate() -> None:
    session = Database(18).session("a")
    for statement in SCRIPT.format(column="id").strip().split("\n"):
        session.run(statement)


@pytest.mark.parametrize("work", [lint, simulate])
def test_no_session_is_left(work: Callable[[], None]) -> None:
    before = sessions()
    work()
    assert sessions() == before


def sessions() -> int:
    gc.collect()
    return sum(isinstance(thing, Session) for thing in gc.get_objects())
