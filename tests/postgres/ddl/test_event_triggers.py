"""Event triggers: what their functions refuse, and what they perhaps refuse."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, lint

TABLE = "CREATE TABLE t (a int PRIMARY KEY);"
RAISES = "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
PERHAPS = RAISES.replace("RAISE EXCEPTION 'no'", "IF current_user = 'x' THEN RAISE EXCEPTION 'no'; END IF")
NOTES = "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'no'; END $$;"
AT_END = "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();"
AT_DROP = "CREATE EVENT TRIGGER e ON sql_drop EXECUTE FUNCTION f();"
TWICE = "CREATE PUBLICATION p; CREATE PUBLICATION p;"


def certainty(sql: str) -> list[str]:
    return [word for _, _, word in answers(lint(sql, complete=True))]


def test_what_was_perhaps_refused_is_there_by_assumption() -> None:
    made = TABLE + PERHAPS + AT_END + "CREATE PUBLICATION p FOR TABLE t;" + "DROP EVENT TRIGGER e;"
    assert certainty(made + "CREATE PUBLICATION p;") == []
    assert certainty(made + "ALTER PUBLICATION p ADD TABLE t;") == ["assumed"]


def test_a_refusal_may_be_the_triggers() -> None:
    at_start = AT_END.replace("ddl_command_end", "ddl_command_start")
    assert certainty(PERHAPS + at_start + "CREATE PUBLICATION p FOR TABLE nosuch;") == ["assumed"]
    # It comes too late.
    assert certainty(PERHAPS + AT_END + "CREATE PUBLICATION p FOR TABLE nosuch;") == ["certain"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("RAISE EXCEPTION 'no'", True),
        ("IF TG_TAG = 'CREATE PUBLICATION' THEN RAISE EXCEPTION 'no'; END IF", True),
        ("IF TG_TAG IN ('DROP TABLE', 'CREATE TABLE') THEN RAISE EXCEPTION 'no'; END IF", False),
        ("IF TG_EVENT = 'sql_drop' THEN RAISE EXCEPTION 'no'; END IF", False),
        ("IF TG_TAG LIKE 'CREATE %' AND NOT TG_EVENT = 'x' THEN RAISE EXCEPTION 'no'; ELSE RETURN; END IF", True),
        ("RETURN; RAISE EXCEPTION 'no'", False),
        ("RAISE WARNING '% %', TG_TAG, now()", False),
    ],
)
@pytest.mark.parametrize("event", ["ddl_command_start", "ddl_command_end"])
def test_functions_that_ask_for_event_and_tag_are_run(body: str, refused: bool, event: str) -> None:
    """Servers of all majors gave the same answers."""
    function = f"CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN {body}; END $$;"
    trigger = AT_END.replace("ddl_command_end", event)
    findings = lint(function + trigger + "CREATE PUBLICATION p; CREATE PUBLICATION p;", complete=True)
    told = [(answer, sure) for _, answer, sure in answers(findings)]
    assert [sure for _, sure in told] == (["certain"] * 2 if refused else ["certain"])


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
    dropped = TABLE + "CREATE PUBLICATION p FOR TABLE t;" + PERHAPS + AT_DROP + "DROP PUBLICATION p; DROP TABLE t;"
    assert certainty(dropped + "ALTER PUBLICATION p ADD TABLE t;") == ["assumed"]


def test_a_trigger_at_sql_drop_refuses_that_a_publication_or_a_member_goes() -> None:
    """Servers of all majors gave the same answers."""
    made = TABLE + "CREATE PUBLICATION p FOR TABLE t;" + RAISES + AT_DROP
    members = "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t; ALTER PUBLICATION p SET TABLE t;"
    refusals = answers(lint(made + "DROP PUBLICATION p; CREATE PUBLICATION p; DROP TABLE t;" + members, complete=True))
    assert refusals == [
        ("P0001", "no", "certain"),
        ("42710", 'publication "p" already exists', "certain"),
        ("P0001", "no", "certain"),
        ("42710", 'relation "t" is already member of publication "p"', "certain"),
    ]


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ("DROP FUNCTION f();", True),
        ("DROP FUNCTION f() CASCADE;", False),
        ("DROP EVENT TRIGGER e; DROP FUNCTION f();", False),
        ("ALTER EVENT TRIGGER e RENAME TO g; DROP FUNCTION f();", True),
        ("ALTER EVENT TRIGGER e RENAME TO g; DROP EVENT TRIGGER IF EXISTS e; DROP EVENT TRIGGER g;", False),
    ],
)
def test_the_function_of_an_event_trigger_is_dropped_with_it_only(change: str, refused: bool) -> None:
    """Servers of all majors gave the same answers."""
    trigger = AT_END.replace("EXECUTE", "WHEN TAG IN ('CREATE PUBLICATION') EXECUTE")
    assert certainty(RAISES + trigger + change + "CREATE PUBLICATION p;") == ["certain"] * refused
