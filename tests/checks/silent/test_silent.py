"""What is said of the time after CREATE PUBLICATION: where, how certainly, how often."""

from __future__ import annotations

import re

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import covered, lint, run
from tests.support.servers import MAJORS, Servers, execute

T = "CREATE TABLE t (id int PRIMARY KEY, a int, n int NOT NULL, b text, j jsonb NOT NULL, f float8 NOT NULL);\n"
PARTS = """\
CREATE TABLE pt (id int, k int, v text, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF pt FOR VALUES IN (1);
"""


def of(rule: str, *texts: str, complete: bool = False, major: int = 18) -> list[Diagnostic]:
    """The findings of one rule, selected or not by default."""
    findings = run(*texts, complete=complete, postgres=(major,), select=("PUB",)).diagnostics
    return [finding for finding in findings if finding.rule == rule]


def loud(*texts: str) -> list[str]:
    """The rules of the silent and subscribe phases that warn by default."""
    return [
        finding.rule
        for finding in lint(*texts)
        if finding.severity != "note" and finding.phase in ("silent", "subscribe")
    ]


def inserting(condition: str) -> str:
    return T + f"CREATE PUBLICATION p FOR TABLE t WHERE ({condition}) WITH (publish = 'insert');"


CONDITIONS = [
    "a = 5",
    "a = 5 AND b <> 1",
    "a = 5 OR n = 1",
    "a = 5 OR b IS NULL",
    "a > 0 AND (b = 1 OR n = 5)",
    "a = 5 OR b = 1 OR n > 1",
    "NOT (a = 5 AND b = 5)",
    "a <> ALL (ARRAY[1, 5])",
    "a <> ALL (ARRAY[b, 5])",
    "a <> ALL (CASE WHEN n = 1 THEN '{}' ELSE '{1}'::int[] END)",
    "a = ANY (ARRAY[b, n])",
    "CASE WHEN a > 0 THEN b > 0 ELSE n > 0 END",
    "NULLIF(a, n) = 5 OR coalesce(b, 5) = 5",
    "(a, b) < (1, 5)",
]


def test_a_filter_that_is_never_true_may_publish_no_truncate_either() -> None:
    """PostgreSQL publishes TRUNCATE only if ``publish`` names it."""
    table = 'CREATE TABLE "T a" (id int PRIMARY KEY);'
    (finding,) = of("PUB607", table + 'CREATE PUBLICATION "P a" FOR TABLE "T a" WHERE (id > 3 AND id < 2)')
    assert finding.message.endswith(": no change of a row is published")
    assert finding.help == 'correct the filter, or ALTER PUBLICATION "P a" DROP TABLE "T a"'


@pytest.mark.parametrize(
    ("name", "result", "option"),
    [
        ('"Shop"', 'asks for "shop"', """'"Shop"'"""),
        ('"Shop a"', "is refused, or asks for another publication", """'"Shop a"'"""),
        ('"A,b"', "is refused, or asks for another publication", """'"A,b"'"""),
        ('"A""b"', "is refused, or asks for another publication", '\'"A""b"\''),
    ],
)
def test_an_unquoted_name_of_a_publication(name: str, result: str, option: str) -> None:
    """SplitIdentifierString ends a name at a space or comma, and folds it."""
    (finding,) = of("PUB814", f"CREATE PUBLICATION {name}")
    assert finding.message.endswith(f"without double quotes {result}")
    assert finding.help is not None
    assert finding.help.endswith(f"publication_names {option}")


class TestNull:
    @pytest.mark.parametrize(
        "condition",
        [
            "a = 5",
            "NOT (a = 5)",
            "a <> 5",
            "a IN (1, 2)",
            "a NOT IN (1, 2)",
            "a BETWEEN 1 AND 2",
            "a = 5 OR n = 1",
            "a > 5 AND n = 1",
            "(a > 5) IS NOT TRUE AND a < 3",
            "CASE WHEN a > 5 THEN n > 1 ELSE a < 3 END",
            "NULLIF(a, 0) > 5",
            "(a, n) < (1, 2)",
            "abs(a) + n > 3",
        ],
    )
    def test_a_condition_that_null_makes_null_is_told_at_the_column(self, condition: str) -> None:
        (finding,) = of("PUB603", inserting(condition))
        assert (finding.severity, finding.certainty, finding.object, covered(finding.span)) == (
            "warning",
            "certain",
            "public.t",
            "a",
        )

    @pytest.mark.parametrize(
        "condition",
        [
            "n = 5",
            "a IS NULL OR a = 5",
            "a IS NOT NULL AND a = 5",
            "a IS DISTINCT FROM 5",
            "a IS NOT DISTINCT FROM 5",
            "(a = 5) IS TRUE",
            "(a = 5) IS NOT FALSE",
            "coalesce(a, 0) = 5",
            "coalesce(a = 5, false)",
            "greatest(a, n) = 5",
            "CASE WHEN a > 5 THEN true ELSE false END",
            "CASE WHEN a IS NULL THEN false ELSE a > 5 END",
            "n = ANY (ARRAY[1, 2])",
            "true",
        ],
    )
    def test_a_condition_that_says_what_becomes_of_null_is_not(self, condition: str) -> None:
        assert of("PUB603", inserting(condition)) == []

    @pytest.mark.server
    @pytest.mark.parametrize("condition", CONDITIONS)
    def test_servers_send_rows_with_null_just_where_it_is_said_that_they_may(
        self, servers: Servers, condition: str
    ) -> None:
        columns = "VALUES (NULL), (0), (1), (5)"
        rows = f"(SELECT a, b, n FROM ({columns}) x (a), ({columns}) y (b), (VALUES (0), (1), (5)) z (n)) t"
        table = "CREATE TABLE t (a int, b int, n int NOT NULL); "
        publication = f"CREATE PUBLICATION p FOR TABLE t WHERE ({condition}) WITH (publish = 'insert');"
        may_be_null = {
            name: "no other part" in finding.message
            for finding in of("PUB603", table + publication)
            for name in re.findall(r'"(.)"', finding.message.partition(" NULL ")[0])
        }
        assert may_be_null
        with servers[18].connect() as connection:
            for name, may in may_be_null.items():
                answer = execute(connection, f"SELECT bool_or({condition}) FROM {rows} WHERE {name} IS NULL")
                assert answer.rows is not None
                assert (answer.rows[0][0] is True) == may, name

    @pytest.mark.parametrize("condition", ["NULL", "NULL AND NULL", "n = NULL"])
    def test_a_condition_that_is_always_null_is_told(self, condition: str) -> None:
        (finding,) = of("PUB603", inserting(condition))
        assert "NULL for every row" in finding.message

    @pytest.mark.parametrize(
        "table",
        [
            "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL);",
            "CREATE TABLE t (id int PRIMARY KEY, a int CHECK (a IS NOT NULL));",
            "CREATE TABLE t (id int PRIMARY KEY, a int); ALTER TABLE t ALTER a SET NOT NULL;",
            "CREATE DOMAIN d AS int NOT NULL; CREATE TABLE t (id int PRIMARY KEY, a d);",
            "",
        ],
    )
    def test_a_column_that_cannot_be_null_as_far_as_is_seen_is_not(self, table: str) -> None:
        publication = "CREATE PUBLICATION p FOR TABLE t WHERE (a = 5) WITH (publish = 'insert');"
        assert of("PUB603", table, publication) == []

    def test_a_filter_that_stops_updates_is_told_for_that_alone(self) -> None:
        findings = lint(T + "CREATE PUBLICATION p FOR TABLE t WHERE (a = 5);")
        assert [finding.rule for finding in findings] == ["PUB301"] * 2

    def test_children_with_the_same_filter_are_told_once(self) -> None:
        children = "CREATE TABLE c () INHERITS (t); CREATE TABLE d () INHERITS (t);"
        assert len(of("PUB603", T + children + inserting("a = 5").removeprefix(T))) == 1


CAN_FAIL = [
    ("10 / n > 1", "/", "warning", "22012"),
    ("10 % n > 1", "%", "warning", "22012"),
    ("f / (n - 1) > 1", "/", "warning", "22012"),
    ("n > 1 / 0", "/", "warning", "22012"),
    ("CASE WHEN n > 0 THEN 1 / 0 > n ELSE true END", "/", "warning", "22012"),
    ("CASE WHEN 10 / n > 1 THEN true ELSE false END", "/", "warning", "22012"),
    ("(j -> 'a')::int > 1", "::", "warning", "22023"),
    ("f::int > 1", "::", "warning", "22003"),
    ("n::bigint::oid > 5", "::oid", "warning", "22003"),
    ("(n::bigint % 10)::oid > 5", "::oid", "warning", "22003"),
    ("sqrt(f) > 1", "sqrt", "warning", "2201F"),
    ("b ~ b", "~", "warning", "2201B"),
    ("n * 2 > 1", "*", "note", "22003"),
    ("CASE WHEN a = 0 THEN false ELSE 10 / n > 1 END", "/", "warning", "22012"),
    ("f ^ 0.5 > 1", "^", "warning", "2201F"),
    ("power(n, -1) > 1", "power", "warning", "2201F"),
    ("f ^ 3 > 1", "^", "note", "22003"),
    ("power(n, abs(n)) > 1", "power", "warning", "22003"),
    ("b ~ '^a(b'", "~", "warning", "2201B"),
    ("regexp_replace(b, 'a(b', 'x') = 'x'", "regexp_replace", "warning", "2201B"),
    (r"b LIKE 'a\'", "LIKE", "warning", "22025"),
    ("int4range(a, n) @> 5", "int4range", "note", "22000"),
    ("extract(epoch FROM date '2020-01-01' + n)::int > 1", "::", "note", "22003"),
    ("extract(yer FROM date '2020-01-01' + n) > 1", "extract", "warning", "22023"),
    (
        "date_trunc('dya', timestamp '2020-01-01' + n * interval '1 day') > 'epoch'",
        "date_trunc",
        "warning",
        "22023",
    ),
]
"""The condition, what is told to fail of it, how bad that is, and the SQLSTATE."""
GUARDED = [
    ("n <> 0 AND 10 / n > 1", "/", "note", "22012"),
    ("n = 0 OR 10 / n > 1", "/", "note", "22012"),
]
"""What fails when it is evaluated first, which servers do not do."""
CANNOT_FAIL = [
    "n / 10 > 1",
    "n % -2 = 0",
    "f / 1.5 > 1",
    "10 / NULLIF(n, 0) > 1",
    "10 / greatest(n, 1) > 1",
    "CASE WHEN n = 0 THEN false ELSE 10 / n > 1 END",
    "CASE n WHEN 0 THEN false ELSE 10 / n > 1 END",
    "n ^ 2 > 9",
    "n::float8 ^ 2 > 9",
    "(n::bigint % 10)::int = 1",
    "b ~ '***=a(b'",
    "regexp_like(b, 'a(b', 'q')",
    "regexp_replace(b, 'a(b', 'x', 'q') = 'x'",
    "extract(year FROM date '2020-01-01' + n) > 2020",
    "date_trunc('weeks', timestamp '2020-01-01' + n * interval '1 day') > 'epoch'",
    "n::bigint > 1",
    "n::oid > 5",
    "n::oid::bigint > 5",
    "j ->> 'a' = '1'",
    "b ~ '^x'",
    "b LIKE 'x%'",
    r"b NOT LIKE 'x\\'",
    "lower(b) = 'x'",
]
FAILURES = """
CREATE FUNCTION pg_temp.failures(condition text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  one record;
  found text[] := '{}';
  ignored boolean;
BEGIN
  FOR one IN
    SELECT a::int, n::int, b::text, j::jsonb, f::float8
    FROM (VALUES (NULL), (0), (9)) a (a), (VALUES (-1), (0), (1), (5), (36500), (2147483647)) n (n),
         (VALUES (NULL), ('x'), ('('), ('a\\')) b (b), (VALUES ('1'), ('{}'), ('{"a": "x"}')) j (j),
         (VALUES (-1), (0), (1), (1e300)) f (f)
  LOOP
    BEGIN
      EXECUTE 'SELECT ' || condition || ' FROM (SELECT $1 AS a, $2 AS n, $3 AS b, $4 AS j, $5 AS f) t'
      INTO ignored USING one.a, one.n, one.b, one.j, one.f;
    EXCEPTION WHEN OTHERS THEN
      found := found || SQLSTATE;
    END;
  END LOOP;
  RETURN found;
END $$
"""
"""Gives the SQLSTATEs with which a condition fails on rows of all sorts."""


class TestRuntime:
    @pytest.mark.parametrize(("condition", "location", "severity", "sqlstate"), [*CAN_FAIL, *GUARDED])
    def test_what_can_fail_is_told_at_the_operation(
        self, condition: str, location: str, severity: str, sqlstate: str
    ) -> None:
        (finding,) = of("PUB605", inserting(condition))
        text = finding.span.source.text[finding.span.start :]
        assert text.startswith(location)
        assert (finding.severity, finding.certainty, finding.server and finding.server.sqlstate) == (
            severity,
            "certain",
            sqlstate,
        )

    @pytest.mark.parametrize("condition", CANNOT_FAIL)
    def test_what_cannot_fail_is_not(self, condition: str) -> None:
        assert of("PUB605", inserting(condition)) == []

    @pytest.mark.parametrize(
        ("condition", "when"),
        [
            # Whether decoding stops at a row that the first condition decides about is what PostgreSQL 18 answered.
            ("b ~ 'x('", "fails for every value that is not NULL"),
            ("n > 3 AND b ~ 'x('", "fails when the conditions before this part do not decide"),
            ("n > 3 OR n / 0 = 3", "fails when the conditions before this part do not decide"),
            ("CASE WHEN n > 3 THEN n / 0 = 3 END", "fails when the conditions before this part do not decide"),
            ("coalesce(n / 0 = 3, n > 3)", "fails for every value that is not NULL"),
            ("n > 3 AND 1 / 0 = 3", "fails on every row"),
        ],
    )
    def test_what_fails_always_does_so_only_where_it_is_reached(self, condition: str, when: str) -> None:
        (finding,) = of("PUB605", inserting(condition))
        assert f"{when} " in finding.message

    @pytest.mark.server
    @pytest.mark.parametrize("major", MAJORS)
    def test_servers_fail_on_some_row_just_there(self, servers: Servers, major: int) -> None:
        with servers[major].connect() as connection:
            connection.execute(FAILURES)

            def failures(condition: str) -> set[str]:
                (row,) = connection.execute("SELECT pg_temp.failures(%s)", [condition]).fetchall()
                return set(row[0])

            for condition, _, _, sqlstate in CAN_FAIL:
                assert sqlstate in failures(condition), condition
            for condition, *_ in GUARDED:
                assert failures(condition) == set(), condition
            for condition in CANNOT_FAIL:
                # That what comes of a date may be out of range is not told.
                assert failures(condition) <= {"22008"}, condition


class TestToast:
    KEYED = "CREATE TABLE t (id int, region text, {column}, PRIMARY KEY (id, region));"
    FILTER = "CREATE PUBLICATION p FOR TABLE t WHERE (region = 'eu');"

    @pytest.mark.parametrize(
        "column",
        ["b text", "b jsonb", "b bytea", "b int[]", "b varchar(2000)", "b varchar(100), c text", "b numrange"],
    )
    def test_a_column_that_can_be_stored_out_of_line_is_lost(self, column: str) -> None:
        (finding,) = of("PUB602", self.KEYED.format(column=column), self.FILTER)
        assert (finding.severity, covered(finding.span), finding.operation) == ("warning", "region", "update")
        assert [covered(span) for span in finding.related] == ["t"]

    @pytest.mark.parametrize(
        "column",
        ["b int", "b timestamptz", "b varchar(100)", "b numeric", "b uuid", "b text STORAGE plain", "b inet"],
    )
    def test_a_short_column_is_not(self, column: str) -> None:
        assert of("PUB602", self.KEYED.format(column=column), self.FILTER) == []

    @pytest.mark.parametrize(
        "change",
        [
            "ALTER TABLE t REPLICA IDENTITY FULL;",
            "ALTER TABLE t ALTER b SET STORAGE main;",
            "ALTER PUBLICATION p SET TABLE t (id, region) WHERE (region = 'eu');",
            "ALTER PUBLICATION p SET (publish = 'insert, delete');",
            "ALTER TABLE t ALTER b TYPE int USING 0;",
        ],
    )
    def test_what_keeps_the_value_makes_it_quiet(self, change: str) -> None:
        assert of("PUB602", self.KEYED.format(column="b text"), self.FILTER, change) == []

    def test_a_key_that_is_hardly_ever_changed_is_not_told(self) -> None:
        assert of("PUB602", T + "CREATE PUBLICATION p FOR TABLE t WHERE (id > 5);") == []


class TestPartitions:
    def test_the_same_filter_on_root_and_partition_leaks_nothing(self) -> None:
        text = "CREATE PUBLICATION p FOR TABLE pt WHERE (id > 5), p1 WHERE (id > 5) WITH (publish_via_partition_root);"
        assert of("PUB504", PARTS + text) == []

    def test_a_list_that_is_wider_than_the_roots_leaks_nothing(self) -> None:
        text = "CREATE PUBLICATION p FOR TABLE pt (id, k), p1 (id, k, v) WITH (publish_via_partition_root);"
        assert of("PUB504", PARTS + text) == []

    def test_many_partitions_are_told_once_with_the_roots_place(self) -> None:
        more = "".join(f"CREATE TABLE q{n} PARTITION OF pt FOR VALUES IN ({n});" for n in range(2, 30))
        members = ", ".join(f"q{n} WHERE (id > {n})" for n in range(2, 30))
        (finding,) = of(
            "PUB504",
            PARTS + more + f"CREATE PUBLICATION p FOR TABLE pt, {members} WITH (publish_via_partition_root);",
        )
        assert "q2, q3, q4 and 25 more" in finding.message
        assert covered(finding.span) == "q2"
        assert covered(finding.related[0]) == "pt"
        assert len(finding.related) == 5

    def test_one_tree_with_unlogged_partitions_is_told_once_for_all_publications(self) -> None:
        text = "CREATE UNLOGGED TABLE u PARTITION OF pt FOR VALUES IN (7); CREATE PUBLICATION p FOR TABLE pt;"
        (finding,) = of("PUB506", PARTS + text + "CREATE PUBLICATION q FOR ALL TABLES;")
        assert finding.publications == ("p", "q")
        assert covered(finding.span) == "u"

    def test_a_child_that_is_added_or_meant_to_stay_out_is_not_told(self) -> None:
        parent, child = "CREATE TABLE a (id int PRIMARY KEY);", "CREATE TABLE b (PRIMARY KEY (id)) INHERITS (a);"
        assert of("PUB507", parent + "CREATE PUBLICATION p FOR TABLE a;" + child)
        assert not of("PUB507", parent + "CREATE PUBLICATION p FOR TABLE ONLY (a);" + child)
        assert not of("PUB507", parent + child + "CREATE PUBLICATION p FOR TABLE a;")

    def test_a_table_that_becomes_a_child_later_is_told_where_it_does(self) -> None:
        tables = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);"
        (finding,) = of("PUB507", tables, "CREATE PUBLICATION p FOR TABLE a; ALTER TABLE b INHERIT a;")
        assert (finding.statement and finding.statement.index, covered(finding.span)) == (1, "b")


class TestSeveral:
    BOTH = "CREATE PUBLICATION p FOR TABLE t WHERE (id > 5); CREATE PUBLICATION q FOR ALL TABLES;"
    LISTS = "CREATE PUBLICATION p FOR TABLE t (id, a); CREATE PUBLICATION q FOR TABLE t (id, b);"
    SUBSCRIPTION = "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION {names};"

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            ("", [("note", "assumed")]),
            ("p, q", [("warning", "certain")]),
            ("q", []),
            ("p, q, elsewhere", [("warning", "certain")]),
        ],
    )
    def test_who_subscribes_to_both_makes_a_filter_useless(self, names: str, expected: list[tuple[str, str]]) -> None:
        text = T + self.BOTH + (self.SUBSCRIPTION.format(names=names) if names else "")
        assert [(finding.severity, finding.certainty) for finding in of("PUB508", text)] == expected

    @pytest.mark.parametrize(
        ("names", "expected"),
        [("", [("note", "assumed")]), ("p, q", [("error", "certain")]), ("p", [])],
    )
    def test_column_lists_conflict_for_who_subscribes_to_both(
        self, names: str, expected: list[tuple[str, str]]
    ) -> None:
        text = T + self.LISTS + (self.SUBSCRIPTION.format(names=names) if names else "")
        findings = of("PUB509", text)
        assert [(finding.severity, finding.certainty) for finding in findings] == expected
        assert {finding.server and finding.server.sqlstate for finding in findings} <= {"0A000"}

    def test_a_subscription_that_drops_one_of_them_is_followed(self) -> None:
        text = T + self.LISTS + self.SUBSCRIPTION.format(names="p, q")
        assert not of("PUB509", text + "ALTER SUBSCRIPTION s DROP PUBLICATION q;")
        assert not of("PUB509", text + "ALTER SUBSCRIPTION s SET PUBLICATION p;")
        (finding,) = of("PUB509", text + "DROP SUBSCRIPTION s;")
        assert finding.certainty == "assumed"
        (finding,) = of(
            "PUB509",
            T + self.LISTS + self.SUBSCRIPTION.format(names="p"),
            "ALTER SUBSCRIPTION s RENAME TO r; ALTER SUBSCRIPTION r ADD PUBLICATION q;",
        )
        assert finding.certainty == "certain"

    def test_many_tables_of_two_publications_are_told_once(self) -> None:
        tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY, a int, b int);" for n in range(20))
        lists = [", ".join(f"t{n} (id, {column})" for n in range(20)) for column in "ab"]
        (finding,) = of(
            "PUB509",
            tables + f"CREATE PUBLICATION p FOR TABLE {lists[0]}; CREATE PUBLICATION q FOR TABLE {lists[1]};",
        )
        assert "t0, t1, t2 and 17 more" in finding.message

    def test_a_publication_made_elsewhere_is_nobodys_fault_in_a_subscribers_file(self) -> None:
        assert of("PUB810", self.SUBSCRIPTION.format(names="p, q")) == []

    def test_a_publication_that_the_unit_dropped_is_missing(self) -> None:
        text = T + "CREATE PUBLICATION p FOR TABLE t; DROP PUBLICATION p;" + self.SUBSCRIPTION.format(names="p")
        (finding,) = of("PUB810", text)
        assert (finding.severity, finding.certainty) == ("warning", "certain")
        assert finding.notices == ('publication "p" does not exist on the publisher',)
        assert [covered(span) for span in finding.related] == ["p"]

    def test_a_name_given_twice_is_refused(self) -> None:
        (finding,) = of("PUB810", T + self.LISTS + self.SUBSCRIPTION.format(names="p, q, p"))
        assert finding.server is not None
        assert (finding.server.sqlstate, finding.severity, covered(finding.span)) == ("42710", "error", "p")


class TestLater:
    MADE = "CREATE PUBLICATION p FOR TABLE t;"

    def test_what_is_rolled_back_has_not_happened(self) -> None:
        changes = (
            "ALTER PUBLICATION p SET TABLE u;",
            "DROP TABLE t; CREATE TABLE t (id int);",
            "ALTER TABLE t ADD COLUMN z int;",
            "ALTER TABLE t DROP COLUMN a CASCADE;",
            "DROP PUBLICATION p;",
        )
        start = T + "CREATE TABLE u (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t (id, a, n, b, j, f);"
        for change in changes:
            assert loud(start, f"BEGIN; {change} ROLLBACK;") == [], change
            if "PUBLICATION p;" not in change:
                assert loud(start, change) != [], change

    def test_what_a_later_statement_mends_is_not_told(self) -> None:
        assert loud(T, self.MADE, "DROP TABLE t;", T, "ALTER PUBLICATION p ADD TABLE t;") == []
        listed = "CREATE PUBLICATION p FOR TABLE t (id, a);"
        mended = "ALTER PUBLICATION p SET TABLE t (id, a, z);"
        assert loud(T, listed, "ALTER TABLE t ADD z int;", mended) == []

    def test_members_that_set_does_not_name_are_told_together(self) -> None:
        tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY);" for n in range(9))
        made = f"CREATE PUBLICATION p FOR TABLE {', '.join(f't{n}' for n in range(9))};"
        (finding,) = of("PUB709", tables, made, "ALTER PUBLICATION p SET TABLE t0;")
        assert "t1, t2, t3 and 5 more" in finding.message
        assert (covered(finding.span), [covered(span) for span in finding.related][:2]) == ("p", ["t1", "t2"])

    def test_a_dropped_member_that_set_does_not_name_is_not_told(self) -> None:
        assert of("PUB709", T, self.MADE, "DROP TABLE t;") == []

    def test_another_filter_is_not_a_lost_one(self) -> None:
        made = "CREATE PUBLICATION p FOR TABLE t WHERE (id > 5);"
        assert of("PUB709", T, made, "ALTER PUBLICATION p SET TABLE t WHERE (id > 6);") == []

    def test_a_column_beside_a_list_that_left_some_out_is_a_note(self) -> None:
        for listed, severity in (("id, a, n, b, j, f", "warning"), ("id, a", "note")):
            (finding,) = of(
                "PUB707",
                T,
                f"CREATE PUBLICATION p FOR TABLE t ({listed}); ALTER TABLE t ADD COLUMN z int, ADD y int;",
            )
            assert (finding.severity, covered(finding.span), '"z" and "y"' in finding.message) == (severity, "z", True)

    def test_cascade_is_told_where_it_stands(self) -> None:
        made = "CREATE PUBLICATION p FOR TABLE t (id, a);"
        (finding,) = of("PUB706", T, made, "ALTER TABLE t DROP COLUMN a CASCADE;")
        assert (finding.certainty, finding.publications, covered(finding.span)) == ("certain", ("p",), "t")

    def test_the_exchange_of_a_table_is_told_at_the_new_one(self) -> None:
        (finding,) = of("PUB705", T, self.MADE, "ALTER TABLE t RENAME TO old;", T)
        assert (finding.object, covered(finding.span), finding.span.source.label) == ("public.t", "t", "4.sql")
        assert finding.related[0].source.label == "3.sql"

    def test_all_tables_and_schemas_publish_the_new_table_too(self) -> None:
        for scope in ("FOR ALL TABLES", "FOR TABLES IN SCHEMA public"):
            assert of("PUB705", T, f"CREATE PUBLICATION p {scope};", "DROP TABLE t;", T) == []

    @pytest.mark.parametrize(("option", "severity"), [("", "note"), (" WITH (publish_via_partition_root)", "warning")])
    def test_rows_that_are_attached_are_copied_only_under_their_own_name(self, option: str, severity: str) -> None:
        old = "CREATE TABLE old (id int NOT NULL, k int NOT NULL, v text);"
        made, attach = f"CREATE PUBLICATION p FOR TABLE pt{option};", "ALTER TABLE pt ATTACH PARTITION old DEFAULT;"
        (finding,) = of("PUB708", PARTS, old, made, attach)
        assert (finding.severity, covered(finding.span)) == (severity, "old")
        assert of("PUB708", PARTS, made, old, attach) == []

    def test_a_publication_that_one_transaction_makes_anew_is_never_missing(self) -> None:
        again = "DROP PUBLICATION p; CREATE PUBLICATION p FOR ALL TABLES;"
        assert [finding.severity for finding in of("PUB811", T, self.MADE, again)] == ["note"]
        assert of("PUB811", T, self.MADE, f"BEGIN; {again} COMMIT;") == []
        assert of("PUB811", T, "DROP PUBLICATION IF EXISTS p;", self.MADE) == []


def test_what_is_not_seen_is_assumed() -> None:
    findings = lint("CREATE PUBLICATION p FOR TABLE made_elsewhere WHERE (10 / a > 1) WITH (publish = '');")
    assert {diagnostic.certainty for diagnostic in findings if diagnostic.rule == "PUB605"} <= {"assumed"}
    (finding,) = of("PUB709", "CREATE PUBLICATION p FOR TABLE x; ALTER PUBLICATION p SET TABLE y;")
    assert finding.certainty == "assumed"  # there is no p if there is no x


def test_publications_without_surprises_are_quiet() -> None:
    text = """\
    CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, region text NOT NULL, note text);
    CREATE TABLE items (id bigint PRIMARY KEY, "order" bigint REFERENCES orders);
    CREATE TABLE days (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
    CREATE TABLE days_2025 PARTITION OF days FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
    CREATE PUBLICATION everything FOR ALL TABLES WITH (publish_via_partition_root = true);
    CREATE PUBLICATION parts FOR TABLE items, days;
    CREATE PUBLICATION sales FOR TABLES IN SCHEMA public;
    """
    assert lint(text) == []
    assert lint(text, "CREATE PUBLICATION big FOR TABLE orders WHERE (id > 5);")[0].severity == "note"
