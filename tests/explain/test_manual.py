"""The worked examples of PostgreSQL's manual (logical replication, row filters) are explained as the manual has them.

Which rows arrive is not taken from the document's words: each row of the manual is put through the filters by the
evaluator, and what the manual says that the subscriber has is what must come out.
"""

from __future__ import annotations

import pytest

from pubcheck.explain.document import Change, Row
from tests.explain.documents import answer, explain, publication
from tests.replication.decoding import decoded

MAJORS = (15, 16, 17, 18)

TABLES = (
    "CREATE TABLE t1(a int, b int, c text, PRIMARY KEY(a,c))",
    "CREATE TABLE t2(d int, e int, f int, PRIMARY KEY(d))",
    "CREATE TABLE t3(g int, h int, i int, PRIMARY KEY(g))",
)
PUBLICATIONS = (
    "CREATE PUBLICATION p1 FOR TABLE t1 WHERE (a > 5 AND c = 'NSW')",
    "CREATE PUBLICATION p2 FOR TABLE t1, t2 WHERE (e = 99)",
    "CREATE PUBLICATION p3 FOR TABLE t2 WHERE (d = 10), t3 WHERE (g = 10)",
)
STATES = ("NSW", "QLD", "VIC", "ACT", "NSW", "NT", "QLD", "NSW")
INSERTS = tuple(f"INSERT INTO t1 VALUES ({a}, {a + 100}, '{state}')" for a, state in enumerate(STATES, 2))

TREE = (
    "CREATE TABLE parent(a int PRIMARY KEY) PARTITION BY RANGE(a)",
    "CREATE TABLE child PARTITION OF parent DEFAULT",
)
VIA_ROOT = (
    "CREATE PUBLICATION p4 FOR TABLE parent WHERE (a < 5), child WHERE (a >= 5) WITH (publish_via_partition_root=true)"
)
NOT_VIA_ROOT = "CREATE PUBLICATION p4 FOR TABLE parent, child WHERE (a >= 5) WITH (publish_via_partition_root=false)"
TREE_INSERTS = ("INSERT INTO child VALUES (2), (4), (6)", "INSERT INTO child VALUES (3), (5), (7)")
"""The manual inserts the first three into the parent, whose only partition is the child."""


def script(*statements: str) -> str:
    return ";\n".join(statements) + ";\n"


def values(row: Row | None) -> dict[str, str]:
    assert row is not None
    return {value.column: value.sql for value in row}


@pytest.mark.parametrize("major", MAJORS)
def test_what_each_publication_sends(major: int) -> None:
    unit = explain(script(*TABLES, *PUBLICATIONS), postgres=major)
    filters = {
        (row.name, table): table_answer.filter and table_answer.filter.sql
        for row in unit.publications
        for table_answer in row.answers
        for table in table_answer.tables
    }
    assert filters == {
        ("p1", "public.t1"): "a > 5 AND c = 'NSW'",
        ("p2", "public.t1"): None,
        ("p2", "public.t2"): "e = 99",
        ("p3", "public.t2"): "d = 10",
        ("p3", "public.t3"): "g = 10",
    }
    first = answer(unit, "p1", "public.t1")
    assert first.identity.kind == "primary key"
    assert first.identity.columns == ("a", "c")
    assert not first.refused
    # The manual publishes UPDATE and DELETE with e = 99, though e is not in the key.
    assert [refusal.operation for refusal in answer(unit, "p2", "public.t2").refused] == ["update", "delete"]


def test_the_example_rows_are_those_of_the_filter() -> None:
    changes = answer(explain(script(*TABLES, *PUBLICATIONS)), "p1", "public.t1").changes

    def matches(row: Row | None) -> bool:
        row_values = values(row)
        return int(row_values["a"]) > 5 and row_values["c"] == "'NSW'"

    assert [(change.old_matches, change.new_matches, change.sent) for change in changes] == [
        (False, False, "nothing"),
        (False, True, "INSERT"),
        (True, False, "DELETE"),
        (True, True, "UPDATE"),
    ]
    for change in changes:
        assert (matches(change.old), matches(change.new)) == (change.old_matches, change.new_matches)


@pytest.mark.parametrize("major", MAJORS)
def test_the_rows_that_arrive_of_p1(major: int) -> None:
    assert decoded(major, (*TABLES, *PUBLICATIONS), "p1", INSERTS, False) == [
        "INSERT public.t1 (a=6, b=106, c=NSW)",
        "INSERT public.t1 (a=9, b=109, c=NSW)",
    ]


@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize(
    ("update", "sent"),
    [
        ("UPDATE t1 SET b = 999 WHERE a = 6", "UPDATE"),
        ("UPDATE t1 SET a = 555 WHERE a = 2", "INSERT"),
        ("UPDATE t1 SET c = 'VIC' WHERE a = 9", "DELETE"),
        ("UPDATE t1 SET b = 999 WHERE a = 3", "nothing"),
    ],
)
def test_an_update_arrives_as_the_table_of_changes_says(major: int, update: str, sent: str) -> None:
    setup = (*TABLES, *PUBLICATIONS)
    before = decoded(major, setup, "p1", INSERTS, False)
    lines = decoded(major, setup, "p1", (*INSERTS, update), False)[len(before) :]
    assert ([line.split()[0] for line in lines] or ["nothing"]) == [sent]
    table: dict[str, Change] = {
        change.sent: change for change in answer(explain(script(*setup), postgres=major), "p1", "public.t1").changes
    }
    old, new = {"UPDATE": (1, 1), "INSERT": (0, 1), "DELETE": (1, 0), "nothing": (0, 0)}[sent]
    assert (table[sent].old_matches, table[sent].new_matches) == (old, new)


@pytest.mark.parametrize("major", MAJORS)
def test_via_the_root_the_filter_of_the_parent_counts(major: int) -> None:
    table_answer = answer(explain(script(*TREE, VIA_ROOT), postgres=major), "p4", "public.child")
    assert table_answer.arrives_as == "public.parent"
    assert table_answer.filter is not None
    assert (table_answer.filter.sql, table_answer.filter.of) == ("a < 5", "public.parent")
    assert [unused_filter.sql for unused_filter in table_answer.unused_filters] == ["a >= 5"]
    assert not table_answer.truncate
    assert arrived(major, VIA_ROOT) == {"public.parent": [2, 3, 4]}


@pytest.mark.parametrize("major", MAJORS)
def test_otherwise_that_of_the_partition(major: int) -> None:
    table_answer = answer(explain(script(*TREE, NOT_VIA_ROOT), postgres=major), "p4", "public.child")
    assert table_answer.arrives_as is None
    assert table_answer.filter is not None
    assert (table_answer.filter.sql, table_answer.filter.of) == ("a >= 5", "public.child")
    assert table_answer.truncate
    assert arrived(major, NOT_VIA_ROOT) == {"public.child": [5, 6, 7]}


PARTITIONED = "CREATE TABLE parent(a int PRIMARY KEY) PARTITION BY RANGE(a)"
BRANCH = "CREATE TABLE branch PARTITION OF parent FOR VALUES FROM (0) TO (9) PARTITION BY RANGE(a)"
UNLOGGED = "CREATE UNLOGGED TABLE leaf PARTITION OF parent FOR VALUES FROM (9) TO (20)"
ROOT = "WITH (publish_via_partition_root)"


@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize(
    ("setup", "sent"),
    [
        ((PARTITIONED, f"CREATE PUBLICATION p FOR TABLE parent {ROOT}"), ["public.parent"]),
        ((PARTITIONED, BRANCH, UNLOGGED, f"CREATE PUBLICATION p FOR ALL TABLES {ROOT}"), ["public.parent"]),
        ((PARTITIONED, BRANCH, f"CREATE PUBLICATION p FOR TABLE branch {ROOT}"), ["public.branch"]),
        ((PARTITIONED, "CREATE PUBLICATION p FOR TABLE parent"), []),
        ((PARTITIONED, f"CREATE PUBLICATION p FOR TABLE parent {ROOT[:-1]}, publish = 'insert')"), []),
    ],
)
def test_of_a_table_without_partitions_only_truncate_is_sent(
    major: int, setup: tuple[str, ...], sent: list[str]
) -> None:
    (shown,) = explain(script(*setup), postgres=major).publications
    assert [(name, table_answer.operations) for table_answer in shown.answers for name in table_answer.tables] == [
        (name, ("truncate",)) for name in sent
    ]
    lines = decoded(major, setup, "p", ("TRUNCATE parent",), False)
    assert lines == [f"TRUNCATE {name}" for name in sent]


def arrived(major: int, made: str) -> dict[str, list[int]]:
    """The values that arrive of the manual's rows, by the name under which they do."""
    numbers: dict[str, list[int]] = {}
    for line in decoded(major, (*TREE, made), "p4", TREE_INSERTS, False):
        verb, table, rest = line.split(maxsplit=2)
        assert verb == "INSERT"
        numbers.setdefault(table, []).append(int("".join(char for char in rest if char.isdigit())))
    return {table: sorted(rows) for table, rows in numbers.items()}


def test_p1_p2_and_p3_together() -> None:
    """Of several filters for a table a row must pass one; without a filter in one of them all rows are published."""
    unit = explain(script(*TABLES, *PUBLICATIONS), together=(("p1", "p2", "p3"),))
    (subscription,) = unit.subscriptions
    answers = {table_answer.tables: table_answer for table_answer in subscription.answers}
    first, second, third = answers["public.t1",], answers["public.t2",], answers["public.t3",]
    assert [sending.filters for sending in first.operations] == [()] * 4
    assert first.widened_by == ("p2",)
    insert = second.operations[0]
    assert [(part.publication, part.sql) for part in insert.filters] == [("p2", "e = 99"), ("p3", "d = 10")]
    assert insert.canonical == "d = 10 OR e = 99"
    assert [part.sql for part in third.operations[0].filters] == ["g = 10"]
    rows = tuple(f"INSERT INTO t2 VALUES ({d}, {e}, 0)" for d, e in ((10, 1), (11, 99), (12, 1), (13, 99)))
    sent = decoded(18, (*TABLES, *PUBLICATIONS), "p1,p2,p3", rows, False)
    assert len(sent) == 3
    assert len(decoded(18, (*TABLES, *PUBLICATIONS), "p1,p2,p3", INSERTS, False)) == len(INSERTS)


def test_alone_each_says_what_widens_it() -> None:
    unit = explain(script(*TABLES, *PUBLICATIONS))
    widened = {
        (row.name, table_answer.tables[0]): [
            (widening.publication, widening.filter) for widening in table_answer.widened_by
        ]
        for row in unit.publications
        for table_answer in row.answers
    }
    assert widened["p1", "public.t1"] == [("p2", None)]
    assert widened["p2", "public.t2"] == [("p3", "d = 10")]
    assert widened["p3", "public.t2"] == [("p2", "e = 99")]
    assert widened["p3", "public.t3"] == []
    assert publication(unit, "p3").operations == ("insert", "update", "delete", "truncate")
