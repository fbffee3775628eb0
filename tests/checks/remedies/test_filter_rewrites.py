"""Refused filters are explained and written anew: what is offered is judged clean, and servers accept it."""

from __future__ import annotations

import pytest

from pubcheck import Diagnostic
from pubcheck.checks.remedies.filter_rewrites.filter_source import Text, filter_extent
from pubcheck.postgres.parse import parse
from tests.support.linting import covered, lint
from tests.support.servers import Servers, execute, prepare

SETUP = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN price AS integer CHECK (VALUE >= 0);
CREATE TYPE place AS (street text, city text);
CREATE COLLATION own FROM "C";
CREATE FUNCTION twice(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2';
CREATE FUNCTION upper(varchar) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT pg_catalog.upper($1::text)';
CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = integer, RIGHTARG = integer);
CREATE TABLE t (
    id integer PRIMARY KEY, i4 integer, i8 bigint, n numeric, b boolean, s text, u text, vc varchar(20), ch char(5),
    d date, ts timestamp, tz timestamptz, tz2 timestamptz, iv interval, uu uuid, jb jsonb, ia integer[],
    va varchar(8)[], m mood, p price, c place, o text COLLATE own, "user" text
);
"""
ROWS = """
INSERT INTO t SELECT g, g % 5, g, g / 2.0, g % 2 = 0, (ARRAY['a', 'b', 'ab', '1', NULL])[1 + g % 5],
    (ARRAY['a', 'b', NULL])[1 + g % 3], (ARRAY['a', 'b', 'c', NULL])[1 + g % 4], (ARRAY['a', 'b ', NULL])[1 + g % 3],
    date '2023-12-30' + g, timestamp '2023-12-31 22:00' + g * interval '5 hours',
    timestamptz '2023-12-31 22:00+00' + g * interval '5 hours', timestamptz '2024-01-02 00:00+00',
    g * interval '6 hours', ('00000000-0000-0000-0000-00000000000' || g % 5)::uuid,
    jsonb_build_object('n', g % 7, 'a', jsonb_build_object('b', g % 3)), ARRAY[g, g + 1],
    ARRAY['a', 'b']::varchar[], (ARRAY['sad', 'ok', NULL])[1 + g % 3]::mood, g,
    ROW('x', (ARRAY['Graz', 'Linz'])[1 + g % 2])::place,
    'o', 'x'
FROM generate_series(0, 40) g;
"""

# (filter, its rewriting, whether a fix may be made without asking)
REWRITTEN = [
    # Casts.
    ("vc IN ('a', 'b')", "vc::text IN ('a', 'b')", True),
    ("vc NOT IN ('a', 'b')", "vc::text NOT IN ('a', 'b')", True),
    ("vc = ANY ('{a,b}'::varchar[])", "vc = ANY ('{a,b}')", True),
    ("'a' = ANY (va)", "va @> ARRAY['a']::varchar[]", False),
    ("'a' <> ALL (va)", "NOT va @> ARRAY['a']::varchar[]", False),
    ("i4::text = '1'", "i4 = 1", True),
    ("CAST(i4 AS varchar) <> '3' AND b", "i4 <> 3 AND b", True),
    ("i4::text IN ('1', '-2')", "i4 IN (1, -2)", True),
    (
        "uu::text = '00000000-0000-0000-0000-000000000001'",
        "uu = '00000000-0000-0000-0000-000000000001'",
        True,
    ),
    ("d::text = '2024-01-01'", "d = '2024-01-01'", False),
    ("s::integer = 5", "s = '5'", False),
    ("(jb ->> 'n')::int > 1", "(jb -> 'n')::int > 1", False),
    ("(jb #>> '{a,b}')::numeric = 1", "(jb #> '{a,b}')::numeric = 1", False),
    ("jb['a']['b'] = '1'", "(jb -> 'a' -> 'b') = '1'", True),
    ("jb[0] = '1'", "(jb -> 0) = '1'", False),
    ("i4::price > 1", "i4::integer > 1", False),
    ("iv > make_interval(days => 1)", "iv > make_interval(0, 0, 0, 1)", True),
    ("jsonb_set(jb, path => '{a}', replacement => '1') = '1'", "jsonb_set(jb, '{a}', '1') = '1'", True),
    ("\"user\" = 'x' AND user = 'x'", "\"user\" = 'x' AND \"user\" = 'x'", False),
    # Time zones.
    ("tz::date = '2024-01-01'", "tz >= '2024-01-01 00:00:00+00' AND tz < '2024-01-02 00:00:00+00'", False),
    ("tz::date > '2024-01-01'", "tz >= '2024-01-02 00:00:00+00'", False),
    ("'2024-01-31' >= tz::date", "tz < '2024-02-01 00:00:00+00'", False),
    (
        "NOT tz::date = '2024-12-31'",
        "NOT (tz >= '2024-12-31 00:00:00+00' AND tz < '2025-01-01 00:00:00+00')",
        False,
    ),
    (
        "tz::date BETWEEN '2024-01-01' AND '2024-01-31'",
        "tz >= '2024-01-01 00:00:00+00' AND tz < '2024-02-01 00:00:00+00'",
        False,
    ),
    (
        "date_trunc('quarter', tz) = '2024-10-01'",
        "tz >= '2024-10-01 00:00:00+00' AND tz < '2025-01-01 00:00:00+00'",
        False,
    ),
    ("d::text LIKE '2024-02-%'", "d >= '2024-02-01' AND d < '2024-03-01'", False),
    ("tz::date <> '2024-01-01'", "(tz AT TIME ZONE 'UTC')::date <> '2024-01-01'", False),
    ("tz > '2024-01-01'::date", "tz > '2024-01-01 00:00:00+00'::timestamptz", False),
    ("tz > ts", "tz > (ts AT TIME ZONE 'UTC')", False),
    ("tz BETWEEN d AND ts", "tz BETWEEN (d::timestamp AT TIME ZONE 'UTC') AND (ts AT TIME ZONE 'UTC')", False),
    (
        "coalesce(tz, d) > '2024-01-01 00:00+00'",
        "coalesce(tz, (d::timestamp AT TIME ZONE 'UTC')) > '2024-01-01 00:00+00'",
        False,
    ),
    ("extract(year FROM tz) = 2024", "extract(year FROM tz AT TIME ZONE 'UTC') = 2024", False),
    ("date_trunc('day', d) = '2024-01-01'", "date_trunc('day', d::timestamp) = '2024-01-01'", False),
    ("tz + iv > tz2", "(((tz AT TIME ZONE 'UTC') + iv) AT TIME ZONE 'UTC') > tz2", False),
    (
        "(d, d) OVERLAPS ('2024-01-01'::date, '2024-12-31'::date)",
        "(d::timestamp, d::timestamp) OVERLAPS (('2024-01-01'::date)::timestamp, ('2024-12-31'::date)::timestamp)",
        True,
    ),
    ("to_char(d, 'YYYY') = '2024'", "extract(year FROM d) = 2024", False),
    # Texts.
    ("s || 1 = 'a1'", "s || '1' = 'a1'", True),
    ("concat(s, u, '!') = 'ab!'", "(coalesce(s, '') || coalesce(u, '') || '!') = 'ab!'", True),
    ("to_tsvector(s) @@ to_tsquery('a')", "to_tsvector('english', s) @@ to_tsquery('english', 'a')", False),
    ("s @@ 'late'", "to_tsvector('english', s) @@ plainto_tsquery('english', 'late')", False),
    # What is not built in.
    ("i4 === 1", "int4eq(i4, 1)", True),
    ("upper(vc) = 'A'", "pg_catalog.upper(vc) = 'A'", False),
    ("s < 'b' COLLATE own", "s < 'b' COLLATE \"C\"", False),
    # Several at once; comments and style stay.
    (
        "vc IN ('a', 'b') /* both */ AND\n  (jb ->> 'n')::int > 1  -- n\n",
        "vc::text IN ('a', 'b') /* both */ AND\n  (jb -> 'n')::int > 1  -- n\n",
        False,
    ),
    ("vc IN ('ä', 'ö') AND s || 1 = 'ü'", "vc::text IN ('ä', 'ö') AND s || '1' = 'ü'", True),
]
# (filter, column that is added, filter that reads it)
STORED = [
    (
        "m = 'ok'",
        "m_text text GENERATED ALWAYS AS (CASE m WHEN 'sad' THEN 'sad' WHEN 'ok' THEN 'ok' END)",
        "m_text = 'ok'",
    ),
    ("m > 'sad'", "m_matches boolean GENERATED ALWAYS AS (m > 'sad')", "m_matches"),
    (
        "t.m = 'ok'",
        "m_text text GENERATED ALWAYS AS (CASE m WHEN 'sad' THEN 'sad' WHEN 'ok' THEN 'ok' END)",
        "m_text = 'ok'",
    ),
    ("twice(public.t.i4) = 4", "i4_integer integer GENERATED ALWAYS AS (twice(i4))", "i4_integer = 4"),
    ("p > 100", "p_integer integer GENERATED ALWAYS AS (p::integer)", "p_integer > 100"),
    ("(c).city = 'Graz'", "c_text text GENERATED ALWAYS AS ((c).city)", "c_text = 'Graz'"),
    ("c IS NOT NULL", "c_matches boolean GENERATED ALWAYS AS (c IS NOT NULL)", "c_matches"),
    ("ia[1] = 5", "ia_integer integer GENERATED ALWAYS AS (ia[1])", "ia_integer = 5"),
    ("i4::text LIKE '1%'", "i4_text text GENERATED ALWAYS AS (i4::text)", "i4_text LIKE '1%'"),
    ("s || i4 = 'a1'", "s_text text GENERATED ALWAYS AS (s || i4::text)", "s_text = 'a1'"),
    ("twice(i4) = 4", "i4_integer integer GENERATED ALWAYS AS (twice(i4))", "i4_integer = 4"),
    ("o = 'x'", 'o_text text COLLATE "C" GENERATED ALWAYS AS (o COLLATE "C")', "o_text = 'x'"),
]
# (filter, part that is pointed at, words of the headline, words of the help)
ADVISED = [
    (
        "d = CURRENT_DATE",
        "CURRENT_DATE",
        "CURRENT_DATE depends on the time or the session",
        "cannot depend on the time",
    ),
    ("tz > now() - iv", "now() - iv", "timestamptz_mi_interval", "cannot depend on the time"),
    ("age(ts) > iv", "age(ts)", "age(timestamp without time zone), which is STABLE", "cannot depend on the time"),
    ("s = CURRENT_USER", "CURRENT_USER", "CURRENT_USER", "cannot depend on the session"),
    ("random() > 0.5", "random()", "random(), which is VOLATILE", "use an immutable function"),
    ("i4 IN (SELECT 1)", "i4 IN (SELECT 1)", "sub-select", "copy the value"),
    ("xmin <> '5'", "xmin", '"xmin" is a system column', "columns of the table"),
    ("t IS NOT NULL", "t", "the whole row", "other columns"),
]


def refused(filter_: str) -> Diagnostic:
    findings = lint(SETUP, f"CREATE PUBLICATION p FOR TABLE t WHERE ({filter_});", complete=True)
    (diagnostic,) = (finding for finding in findings if finding.phase == "ddl")
    assert diagnostic.refused
    return diagnostic


def fixed(diagnostic: Diagnostic) -> str:
    """The filter after the diagnostic's one fix."""
    (fix,) = diagnostic.fixes
    (edit,) = fix.edits
    text = edit.span.source.text
    text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text[text.index("WHERE (") + 7 : text.rindex(");")]


@pytest.mark.parametrize(("before", "after", "safe"), REWRITTEN)
def test_a_refused_filter_is_written_anew(before: str, after: str, safe: bool) -> None:
    diagnostic = refused(before)
    assert fixed(diagnostic) == after
    assert diagnostic.fixes[0].applicability == ("safe" if safe else "unsafe")
    assert (diagnostic.help or "").startswith("write ")


@pytest.mark.parametrize("after", [after for _, after, _ in REWRITTEN])
def test_what_is_offered_is_accepted(after: str) -> None:
    findings = lint(SETUP, f"CREATE PUBLICATION p FOR TABLE t WHERE ({after});", complete=True)
    assert [finding.rule for finding in findings if finding.phase == "ddl"] == []


@pytest.mark.parametrize(("before", "column", "after"), STORED)
def test_what_no_filter_can_hold_a_stored_column_does(before: str, column: str, after: str) -> None:
    diagnostic = refused(before)
    assert diagnostic.fixes == ()
    assert f"ALTER TABLE public.t ADD COLUMN {column} STORED; Then write WHERE ({after})" in (diagnostic.help or "")


@pytest.mark.parametrize(("filter_", "culprit", "headline", "help_text"), ADVISED)
def test_what_has_no_other_writing_is_explained(filter_: str, culprit: str, headline: str, help_text: str) -> None:
    diagnostic = refused(filter_)
    assert covered(diagnostic.span) == culprit
    assert headline in diagnostic.message
    assert help_text in (diagnostic.help or "")
    assert diagnostic.fixes == ()


@pytest.mark.parametrize(
    ("filter_", "culprit", "headline"),
    [
        (
            "b AND tz > d",
            "tz > d",
            "the comparison > between timestamp with time zone and date calls timestamptz_gt_date(timestamp with time "
            "zone, date), which is STABLE (it depends on TimeZone)",
        ),
        ("(jb ->> 'n')::int > 1", "(jb ->> 'n')::int", "the cast from text to integer goes through text (CoerceViaIO)"),
        ("b OR vc IN ('a', 'b')", "vc IN ('a', 'b')", "the array of type character varying[] is cast to text[]"),
        ("'x' = ANY (va)", "va", "the array of type character varying[] is cast to text[]"),
        (
            "coalesce(tz, d) = tz",
            "d",
            "the implicit cast from date to timestamp with time zone calls timestamptz(date)",
        ),
        ("b AND m IS NULL", "m", 'column "m" has the type mood, an enum that is not built in'),
        ("b AND o IS NULL", "o", 'column "o" uses the collation "own", which is not built in'),
        ("b AND i4 === 1", "i4 === 1", "the operator === (integer, integer) is not built in"),
        ("twice(i4) = 4", "twice(i4)", "it calls twice(integer), which is not built in"),
        ("iv > make_interval(days => 1)", "days", "an argument is given by its name"),
    ],
)
def test_the_culprit_is_named_and_pointed_at(filter_: str, culprit: str, headline: str) -> None:
    diagnostic = refused(filter_)
    assert covered(diagnostic.span) == culprit
    assert headline in diagnostic.message


def test_after_many_refused_filters_only_the_reason_is_told() -> None:
    publications = "".join(f"CREATE PUBLICATION p{n} FOR TABLE t WHERE (vc IN ('a', 'b'));" for n in range(210))
    findings = [finding for finding in lint(SETUP, publications, complete=True) if finding.phase == "ddl"]
    assert [bool(finding.fixes) for finding in findings] == [True] * 200 + [False] * 10
    assert all("ArrayCoerceExpr" in finding.message for finding in findings)


def test_a_filter_with_a_placeholder_is_not_edited() -> None:
    findings = lint(SETUP, "CREATE PUBLICATION p FOR TABLE t WHERE (vc IN ('a', 'b') AND id > :least);", complete=True)
    assert all(
        (finding.certainty, finding.fixes) == ("assumed", ()) for finding in findings if finding.rule != "PUB009"
    )


@pytest.mark.parametrize("literal", ["'now'", "'today'"])
def test_literals_that_look_as_if_they_moved_are_a_warning(literal: str) -> None:
    findings = lint(SETUP, f"CREATE PUBLICATION p FOR TABLE t WHERE (tz > {literal}) WITH (publish = 'insert');")
    (finding,) = (diagnostic for diagnostic in findings if diagnostic.rule == "PUB214")
    assert (finding.severity, covered(finding.span)) == ("warning", literal)


def test_literals_that_depend_on_settings_are_noted_unless_the_unit_says_them() -> None:
    publication = "CREATE PUBLICATION p FOR TABLE t WHERE (tz > '2024-01-01') WITH (publish = 'insert');"
    noted = [finding.severity for finding in lint(SETUP, publication) if finding.rule == "PUB214"]
    assert noted == ["note"]
    findings = lint(SETUP, "SET timezone = 'UTC';", publication)
    assert not [finding for finding in findings if finding.rule == "PUB214"]


def test_a_filter_of_what_is_not_visible_is_noted() -> None:
    table = "CREATE EXTENSION unheard_of; CREATE TABLE t (id integer PRIMARY KEY, g unheard);"
    findings = lint(table, "CREATE PUBLICATION p FOR TABLE t WHERE (g IS NULL) WITH (publish = 'insert');")
    (finding,) = (diagnostic for diagnostic in findings if diagnostic.rule == "PUB215")
    assert (finding.severity, finding.certainty, finding.server) == ("note", "assumed", None)


@pytest.mark.parametrize(
    "text",
    [
        "((a)) = 1",
        "f((a), (b))",
        "(a -> 'b')::int",
        "NOT ((a) OR b)",
        "(SELECT 1) = 1",
        "a[1][2].c",
        "E'it\\'s' = $$x$$",
    ],
)
def test_the_text_of_a_filter_and_of_its_nodes_is_found(text: str) -> None:
    statement = f"CREATE PUBLICATION p FOR TABLE t (id) WHERE ( /* ( */ {text} ), u WHERE (true)"
    parsed = parse(statement)
    assert parsed is not None
    tree = parsed[1]["pubobjects"][0]["PublicationObjSpec"]["pubtable"]["whereClause"]
    extent = filter_extent(statement.encode(), tree)
    assert extent is not None
    assert statement[slice(*extent)] == f" /* ( */ {text} "
    inside = Text(text.encode())
    for site in inside.sites:
        assert inside.source(site.node) in text


def test_of_a_virtual_column_the_expression_is_refused() -> None:
    virtual = "v integer GENERATED ALWAYS AS (ia[1]) VIRTUAL"
    table = f"CREATE TABLE t (id integer PRIMARY KEY, ia integer[], {virtual});"
    findings = lint(table, "CREATE PUBLICATION p FOR TABLE t WHERE (id > 0 AND v = 1);", complete=True)
    (refusal,) = (finding for finding in findings if finding.phase == "ddl")
    assert covered(refusal.span) == "v"
    assert "in the expression of the virtual column v, subscripts" in refusal.message


def test_columns_are_not_added_to_partitions() -> None:
    tables = """CREATE TABLE root (id integer PRIMARY KEY, ia integer[]) PARTITION BY RANGE (id);
        CREATE TABLE leaf PARTITION OF root FOR VALUES FROM (0) TO (9);"""
    findings = lint(tables, "CREATE PUBLICATION p FOR TABLE leaf WHERE (ia[1] = 1);", complete=True)
    assert ["ALTER TABLE" in (finding.help or "") for finding in findings if finding.phase == "ddl"] == [False]


@pytest.mark.parametrize("filter_", ["CASE WHEN b THEN m END = 'ok'", "JSON_ARRAY(s FORMAT JSON) IS NOT NULL"])
def test_nodes_that_are_no_expressions_are_passed_over(filter_: str) -> None:
    assert refused(filter_).help


def test_date_trunc_with_a_zone_is_written_for_15_as_it_is_later_done() -> None:
    filter_ = "date_trunc('day', tz, 'Asia/Tokyo') > '2024-01-01 00:00+09'"
    statement = f"CREATE PUBLICATION p FOR TABLE t WHERE ({filter_});"
    (refusal,) = (
        finding for finding in lint(SETUP, statement, complete=True, postgres=(15, 16)) if finding.phase == "ddl"
    )
    assert refusal.postgres == (15,)
    zone = "AT TIME ZONE 'Asia/Tokyo'"
    assert fixed(refusal) == f"(date_trunc('day', tz {zone}) {zone}) > '2024-01-01 00:00+09'"


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_servers_refuse_the_one_and_accept_the_other(servers: Servers, major: int) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as connection:
        prepare(connection, (SETUP, ROWS, "SET timezone = 'UTC'"))
        for before, after, safe in REWRITTEN:
            assert not execute(connection, f"CREATE PUBLICATION p FOR TABLE t WHERE ({before})").ok, before
            answer = execute(connection, f"CREATE PUBLICATION p FOR TABLE t WHERE ({after})")
            assert answer.ok, (after, answer)
            connection.execute("DROP PUBLICATION p")
            if safe:
                differing = f"SELECT count(*) FROM t WHERE (({before}) IS TRUE) <> (({after}) IS TRUE)"
                assert connection.execute(differing).fetchone() == (0,), before
        for before, column, after in STORED:
            assert not execute(connection, f"CREATE PUBLICATION p FOR TABLE t WHERE ({before})").ok, before
            connection.execute(f"ALTER TABLE t ADD COLUMN {column} STORED")
            assert execute(connection, f"CREATE PUBLICATION p FOR TABLE t WHERE ({after})").ok, after
            differing = f"SELECT count(*) FROM t WHERE (({before}) IS TRUE) <> (({after}) IS TRUE)"
            assert connection.execute(differing).fetchone() == (0,), before
            connection.execute("DROP PUBLICATION p")
            connection.execute(f"ALTER TABLE t DROP COLUMN {column.split()[0]}")
