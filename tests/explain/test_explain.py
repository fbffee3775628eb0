"""What stands in the document: grouping, sameness, refusals, names, what is not sent, notes."""

from __future__ import annotations

import pytest

from pubcheck.explain import render_text
from pubcheck.explain.document import UnitExplained
from pubcheck.measure.plan import condition, one_line
from tests.explain.documents import answer, document, explain, publication

ORDERS = "CREATE TABLE orders (id int, region text NOT NULL, note text, PRIMARY KEY (id, region));\n"


def test_tables_with_the_same_answer_share_one() -> None:
    tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY, c{n} text);\n" for n in range(300))
    unit = explain(tables + "CREATE TABLE bare (a int);\nCREATE PUBLICATION p FOR ALL TABLES;\n")
    whole = publication(unit, "p")
    assert [len(table_answer.tables) for table_answer in whole.answers] == [300, 1]
    assert [refusal.operation for refusal in whole.answers[1].refused] == ["update", "delete"]
    assert whole.answers[1].identity.kind == "none"
    assert whole.tables == 301


def test_tables_with_the_same_filter_on_like_columns_share_one() -> None:
    unit = explain(
        "CREATE TABLE a (id int PRIMARY KEY, x text);\nCREATE TABLE b (id int PRIMARY KEY);\n"
        "CREATE TABLE c (id bigint PRIMARY KEY);\n"
        "CREATE PUBLICATION p FOR TABLE a WHERE (id > 5), b WHERE (id > 5), c WHERE (id > 5);\n"
    )
    tables = [table_answer.tables for table_answer in publication(unit, "p").answers]
    assert tables in ([("public.a", "public.b"), ("public.c",)], [("public.a",), ("public.b",), ("public.c",)])
    assert ("public.c",) in tables


@pytest.mark.parametrize(
    ("other", "identical"), [("region = 'eu'", True), ("'eu' = orders.region", False), ("(region IN ('eu'))", False)]
)
def test_filters_that_mean_the_same_are_told(other: str, identical: bool) -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION a FOR TABLE orders WHERE (region = 'eu');\n"
        f"CREATE PUBLICATION b FOR TABLE orders WHERE ({other});\n"
    )
    (same,) = answer(unit, "a", "public.orders").same_filter
    assert (same.publication, same.identical) == ("b", identical)
    assert not answer(unit, "a", "public.orders").widened_by


def test_the_same_text_with_a_literal_that_was_frozen_is_not_the_same() -> None:
    unit = explain(
        "CREATE TABLE t (at timestamptz PRIMARY KEY);\nCREATE PUBLICATION a FOR TABLE t WHERE (at > '2024-01-01');\n"
        "SET timezone = 'Asia/Tokyo';\nCREATE PUBLICATION b FOR TABLE t WHERE (at > '2024-01-01');\n"
    )
    assert not answer(unit, "a", "public.t").same_filter
    assert [widening.filter for widening in answer(unit, "a", "public.t").widened_by] == ["at > '2024-01-01'"]


def test_a_refusal_names_whose_fault_it_is() -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION fine FOR TABLE orders;\n"
        "CREATE PUBLICATION bad FOR TABLE orders WHERE (note = 'x') WITH (publish = 'insert, update');\n"
    )
    (refused,) = answer(unit, "fine", "public.orders").refused
    assert (refused.operation, refused.publications, refused.sqlstate) == ("update", ("bad",), "42P10")
    assert refused.help is not None


def test_columns_are_told_where_they_are_not_all() -> None:
    unit = explain(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int, s int GENERATED ALWAYS AS (a + 1) STORED);\n"
        "CREATE PUBLICATION p FOR TABLE t (id, b);\nCREATE PUBLICATION q FOR TABLE t;\n"
        "CREATE PUBLICATION r FOR TABLE t WITH (publish_generated_columns = stored);\n"
    )
    listed, rest, generated = (answer(unit, name, "public.t") for name in "pqr")
    assert (listed.columns, listed.left_out) == (("id", "b"), ("a", "s"))
    assert (rest.columns, rest.left_out) == (None, ("s",))
    assert (generated.columns, generated.left_out) == (None, ())


def test_a_schema_voids_a_filter() -> None:
    unit = explain(f"{ORDERS}CREATE PUBLICATION p FOR TABLE orders WHERE (region = 'eu'), TABLES IN SCHEMA public;\n")
    table_answer = answer(unit, "p", "public.orders")
    assert (table_answer.how, table_answer.filter) == ("schema", None)
    assert [unused_filter.sql for unused_filter in table_answer.unused_filters] == ["region = 'eu'"]
    assert publication(unit, "p").kind == "tables and schemas"


def test_a_partition_that_is_never_sent_is_told() -> None:
    unit = explain(
        "CREATE TABLE r (a int PRIMARY KEY) PARTITION BY RANGE (a);\n"
        "CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (9);\n"
        "CREATE UNLOGGED TABLE r2 PARTITION OF r DEFAULT;\nCREATE PUBLICATION p FOR TABLE r;\n"
    )
    (lost,) = publication(unit, "p").not_sent
    assert (lost.reason, lost.tables) == ("unlogged", ("public.r2",))
    assert {table.name: table.partition_of for table in unit.tables} == {
        "public.r": None,
        "public.r1": "public.r",
        "public.r2": "public.r",
    }
    table_answer = answer(unit, "p", "public.r1")
    assert (table_answer.named, table_answer.arrives_as) == ("public.r", None)


def test_rules_that_lint_does_not_report_speak_here() -> None:
    unit = explain(f"{ORDERS}CREATE PUBLICATION p FOR TABLE orders WHERE (region = 'eu');\n")
    rules = {note.name for note in answer(unit, "p", "public.orders").notes}
    assert "truncate-ignores-filter" in rules
    assert "update-becomes-insert-or-delete" in rules


def test_refused_statements_are_noted_and_nothing_else_is_lost() -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION bad FOR TABLE orders WHERE (random() > 0.5);\n"
        "CREATE PUBLICATION good FOR TABLE orders;\nCREATE PUBLICATION broken FOR TABLE;\n"
    )
    assert [row.name for row in unit.publications] == ["good"]
    assert [(entry.line, entry.severity) for entry in unit.findings] == [(2, "error"), (4, "error")]


def test_a_table_that_is_made_elsewhere_is_assumed() -> None:
    unit = explain("CREATE PUBLICATION p FOR TABLE elsewhere WHERE (a > 5);\n")
    table_answer = answer(unit, "p", "public.elsewhere")
    assert table_answer.certainty == "assumed"
    assert table_answer.filter is not None
    assert (table_answer.filter.sql, table_answer.filter.canonical) == ("a > 5", "a > 5")
    assert table_answer.changes
    assert all(change.old is None and change.new is None and change.why for change in table_answer.changes)


def test_a_filter_that_can_fail_has_the_row_that_makes_it() -> None:
    unit = explain("CREATE TABLE t (a int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t WHERE (10 / a > 1);\n")
    errors = [example for example in answer(unit, "p", "public.t").examples if example.result == "error"]
    assert [(error.error, error.row[0].sql) for error in errors] == [("ERROR 22012: division by zero", "0")]


def test_an_example_is_a_whole_value_and_the_same_from_run_to_run() -> None:
    long = "x" * 60
    unit = explain(
        "CREATE TABLE t (a text, d timestamptz NOT NULL, PRIMARY KEY (a, d));\n"
        f"CREATE PUBLICATION p FOR TABLE t WHERE (a = '{long}');\n"
        "CREATE PUBLICATION q FOR TABLE t WHERE (d > 'now');\n"
    )
    assert answer(unit, "p", "public.t").examples[0].row[0].sql == f"'{long}'"
    assert answer(unit, "q", "public.t").examples == ()
    assert {change.why for change in answer(unit, "q", "public.t").changes} == {
        "it depends on the time at which the filter is created"
    }
    shown = "".join(render_text.render(document(unit)))
    assert long in shown
    assert f"match: a = '{long[:39]}…'" in shown


def test_subscriptions_that_the_unit_makes_are_explained() -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION a FOR TABLE orders;\nCREATE PUBLICATION b FOR TABLE orders (id, region);\n"
        "CREATE SUBSCRIPTION s CONNECTION 'dbname=x' PUBLICATION a, b, gone WITH (connect = false);\n"
    )
    (subscription,) = unit.subscriptions
    assert (subscription.publications, subscription.missing) == (("a", "b", "gone"), ("gone",))
    assert subscription.answers[0].conflict is not None
    assert "different column lists" in subscription.answers[0].conflict


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("ALTER PUBLICATION p ADD TABLE ONLY a.b (x, y) WHERE ((x > 5))", "(x > 5)"),
        ("... t WHERE (a = 'it''s )' -- ) why\n  AND\tb = $$x$$)", "a = 'it''s )' AND b = $$x$$"),
        ("... t, u WHERE (a)", None),
        ("... t WITH (publish = 'insert')", None),
    ],
)
def test_a_filter_is_shown_as_it_was_written(statement: str, shown: str | None) -> None:
    start = statement.index("a.b") if "a.b" in statement else statement.index("t")
    assert condition(statement, start) == shown


def test_comments_do_not_hide_what_follows() -> None:
    assert one_line("a -- b\n AND /* c */ d = '--e'") == "a AND d = '--e'"


TREE = (
    "CREATE TABLE r (a int PRIMARY KEY, b int NOT NULL, g int GENERATED ALWAYS AS (b) STORED) PARTITION BY RANGE (a);\n"
    "CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (9);\nCREATE UNLOGGED TABLE r2 PARTITION OF r DEFAULT;\n"
)


def test_the_initial_copy_of_a_root_has_the_rows_of_partitions_that_are_never_sent() -> None:
    unit = explain(f"{TREE}CREATE PUBLICATION p FOR TABLE r WHERE (a < 5) WITH (publish_via_partition_root);\n")
    copy = answer(unit, "p", "public.r1").initial_copy
    assert copy is not None
    assert (copy.table, copy.filter, copy.columns) == ("public.r", "a < 5", None)
    assert [difference.kind for difference in copy.differences] == ["never published"]


def test_the_initial_copy_takes_partitions_by_themselves_without_the_root() -> None:
    unit = explain(f"{TREE}CREATE PUBLICATION p FOR TABLE r WITH (publish = 'update');\n")
    copy = answer(unit, "p", "public.r1").initial_copy
    assert copy is not None
    assert (copy.table, copy.filter) == (None, None)
    assert [difference.kind for difference in copy.differences] == ["insert not published"]


@pytest.mark.parametrize(
    ("publish", "filter_", "kinds"),
    [
        ("insert", "(id > 5) OR (id < 2)", []),
        ("update, delete", "(id > 5) OR (id < 2)", ["other rows"]),
    ],
)
def test_the_initial_copy_takes_what_any_filter_of_a_subscription_lets_through(
    publish: str, filter_: str, kinds: list[str]
) -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION a FOR TABLE orders WHERE (id > 5);\n"
        f"CREATE PUBLICATION b FOR TABLE orders WHERE (id < 2) WITH (publish = '{publish}');\n",
        together=(("a", "b"),),
    )
    copy = unit.subscriptions[0].answers[0].initial_copy
    assert copy is not None
    assert copy.filter == filter_
    assert [difference.kind for difference in copy.differences] == kinds


@pytest.mark.parametrize(("postgres", "kinds"), [(15, ["twice"]), (16, [])])
def test_15_copies_a_partition_for_itself_and_for_its_root(postgres: int, kinds: list[str]) -> None:
    unit = explain(
        "CREATE TABLE r (a int PRIMARY KEY) PARTITION BY LIST (a);\nCREATE TABLE r1 PARTITION OF r FOR VALUES IN (1);\n"
        "CREATE PUBLICATION a FOR TABLE r WITH (publish_via_partition_root);\nCREATE PUBLICATION b FOR TABLE r1;\n",
        postgres=postgres,
        together=(("a", "b"),),
    )
    copy = unit.subscriptions[0].answers[0].initial_copy
    assert copy is not None
    assert copy.table == "public.r"
    assert [difference.kind for difference in copy.differences] == kinds


def test_of_what_the_server_refuses_to_combine_nothing_is_copied() -> None:
    unit = explain(
        f"{ORDERS}CREATE PUBLICATION a FOR TABLE orders (id, region);\nCREATE PUBLICATION b FOR TABLE orders;\n",
        together=(("a", "b"),),
    )
    (together,) = unit.subscriptions[0].answers
    assert together.conflict is not None
    assert together.initial_copy is None


def test_what_is_said_of_several_tables_is_said_of_the_publication_with_all_of_them() -> None:
    unit = explain(
        "CREATE TABLE a (id int PRIMARY KEY);\nCREATE TABLE b (id int PRIMARY KEY);\n"
        "CREATE PUBLICATION p FOR TABLE a WHERE (id > 1), b WHERE (id > 2);\n"
    )
    tables_by_rule = {note.rule: note.tables for note in publication(unit, "p").notes}
    assert tables_by_rule["PUB604"] == ("public.a", "public.b")


def test_of_hundreds_of_publications_of_a_table_some_are_compared() -> None:
    made = "".join(f"CREATE PUBLICATION p{n} FOR TABLE orders WHERE (id > {n});\n" for n in range(150))
    unit = explain(f"{ORDERS}{made}CREATE PUBLICATION whole FOR TABLE orders;\n")
    table_answer = answer(unit, "p0", "public.orders")
    assert table_answer.widened_by[0].publication == "whole"
    assert (len(table_answer.widened_by), table_answer.not_compared) == (100, 50)


def everything() -> UnitExplained:
    """A unit with something of all there is."""
    return explain(
        "CREATE SCHEMA s;\nCREATE TABLE s.inside (id int PRIMARY KEY);\n"
        "CREATE TABLE bare (a int);\n"
        "CREATE TABLE t (id int, n int, s text, g int GENERATED ALWAYS AS (n + 1) STORED, PRIMARY KEY (id, s));\n"
        "CREATE TABLE r (a int PRIMARY KEY) PARTITION BY RANGE (a);\n"
        "CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (9);\nCREATE UNLOGGED TABLE r2 PARTITION OF r DEFAULT;\n"
        "CREATE PUBLICATION filtered FOR TABLE t WHERE (s = '<b>&''\u2028' AND 10 / id > 1), r WHERE (a < 5)\n"
        "    WITH (publish_via_partition_root);\n"
        "CREATE PUBLICATION listed FOR TABLE t (id, s) WHERE (id > 0);\n"
        "CREATE PUBLICATION same FOR TABLE t WHERE (0 < id) WITH (publish_generated_columns = stored);\n"
        "CREATE PUBLICATION nothing WITH (publish = '');\nCREATE PUBLICATION books FOR TABLES IN SCHEMA s;\n"
        "CREATE PUBLICATION \"<script>alert(1)</script>\" FOR ALL TABLES WITH (publish = 'insert, update, delete');\n"
        "CREATE PUBLICATION assumed FOR TABLE elsewhere WHERE (x);\nALTER TABLE elsewhere ADD PRIMARY KEY (y);\n"
        "CREATE PUBLICATION refused FOR TABLE t WHERE (random() > 0.5);\n",
        together=(("filtered", "listed"), ("same", "missing")),
    )
