"""`pubcheck measure` before Spark starts: what a user is told. What it counts: tests/spark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.fixture
def schema() -> None:
    Path("schema.sql").write_text("CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;")
    Path("other.sql").write_text("CREATE TABLE t (id int PRIMARY KEY);")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Missing argument 'SCHEMA...'"),
        (("schema.sql",), "Missing option '--data'"),
        (("schema.sql", "--data", "t"), "'t' must be KEY=VALUE"),
        (("schema.sql", "--data", "u=u.csv"), "--data: the schema makes no table u; there are public.t"),
        (
            ("schema.sql", "other.sql", "--data", "t=t.csv"),
            "SCHEMA contains 2 units (schema.sql, other.sql): name one",
        ),
        (("schema.sql", "--data", "t=t.csv", "--postgres", "15,18"), "measure takes one version at a time"),
    ],
)
def test_wrong_arguments_end_with_2_and_the_reason(
    pubcheck: Call, schema: None, arguments: tuple[str, ...], reason: str
) -> None:
    called = pubcheck("measure", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in " ".join(called.err.split())


def test_without_pyspark_it_says_what_to_install(pubcheck: Call, schema: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    called = pubcheck("measure", "schema.sql", "--data", "t=t.csv")
    assert (called.status, "pip install 'pubcheck[spark]'" in called.err) == (2, True)
