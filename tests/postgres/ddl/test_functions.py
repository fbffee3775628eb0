"""CREATE FUNCTION, PROCEDURE, AGGREGATE, OPERATOR, CAST, TRIGGER, and how they are named afterwards."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.agreement import fold, last
from tests.postgres.ddl.expected import ComparedScripts
from tests.support.linting import lint

SCRIPTS = {
    "functions": """
        CREATE TABLE t (id int, a int);
        CREATE FUNCTION f(a int, INOUT b text DEFAULT 'x') LANGUAGE sql IMMUTABLE STRICT AS 'select ''x''';
        CREATE FUNCTION f(a int, b text) RETURNS int LANGUAGE sql AS 'select 1'; -- 42723
        CREATE FUNCTION f(int) RETURNS SETOF int LANGUAGE sql STABLE AS 'select 1';
        CREATE FUNCTION g(VARIADIC x int[]) RETURNS t LANGUAGE sql AS 'select null::t';
        CREATE FUNCTION h(x t) RETURNS TABLE (a int, b text) LANGUAGE sql AS 'select 1, ''x''';
        CREATE FUNCTION h2(OUT a int, OUT b int) LANGUAGE sql AS 'select 1, 2';
        CREATE FUNCTION h3(t.a%TYPE) RETURNS t.a%TYPE LANGUAGE sql RETURN 1;
        CREATE FUNCTION h4() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM t; END;
        CREATE PROCEDURE pr(a int, INOUT b int) LANGUAGE sql AS 'select 1';
        CREATE PROCEDURE pr2() LANGUAGE sql AS '';
        CREATE FUNCTION bad(a int DEFAULT 1, b int) RETURNS int LANGUAGE sql AS 'select 1'; -- 42P13
        CREATE FUNCTION bad(a int) LANGUAGE sql AS 'select 1'; -- 42P13
        CREATE OR REPLACE FUNCTION f(int) RETURNS SETOF int LANGUAGE sql IMMUTABLE AS 'select 2';
        CREATE OR REPLACE FUNCTION f(int) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS 'select ''x'''; -- 42P13
        CREATE OR REPLACE PROCEDURE f(int) LANGUAGE sql AS ''; -- 42809
        CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end';
        CREATE TRIGGER tr BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION trg();
        CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION trg(); -- 42710
        CREATE OR REPLACE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a <> 1) EXECUTE FUNCTION trg();
        CREATE AGGREGATE ag(int) (sfunc = int4pl, stype = int4, initcond = '0');
        CREATE AGGREGATE ag(*) (sfunc = int8inc, stype = int8, initcond = '0');
        CREATE AGGREGATE ag2 (basetype = 'ANY', sfunc = int8inc, stype = int8, initcond = '0');
        CREATE FUNCTION tt(t, t) RETURNS bool LANGUAGE sql IMMUTABLE AS 'select true';
        CREATE OPERATOR === (leftarg = t, rightarg = t, procedure = tt);
        CREATE OPERATOR === (leftarg = t, rightarg = t, procedure = tt); -- 42723
        CREATE OPERATOR !! (rightarg = int, procedure = int4abs);
        CREATE OPERATOR !! (leftarg = int, procedure = int4abs); -- 42P13
        CREATE TYPE e AS ENUM ('a');
        CREATE FUNCTION e2i(e) RETURNS int LANGUAGE sql AS 'select 1';
        CREATE CAST (e AS int) WITH FUNCTION e2i(e);
        CREATE CAST (e AS int) WITH FUNCTION e2i(e); -- 42710
        DROP FUNCTION f; -- 42725
        DROP FUNCTION g(int[]);
        DROP FUNCTION tt(t,t); -- 2BP01
        DROP FUNCTION trg; -- 2BP01
        DROP FUNCTION pr(int,int); -- 42809
        DROP PROCEDURE pr(int, int);
        DROP FUNCTION ag(int); -- 42809
        DROP AGGREGATE ag(*);
        DROP FUNCTION e2i; -- 2BP01
        DROP TYPE e; -- 2BP01
        DROP FUNCTION nope(); -- 42883
        DROP FUNCTION IF EXISTS nope();
        DROP ROUTINE pr2;
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        DROP TRIGGER tr ON t;
        DROP TRIGGER tr ON t; -- 42704
        ALTER TABLE t DROP COLUMN a;
        DROP TABLE t; -- 2BP01
        ALTER FUNCTION f(int) VOLATILE STRICT;
        ALTER FUNCTION f(int) RENAME TO h4;
        ALTER FUNCTION h4() RENAME TO h3;
        ALTER FUNCTION h4() RENAME TO h2; -- 42883
        CREATE SCHEMA s;
        ALTER FUNCTION f(int, text) SET SCHEMA s;
        ALTER OPERATOR === (t, t) SET SCHEMA s;
        ALTER TYPE e SET SCHEMA s;
        DROP SCHEMA s; -- 2BP01
        DROP CAST (s.e AS int);
        DROP FUNCTION e2i;
        DROP FUNCTION trg();
        DROP OPERATOR s.=== (t, t);
        DROP OPERATOR !! (NONE, int);
        DROP OPERATOR === (t,t); -- 42883
        DROP TABLE t CASCADE;
    """,
    "functions in expressions": """
        CREATE FUNCTION f() RETURNS int LANGUAGE sql IMMUTABLE AS 'select 1';
        CREATE TABLE t (a int);
        CREATE DOMAIN d AS int CHECK (value > f());
        CREATE DOMAIN d2 AS int DEFAULT f();
        CREATE POLICY po ON t USING (a > f());
        DROP FUNCTION f; -- 2BP01
        DROP FUNCTION f CASCADE;
        DROP DOMAIN d;
        DROP DOMAIN d2; -- 42704
    """,
    "the order of parameters": """
        CREATE PROCEDURE p1(INOUT p text, s text DEFAULT 'old', OUT d boolean) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE PROCEDURE p2(a int DEFAULT 1, OUT b int) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f2(a int DEFAULT 1, OUT b int) LANGUAGE plpgsql AS 'BEGIN END';
        CREATE PROCEDURE p3(a int DEFAULT 1, INOUT b int) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE PROCEDURE p4(a int DEFAULT 1, INOUT b int DEFAULT 2) LANGUAGE plpgsql AS 'BEGIN END';
        CREATE PROCEDURE p5(OUT b int DEFAULT 2) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f5(OUT b int DEFAULT 2) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE PROCEDURE p6(VARIADIC a int[], OUT b int) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f6(VARIADIC a int[], OUT b int) LANGUAGE plpgsql AS 'BEGIN END';
        CREATE FUNCTION f7(VARIADIC a int[], b int) RETURNS int LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f8(VARIADIC a int[], INOUT b int) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f9(VARIADIC a int[], VARIADIC b int[]) RETURNS int LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
        CREATE FUNCTION f10(VARIADIC a int[]) RETURNS TABLE (b int) LANGUAGE plpgsql AS 'BEGIN END';
        CREATE PROCEDURE p11(VARIADIC a int[], INOUT b int) LANGUAGE plpgsql AS 'BEGIN END'; -- 42P13
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(ComparedScripts): ...


FUNCTION = "CREATE FUNCTION f(a int, b text DEFAULT 'x') RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; "


def test_function_is_known_by_its_input_arguments() -> None:
    assert last(FUNCTION + FUNCTION).sqlstate == "42723"
    assert last(FUNCTION + FUNCTION.replace("a int", "a bigint")).sqlstate is None
    session, told = fold(FUNCTION + FUNCTION.replace("CREATE", "CREATE OR REPLACE").replace("IMMUTABLE", "STABLE"))
    assert told[-1].sqlstate is None
    (row,) = session.catalog.procs.values()
    assert (row.volatility, row.defaults, row.argument_names, row.modes) == ("s", 1, ("a", "b"), ("i", "i"))


def test_functions_of_types_that_are_not_visible_may_differ_in_them() -> None:
    told = last(
        "CREATE FUNCTION f(x citext) RETURNS int LANGUAGE sql AS 'SELECT 1'; "
        "CREATE FUNCTION f(x hstore) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        complete=False,
    )
    assert told.sqlstate is None


def test_altered_volatility_is_kept() -> None:
    session, _ = fold(FUNCTION + "ALTER FUNCTION f(int, text) VOLATILE STRICT")
    (row,) = session.catalog.procs.values()
    assert (row.volatility, row.strict) == ("v", True)


def test_operator_knows_its_function() -> None:
    session, _ = fold(
        "CREATE FUNCTION f(int, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; "
        "CREATE OPERATOR === (leftarg = int, rightarg = text, procedure = f); "
        "CREATE OPERATOR !== (leftarg = int, rightarg = int, procedure = int4ne)"
    )
    catalog = session.catalog
    (function,) = catalog.procs
    assert {(row.name, row.function, row.returns) for row in catalog.operators.values()} == {
        ("===", function, 16),
        ("!==", 144, 16),
    }


def test_policy_and_trigger_hold_the_columns_they_read() -> None:
    first = "CREATE TABLE t (a int, b int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'; "
    told = last(first + "CREATE POLICY p ON t USING (a > 0); ALTER TABLE t DROP COLUMN a")
    assert told.detail == "policy p on table t depends on column a of table t"
    told = last(first + "CREATE TRIGGER x BEFORE UPDATE OF b ON t EXECUTE FUNCTION f(); ALTER TABLE t DROP COLUMN b")
    assert told.detail == "trigger x on table t depends on column b of table t"
    assert last(first + "CREATE TRIGGER x BEFORE UPDATE ON t EXECUTE FUNCTION f(); DROP FUNCTION f").detail == (
        "trigger x on table t depends on function f()"
    )


def test_member_of_an_extension_goes_with_it_only() -> None:
    first = "CREATE EXTENSION e; CREATE TABLE t (a int); ALTER EXTENSION e ADD TABLE t; "
    told = last(first + "DROP TABLE t")
    assert told.message == "cannot drop table t because extension e requires it"
    session, _ = fold(first + "DROP EXTENSION e")
    assert not session.catalog.relations


ODD = """
    CREATE FUNCTION a.b.c() RETURNS int AS 'x' LANGUAGE sql; CREATE FUNCTION f(nosuch, VARIADIC "any") RETURNS x
    LANGUAGE c AS 'y'; CREATE FUNCTION f(nosuch.col%TYPE) RETURNS t.a%TYPE LANGUAGE sql RETURN 1; CREATE FUNCTION
    g(VARIADIC int) RETURNS int AS '' LANGUAGE sql; CREATE FUNCTION h(a int, a int) RETURNS int AS '' LANGUAGE sql;
    CREATE FUNCTION i(OUT a int) RETURNS text AS '' LANGUAGE sql; CREATE FUNCTION j() RETURNS SETOF record BEGIN
    ATOMIC WITH x AS (SELECT 1) SELECT * FROM x, nosuch; DELETE FROM y; END; CREATE PROCEDURE p(OUT a int, INOUT b
    nosuch) LANGUAGE plpgsql AS ''; ALTER PROCEDURE p RESET ALL; ALTER ROUTINE nosuch COST 5; ALTER FUNCTION
    nosuch(int) STRICT; ALTER AGGREGATE p(int) OWNER TO x; CREATE CAST (nosuch AS int) WITHOUT FUNCTION; CREATE CAST
    (int AS int) WITHOUT FUNCTION; CREATE CAST (int AS text) WITH FUNCTION nosuch(int); CREATE CAST (int AS date) WITH
    INOUT; CREATE TRIGGER x AFTER INSERT ON nosuch EXECUTE FUNCTION s.f('a', 1); CREATE POLICY p ON nosuch USING (a IN
    (SELECT b FROM c)); CREATE RULE r AS ON SELECT TO v DO INSTEAD SELECT 1; CREATE RULE r AS ON INSERT TO nosuch
    WHERE new.a > 0 DO ALSO NOTIFY x; CREATE STATISTICS s ON a, (b + 1) FROM nosuch; CREATE STATISTICS s2 ON a, b FROM
    x, y; CREATE STATISTICS IF NOT EXISTS s ON a, b FROM z; CREATE STATISTICS ON a, ctid FROM nosuch; CREATE EXTENSION
    IF NOT EXISTS x SCHEMA nosuch VERSION '1' CASCADE; CREATE EXTENSION x; ALTER EXTENSION x ADD FUNCTION nosuch();
    ALTER EXTENSION x DROP TABLE nosuch; ALTER EXTENSION nosuch ADD SCHEMA s; ALTER EXTENSION x ADD CAST (int AS
    date); ALTER EXTENSION x ADD TYPE int; ALTER EXTENSION x ADD OPERATOR + (int, int)
"""


@pytest.mark.parametrize("complete", [True, False])
def test_odd_statements_are_survived(complete: bool) -> None:
    fold(ODD, complete=complete)


def test_what_a_function_that_is_not_seen_does_to_the_table_it_is_given_is_not_known() -> None:
    # TimescaleDB's create_hypertable makes the time column NOT NULL.
    made = "CREATE TABLE t (at timestamptz, x int); CREATE UNIQUE INDEX i ON t (at); CREATE TABLE u (x int);"
    used = "ALTER TABLE t REPLICA IDENTITY USING INDEX i; ALTER TABLE u REPLICA IDENTITY USING INDEX j;"
    findings = lint(f"{made} CREATE UNIQUE INDEX j ON u (x); SELECT create_hypertable('t', 'at'); {used}")
    refused = [
        (finding.server.message, finding.certainty)
        for finding in findings
        if finding.server is not None and finding.phase == "ddl"
    ]
    assert refused == [
        ('index "i" cannot be used as replica identity because column "at" is nullable', "assumed"),
        ('index "j" cannot be used as replica identity because column "x" is nullable', "certain"),
    ]
