"""Statements that only the grammar of 19 accepts; refusals are as recorded on 19beta3."""

from __future__ import annotations

from typing import Any

import pytest

from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import SyntaxRefused


def node(sql: str) -> dict[str, Any]:
    statement = parse_with(True, sql)
    assert statement is not None
    return statement[1]


def excepted(sql: str) -> list[tuple[str, str, bool, int]]:
    """The schema, name, whether with children, and offset of each table of EXCEPT."""
    relations = [item["PublicationObjSpec"]["pubtable"]["relation"] for item in node(sql)["pubobjects"]]
    return [(row.get("schemaname", ""), row["relname"], row.get("inh", False), row["location"]) for row in relations]


def test_the_tables_of_except_have_their_places() -> None:
    sql = 'CREATE PUBLICATION "ü" FOR ALL TABLES EXCEPT (TABLE ONLY a.t, u *, TABLE ONLY ("V w"))'
    parts = [("a", "t", False, "a.t"), ("", "u", True, "u *"), ("", "V w", False, '"V w"')]
    expected = [(*part[:3], len(sql[: sql.index(part[3])].encode())) for part in parts]
    assert excepted(sql) == expected


def test_names_with_escapes_are_one_token() -> None:
    sql = (
        """CREATE PUBLICATION U&"!0070" UESCAPE '!' FOR ALL TABLES EXCEPT (TABLE U&"!0074" /**/ uescape '!', s.U&"u")"""
    )
    assert node(sql)["pubname"] == "p"
    assert [row[:2] for row in excepted(sql)] == [("", "t"), ("s", "u")]
    assert node("""CREATE SUBSCRIPTION U&"!0073" UESCAPE '!' SERVER far PUBLICATION p""")["servername"] == "far"


@pytest.mark.parametrize("kinds", ["ALL TABLES, ALL SEQUENCES", "all sequences , ALL/**/TABLES EXCEPT (table t)"])
@pytest.mark.parametrize("head", ["CREATE PUBLICATION p FOR", "ALTER PUBLICATION p SET"])
def test_a_list_may_have_both_kinds(head: str, kinds: str) -> None:
    fields = node(f"{head} {kinds}")
    assert (fields["pubname"], fields["for_all_tables"], fields["for_all_sequences"]) == ("p", True, True)


def test_options_keep_their_places() -> None:
    sql = "CREATE PUBLICATION p FOR ALL SEQUENCES WITH (publish = 'insert')"
    assert node(sql)["options"][0]["DefElem"]["location"] == sql.index("publish")


@pytest.mark.parametrize(
    ("sql", "message", "position"),
    [
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (t, u)", 'syntax error at or near "t"', 45),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT TABLE t", 'syntax error at or near "TABLE"', 44),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t WHERE (a > 1))", 'syntax error at or near "WHERE"', 53),
        (
            "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE s.t, TABLES IN SCHEMA s)",
            'syntax error at or near "IN"',
            63,
        ),
        ('CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE "größe", TABLE)', 'syntax error at or near ")"', 65),
        ("CREATE PUBLICATION p FOR ALL SEQUENCES EXCEPT (TABLE t)", 'syntax error at or near "EXCEPT"', 40),
        ("CREATE PUBLICATION p FOR ALL TABLES, ALL TABLES", "invalid publication object list", 38),
        (
            "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE a.b.c.d)",
            "improper qualified name (too many dotted names): a.b.c.d",
            51,
        ),
        (
            """CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE U&"!0074" UESCAPE 'ab', TABLE)""",
            """invalid Unicode escape character at or near "'ab'\"""",
            69,
        ),
        (
            """CREATE PUBLICATION p FOR ALL TABLES EXCEPT (U&"!0074" UESCAPE '!')""",
            """syntax error at or near "U&"!0074" UESCAPE '!'\"""",
            45,
        ),
        (
            "ALTER PUBLICATION p SET ALL TABLES WITH (publish = 'insert')",
            'syntax error at or near "WITH"',
            36,
        ),
        ("CREATE PUBLICATION p FOR TABLE t, ALL TABLES", 'syntax error at or near "ALL"', 35),
    ],
)
def test_19_refuses_at_its_own_place(sql: str, message: str, position: int) -> None:
    with pytest.raises(SyntaxRefused) as refused:
        parse_with(True, sql)
    assert (refused.value.message, refused.value.location) == (message, position - 1)


def test_the_end_of_the_input_has_no_place() -> None:
    with pytest.raises(SyntaxRefused) as refused:
        parse_with(True, "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE t")
    assert (refused.value.message, refused.value.location) == ("syntax error at end of input", None)


def test_a_subscription_may_name_a_server() -> None:
    sql = 'CREATE SUBSCRIPTION s SERVER "Far" PUBLICATION p, q WITH (connect = false)'
    fields = node(sql)
    assert fields["servername"] == "Far"
    assert fields["options"][0]["DefElem"]["location"] == sql.index("connect")
    assert node("ALTER SUBSCRIPTION s SERVER far")["servername"] == "far"
    assert node("ALTER SUBSCRIPTION s REFRESH SEQUENCES")["kind"] == "ALTER_SUBSCRIPTION_REFRESH_SEQUENCES"


def test_partitions_are_merged_and_split() -> None:
    ((merge,),) = [node("ALTER TABLE ONLY a.pt MERGE PARTITIONS (b, c.d) INTO e")["cmds"]]
    assert merge["AlterTableCmd"]["subtype"] == "AT_MergePartitions"
    ((split,),) = [
        node("ALTER TABLE pt SPLIT PARTITION a INTO (PARTITION b FOR VALUES IN (1, 2), PARTITION c DEFAULT)")["cmds"]
    ]
    parts = split["AlterTableCmd"]["def"]["PartitionCmd"]["partlist"]
    assert [part["SinglePartitionSpec"]["name"]["relname"] for part in parts] == ["b", "c"]
    assert "is_default" in parts[1]["SinglePartitionSpec"]["bound"]


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("UPDATE f FOR PORTION OF v FROM 3 TO 5 SET x = 'b'", "UpdateStmt"),
        ("DELETE FROM f FOR PORTION OF v (int4range(3, 5)) WHERE id = 1", "DeleteStmt"),
        ("INSERT INTO n VALUES (1) ON CONFLICT (a) DO SELECT FOR UPDATE RETURNING b", "InsertStmt"),
        ("WITH q AS (DELETE FROM f FOR PORTION OF v FROM 3 TO 5) SELECT 1", "SelectStmt"),
        ("CREATE RULE r AS ON DELETE TO f DO ALSO (DELETE FROM g FOR PORTION OF v FROM 3 TO 5; NOTIFY x)", "RuleStmt"),
        ("CREATE VIEW v AS SELECT first_value(a) IGNORE NULLS OVER (ORDER BY b) FROM t", "ViewStmt"),
        ("CREATE TEMP PROPERTY GRAPH s.g VERTEX TABLES (t)", "CreatePropGraphStmt"),
        ("DROP PROPERTY GRAPH IF EXISTS g CASCADE", "DropStmt"),
        ("REPACK (CONCURRENTLY) t", "RepackStmt"),
        ("WAIT FOR LSN '0/1'", "WaitStmt"),
        ("CREATE SCHEMA s CREATE TYPE e AS ENUM ('a') CREATE TABLE x (a e)", "CreateSchemaStmt"),
        ("CREATE VIEW v AS SELECT * FROM GRAPH_TABLE (g MATCH (a) COLUMNS (1 AS x))", "ViewStmt"),
        ("ALTER PROPERTY GRAPH g RENAME TO h", "RenameStmt"),
        ("ALTER PROPERTY GRAPH g ADD VERTEX TABLES (t KEY (id)) EDGE TABLES (e)", "AlterPropGraphStmt"),
        ("ALTER PROPERTY GRAPH g ALTER VERTEX TABLE t DROP LABEL l", "AlterPropGraphStmt"),
        ("SET LOCAL search_path = NULL", "VariableSetStmt"),
        ("SET DateStyle = NULL", "UnreadStmt"),
        ("CREATE FOREIGN DATA WRAPPER w CONNECTION f", "UnreadStmt"),
    ],
)
def test_other_statements_are_read_or_skipped(sql: str, name: str) -> None:
    statement = parse_with(True, sql)
    assert statement is not None
    assert statement[0] == name
    with pytest.raises(SyntaxRefused):
        parse_with(False, sql)


@pytest.mark.parametrize("sql", ["CREATE TABLE t (id INT AUTO_INCREMENT)", "ALTER TABLE t ADD x", "CREATE PUBLICATION"])
def test_what_19_refuses_too_is_refused(sql: str) -> None:
    with pytest.raises(SyntaxRefused):
        parse_with(True, sql)


def test_a_list_of_thousands_of_tables_takes_linear_time() -> None:
    names = [f"some_table_{number}" for number in range(20_000)]
    assert len(excepted(f"CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE {', '.join(names)})")) == len(names)


@pytest.mark.parametrize("sql", ["UPDATE f FOR PORTION OF", "SELECT f() IGNORE NULLS"])
def test_a_statement_that_ends_in_a_new_clause_is_skipped(sql: str) -> None:
    assert parse_with(True, f"{sql} (") == ("UnreadStmt", {})


@pytest.mark.parametrize(
    ("sql", "near"),
    [
        ("CREATE VIEW v AS SELECT a ignore FROM t", "ignore"),  # recorded: v19-bare-label-ignore
        ("CREATE FUNCTION graph_table(int) RETURNS int LANGUAGE sql AS 'SELECT 1'", "("),  # v19-function-graph-table
        ("SELECT (a) Respect, b FROM t", "Respect"),
        ("SELECT coalesce(a) ignore FROM t", "ignore"),
        ("SELECT count(a) ignore FROM t", "FROM"),
        ("SELECT 'x'::graph_table", "graph_table"),
    ],
)
def test_new_keywords_are_refused_where_18_takes_names(sql: str, near: str) -> None:
    assert parse_with(False, sql) is not None
    with pytest.raises(SyntaxRefused) as refused:
        parse_with(True, sql)
    assert (refused.value.message, refused.value.location) == (f'syntax error at or near "{near}"', sql.index(near))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a AS ignore, t.respect, ignore FROM t ignore",
        "CREATE TABLE ignore (respect int, graph_table int)",
        "SELECT s.graph_table(1), graph_table, 'x ignore' FROM graph_table -- a ignore",
    ],
)
def test_new_keywords_are_names_elsewhere(sql: str) -> None:
    assert parse_with(True, sql) == parse_with(False, sql)
