"""What name and type resolution asks of the unit's own objects: modifiers, collations, categories, volatilities."""

from __future__ import annotations

import pytest

from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.ddl.types import UNSEEN_COLLATION
from tests.postgres.ddl.agreement import fold, last
from tests.postgres.ddl.expected import ComparedScripts

SCRIPTS = {
    "columns": """
        CREATE COLLATION mine (provider = icu, locale = 'und');
        CREATE DOMAIN dt AS varchar(7) COLLATE "C";
        CREATE DOMAIN di AS numeric(4, 1)[];
        CREATE TYPE c AS (a varchar(3) COLLATE "C", b timestamp(2)[], d dt);
        CREATE TYPE e AS ENUM ('a');
        CREATE TABLE t (
          a varchar(20), b varchar, c char(5), d char, e "char", f bpchar, g text COLLATE "C", h text COLLATE "POSIX",
          i name, j name[], k text[] COLLATE "C", l varchar(4)[], m numeric, n numeric(5), o numeric(5,2), p
          numeric(3,-2), q timestamp(3), r timestamp(0) with time zone, s time(1), t timetz(6), u interval,
          v interval(2), w interval year to month, x interval second(3), y interval day to second, z bit,
          aa bit(7), ab bit varying,
          ac varbit(9), ad float(3), ae float(30), af dec(3,1)[], ag int[][], ah serial, ai bigserial, aj smallserial,
          ak dt, al dt[], am di, an c, ao c[], ap e, aq e[], ar text COLLATE mine, at dt COLLATE "default",
          au information_schema.sql_identifier, av information_schema.cardinal_number, aw national character(3),
          ax pg_catalog.varchar(3), ay oidvector, az numeric(3,0), ba timestamptz(2), bb int4range, bc citext); -- 42704
        CREATE TABLE t (
          a varchar(20), b varchar, c char(5), d char, e "char", f bpchar, g text COLLATE "C", h text COLLATE "POSIX",
          i name, j name[], k text[] COLLATE "C", l varchar(4)[], m numeric, n numeric(5), o numeric(5,2), p
          numeric(3,-2), q timestamp(3), r timestamp(0) with time zone, s time(1), t timetz(6), u interval,
          v interval(2), w interval year to month, x interval second(3), y interval day to second, z bit,
          aa bit(7), ab bit varying,
          ac varbit(9), ad float(3), ae float(30), af dec(3,1)[], ag int[][], ah serial, ai bigserial, aj smallserial,
          ak dt, al dt[], am di, an c, ao c[], ap e, aq e[], ar text COLLATE mine, at dt COLLATE "default",
          au information_schema.sql_identifier, av information_schema.cardinal_number, aw national character(3),
          ax pg_catalog.varchar(3), ay oidvector, az numeric(3,0), ba timestamptz(2), bb int4range);
        CREATE TABLE bad (a varchar(0)); -- 22023
        CREATE TABLE bad (a text(3)); -- 42601
        CREATE TABLE bad (a int COLLATE "C"); -- 42804
        CREATE TABLE bad (a numeric(2000)); -- 22023
        CREATE TABLE bad (a text COLLATE nowhere_to_be_found_1); -- 42704
        CREATE TABLE bad (a dt(3)); -- 42601
        CREATE TABLE l (LIKE t);
        CREATE TABLE i (bd int) INHERITS (t);
        CREATE TABLE o OF c;
        CREATE TABLE p (a varchar(3), b text COLLATE "C") PARTITION BY LIST (a);
        CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a');
        CREATE TABLE p2 (a varchar(4), b text COLLATE "C");
        ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN ('b'); -- 42804
        CREATE TABLE p3 (a varchar(3), b text);
        ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN ('c'); -- 42P21
        CREATE TABLE p4 (a varchar(3), b text COLLATE "C");
        ALTER TABLE p ATTACH PARTITION p4 FOR VALUES IN ('d');
        CREATE TABLE h (a varchar(3), b text COLLATE "C");
        CREATE TABLE h1 (a varchar(4)) INHERITS (h); -- 42804
        CREATE TABLE h1 (b text) INHERITS (h); -- 42P21
        CREATE TABLE h1 (a varchar(3), b text COLLATE "C") INHERITS (h);
        CREATE TABLE g (a varchar);
        CREATE TABLE h2 () INHERITS (h, g); -- 42804
        CREATE TABLE h3 () INHERITS (h);
        ALTER TABLE h3 ADD COLUMN n varchar(2);
        ALTER TABLE h ADD COLUMN n varchar(3); -- 42804
        ALTER TABLE h ADD COLUMN o varchar(3) COLLATE "C";
        ALTER TABLE h ALTER a TYPE varchar(9) COLLATE "POSIX";
        ALTER TABLE h ALTER o TYPE text;
        ALTER TABLE h ALTER b TYPE char;
        ALTER TABLE h ALTER b TYPE int COLLATE "C" USING 1; -- 42804
        ALTER TABLE h ALTER b TYPE int USING 1;
        ALTER TABLE h ALTER b TYPE varchar(0); -- 22023
        CREATE TABLE oo (a varchar(4) COLLATE "C", b timestamp(2)[], d dt);
        ALTER TABLE oo OF c; -- 42804
        ALTER TABLE oo ALTER a TYPE varchar(3);
        ALTER TABLE oo OF c; -- 42804
        ALTER TABLE oo ALTER a TYPE varchar(3) COLLATE "C";
        ALTER TABLE oo OF c;
        ALTER TYPE c ADD ATTRIBUTE f varchar(5) COLLATE "C" CASCADE;
        ALTER TYPE c ALTER ATTRIBUTE a TYPE varchar(8) CASCADE; -- 0A000
        DROP TABLE i, t;
        ALTER TYPE c ALTER ATTRIBUTE a TYPE varchar(8) CASCADE; -- 0A000
        ALTER TABLE o DROP COLUMN a; -- 42809
    """,
    "queries": """
        CREATE TABLE t (a varchar(20), b text COLLATE "C", c numeric(5,2)[], d timestamp(3), e int, f char(3));
        CREATE VIEW v AS SELECT a, b, c, d, e, f, t.a AS g, 1 AS h, 'x' AS i, 1.5 AS j, true AS k, NULL AS l,
          b::varchar(3) AS m, a::text AS n, 'x'::char(4) AS o, c::text AS p, 'x'::name AS q, e::varchar(3) AS r,
          NULL::numeric(4,1)[] AS s, b::varchar(3) COLLATE "POSIX" AS u FROM t;
        CREATE TABLE ct AS SELECT * FROM v;
        CREATE MATERIALIZED VIEW m AS SELECT * FROM ct;
        SELECT a, b INTO si FROM t;
        CREATE VIEW w AS SELECT a, b FROM t UNION SELECT f, b FROM t;
        CREATE VIEW w2 AS SELECT a, b FROM t UNION SELECT a, b FROM t;
        CREATE VIEW w3 AS SELECT a FROM t UNION ALL SELECT NULL;
        CREATE VIEW w4 AS SELECT a, b FROM t UNION SELECT a, a FROM t;
        CREATE VIEW w5 AS SELECT x.a, b FROM t AS x JOIN t AS y USING (b);
        CREATE VIEW w6 AS WITH q AS (SELECT a, d FROM t) SELECT * FROM q, (SELECT f FROM t) s;
        CREATE VIEW w7 AS VALUES (1, 'x');
        CREATE VIEW w8 AS SELECT (SELECT a FROM t LIMIT 1);
        CREATE VIEW v2 AS SELECT a FROM t;
        CREATE OR REPLACE VIEW v2 AS SELECT a::varchar(21) FROM t; -- 42P16
        CREATE OR REPLACE VIEW v2 AS SELECT a::varchar(20), b FROM t
    """,
    "types": """
        CREATE DOMAIN d AS varchar(5) COLLATE "C" CHECK (value <> '');
        CREATE DOMAIN d2 AS d NOT NULL;
        CREATE DOMAIN di AS int COLLATE "C"; -- 42804
        CREATE DOMAIN da AS int[];
        CREATE DOMAIN dn AS text[] COLLATE "C";
        CREATE TYPE e AS ENUM ('a');
        CREATE DOMAIN de AS e;
        CREATE TYPE c AS (a varchar(3));
        CREATE DOMAIN dc AS c;
        CREATE DOMAIN d3 AS int4range;
        CREATE DOMAIN d4 AS box;
        CREATE DOMAIN d5 AS name;
        CREATE DOMAIN d6 AS information_schema.cardinal_number;
        CREATE DOMAIN d7 AS jsonb;
        CREATE DOMAIN d8 AS anyelement; -- 42804
        CREATE DOMAIN d9 AS numeric(9, 2);
        CREATE DOMAIN d10 AS varchar(0); -- 22023
        CREATE TYPE rt AS RANGE (subtype = text, collation = "C");
        CREATE TYPE rt2 AS RANGE (subtype = text);
        CREATE TYPE ri AS RANGE (subtype = int, collation = "C"); -- 42809
        CREATE TYPE rd AS RANGE (subtype = d);
        CREATE TYPE sh;
        CREATE FUNCTION sh_in(cstring) RETURNS sh LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
        CREATE FUNCTION sh_out(sh) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
        CREATE TYPE sh (input = sh_in, output = sh_out, like = int4, category = 'N', preferred);
        CREATE TYPE s2;
        CREATE FUNCTION s2_in(cstring) RETURNS s2 LANGUAGE internal IMMUTABLE STRICT AS 'textin';
        CREATE FUNCTION s2_out(s2) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
        CREATE TYPE s2 (input = s2_in, output = s2_out, like = text, collatable = true);
        CREATE TYPE s3;
        CREATE FUNCTION s3_in(cstring) RETURNS s3 LANGUAGE internal IMMUTABLE STRICT AS 'textin';
        CREATE FUNCTION s3_out(s3) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
        CREATE TYPE s3 (input = s3_in, output = s3_out, internallength = 16, element = float8, category = 'é'); -- 22023
        CREATE TYPE s3 (input = s3_in, output = s3_out, internallength = 16, element = float8);
        CREATE TYPE s4;
        CREATE DOMAIN ds AS s2;
        CREATE DOMAIN dsh AS sh;
        CREATE DOMAIN dd AS d2 CHECK (value <> 'x');
        CREATE COLLATION k FROM "C";
        CREATE COLLATION k2 (provider = icu, locale = 'und', deterministic = false);
        CREATE COLLATION k3 FROM k2;
        CREATE COLLATION k4 FROM "default"; -- 42P17
        CREATE COLLATION k4 (locale = 'C', deterministic = false); -- 0A000
        CREATE COLLATION IF NOT EXISTS k FROM k2;
        CREATE COLLATION k FROM "C"; -- 42710
        ALTER COLLATION k RENAME TO kk;
        CREATE SCHEMA s;
        ALTER COLLATION kk SET SCHEMA s
    """,
    "functions": """
        CREATE TYPE c AS (a int, b text);
        CREATE FUNCTION one(a int, OUT b int, OUT c text) LANGUAGE sql AS 'SELECT 1, ''x''';
        CREATE FUNCTION two(a int DEFAULT 1, INOUT b text DEFAULT 'x') LANGUAGE sql IMMUTABLE AS 'SELECT ''x''';
        CREATE FUNCTION three() RETURNS TABLE (a int, b c[]) LANGUAGE sql STABLE AS 'SELECT 1, NULL::c[]';
        CREATE FUNCTION four(VARIADIC a text[]) RETURNS SETOF c LANGUAGE sql STRICT AS 'SELECT 1, ''x''';
        CREATE FUNCTION five(VARIADIC a anyarray, OUT b anyelement) LANGUAGE sql AS 'SELECT a[1]';
        ALTER FUNCTION one IMMUTABLE;
        ALTER FUNCTION one(int) RENAME TO eins;
        CREATE SCHEMA s;
        ALTER FUNCTION eins SET SCHEMA s;
        ALTER FUNCTION s.eins(int) STABLE STRICT;
        ALTER FUNCTION lower(text) VOLATILE;
        ALTER FUNCTION pg_catalog.upper(text) STABLE CALLED ON NULL INPUT;
        ALTER FUNCTION upper(int) VOLATILE; -- 42883
        ALTER FUNCTION abs VOLATILE; -- 42725
        ALTER FUNCTION lower(text) IMMUTABLE;
        BEGIN;
        ALTER FUNCTION initcap(text) VOLATILE;
        ROLLBACK;
        CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
        ALTER FUNCTION lower(text) STABLE;
        CREATE FUNCTION length(c) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
        ALTER FUNCTION length(c) STABLE;
        DROP FUNCTION lower(text); -- 2BP01
        CREATE FUNCTION pg_catalog.reverse(text) RETURNS text LANGUAGE sql AS 'SELECT $1'; -- 42723
        CREATE OR REPLACE FUNCTION pg_catalog.reverse(text) RETURNS int LANGUAGE sql AS 'SELECT 1'; -- 42P13
        CREATE OR REPLACE FUNCTION pg_catalog.reverse(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1';
        DROP FUNCTION nosuch(text); -- 42883
        CREATE AGGREGATE ag1 (int) (sfunc = int4pl, stype = int);
        CREATE AGGREGATE ag2 (float8) (sfunc = float8_accum, stype = float8[], finalfunc = float8_avg,
          initcond = '{0,0,0}');
        CREATE AGGREGATE ag3 (int) (sfunc = int4_avg_accum, stype = bigint[], finalfunc = int8_avg,
          initcond = '{0,0}')
    """,
    "operators": """
        CREATE TYPE e AS ENUM ('a');
        CREATE FUNCTION f(int, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
        CREATE FUNCTION g(text, int) RETURNS bool LANGUAGE sql AS 'SELECT true';
        CREATE OPERATOR === (leftarg = int, rightarg = text, function = f, commutator = ====, negator = !===);
        CREATE OPERATOR ==== (leftarg = text, rightarg = int, function = g, commutator = ===);
        CREATE OPERATOR ==== (leftarg = text, rightarg = int, function = g); -- 42723
        CREATE OPERATOR !=== (leftarg = int, rightarg = text, function = f, negator = ===);
        CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq, commutator = ===, negator = !==);
        CREATE OPERATOR !== (leftarg = int, rightarg = int, function = int4ne, commutator = !==, negator = ===);
        CREATE OPERATOR @@@ (rightarg = int, function = int4um);
        CREATE OPERATOR @@@@ (rightarg = int, function = pg_catalog.int4um, commutator = @@@@); -- 42P13
        CREATE OPERATOR ## (leftarg = int, rightarg = text, function = int4eq); -- 42883
        CREATE OPERATOR ## (leftarg = e, rightarg = e, function = enum_eq); -- 42883
        CREATE OPERATOR ## (leftarg = int, rightarg = int, function = int4eq, negator = ##); -- 42P13
        CREATE OPERATOR ## (leftarg = int, rightarg = int, function = int4pl, negator = #-#); -- 42P13
        CREATE OPERATOR ## (leftarg = int, rightarg = int, function = int4pl);
        CREATE SCHEMA s;
        CREATE OPERATOR s.= (leftarg = int, rightarg = int, function = int4eq, commutator = operator(s.=),
          negator = operator(s.<>));
        CREATE OPERATOR <~> (leftarg = anyelement, rightarg = anyelement, function = nosuch); -- 42883
        DROP OPERATOR s.= (int, int);
        ALTER OPERATOR ## (int, int) SET SCHEMA s
    """,
    "operator classes": """
        CREATE TYPE c AS (a int);
        CREATE TYPE e AS ENUM ('a');
        CREATE FUNCTION ccmp(c, c) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE FUNCTION clt(c, c) RETURNS bool LANGUAGE sql AS 'SELECT true';
        CREATE FUNCTION chash(c) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE OPERATOR <<< (leftarg = c, rightarg = c, function = clt);
        CREATE OPERATOR CLASS oc DEFAULT FOR TYPE c USING btree AS OPERATOR 1 <<<, FUNCTION 1 ccmp(c, c);
        CREATE OPERATOR CLASS oc2 DEFAULT FOR TYPE c USING btree AS OPERATOR 1 <<<, FUNCTION 1 ccmp(c, c); -- 42710
        CREATE OPERATOR CLASS oc FOR TYPE c USING hash AS OPERATOR 1 <<< (c, c), FUNCTION 1 chash(c);
        CREATE OPERATOR FAMILY f USING btree;
        CREATE OPERATOR CLASS oc3 FOR TYPE c USING btree FAMILY f AS OPERATOR 1 <<<, FUNCTION 1 (c, c) ccmp(c, c);
        CREATE OPERATOR CLASS oc4 FOR TYPE c USING btree AS OPERATOR 1 <<<, FUNCTION 1 nosuch(c, c); -- 42883
        CREATE OPERATOR CLASS oc4 FOR TYPE c USING btree AS OPERATOR 1 <<<!; -- 42883
        CREATE OPERATOR CLASS o DEFAULT FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=; -- 42710
        CREATE OPERATOR CLASS oc6 DEFAULT FOR TYPE e USING btree AS OPERATOR 1 < (e, e); -- 42883
        DROP OPERATOR CLASS oc3 USING btree;
        DROP OPERATOR FAMILY f USING btree
    """,
    "casts": """
        CREATE TYPE e AS ENUM ('a');
        CREATE TYPE c AS (a int);
        CREATE DOMAIN d AS int;
        CREATE FUNCTION e_int(e) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE FUNCTION e_many(e, int, bool, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE FUNCTION e_three(e, int, bool) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
        CREATE FUNCTION e_wrong(e, text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
        CREATE FUNCTION e_set(e) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1::bigint';
        CREATE CAST (e AS int) WITH FUNCTION e_int(e) AS IMPLICIT;
        CREATE CAST (e AS int) WITH INOUT; -- 42710
        CREATE CAST (e AS bigint) WITH FUNCTION e_many(e, int, bool, int); -- 42P17
        CREATE CAST (e AS bigint) WITH FUNCTION e_wrong(e, text); -- 42P17
        CREATE CAST (e AS bigint) WITH FUNCTION e_set(e); -- 42P17
        CREATE CAST (e AS bigint) WITH FUNCTION e_int(e); -- 42P17
        CREATE CAST (e AS bigint) WITH FUNCTION e_three(e, int, bool) AS ASSIGNMENT;
        CREATE CAST (int4range AS text) WITHOUT FUNCTION; -- 17: 42P17, 18: 42P17
        CREATE CAST (int4multirange AS text) WITHOUT FUNCTION; -- 17: 42P17, 18: 42P17
        CREATE CAST (int AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (int AS oid) WITHOUT FUNCTION; -- 42710
        CREATE CAST (text AS int4) WITH FUNCTION hashtext(text);
        CREATE CAST (bool AS text) WITH FUNCTION hashtext(text); -- 42P17
        CREATE CAST (text AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (text AS anyarray) WITH INOUT; -- 42809
        CREATE CAST (d AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (d AS text) WITH INOUT;
        CREATE CAST (e AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (c AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (int[] AS text) WITHOUT FUNCTION; -- 42P17
        CREATE CAST (varchar AS int4) WITH FUNCTION hashtext(text) AS IMPLICIT;
        CREATE CAST (int8 AS varchar) WITH FUNCTION lower(text); -- 42P17
        CREATE CAST (text AS xml) WITHOUT FUNCTION; -- 42710
        CREATE CAST (int4 AS date) WITHOUT FUNCTION;
        CREATE CAST (xml AS varchar) WITHOUT FUNCTION; -- 42710
        CREATE CAST (int4 AS text) WITH FUNCTION nosuch(int4); -- 42883
        DROP CAST (varchar AS int4);
        DROP CAST (int4 AS int8); -- 2BP01
        DROP CAST (varchar AS int4); -- 42704
        DROP CAST IF EXISTS (varchar AS int4)
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(ComparedScripts): ...


def columns(script: str, table: str, major: int = 18, *, complete: bool = True) -> dict[str, Column]:
    """The live columns of a table after a script, by name."""
    session, _ = fold(script, major, complete=complete)
    (row,) = (row for row in session.catalog.relations.values() if row.name == table)
    return {column.name: column for column in row.live()}


def test_a_generated_column_keeps_its_expression_wherever_it_goes() -> None:
    made = "CREATE TABLE t (a int, v int GENERATED ALWAYS AS (t.a + 1) VIRTUAL, s int GENERATED ALWAYS AS (a) STORED);"
    tree = columns(made, "t")["v"].tree
    assert "'fields': [{'String': {'sval': 'a'}}]" in str(tree)
    stored = columns(made, "t")["s"].tree
    assert stored is not None
    for more in (
        "CREATE TABLE c () INHERITS (t)",
        "CREATE TABLE c (a int); CREATE TABLE u (a int, v int GENERATED ALWAYS AS (a + 2)); ALTER TABLE c INHERIT u;"
        "DROP TABLE c; CREATE TABLE c (LIKE t INCLUDING GENERATED)",
        "ALTER TABLE t RENAME TO c",
    ):
        assert columns(made + more, "c")["v"].tree == tree
        assert columns(made + more, "c")["s"].tree == stored
    assert columns(made + "CREATE TABLE c (LIKE t)", "c")["v"].tree is None


def test_the_expression_of_a_virtual_column_follows_what_is_altered() -> None:
    made = (
        "CREATE TABLE p (a int, b int, v int GENERATED ALWAYS AS (a + 1)) PARTITION BY LIST (b);"
        "CREATE TABLE c PARTITION OF p FOR VALUES IN (1);"
    )
    for table in ("p", "c"):
        after = columns(f"{made} ALTER TABLE p RENAME a TO z", table)["v"]
        assert "{'sval': 'z'}" in str(after.tree)
        assert "{'sval': 'a'}" not in str(after.tree)
        after = columns(f"{made} ALTER TABLE p ALTER v SET EXPRESSION AS (b * 2)", table)["v"]
        assert "{'sval': '*'}" in str(after.tree)
        assert after.expression == ("b",)
    own = "CREATE TABLE d PARTITION OF p (v GENERATED ALWAYS AS (b)) FOR VALUES IN (2);"
    assert columns(made + own, "d")["v"].expression == ("b",)


def test_a_deep_expression_is_kept() -> None:
    deep = " + ".join(["a"] * 2000)
    assert columns(f"CREATE TABLE t (a int, v int GENERATED ALWAYS AS ({deep}))", "t")["v"].tree is not None


def test_a_collation_that_depends_on_the_build_is_not_visible() -> None:
    made = 'CREATE TABLE t (a text COLLATE "de_DE", b text[] COLLATE "en-x-icu", c text)'
    assert [column.collation for column in columns(made, "t").values()] == [UNSEEN_COLLATION, UNSEEN_COLLATION, 100]
    elsewhere = "CREATE TABLE t (a text COLLATE mine, b text COLLATE s.mine, c nosuch COLLATE mine)"
    types = columns(elsewhere, "t", complete=False)
    assert [column.collation for column in types.values()] == [UNSEEN_COLLATION] * 3
    assert last("CREATE TABLE t (a text COLLATE mine)").sqlstate == "42704"


def test_whether_a_domain_is_checked_follows_its_constraints_and_its_base() -> None:
    made = "CREATE DOMAIN d AS int CONSTRAINT c CHECK (value > 0); CREATE DOMAIN e AS d; CREATE DOMAIN f AS e;"

    def checked(script: str) -> list[bool]:
        session, _ = fold(made + script)
        return [row.checked for row in session.catalog.types.values() if row.kind == "d"]

    assert checked("") == [True] * 3
    assert checked("ALTER DOMAIN d DROP CONSTRAINT c") == [False] * 3
    assert checked("ALTER DOMAIN d DROP CONSTRAINT c; ALTER DOMAIN e ADD CHECK (value < 9)") == [False, True, True]
    assert checked("ALTER DOMAIN d ADD CHECK (value < 9); ALTER DOMAIN d DROP CONSTRAINT c") == [True] * 3
    assert checked("BEGIN; ALTER DOMAIN d DROP CONSTRAINT c; ROLLBACK") == [True] * 3


def test_an_altered_built_in_function_is_a_row_until_it_is_rolled_back() -> None:
    session, _ = fold("ALTER FUNCTION lower(text) VOLATILE; BEGIN; ALTER FUNCTION upper(text) VOLATILE; ROLLBACK")
    assert [(row.name, row.volatility) for row in session.catalog.procs.values()] == [("lower", "v")]
    assert {row.volatility for _, row in session.syscache.procs(["lower"]) if row.arguments == (25,)} == {"v"}


def test_modifiers_of_types_that_are_not_visible_are_unknown() -> None:
    types = columns("CREATE TABLE t (a s.geometry(Point, 4326), b nosuch(3)[])", "t", complete=False)
    assert [(column.type, column.typmod) for column in types.values()] == [(0, -1), (0, -1)]


def test_a_default_operator_class_says_how_values_are_compared() -> None:
    made = (
        "CREATE TYPE c AS (a int); CREATE FUNCTION ccmp(c, c) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE FUNCTION clt(c, c) RETURNS bool LANGUAGE sql AS 'SELECT true';"
        "CREATE OPERATOR <<< (leftarg = c, rightarg = c, function = clt);"
        "CREATE OPERATOR CLASS oc DEFAULT FOR TYPE c USING btree AS OPERATOR 1 <<<, FUNCTION 1 ccmp(c, c);"
    )
    session, _ = fold(made)
    (operator,) = session.catalog.operators
    (of_type,) = (row.oid for row in session.catalog.types.values() if row.name == "c")
    assert session.syscache.type_cache(of_type).lt == operator
    session, _ = fold(made + "DROP OPERATOR CLASS oc USING btree")
    assert session.syscache.type_cache(of_type).lt != operator
