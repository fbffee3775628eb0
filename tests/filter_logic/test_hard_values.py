"""Filters that are true for rows which are easy to forget: a server finds each row, so no proof may deny it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.filter_logic.questions import NoRow, TableFilters, Undecided, Witness
from pubcheck.filter_logic.truth import TRUE
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor import Prepared
from pubcheck.source import Source
from tests.filter_logic.world import World
from tests.support.servers import Servers

TABLE = """CREATE TABLE t (a integer, b integer, p numeric(6,2), q numeric(8,4), n numeric, x float8, code varchar(3),
    c char(3) COLLATE "C", unpadded bpchar, name text COLLATE "C", other text COLLATE "C", s text, s2 text,
    second timestamp(0), tenth time(1), large numeric(38,2))"""

ROWS = [
    ("n > 1e40", "n", "2e40"),
    ("n < -1e40", "n", "-2e40"),
    ("n > 1e40 AND n < 1.0000000000000000000000000000000000000000001e40", "n", "1e40 + 0.00001"),
    ("p = q AND p = 1", "p, q", "1, 1"),
    ("n = 1 AND n::text = '1.00'", "n", "1.00"),
    ("n = 1 AND scale(n) = 2", "n", "1.00"),
    ("large > 5 AND large < 7", "large", "6"),
    ("x = 0 AND x::text = '-0'", "x", "'-0'"),
    ("unpadded = 'ab' AND octet_length(unpadded) = 4", "unpadded", "'ab  '"),
    ("c::text < 'ab ' AND c::text > 'ab'", "c", r"E'ab\x01'"),
    ("name NOT LIKE 'ab%' AND name > 'b'", "name", "'c'"),
    ("name COLLATE \"und-x-icu\" > other AND name = 'B' AND other = 'a'", "name, other", "'B', 'a'"),
    ('name < other AND name COLLATE "und-x-icu" > other', "name, other", "'B', 'a'"),
    ('s COLLATE "C" < s2 AND s COLLATE "und-x-icu" > s2', "s, s2", "'B', 'a'"),
    ("ROW(ROW(a), b) IS NOT NULL AND a IS NULL", "b", "1"),
    ("second > '2024-01-01' AND second < '2024-01-01 00:00:02'", "second", "'2024-01-01 00:00:00.6'"),
    ("second > '294276-12-31 23:59:59'", "second", "'infinity'"),
    ("tenth > '23:59:59.9'", "tenth", "'23:59:59.97'"),
]


@pytest.fixture(scope="module")
def world() -> World:
    return World(TABLE)


@pytest.mark.parametrize(("condition", "columns", "values"), ROWS)
def test_no_row_is_denied(world: World, condition: str, columns: str, values: str) -> None:
    del columns, values  # given to a server below
    filters = TableFilters(world.session, world.relation, [world.filter(condition)])
    assert not isinstance(filters.coverage(0).true, NoRow)


@pytest.mark.server
def test_servers_find_the_rows(servers: Servers) -> None:
    with servers[18].database() as name, servers[18].connect(name) as connection:
        connection.execute(TABLE)
        for condition, columns, values in ROWS:
            statement = f"INSERT INTO t ({columns}) VALUES ({values}) RETURNING ({condition}) IS TRUE"
            assert _value(connection, statement), condition


def _value(connection: psycopg.Connection[Any], statement: str) -> object:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]


NEVER = [
    ("code = 'abcdef'", "a text does not fit"),
    ("ROW(ROW(a), b) IS NULL AND b = 1", "a row within a row is not NULL"),
    ("second > '2024-01-01' AND second < '2024-01-01 00:00:01'", "a timestamp(0) has whole seconds"),
    ("tenth > '12:00' AND tenth < '12:00:00.1'", "a time(1) has tenths of a second"),
    ("s COLLATE \"C\" < 'm' AND s COLLATE \"C\" > 'n'", "the comparison has an order that the column has not"),
]


@pytest.mark.parametrize(("condition", "reason"), NEVER)
def test_rows_that_cannot_exist(world: World, condition: str, reason: str) -> None:
    filters = TableFilters(world.session, world.relation, [world.filter(condition)])
    assert isinstance(filters.coverage(0).true, NoRow), reason


def test_equal_texts_of_a_nondeterministic_collation_may_differ() -> None:
    world = World("""CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE t (a integer, s text NOT NULL, CHECK (s = 'x' COLLATE ci), CHECK (s COLLATE "C" = 'X'))""")
    filters = TableFilters(world.session, world.relation, [world.filter("s > 'A' COLLATE \"C\"")])
    assert not isinstance(filters.coverage(0).true, NoRow)


def test_a_partition_key_of_texts_may_have_a_collation_of_its_own() -> None:
    world = World("""CREATE TABLE r (name text COLLATE "C") PARTITION BY RANGE (name COLLATE "und-x-icu");
        CREATE TABLE t PARTITION OF r FOR VALUES FROM ('a') TO ('b')""")
    filters = TableFilters(world.session, world.relation, [world.filter("name = 'A'")])
    assert not isinstance(filters.coverage(0).true, NoRow)


def test_constraints_of_other_columns_count_if_they_are_linked() -> None:
    world = World("""CREATE TABLE t (a integer NOT NULL, b integer NOT NULL, c integer NOT NULL,
        CHECK (a = b), CHECK (b = c), CHECK (c > 100))""")
    filters = TableFilters(world.session, world.relation, [world.filter("a < 50")])
    assert isinstance(filters.coverage(0).true, NoRow)


def test_a_generated_column_is_not_shown_with_a_value_that_it_may_not_have() -> None:
    world = World("CREATE TABLE t (a integer, total integer GENERATED ALWAYS AS (a * 2) STORED)")
    filters = TableFilters(world.session, world.relation, [world.filter("total = 11"), world.filter("total < 3")])
    assert isinstance(filters.coverage(0).true, Undecided)
    assert filters.comparison(0, 1).kind == "disjoint"


@pytest.mark.parametrize("parts", [300, 1000, 3000])
@pytest.mark.parametrize("part", ["a = {}", "s LIKE '%{}%'", "a = {0} AND b > {0}"])
def test_many_parts_are_answered_soon(world: World, part: str, parts: int) -> None:
    condition = " OR ".join(part.format(2 * number) for number in range(parts))
    filters = TableFilters(world.session, world.relation, [world.filter(condition)])
    finding = filters.rows.find((0, TRUE))
    assert isinstance(finding, Witness | Undecided)


@pytest.mark.parametrize("kind", ["d date NOT NULL CHECK (d >= 'today')", "d timestamptz CHECK (d >= '2024-01-01')"])
def test_a_constraint_whose_literals_depended_on_the_session_does_not_count(kind: str) -> None:
    world = World(f"CREATE TABLE t ({kind})")
    filters = TableFilters(world.session, world.relation, [world.filter("d < '2020-01-01'")])
    assert not isinstance(filters.coverage(0).true, NoRow)


@pytest.mark.parametrize(
    ("condition", "certainty"),
    [
        ("at < '2024-01-01' AND at >= '2024-01-01 00:00+00'", "assumed"),
        ("at < '2024-01-01 00:00+00' AND at >= '2024-01-01 00:00+00'", "certain"),
    ],
)
def test_a_filter_whose_literals_depend_on_the_session_is_assumed_to_be_false(condition: str, certainty: str) -> None:
    sql = f"""CREATE TABLE t (at timestamptz NOT NULL);
        CREATE PUBLICATION app FOR TABLE t WHERE ({condition}) WITH (publish = 'insert');"""
    diagnostics = Linter(Config()).lint(Unit((Source("schema.sql", sql),))).diagnostics
    assert [finding.certainty for finding in diagnostics if finding.rule == "PUB607"] == [certainty]


def test_a_constraint_that_children_do_not_have_does_not_count_for_their_parent() -> None:
    parent = "CREATE TABLE t (a integer NOT NULL, CHECK (a > 0) NO INHERIT);"
    for schema, proved in ((parent, True), (parent + "CREATE TABLE child () INHERITS (t);", False)):
        world = World(schema)
        filters = TableFilters(world.session, world.relation, [world.filter("a < 0")])
        assert isinstance(filters.coverage(0).true, NoRow) is proved


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE t (a integer NOT NULL); CREATE TABLE c () INHERITS (t); ALTER TABLE c ALTER a DROP NOT NULL;",
        "CREATE TABLE t (a integer); CREATE TABLE c () INHERITS (t); ALTER TABLE ONLY t ALTER a SET NOT NULL;",
    ],
)
def test_a_not_null_that_children_do_not_have_does_not_count_for_their_parent(schema: str) -> None:
    world = World(schema, 17)
    filters = TableFilters(world.session, world.relation, [world.filter("a IS NULL")])
    assert isinstance(filters.coverage(0).true, Witness)


def test_a_not_null_without_inheritance_does_not_count_for_a_parent() -> None:
    world = World("CREATE TABLE t (a integer, CONSTRAINT n NOT NULL a NO INHERIT); CREATE TABLE c () INHERITS (t);")
    filters = TableFilters(world.session, world.relation, [world.filter("a IS NULL")])
    assert isinstance(filters.coverage(0).true, Witness)


def test_a_generated_column_may_have_another_expression_in_a_child() -> None:
    world = World(
        """CREATE TABLE t (a integer NOT NULL, s text GENERATED ALWAYS AS ('x') STORED);
        CREATE TABLE c (s text GENERATED ALWAYS AS ('y') STORED) INHERITS (t)""",
        17,
    )
    filters = TableFilters(world.session, world.relation, [world.filter("s = 'y'")])
    assert isinstance(filters.coverage(0).true, Undecided)


NONDETERMINISTIC = "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
ODD_KEYS = [
    ("CREATE TABLE r (s text, g text) PARTITION BY LIST (s COLLATE ci);", "IN ('x')", "s = 'X'", "'X'"),
    ('CREATE TABLE r (s text COLLATE "C") PARTITION BY LIST (s COLLATE ci);', "IN ('x')", "s = 'X'", "'X'"),
    (
        """CREATE FUNCTION down(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($2, $1)';
        CREATE OPERATOR CLASS down FOR TYPE integer USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =,
        OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 down(integer, integer);
        CREATE TABLE r (s integer) PARTITION BY RANGE (s down);""",
        "FROM (10) TO (1)",
        "s = 10",
        "10",
    ),
]  # fmt: skip


@pytest.mark.server
@pytest.mark.parametrize(("root", "bound", "condition", "value"), ODD_KEYS)
def test_bounds_of_keys_with_an_order_of_their_own_prove_nothing(
    servers: Servers, root: str, bound: str, condition: str, value: str
) -> None:
    schema = f"{NONDETERMINISTIC} {root} CREATE TABLE t PARTITION OF r FOR VALUES {bound};"
    with servers[17].database() as name, servers[17].connect(name) as connection:
        connection.execute(schema.encode())
        connection.execute(f"INSERT INTO r (s) VALUES ({value})".encode())
        assert _value(connection, f"SELECT count(*) FROM t WHERE {condition}") == 1
    world = World(schema, 17)
    filters = TableFilters(world.session, world.relation, [world.filter(condition)])
    assert not isinstance(filters.coverage(0).true, NoRow)


def test_the_evaluator_does_not_compare_different_texts_under_a_nondeterministic_collation() -> None:
    world = World(f"{NONDETERMINISTIC} CREATE TABLE t (s text, c char(3), a text[])")
    rows: list[tuple[str, dict[int, Any], bool | None]] = [
        ("s = 'X' COLLATE ci", {1: "X"}, True),
        ("s = 'X' COLLATE ci", {1: "x"}, None),
        ("s < 'X' COLLATE ci", {1: "1"}, None),
        ("c <> 'X' COLLATE ci", {2: "x  "}, None),
        ("s IN ('X' COLLATE ci)", {1: "x"}, None),
    ]
    for condition, row, expected in rows:
        prepared = Prepared(world.filter(condition), world.context)
        if expected is None:
            with pytest.raises(Unknowable):
                prepared(row)
        else:
            assert prepared(row) is expected


def test_no_row_is_shown_of_a_partition_whose_bounds_are_not_followed() -> None:
    world = World("""CREATE TABLE root (a integer) PARTITION BY HASH (a);
        CREATE TABLE t PARTITION OF root FOR VALUES WITH (MODULUS 2, REMAINDER 0)""")
    filters = TableFilters(world.session, world.relation, [world.filter("a = 3"), world.filter("a > 5")])
    assert isinstance(filters.coverage(0).true, Undecided)
    assert filters.comparison(0, 1).kind == "disjoint"


def test_bounds_that_are_not_followed_do_not_matter_for_other_columns() -> None:
    world = World("""CREATE TABLE root (a integer, b integer) PARTITION BY HASH (a);
        CREATE TABLE t PARTITION OF root FOR VALUES WITH (MODULUS 2, REMAINDER 0)""")
    filters = TableFilters(world.session, world.relation, [world.filter("b = 3"), world.filter("b > 2")])
    assert isinstance(filters.coverage(0).true, Witness)
    assert filters.comparison(0, 1).kind == "narrower"
