"""Files with the syntax of 19, on 19 and on the majors before it."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, covered, lint

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int);\n"
EXCEPT = "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t);"


def test_each_major_answers_for_itself() -> None:
    found = lint(TABLE + EXCEPT, postgres=(17, 18, 19))
    assert [(each.rule, each.postgres) for each in found] == [("PUB101", (17, 18))]
    assert "PostgreSQL 19 syntax" in (found[0].help or "")


def test_both_grammars_may_refuse_at_different_places() -> None:
    found = lint(TABLE + "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (t);", postgres=(18, 19))
    assert [(covered(each.span), each.postgres) for each in found] == [("EXCEPT", (18,)), ("t", (19,))]
    assert "EXCEPT (TABLE" in (found[1].help or "")


def test_the_statements_after_it_are_certain() -> None:
    found = lint(TABLE + EXCEPT + "CREATE PUBLICATION q FOR TABLE nosuch;", complete=True, postgres=(19,))
    assert answers(found) == [("42P01", 'relation "nosuch" does not exist', "certain")]


def test_statements_that_cannot_be_read_are_one_note_and_make_no_error() -> None:
    sql = (
        "CREATE SCHEMA s CREATE TYPE e AS ENUM ('a') CREATE TABLE x (a e);\n"
        "CREATE SCHEMA r CREATE TYPE e AS ENUM ('a');\n"
        "REPACK;\n"
        "CREATE PUBLICATION p FOR TABLE s.x;"
    )
    found = lint(sql, complete=True, postgres=(19,))
    assert [(each.rule, each.certainty) for each in found if each.rule == "PUB004"] == [("PUB004", "assumed")]
    assert [state for _, _, state in answers(found)] == ["assumed"]


def test_earlier_majors_name_the_syntax_of_19() -> None:
    (note,) = lint(TABLE + "CREATE PUBLICATION q FOR TABLE t; WAIT FOR LSN '0/1';")
    assert (note.rule, note.message) == ("PUB004", "this statement is PostgreSQL 19 syntax and was skipped")


@pytest.mark.parametrize(
    "body",
    [
        "BEGIN CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE nosuch); END",
        "BEGIN IF true THEN CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE nosuch); END IF; END",
        "BEGIN EXECUTE 'CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE nosuch)'; END",
    ],
)
def test_bodies_are_followed(body: str) -> None:
    found = lint(f"{TABLE}DO $$ {body} $$;", complete=True, postgres=(19,))
    assert answers(found) == [("42P01", 'relation "nosuch" does not exist', "certain")]
    assert covered(found[0].span) == "nosuch"


def test_other_statements_of_19_in_a_body_do_not_hide_the_rest() -> None:
    body = (
        "DECLARE b int; BEGIN UPDATE t FOR PORTION OF a FROM 1 TO 2 SET id = 1;"
        " INSERT INTO t VALUES (1) ON CONFLICT (id) DO SELECT RETURNING a INTO b; REPACK t;"
        " CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE nosuch); END"
    )
    (found,) = lint(f"{TABLE}DO $$ {body} $$;", complete=True, postgres=(19,))
    # The rows that it writes may stop it earlier.
    assert (covered(found.span), found.certainty) == ("nosuch", "assumed")


@pytest.mark.parametrize(
    ("body", "message", "culprit"),
    [
        ("BEGIN CREATE PUBLICATION ü FOR ALL TABLES EXCEPT (t); END", 'syntax error at or near "t"', "t"),
        (
            "BEGIN CREATE PUBLICATION p FOR ALL TABLES, ALL TABLES; END",
            "invalid publication object list",
            "ALL",
        ),
    ],
)
def test_a_body_is_refused_where_19_refuses_it(body: str, message: str, culprit: str) -> None:
    (found,) = lint(f"DO $$ {body} $$;", postgres=(19,))
    assert found.server is not None
    assert (found.server.message, covered(found.span)) == (message, culprit)
    assert found.server.detail in (None, "ALL TABLES can be specified only once.")


def test_a_function_in_sql_is_refused_where_19_refuses_it() -> None:
    sql = "CREATE PUBLICATION p; CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'ALTER PUBLICATION p SET ALL {}'"
    assert {each.rule for each in lint(sql.format("SEQUENCES"), postgres=(19,))} == {"PUB804"}
    found = lint(sql.format("TABLES; CREATE PUBLICATION q FOR ALL TABLES EXCEPT (t)"), postgres=(19,))
    assert [covered(each.span) for each in found if each.rule == "PUB101"] == ["t"]


def test_variables_may_be_called_execute_and_strict() -> None:
    sql = "DO $$ DECLARE strict int; BEGIN strict := 1; DROP PUBLICATION p; END $$;"
    assert [each.certainty for each in lint(sql, complete=True, postgres=(19,))] == ["assumed"]
