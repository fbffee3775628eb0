"""CREATE VIEW, CREATE MATERIALIZED VIEW, CREATE TABLE AS, SELECT INTO."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.postgres.ddl.support import columns, find, fold, outcomes, relation

QUERIES = """
CREATE TABLE t(a int, b text, "C d" numeric);
CREATE TABLE u(b text, z int);
CREATE TABLE w(z int, a bigint);
CREATE VIEW v1 AS SELECT * FROM t;
CREATE VIEW v2(x) AS SELECT *, u.* FROM t, u AS u(k); -- 42701
CREATE VIEW v3 AS SELECT * FROM t NATURAL JOIN u;
CREATE VIEW v4 AS SELECT * FROM t JOIN u USING (b) JOIN w USING (z, a);
CREATE VIEW v5 AS SELECT count(*), max(a) AS m, sum(a)+1, a::text, 'x'::varchar(3), CASE WHEN true THEN b ELSE b
    END FROM t GROUP BY a, b;
CREATE VIEW v5b AS SELECT count(*), max(a) AS m, a::text, 'x'::varchar(3), CASE WHEN true THEN b
    ELSE b END, coalesce(a,1), greatest(1,2), array[1], exists(select 1), (select max(z) from u), row(1,2) FROM t
    GROUP BY a, b; -- 42P16
CREATE TABLE c1 AS SELECT 1 AS one, 'x'::text, interval '1 day', current_date, now(), date '2020-01-01',
    extract(year from now()), 1 IN (1), nullif(1,2), cast(null as int);
CREATE TABLE c1 AS SELECT 1 AS one, 'x'::text, interval '1 day', current_date, now(), date
    '2020-01-01', extract(year from now()), 1 IN (1), nullif(1,2), cast(null as pg_catalog.int4) AS i4, position('a'
    in 'b'), overlay('a' placing 'b' from 1), now() at time zone 'UTC' AS tz, xmlparse(content 'x'), xmlpi(name
    php), xmlforest(1 as a), xmlconcat(null), xmlserialize(content '<a/>' as text), trim('x'), localtime(3),
    current_user, session_user, current_schema, substring('a' from 1), (ROW(1,2))::text; -- 42P07
CREATE TABLE c2 AS SELECT * FROM generate_series(1,2) g, jsonb_array_elements('[]') h,
    jsonb_each('{}') i(k), json_object_keys('{}') WITH ORDINALITY q, ROWS FROM (generate_series(1,2),
    generate_series(1,2)) WITH ORDINALITY y(r,s); -- 42701
CREATE TABLE c2 AS SELECT g, h.value AS hv, i.*, q.*, y.r, s FROM generate_series(1,2) g,
    jsonb_array_elements('[]') h, jsonb_each('{}') i(k), json_object_keys('{}') WITH ORDINALITY q, ROWS FROM
    (generate_series(1,2), generate_series(1,2)) WITH ORDINALITY y(r,s,o);
CREATE TABLE c3 AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM x WHERE n < 3) SEARCH
    DEPTH FIRST BY n SET o CYCLE n SET c USING p SELECT * FROM x; -- 42P16
CREATE TABLE c4 AS WITH d AS (DELETE FROM t RETURNING *), i AS (INSERT INTO u VALUES ('x',1) RETURNING b AS ib,
    z) SELECT * FROM d, i;
CREATE TABLE c5(x,y) AS VALUES (1,2),(3,4);
CREATE TABLE c6 AS VALUES (1,2),(3,4);
CREATE TABLE c7 AS TABLE t WITH NO DATA;
CREATE TABLE c8 AS (SELECT a FROM t UNION SELECT z FROM u ORDER BY 1) EXCEPT SELECT 1;
CREATE TABLE c9 AS SELECT 1, 2; -- 42701
CREATE TABLE c9(a,b,c) AS SELECT 1 x, 2 y; -- 42601
CREATE TABLE IF NOT EXISTS c1 AS SELECT 1 zz;
CREATE TABLE c1 AS SELECT 1 zz; -- 42P07
CREATE TABLE c10 AS SELECT nosuch FROM t; -- 42703
CREATE TABLE c10 AS SELECT t.nosuch FROM t; -- 42703
CREATE TABLE c10 AS SELECT * FROM nosuch; -- 42P01
CREATE TABLE c10 AS SELECT ctid, tableoid FROM t; -- 42701
CREATE TABLE c10 AS SELECT ctid AS ci, tableoid AS tid, t FROM t;
CREATE TABLE c11 AS SELECT (SELECT x.a) FROM t x;
CREATE TABLE c12 AS SELECT x.a, y.* FROM t x, LATERAL (SELECT x.a + 1 AS succ, x.b AS bb) y;
CREATE TABLE c13 AS SELECT j.* FROM (t AS q JOIN u ON true) AS j(x,y);
CREATE TABLE c14 AS SELECT b FROM t JOIN u USING (b);
CREATE TABLE c15 AS SELECT ju.* FROM t JOIN u USING (b) AS ju;
CREATE MATERIALIZED VIEW m1 AS SELECT a, b FROM t;
CREATE MATERIALIZED VIEW m1 AS SELECT a, b FROM t; -- 42P07
CREATE MATERIALIZED VIEW IF NOT EXISTS m1 AS SELECT a, b FROM t;
CREATE UNLOGGED TABLE ul AS SELECT 1 a;
CREATE TEMP TABLE tt AS SELECT 1 a;
CREATE VIEW tv AS SELECT * FROM tt;
CREATE VIEW public.tv2 AS SELECT * FROM tt; -- 42P16
CREATE MATERIALIZED VIEW m2 AS SELECT * FROM tt; -- 0A000
CREATE TEMP TABLE od ON COMMIT DROP AS SELECT 1 a;
CREATE TABLE od2 AS SELECT 1 a;
CREATE OR REPLACE VIEW v1 AS SELECT a, b FROM t; -- 42P16
CREATE OR REPLACE VIEW v1 AS SELECT a, b, "C d", 1 AS more FROM t;
CREATE OR REPLACE VIEW v1 AS SELECT b, a, "C d", 1 AS more FROM t; -- 42P16
CREATE OR REPLACE VIEW t AS SELECT 1; -- 42809
CREATE OR REPLACE VIEW v1(a,b,c) AS SELECT a, b, "C d", 1 AS more FROM t; -- 42P16
CREATE VIEW v6(a,b,c,d) AS SELECT 1 AS x; -- 42601
CREATE RECURSIVE VIEW v7(n) AS SELECT 1 UNION ALL SELECT n+1 FROM v7 WHERE n < 5;
CREATE VIEW v8 AS SELECT 1 AS a INTO x; -- 0A000
SELECT 1 AS q INTO si;
SELECT a INTO TEMP si2 FROM t UNION SELECT 2;
SELECT 1 AS q INTO si; -- 42P07
CREATE VIEW v9 AS SELECT relname FROM pg_class;
CREATE VIEW v10 AS SELECT table_name, t.* FROM information_schema.tables JOIN t ON true WHERE table_name = b;
CREATE VIEW v11 AS SELECT a FROM t ORDER BY b, "C d";
CREATE VIEW v12 AS SELECT a AS k FROM t GROUP BY k ORDER BY k;
CREATE VIEW v13 AS SELECT rank() OVER win AS r, sum(a) FILTER (WHERE a > 0) FROM t GROUP BY b WINDOW win AS
    (ORDER BY b);
CREATE VIEW v14 AS SELECT * FROM (SELECT a AS p, b FROM t) s(pp);
CREATE VIEW v15 AS SELECT FROM t;
CREATE VIEW v16 AS SELECT last_value FROM sq; -- 42P01
CREATE SEQUENCE sq;
CREATE VIEW v16 AS SELECT * FROM sq;
CREATE TEMP VIEW v17 AS SELECT 1 AS a;
CREATE VIEW v18 AS SELECT s.a, s.b FROM t s WHERE EXISTS (SELECT 1 FROM u WHERE u.b = s.b AND z = s.a);
CREATE VIEW v19 AS SELECT true, 1; -- 42701
CREATE VIEW v20 AS SELECT true AS tr, NULL AS nu, x.* FROM xmltable('/r' PASSING ('<r/>'::xml) COLUMNS id int
    PATH '@id', o FOR ORDINALITY) x;
CREATE INDEX i ON t(a);
CREATE VIEW v21 AS SELECT * FROM i; -- 42809
CREATE TABLE c20 AS SELECT t.b, u.b AS ub FROM t FULL JOIN u ON t.b = u.b;
CREATE VIEW v22 AS SELECT sub.* FROM t, LATERAL (SELECT t.a) sub;
CREATE VIEW v23 AS SELECT public.t.a, public.t.* FROM public.t; -- 42701
CREATE VIEW v24 AS SELECT public.t.a AS aa, public.t.* FROM public.t;
CREATE VIEW v25 AS SELECT t.* FROM t AS tt; -- 42P01
CREATE TABLE c21 AS SELECT x FROM (VALUES (1, 'a'), (2, 'b')) AS x(n, s); -- 42P16
CREATE TABLE c22 AS SELECT DISTINCT ON (b) a AS b2, b FROM t ORDER BY b, b2;
"""
"""Forms of queries, told by the columns of what is made from them."""

DEPENDENTS = """
CREATE TYPE comp AS (p int, q text);
CREATE FUNCTION fc() RETURNS comp LANGUAGE sql AS 'SELECT 1, ''x''';
CREATE FUNCTION ft() RETURNS TABLE (m int, n text) LANGUAGE sql AS 'SELECT 1, ''x''';
CREATE FUNCTION fs() RETURNS SETOF int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION fo(i int, OUT o1 int, OUT o2 int) LANGUAGE sql AS 'SELECT 1, 2';
CREATE FUNCTION o1(i int, OUT single int) LANGUAGE sql AS 'SELECT 1';
CREATE TABLE g1 AS SELECT * FROM fc();
CREATE TABLE g2 AS SELECT * FROM ft();
CREATE TABLE g3 AS SELECT * FROM fs();
CREATE TABLE g4 AS SELECT * FROM fs() AS al;
CREATE TABLE g5 AS SELECT * FROM fo(1);
CREATE TABLE g6 AS SELECT * FROM o1(1) al;
CREATE TABLE g7 AS SELECT fc();
CREATE TABLE g8 AS SELECT (fc()).*;
CREATE TABLE g9 AS SELECT * FROM fo(1) WITH ORDINALITY;
CREATE TABLE base(a int, b text, c int);
CREATE VIEW va AS SELECT a FROM base;
CREATE VIEW vb AS SELECT a FROM va;
CREATE MATERIALIZED VIEW ma AS SELECT b FROM base;
DROP TABLE base; -- 2BP01
ALTER TABLE base DROP COLUMN c;
ALTER TABLE base DROP COLUMN b; -- 2BP01
ALTER TABLE base DROP COLUMN b CASCADE;
DROP VIEW va; -- 2BP01
CREATE OR REPLACE VIEW va AS SELECT 1 AS a;
DROP TABLE base;
DROP VIEW va CASCADE;
CREATE FUNCTION ff(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE VIEW vf AS SELECT ff(1);
DROP FUNCTION ff(int); -- 2BP01
DROP FUNCTION ff(int) CASCADE;
CREATE TYPE en AS ENUM ('a');
CREATE VIEW ve AS SELECT 1 AS x WHERE 'a'::en = 'a'::en;
DROP TYPE en; -- 2BP01
DROP TYPE en CASCADE;
CREATE TABLE tx(a int, b int);
CREATE VIEW wj AS SELECT 1 AS one FROM tx x JOIN tx y USING (a);
ALTER TABLE tx DROP COLUMN b;
ALTER TABLE tx DROP COLUMN a; -- 2BP01
CREATE TABLE tz(a int, b int);
CREATE VIEW wz AS SELECT * FROM tz;
ALTER TABLE tz ADD COLUMN c int;
ALTER TABLE tz DROP COLUMN c;
CREATE OR REPLACE VIEW wz AS SELECT a, b FROM tz ORDER BY a;
ALTER TABLE tz RENAME COLUMN a TO aa;
CREATE VIEW wzz AS SELECT * FROM wz;
CREATE SEQUENCE sv;
CREATE VIEW wsv AS SELECT nextval('sv');
DROP SEQUENCE sv; -- 2BP01
"""
"""Functions in FROM, and what stands in the way of what."""


@pytest.mark.parametrize("script", [QUERIES, DEPENDENTS], ids=["queries", "dependents"])
class TestScripts(AnnotatedScripts): ...


TABLES = "CREATE TABLE t (a int NOT NULL PRIMARY KEY, b text); CREATE TABLE u (b text, c int);"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT count(*), max(a) AS m, b::varchar, 1 FROM t GROUP BY b", "count m b ?column?"),
        ("SELECT * FROM t JOIN u USING (b)", "b a c"),
        ("SELECT * FROM t NATURAL JOIN u", "b a c"),
        ("SELECT u.*, t.a FROM t, u", "b c a"),
        ("SELECT * FROM (t JOIN u USING (b)) AS j (x)", "x a c"),
        ("SELECT * FROM (SELECT a, b FROM t) AS s (x)", "x b"),
        ("WITH q (x, y) AS (SELECT * FROM t) SELECT * FROM q", "x y"),
        ("WITH t AS (SELECT 1 AS own) SELECT * FROM t", "own"),
        ("WITH RECURSIVE q AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM q) SELECT * FROM q", "n"),
        ("SELECT a FROM t UNION SELECT c FROM u", "a"),
        ("VALUES (1, 2)", "column1 column2"),
        ("TABLE u", "b c"),
        ("SELECT CASE WHEN a = 1 THEN 2 END, coalesce(b, ''), EXISTS (SELECT 1) FROM t", "case coalesce exists"),
        ("SELECT (SELECT max(c) FROM u), nullif(1, 2), current_date, time '1:00'", "max nullif current_date time"),
        ("SELECT ARRAY[1], greatest(1, 2), (ARRAY[1])[1] AS x, now() AT TIME ZONE 'UTC'", "array greatest x timezone"),
        ("SELECT * FROM generate_series(1, 2) AS n, jsonb_each('{}') WITH ORDINALITY", "n key value ordinality"),
        ("SELECT * FROM json_to_record('{}') AS r (x int, y text)", "x y"),
    ],
)
def test_columns_are_named_as_the_server_names_them(query: str, names: str) -> None:
    for made in ("CREATE TABLE made AS", "CREATE VIEW made AS", "CREATE MATERIALIZED VIEW made AS"):
        assert columns(fold(f"{TABLES} {made} {query};"), "made") == names.split()


def test_plain_columns_casts_and_constants_keep_their_types() -> None:
    session = fold(
        f"{TABLES} CREATE TABLE made AS SELECT a, x.b, a::int8 AS c, 1 AS d, 'x' AS e, true AS f, 3000000000 AS g,"
        " 1.5 AS h, a + 1 AS i FROM t x;"
    )
    assert [column.type for column in relation(session, "made").columns] == [23, 25, 20, 23, 25, 16, 20, 1700, 23]


def test_create_table_as_brings_no_keys_and_no_not_null() -> None:
    session = fold(f"{TABLES} CREATE TABLE made AS SELECT * FROM t;")
    made = relation(session, "made")
    assert made.kind == "r"
    assert not any(column.not_null for column in made.columns)
    assert not session.catalog.indexes_of.get(made.oid)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM elsewhere",
        "SELECT * FROM some_function() s",
        "SELECT t.*, e.* FROM t, elsewhere e",
        "EXECUTE prepared (1)",
        "SELECT (f()).*",
    ],
)
def test_what_cannot_be_told_is_not_visible(query: str) -> None:
    session = fold(f"{TABLES} CREATE TABLE made AS {query};", complete=False)
    made = relation(session, "made")
    assert not made.seen
    assert made.columns == ()


def test_named_columns_of_an_unseen_table_are_known() -> None:
    session = fold("CREATE TABLE made AS SELECT e.a, b AS c FROM elsewhere e;", complete=False)
    assert relation(session, "made").seen
    assert columns(session, "made") == ["a", "c"]


def test_a_view_is_temporary_when_it_reads_a_temporary_table() -> None:
    session = fold("CREATE TEMP TABLE t AS SELECT 1 AS a; CREATE VIEW v AS SELECT * FROM t;")
    assert relation(session, "v").persistence == "t"
    assert outcomes("CREATE TEMP TABLE t AS SELECT 1 AS a; CREATE VIEW public.v AS SELECT * FROM t;")[-1] == "42P16"


def test_views_stand_in_the_way_of_what_they_read() -> None:
    made = f"{TABLES} CREATE VIEW v AS SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE c = a);"
    assert outcomes(f"{made} DROP TABLE u;")[-1] == "2BP01"
    assert outcomes(f"{made} ALTER TABLE u DROP COLUMN c;")[-1] == "2BP01"
    assert outcomes(f"{made} ALTER TABLE u DROP COLUMN b;")[-1] is None
    assert find(fold(f"{made} DROP TABLE u CASCADE;"), "v") is None


def test_a_replaced_view_forgets_what_the_former_one_read() -> None:
    made = f"{TABLES} CREATE VIEW v AS SELECT c FROM u; CREATE OR REPLACE VIEW v AS SELECT a AS c FROM t;"
    assert outcomes(f"{made} DROP TABLE u;")[-1] is None
    assert outcomes(f"{made} DROP TABLE t;")[-1] == "2BP01"


def test_an_unseen_relation_keeps_its_memberships_when_it_is_made() -> None:
    session = fold("CREATE PUBLICATION p FOR TABLE made; CREATE TABLE made AS SELECT 1 AS a;", complete=False)
    made = relation(session, "made")
    assert made.seen
    assert session.catalog.memberships.has(made.oid)


def test_what_was_said_of_an_unseen_relations_columns_holds_by_name() -> None:
    made = "CREATE PUBLICATION p FOR TABLE made (z, b, a) WHERE (b > 1);"
    session = fold(f"{made} CREATE TABLE made (a int PRIMARY KEY, b int);", complete=False)
    (entry,) = session.catalog.publication_rels.values()
    assert entry.columns == (1, 2)
    assert entry.filter is not None
    assert entry.filter.columns == (2,)


def test_an_unseen_relation_is_not_renamed_to_itself() -> None:
    session = fold("CREATE PUBLICATION p FOR TABLE made; ALTER TABLE made RENAME TO made;", complete=False)
    assert session.catalog.memberships.has(relation(session, "made").oid)


def test_deep_nesting_is_survived() -> None:
    query = "SELECT 1 AS a"
    for _ in range(60):
        query = f"SELECT * FROM ({query}) q"
    assert columns(fold(f"CREATE TABLE made AS {query};"), "made") == ["a"]
    unions = " UNION ALL ".join(["SELECT 1 AS a"] * 150)
    assert columns(fold(f"CREATE TABLE made AS {unions};"), "made") == ["a"]
