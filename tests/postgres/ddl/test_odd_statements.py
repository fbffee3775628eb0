"""Any valid SQL is survived, in any order: a statement is applied or refused, and nothing else ever happens."""

from __future__ import annotations

import random

import pytest
from pglast.parser import split

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.session import Session
from tests.postgres.ddl import test_roles, test_sequences, test_settings, test_views
from tests.postgres.ddl.support import play

ODD = """
CREATE VIEW v AS SELECT t.*, (t).*, (t.c).*, t.c[1].d, s.t.c, db.s.t.c FROM t;
CREATE VIEW v AS SELECT * FROM nosuch.t NATURAL JOIN x.y;
CREATE VIEW v AS SELECT * FROM a FULL JOIN (b CROSS JOIN c) USING (q) AS j;
CREATE VIEW v AS SELECT * FROM t TABLESAMPLE bernoulli(1), LATERAL f(t.a) WITH ORDINALITY;
CREATE TABLE x AS SELECT * FROM ROWS FROM (f(1), g() AS (a int)) r;
CREATE TABLE x AS SELECT * FROM json_table(j, '$' COLUMNS (a int)) jt, t;
CREATE TABLE x AS SELECT FROM t;
CREATE TABLE x AS WITH m AS (MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE RETURNING merge_action(),
    t.*) SELECT * FROM m;
CREATE TABLE x AS WITH m AS (UPDATE t SET a=1 RETURNING old.a, new.a, *) SELECT * FROM m;
CREATE TABLE x AS WITH m AS (DELETE FROM t) SELECT 1 AS a;
CREATE TABLE x AS EXECUTE y;
CREATE TABLE x AS SELECT a.b.c.d.e FROM t;
CREATE TABLE x AS SELECT 'a'::nosuch, 'b'::a.b.c, 'c'::t.a%TYPE;
CREATE TABLE x AS SELECT $1;
CREATE TABLE x AS SELECT GROUPING(a), count(*) FILTER (WHERE b) OVER w FROM t GROUP BY GROUPING SETS ((a),
    ROLLUP(b, c), CUBE(d)) WINDOW w AS (PARTITION BY a);
CREATE TABLE db.s.t AS SELECT 1 a;
CREATE TABLE pg_temp.t AS SELECT 1 a;
CREATE TABLE pg_catalog.t AS SELECT 1 a;
CREATE VIEW pg_temp.v AS SELECT 1 a;
CREATE VIEW information_schema.v AS SELECT * FROM information_schema.columns, pg_catalog.pg_attribute;
CREATE SEQUENCE s OWNED BY a.b.c.d;
CREATE SEQUENCE s OWNED BY x;
CREATE SEQUENCE s OWNED BY a.b.c.d.e;
ALTER SEQUENCE pg_temp.s OWNED BY NONE;
CREATE SEQUENCE information_schema.s;
SET search_path TO pg_temp, pg_catalog, "$user";
CREATE TABLE y AS SELECT 1 a;
SET ROLE nobody;
RESET ROLE;
SET SESSION AUTHORIZATION 'x';
SET search_path TO 1, 2.5, on, '"';
SET a.b TO c;
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;
SET TRANSACTION SNAPSHOT 'x';
SET XML OPTION DOCUMENT;
SET NAMES 'utf8';
SET SEED TO 0.5;
SELECT set_config();
SELECT set_config('role');
SELECT set_config(NULL, NULL, NULL);
SELECT set_config('role', 'x', 'no');
SELECT set_config(VARIADIC ARRAY['a','b']);
SELECT pg_catalog.set_config('search_path', 'a.b,c', 't'::bool);
SELECT 1 INTO a.b UNION SELECT 2;
VALUES (1);
TABLE x;
WITH a AS (INSERT INTO t VALUES (1)) SELECT 1 INTO z;
CREATE SCHEMA AUTHORIZATION CURRENT_ROLE;
CREATE SCHEMA AUTHORIZATION SESSION_USER CREATE TABLE q(a int);
CREATE SCHEMA IF NOT EXISTS zz;
CREATE SCHEMA zz GRANT SELECT ON x TO y CREATE TRIGGER t AFTER INSERT ON x EXECUTE FUNCTION f();
GRANT CREATE ON SCHEMA a, b, pg_catalog TO PUBLIC, CURRENT_USER, SESSION_USER, x WITH GRANT OPTION;
REVOKE GRANT OPTION FOR ALL PRIVILEGES ON SCHEMA a FROM x CASCADE;
GRANT ALL ON ALL TABLES IN SCHEMA a TO x;
GRANT SET ON PARAMETER work_mem TO x;
GRANT ALL ON FUNCTION f(int) TO x GRANTED BY CURRENT_USER;
GRANT USAGE ON TYPE t TO x;
GRANT SELECT (a), UPDATE ON t TO x;
GRANT CREATE ON TABLESPACE t TO x;
GRANT a TO b GRANTED BY c;
GRANT SELECT TO x;
REVOKE a, b FROM c, d RESTRICT;
DROP ROLE CURRENT_USER;
DROP ROLE IF EXISTS a, b, c;
DROP OWNED BY CURRENT_USER, a CASCADE;
REASSIGN OWNED BY a, b, SESSION_USER TO CURRENT_USER;
CREATE ROLE x PASSWORD 'y' VALID UNTIL 'z' CONNECTION LIMIT 3 SYSID 4 IN GROUP g ADMIN a;
ALTER ROLE ALL SET search_path TO a;
ALTER ROLE CURRENT_USER PASSWORD NULL;
ALTER USER x WITH SUPERUSER REPLICATION BYPASSRLS;
ALTER GROUP a ADD USER b, c;
ALTER GROUP a DROP USER b;
DROP GROUP a;
CREATE USER u IN ROLE a, b ROLE c, d;
DISCARD SEQUENCES;
DISCARD ALL;
BEGIN;
SAVEPOINT a;
CREATE TEMP TABLE zz ON COMMIT DROP AS SELECT * FROM t;
ROLLBACK TO a;
RELEASE a;
DISCARD ALL;
PREPARE TRANSACTION 'x';
ROLLBACK PREPARED 'x';
COMMIT PREPARED 'x';
CREATE FOREIGN DATA WRAPPER w NO HANDLER VALIDATOR v OPTIONS (a 'b');
CREATE SERVER s TYPE 'a' VERSION 'b' FOREIGN DATA WRAPPER w OPTIONS (x 'y');
CREATE RECURSIVE VIEW v (a, b) AS WITH x AS (SELECT 1) SELECT 1, 2 UNION SELECT a, b FROM v;
CREATE VIEW v AS WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a;
CREATE VIEW v AS WITH RECURSIVE a AS (SELECT 1 AS x UNION SELECT a.x FROM a) CYCLE x SET c TO 1 DEFAULT 0 USING
    p SELECT * FROM a;
CREATE VIEW v AS SELECT x.y FROM (SELECT 1) AS x(y) ORDER BY 1, y, x.y LIMIT (SELECT 1) OFFSET 2 FOR UPDATE OF x;
CREATE VIEW v AS SELECT DISTINCT ON (a, 1) a FROM t ORDER BY a USING <;
CREATE VIEW v AS SELECT json_arrayagg(a), json_object('a': 1), json('1'), json_scalar(1), json_serialize('1'),
    '1' IS JSON, xmlexists('a' passing b) FROM t;
CREATE VIEW v AS (SELECT 1 AS a) UNION (VALUES (1)) INTERSECT TABLE t;
CREATE VIEW v AS SELECT * FROM XMLTABLE(XMLNAMESPACES('a' AS b), '/r' PASSING x COLUMNS o FOR ORDINALITY) AS x;
"""

_DIGITS = "9" * 5000
LONG_NUMBERS = f"""
CREATE TABLE x AS SELECT {_DIGITS} a, -{_DIGITS} b, {_DIGITS}.5 c, '{_DIGITS}'::int d LIMIT {_DIGITS};
CREATE TABLE x (a int) PARTITION BY RANGE (a);
CREATE TABLE y PARTITION OF x FOR VALUES FROM ({_DIGITS}) TO ('{_DIGITS}');
CREATE TABLE z PARTITION OF x FOR VALUES FROM ('-{_DIGITS}') TO ('{_DIGITS}');
CREATE TABLE x (b numeric({_DIGITS}, 2));
SET extra_float_digits = {_DIGITS};
CREATE SEQUENCE s START {_DIGITS};
"""
"""Python converts no more than 4,300 digits."""

STATEMENTS = [
    text
    for script in (
        ODD,
        LONG_NUMBERS,
        test_settings.SCRIPT,
        test_roles.SCRIPT,
        test_sequences.SCRIPT,
        test_views.QUERIES,
        test_views.DEPENDENTS,
    )
    for text in split(script)
]


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_statements_are_applied_or_refused(seed: int | None, complete: bool) -> None:
    order = list(STATEMENTS)
    if seed is not None:
        random.Random(seed).shuffle(order)
    session = Session(Catalog(18), complete=complete)
    for text in order:
        play(session, text)


def test_taking_back_a_script_leaves_nothing() -> None:
    session = Session(Catalog(18))
    before = {name: dict(heap) for name, heap in vars(session.catalog).items() if isinstance(heap, dict)}
    for text in STATEMENTS:
        play(session, text)
    session.catalog.journal.undo(0)
    assert {name: dict(heap) for name, heap in vars(session.catalog).items() if isinstance(heap, dict)} == before
