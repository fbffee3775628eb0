"""Statements that the grammar refuses: common slips get help."""

from __future__ import annotations

import pytest

from pubcheck.checks.ddl.syntax_help import syntax_help


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("CREATE PUBLICATION IF NOT EXISTS p FOR TABLE t", "no CREATE PUBLICATION IF NOT EXISTS"),
        ("CREATE OR REPLACE PUBLICATION p FOR TABLE t", "no CREATE OR REPLACE PUBLICATION"),
        ("ALTER PUBLICATION IF EXISTS p ADD TABLE t", "no ALTER PUBLICATION IF EXISTS"),
        ("ALTER PUBLICATION p ADD TABLE IF NOT EXISTS t", "do not accept IF [NOT] EXISTS"),
        ("ALTER PUBLICATION p DROP TABLE IF EXISTS t", "do not accept IF [NOT] EXISTS"),
        ("CREATE PUBLICATION 'p' FOR TABLE t", "double quotes"),
        ("CREATE PUBLICATION s.p FOR TABLE t", "no dot"),
        ("CREATE PUBLICATION table FOR TABLE t", "reserved word"),
        ("CREATE PUBLICATION FOR ALL TABLES", "no name"),
        ("CREATE PUBLICATION p TABLE t", "write FOR"),
        ("CREATE PUBLICATION p FOR TABLE", "ends before a name"),
        # Misspelt keywords.
        ("CREATE PUBLICATON p FOR TABLE t", "did you mean PUBLICATION?"),
        ("DROP PUBLICATIONS p", "did you mean PUBLICATION?"),
        ("CREAT PUBLICATION p FOR TABLE t", "did you mean CREATE?"),
        # Statements that end too early.
        ("CREATE PUBLICATION", "no name"),
        ("ALTER PUBLICATION p", "ADD, SET or DROP"),
        ("CREATE PUBLICATION p FOR ALL", "FOR ALL TABLES"),
        ("ALTER PUBLICATION p ADD TABLES IN", "TABLES IN SCHEMA"),
        ("ALTER PUBLICATION p DROP", "write TABLE"),
        ("ALTER PUBLICATION p RENAME TO", "and a name"),
        ("ALTER PUBLICATION p SET", "in parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t WITH", "in parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t WHERE", "in parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t WHERE (a >", "not closed"),
        ("CREATE PUBLICATION p FOR TABLE t (id, a", "not closed"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert'", "not closed"),
        ("CREATE PUBLICATION p FOR TABLE a.b.c.d", "schema.table"),
        # Row filters and column lists.
        ("CREATE PUBLICATION p FOR TABLE t WHERE a > 5", "in parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t, u (id) WHERE a > 5", "in parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t WHERE (a > 5) AND (b = 'x')", "one pair of parentheses"),
        ("CREATE PUBLICATION p FOR TABLE t WHERE ()", "filter is empty"),
        ("CREATE PUBLICATION p FOR TABLE t WHERE (a > 5) (id, a)", "before the row filter"),
        ("CREATE PUBLICATION p FOR TABLE t ()", "list is empty"),
        ("CREATE PUBLICATION p FOR TABLE t (*)", "leave the column list out"),
        ("CREATE PUBLICATION p FOR TABLE t (id, t.a)", "column names only"),
        ("CREATE PUBLICATION p FOR TABLE t (id, )", "comma"),
        ("CREATE PUBLICATION p FOR TABLE t,", "comma"),
        ("CREATE PUBLICATION p FOR TABLE t AS x WHERE (x.a > 1)", "alias"),
        ("CREATE PUBLICATION p FOR TABLE ONLY s.t x WHERE (x.a > 1)", "alias"),
        ('CREATE PUBLICATION p FOR TABLE t, u "X" (id)', "alias"),
        ("CREATE PUBLICATION p FOR TABLE order", "reserved word"),
        ("CREATE PUBLICATION p FOR TABLE t, user WHERE (id > 0)", "reserved word"),
        ("CREATE PUBLICATION p FOR TABLE ONLY t *", "ONLY and *"),
        # Kinds of objects.
        ("CREATE PUBLICATION p FOR ALL TABLES IN SCHEMA public", "beta of PostgreSQL 15"),
        ("CREATE PUBLICATION p FOR ALL TABLES WHERE (a > 5)", "no row filter"),
        ("CREATE PUBLICATION p FOR ALL TABLES (id)", "no column list"),
        ("CREATE PUBLICATION p FOR ALL TABLES, TABLE t", "cannot be combined with other objects"),
        ("CREATE PUBLICATION p FOR TABLE IN SCHEMA public", "in the plural"),
        ("CREATE PUBLICATION p FOR TABLES t", "in the singular"),
        ("CREATE PUBLICATION p FOR t", "FOR TABLE"),
        ("ALTER PUBLICATION p ADD t", "write TABLE"),
        ("CREATE PUBLICATION p FOR SCHEMA public", "TABLES IN SCHEMA"),
        ("CREATE PUBLICATION p FOR MATERIALIZED VIEW v", "only contain tables"),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA public WHERE (a > 5)", "no row filter"),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA public (id)", "no column list"),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA public.t", "no dot"),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA public, public.t", "kind of the entry before"),
        ("CREATE PUBLICATION p FOR TABLE t, CURRENT_SCHEMA", "before CURRENT_SCHEMA"),
        # Options.
        ("CREATE PUBLICATION p WITH (publish = 'insert') FOR TABLE t", "comes last"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert') WHERE (a > 1)", "comes last"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (publish = ('insert', 'update'))", "'insert, update'"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (publish = ARRAY['insert'])", "'insert, update'"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert',)", "comma"),
        ("CREATE PUBLICATION p FOR TABLE t WITH (x.publish = 'insert')", "no dot"),
        ("CREATE PUBLICATION p FOR TABLE t WITH ()", "list of options is empty"),
        ("ALTER PUBLICATION p SET ()", "list of options is empty"),
        ("ALTER PUBLICATION p SET TABLE t, (publish = 'insert')", "separate statement"),
        ("ALTER PUBLICATION p RESET (publish)", "no RESET"),
        # PostgreSQL 19.
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t)", "PostgreSQL 19 syntax"),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT TABLE t", "PostgreSQL 19 syntax"),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA s EXCEPT (TABLE t)", "goes with ALL TABLES only"),
        ("CREATE PUBLICATION p FOR ALL SEQUENCES", "PostgreSQL 19 syntax"),
        ("CREATE PUBLICATION p FOR ALL TABLES, ALL SEQUENCES", "PostgreSQL 19 syntax"),
        ("ALTER PUBLICATION p SET ALL TABLES", "PostgreSQL 19 syntax"),
        ("ALTER SUBSCRIPTION s REFRESH SEQUENCES", "PostgreSQL 19 syntax"),
        ("CREATE SUBSCRIPTION s SERVER far PUBLICATION p", "PostgreSQL 19 syntax"),
        ("ALTER PUBLICATION p ADD ALL TABLES", "cannot be added or dropped"),
    ],
)
def test_common_slips_get_help(sql: str, says: str) -> None:
    for written in (sql, f"{sql};", sql.lower().replace(" ", "\n  /* ( */ "), f"{sql} -- ("):
        assert says in (syntax_help(written) or "")


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "CREATE PUBLICATION p FOR TABLE t WHERE (a >)",
        "CREATE PUBLICATION p FOR TABLE t WHERE (t.flag)) ",
        'CREATE PUBLICATION p FOR TABLE t, TABLES IN SCHEMA s, TABLE "user", ONLY u (id) WHERE (id > 0) WITH (publish)',
    ],
)
def test_where_the_slip_is_not_known_there_is_no_help(sql: str) -> None:
    assert syntax_help(sql) is None


def test_a_slip_is_found_at_the_end_of_a_long_list() -> None:
    tables = ", ".join(f"s.t{number} (id, a) WHERE (a > {number})" for number in range(5_000))
    assert "alias" in (syntax_help(f"CREATE PUBLICATION p FOR TABLE {tables}, u z") or "")


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (t)", "write EXCEPT (TABLE a, TABLE b)"),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT TABLE t", "in parentheses"),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t WHERE (a > 1))", "without column lists and row filters"),
        ("CREATE PUBLICATION p FOR ALL SEQUENCES EXCEPT (TABLE t)", "takes no EXCEPT"),
        ("CREATE PUBLICATION p FOR ALL TABLES, TABLE t", "cannot be combined"),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t), ALL TABLES", "once"),
        ("ALTER PUBLICATION p SET ALL TABLES WITH (publish = 'insert')", "separate statement"),
    ],
)
def test_mistakes_in_the_syntax_of_19_have_help_of_their_own(sql: str, says: str) -> None:
    assert says in (syntax_help(sql, newer=True) or "")
    assert "before 19" not in (syntax_help(sql, newer=True) or "")
