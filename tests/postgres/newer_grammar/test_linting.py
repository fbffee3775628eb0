"""Files with the syntax of 19, on 19 and on the majors before it."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, covered, lint

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int);\n"
EXCEPT = "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t);"


def test_each_major_answers_for_itself() -> None:
    findings = lint(TABLE + EXCEPT, postgres=(17, 18, 19))
    assert [(finding.rule, finding.postgres) for finding in findings] == [("PUB101", (17, 18))]
    assert "PostgreSQL 19 syntax" in (findings[0].help or "")


def test_both_grammars_may_refuse_at_different_places() -> None:
    findings = lint(TABLE + "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (t);", postgres=(18, 19))
    assert [(covered(finding.span), finding.postgres) for finding in findings] == [("EXCEPT", (18,)), ("t", (19,))]
    assert "EXCEPT (TABLE" in (findings[1].help or "")


def test_the_statements_after_it_are_certain() -> None:
    findings = lint(TABLE + EXCEPT + "CREATE PUBLICATION q FOR TABLE nosuch;", complete=True, postgres=(19,))
    assert answers(findings) == [("42P01", 'relation "nosuch" does not exist', "certain")]


def test_statements_that_cannot_be_read_are_one_note_and_make_no_error() -> None:
    sql = (
        "CREATE FOREIGN DATA WRAPPER w CONNECTION s.f;\n"
        "ALTER FOREIGN DATA WRAPPER w NO CONNECTION;\n"
        "REPACK;\n"
        "CREATE PUBLICATION p FOR TABLE s.x;"
    )
    findings = lint(sql, complete=True, postgres=(19,))
    assert [(finding.rule, finding.certainty) for finding in findings if finding.rule == "PUB004"] == [
        ("PUB004", "assumed")
    ]
    assert [state for _, _, state in answers(findings)] == ["assumed"]


GRAPH = "CREATE PROPERTY GRAPH g VERTEX TABLES (t);\n"
MATCH = "GRAPH_TABLE (g MATCH (a IS t WHERE a.id > 1)-[b]->(c) /* ;) */ COLUMNS (a.id AS x, ';)' AS y))"
VIEW = (f"CREATE VIEW v AS SELECT x FROM {MATCH}", "CREATE PUBLICATION q FOR TABLE v")


@pytest.mark.parametrize(
    ("statement", "after", "sqlstate"),
    [
        (*VIEW, "22023"),
        (f"{VIEW[0]}; DROP PROPERTY GRAPH g CASCADE", VIEW[1], "42P01"),
        (f"{VIEW[0]}; DROP PROPERTY GRAPH g", "CREATE PUBLICATION q FOR TABLE g", "42809"),
        ("", f"CREATE PUBLICATION q FOR TABLE t WHERE (id IN (SELECT x + 1 FROM {MATCH}))", "0A000"),
        (f"DO $$ BEGIN PERFORM x FROM {MATCH}; END $$", "CREATE PUBLICATION q FOR TABLE g", "42809"),
        (
            f"CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT x FROM {MATCH}; SELECT 1; END",
            "CREATE PUBLICATION q FOR TABLE g",
            "42809",
        ),
        ("ALTER PROPERTY GRAPH g RENAME TO h", "CREATE PUBLICATION q FOR TABLE h", "42809"),
        ("ALTER PROPERTY GRAPH g DROP VERTEX TABLES (t); DROP TABLE t", "CREATE PUBLICATION q FOR TABLE t", "42P01"),
        (
            "CREATE SCHEMA s CREATE DOMAIN d AS int CREATE TABLE x (a d) CREATE FUNCTION f() RETURNS int LANGUAGE sql"
            " AS 'SELECT 1; SELECT 2'",
            "CREATE PUBLICATION q FOR TABLE s.x WHERE (a > 1)",
            "0A000",
        ),
        ("CREATE SCHEMA s CREATE DOMAIN r.d AS int", "CREATE PUBLICATION q FOR TABLES IN SCHEMA s", "3F000"),
        ("SET search_path TO NULL", "CREATE PUBLICATION q FOR TABLE t", "42P01"),
    ],
)
def test_other_statements_of_19_are_followed(statement: str, after: str, sqlstate: str) -> None:
    findings = lint(f"{TABLE}{GRAPH}{statement};\n{after};", complete=True, postgres=(19,))
    assert [(state, certainty) for state, _, certainty in answers(findings)] == [(sqlstate, "certain")]


def test_a_table_that_a_graph_took_up_stays() -> None:
    sql = "CREATE TABLE e (id int PRIMARY KEY); ALTER PROPERTY GRAPH g ADD EDGE TABLES (e); DROP TABLE e;"
    assert not answers(lint(TABLE + GRAPH + sql + "CREATE PUBLICATION q FOR TABLE e;", complete=True, postgres=(19,)))


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
    findings = lint(f"{TABLE}DO $$ {body} $$;", complete=True, postgres=(19,))
    assert answers(findings) == [("42P01", 'relation "nosuch" does not exist', "certain")]
    assert covered(findings[0].span) == "nosuch"


def test_other_statements_of_19_in_a_body_do_not_hide_the_rest() -> None:
    body = (
        "DECLARE b int; BEGIN UPDATE t FOR PORTION OF a FROM 1 TO 2 SET id = 1;"
        " INSERT INTO t VALUES (1) ON CONFLICT (id) DO SELECT RETURNING a INTO b; REPACK t;"
        " CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE nosuch); END"
    )
    (finding,) = lint(f"{TABLE}DO $$ {body} $$;", complete=True, postgres=(19,))
    # The rows that it writes may stop it earlier.
    assert (covered(finding.span), finding.certainty) == ("nosuch", "assumed")


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
    (finding,) = lint(f"DO $$ {body} $$;", postgres=(19,))
    assert finding.server is not None
    assert (finding.server.message, covered(finding.span)) == (message, culprit)
    assert finding.server.detail in (None, "ALL TABLES can be specified only once.")


def test_a_function_in_sql_is_refused_where_19_refuses_it() -> None:
    sql = "CREATE PUBLICATION p; CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'ALTER PUBLICATION p SET ALL {}'"
    assert {finding.rule for finding in lint(sql.format("SEQUENCES"), postgres=(19,))} == {"PUB804"}
    findings = lint(sql.format("TABLES; CREATE PUBLICATION q FOR ALL TABLES EXCEPT (t)"), postgres=(19,))
    assert [covered(finding.span) for finding in findings if finding.rule == "PUB101"] == ["t"]


def test_variables_may_be_called_execute_and_strict() -> None:
    sql = "DO $$ DECLARE strict int; BEGIN strict := 1; DROP PUBLICATION p; END $$;"
    assert [finding.certainty for finding in lint(sql, complete=True, postgres=(19,))] == ["assumed"]


def test_a_statement_that_only_19_refuses_is_followed_before_it() -> None:
    sql = TABLE + "CREATE VIEW v AS SELECT a ignore FROM t;\nCREATE PUBLICATION p FOR TABLE v;"
    findings = lint(sql, complete=True, postgres=(18, 19))
    assert {(finding.rule, finding.postgres, finding.server and finding.server.sqlstate) for finding in findings} == {
        ("PUB004", (19,), None),
        ("PUB107", (19,), "42P01"),
        ("PUB108", (18,), "22023"),
    }


def test_a_template_with_a_new_keyword_is_not_refused() -> None:
    sql = "CREATE TABLE t (ignore int, {{ columns }} int);\nCREATE PUBLICATION p FOR TABLE t;"
    assert not [finding for finding in lint(sql, postgres=(18, 19)) if finding.rule in ("PUB004", "PUB101")]
