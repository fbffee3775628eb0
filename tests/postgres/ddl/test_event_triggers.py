"""Event triggers whose functions may raise an error: what they fire for is perhaps refused."""

from __future__ import annotations

import pytest

from tests.linting import answers, lint

TABLE = "CREATE TABLE t (a int PRIMARY KEY);"
RAISES = "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
NOTES = "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'no'; END $$;"
AT_END = "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();"
AT_DROP = "CREATE EVENT TRIGGER e ON sql_drop EXECUTE FUNCTION f();"
TWICE = "CREATE PUBLICATION p; CREATE PUBLICATION p;"


def certainty(sql: str) -> list[str]:
    return [each for _, _, each in answers(lint(sql, complete=True))]


def test_what_was_perhaps_refused_is_there_by_assumption() -> None:
    made = TABLE + RAISES + AT_END + "CREATE PUBLICATION p FOR TABLE t;" + "DROP EVENT TRIGGER e;"
    assert certainty(made + "CREATE PUBLICATION p;") == []
    assert certainty(made + "ALTER PUBLICATION p ADD TABLE t;") == ["assumed"]


def test_a_refusal_may_be_the_triggers() -> None:
    assert certainty(RAISES + AT_END + "CREATE PUBLICATION p FOR TABLE nosuch;") == ["assumed"]


@pytest.mark.parametrize(
    "before",
    [
        NOTES + AT_END,
        RAISES + AT_DROP,
        RAISES + AT_END + "ALTER EVENT TRIGGER e DISABLE;",
        RAISES + AT_END + "DROP EVENT TRIGGER e;",
        RAISES + AT_END.replace("EXECUTE", "WHEN TAG IN ('CREATE TABLE') EXECUTE"),
        RAISES + "BEGIN;" + AT_END + "ROLLBACK;",
    ],
)
def test_other_statements_are_judged_as_ever(before: str) -> None:
    assert certainty(before + TWICE) == ["certain"]


def test_what_was_perhaps_not_dropped_may_be_there() -> None:
    dropped = TABLE + "CREATE PUBLICATION p FOR TABLE t;" + RAISES + AT_DROP + "DROP PUBLICATION p; DROP TABLE t;"
    assert certainty(dropped + "ALTER PUBLICATION p ADD TABLE t;") == ["assumed"]
