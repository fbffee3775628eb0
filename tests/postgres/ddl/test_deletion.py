"""DROP and DROP COLUMN: what stands in the way, what goes along, in which words and order."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.agreement import fold, last
from tests.postgres.ddl.expected import ComparedScripts

SCRIPTS = {
    "columns": """
        CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int GENERATED ALWAYS AS (a*2) STORED, d serial, e int
            UNIQUE, f int DEFAULT 5);
        CREATE INDEX ti ON t (a, b);
        CREATE INDEX tx ON t ((b||'x')) WHERE f > 0;
        CREATE VIEW v AS SELECT id, a FROM t;
        CREATE VIEW v2 AS SELECT a FROM v;
        CREATE TABLE u (x int REFERENCES t(e), y int REFERENCES t);
        CREATE PUBLICATION p FOR TABLE t (id, b), u;
        CREATE PUBLICATION q FOR TABLE t WHERE (a > 0 AND id > 0);
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        ALTER TABLE t DROP COLUMN b; -- 2BP01
        ALTER TABLE t DROP COLUMN e; -- 2BP01
        ALTER TABLE t DROP COLUMN id; -- 2BP01
        ALTER TABLE t DROP COLUMN f;
        ALTER TABLE t DROP COLUMN d;
        ALTER TABLE t DROP COLUMN b CASCADE;
        ALTER TABLE t DROP COLUMN a CASCADE;
        ALTER TABLE t DROP COLUMN e CASCADE;
        DROP INDEX t_pkey; -- 2BP01
        DROP TABLE t; -- 2BP01
        ALTER TABLE t DROP CONSTRAINT t_pkey; -- 2BP01
        ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE;
    """,
    "tables": """
        CREATE TABLE t (id int PRIMARY KEY, a int);
        CREATE TABLE u (x int REFERENCES t);
        CREATE VIEW v AS SELECT * FROM t;
        CREATE MATERIALIZED VIEW m AS SELECT * FROM v;
        CREATE PUBLICATION p FOR TABLE t, u;
        DROP VIEW t; -- 42809
        DROP TABLE v; -- 42809
        DROP TABLE t; -- 2BP01
        DROP TABLE t, u; -- 2BP01
        DROP TABLE t CASCADE;
        DROP TABLE u;
        DROP TABLE IF EXISTS u;
    """,
    "partitions": """
        CREATE TABLE pt (id int, k int, v text, PRIMARY KEY (id, k), UNIQUE (k, v)) PARTITION BY LIST (k);
        CREATE TABLE p1 PARTITION OF pt FOR VALUES IN (1);
        CREATE TABLE p2 PARTITION OF pt FOR VALUES IN (2);
        CREATE INDEX pi ON pt (v);
        CREATE TABLE r (i int, j int, FOREIGN KEY (i, j) REFERENCES pt);
        CREATE PUBLICATION p FOR TABLE pt, p1 WHERE (v = 'x');
        CREATE TABLE fkroot (id int, k int REFERENCES u2) PARTITION BY LIST (k); -- 42P01
        CREATE TABLE u2 (id int PRIMARY KEY);
        CREATE TABLE fkroot (id int, k int REFERENCES u2) PARTITION BY LIST (k);
        CREATE TABLE fk1 PARTITION OF fkroot FOR VALUES IN (1);
        DROP INDEX p1_v_idx; -- 2BP01
        DROP INDEX p1_pkey; -- 2BP01
        ALTER TABLE p1 DROP CONSTRAINT p1_pkey; -- 42P16
        ALTER TABLE pt DROP COLUMN v; -- 2BP01
        ALTER TABLE p1 DROP COLUMN v; -- 42P16
        DROP TABLE fk1;
        DROP TABLE u2; -- 2BP01
        DROP TABLE p2; -- 2BP01
        DROP TABLE pt; -- 2BP01
        DROP INDEX pi;
        ALTER TABLE pt DROP COLUMN v CASCADE;
        DROP TABLE pt CASCADE;
        DROP TABLE u2 CASCADE;
    """,
    "inheritance": """
        CREATE TABLE par (id int PRIMARY KEY, a int, b int);
        CREATE TABLE ch (x int, b int) INHERITS (par);
        CREATE PUBLICATION p FOR TABLE ch WHERE (a > 1 AND b > 1);
        ALTER TABLE par RENAME COLUMN a TO aa;
        ALTER TABLE ONLY par RENAME COLUMN b TO bb; -- 42P16
        ALTER TABLE ch RENAME COLUMN b TO bb; -- 42P16
        ALTER TABLE par DROP COLUMN aa; -- 2BP01
        ALTER TABLE par DROP COLUMN b;
        DROP TABLE par; -- 2BP01
        DROP TABLE par CASCADE;
    """,
    "schemas": """
        CREATE SCHEMA s;
        CREATE TABLE s.t (id serial PRIMARY KEY, a int);
        CREATE VIEW s.v AS SELECT a FROM s.t;
        CREATE TYPE s.e AS ENUM ('a');
        CREATE FUNCTION s.f(s.e) RETURNS int LANGUAGE sql AS 'select 1';
        CREATE TABLE o (x s.e, y s.e[]);
        CREATE DOMAIN s.d AS s.e;
        CREATE SEQUENCE s.q;
        CREATE TYPE s.c AS (a s.e, b int);
        CREATE PUBLICATION p FOR TABLES IN SCHEMA s;
        CREATE PUBLICATION q FOR TABLE s.t, o;
        DROP SCHEMA s; -- 2BP01
        DROP SCHEMA s CASCADE;
        DROP SCHEMA IF EXISTS s;
        DROP SCHEMA s; -- 3F000
    """,
    "the schema public": """
        CREATE TABLE t (id serial PRIMARY KEY, a int);
        CREATE TYPE e AS ENUM ('a');
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1';
        CREATE PUBLICATION p FOR TABLE t;
        DROP SCHEMA public; -- 2BP01
        DROP SCHEMA public CASCADE;
        CREATE SCHEMA public;
        CREATE TABLE t (id int);
    """,
    "sequences": """
        CREATE SEQUENCE q;
        CREATE TABLE a (id int DEFAULT nextval('q'), n int GENERATED ALWAYS AS IDENTITY, s serial);
        CREATE TABLE b (id int DEFAULT nextval('a_s_seq'::regclass));
        CREATE PUBLICATION p FOR TABLE b (id);
        DROP SEQUENCE q; -- 2BP01
        DROP SEQUENCE a_n_seq; -- 2BP01
        DROP SEQUENCE a_s_seq; -- 2BP01
        ALTER TABLE a DROP COLUMN s; -- 2BP01
        ALTER TABLE a DROP COLUMN s CASCADE;
        DROP SEQUENCE q CASCADE;
        ALTER TABLE a DROP COLUMN n;
        DROP TABLE a;
        CREATE SEQUENCE o OWNED BY b.id;
        DROP TABLE b;
        DROP SEQUENCE o; -- 42P01
    """,
    "views": """
        CREATE TABLE t (id int PRIMARY KEY, a int, b text);
        CREATE VIEW v AS SELECT a AS x, b FROM t;
        CREATE MATERIALIZED VIEW m AS SELECT x FROM v;
        CREATE INDEX mi ON m (x);
        CREATE VIEW w AS SELECT t.id FROM t JOIN v ON v.b = t.b;
        CREATE VIEW g AS SELECT id, a, count(*) FROM t GROUP BY id;
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1';
        CREATE VIEW fv AS SELECT f() AS y;
        DROP FUNCTION f(); -- 2BP01
        ALTER TABLE t DROP COLUMN b; -- 2BP01
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        DROP VIEW v; -- 2BP01
        DROP VIEW v, w; -- 2BP01
        DROP VIEW v, m; -- 42809
        DROP VIEW v, w CASCADE;
        DROP MATERIALIZED VIEW m; -- 42P01
        DROP FUNCTION f() CASCADE;
        DROP TABLE t CASCADE;
    """,
    "levels of partitions": """
        CREATE TABLE r (id int, k int, z int, v text, PRIMARY KEY (id, k)) PARTITION BY RANGE (k);
        CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (0) TO (100) PARTITION BY LIST (id);
        CREATE TABLE r11 PARTITION OF r1 FOR VALUES IN (1);
        CREATE TABLE r12 (v text, z int, k int NOT NULL, id int NOT NULL);
        ALTER TABLE r1 ATTACH PARTITION r12 FOR VALUES IN (2);
        CREATE INDEX ON r (v);
        CREATE UNIQUE INDEX ux ON r (id, k, z);
        CREATE PUBLICATION p FOR TABLE r12 WHERE (v = 'x');
        CREATE PUBLICATION q FOR TABLE r11 (id, k);
        DROP INDEX r12_v_idx; -- 2BP01
        DROP INDEX r1_v_idx; -- 2BP01
        ALTER TABLE r DROP COLUMN v; -- 2BP01
        ALTER TABLE r DROP COLUMN k; -- 42P16
        ALTER TABLE r1 DROP COLUMN z; -- 42P16
        ALTER TABLE r DROP COLUMN z;
        ALTER TABLE r DROP COLUMN v CASCADE;
        ALTER TABLE r RENAME COLUMN id TO idd;
        ALTER TABLE r11 RENAME COLUMN idd TO x; -- 42P16
        ALTER INDEX r_pkey RENAME TO rp;
        ALTER TABLE r RENAME CONSTRAINT rp TO rpk;
        ALTER TABLE r11 RENAME CONSTRAINT r11_pkey TO zz;
        ALTER TABLE r1 DETACH PARTITION r12;
        DROP TABLE r12;
        DROP TABLE r1;
        DROP TABLE r;
    """,
    "policies, rules, statistics": """
        CREATE TABLE t (id int, a int, b int, CONSTRAINT x EXCLUDE USING btree (a WITH =), CHECK (a > 0 AND b > 0),
            CHECK (id > 0));
        CREATE TABLE l (x int);
        CREATE POLICY po ON t USING (a IN (SELECT x FROM l));
        CREATE RULE ru AS ON UPDATE TO t DO ALSO INSERT INTO l VALUES (new.b);
        CREATE STATISTICS st ON id, b FROM t;
        CREATE STATISTICS st2 (ndistinct) ON id, a FROM t;
        CREATE PUBLICATION p FOR TABLE t WHERE (a = 1 AND b = 2);
        DROP TABLE l; -- 2BP01
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        ALTER TABLE t DROP COLUMN b; -- 2BP01
        ALTER TABLE t DROP COLUMN id;
        ALTER TABLE t DROP COLUMN a, DROP COLUMN b; -- 2BP01
        ALTER TABLE t DROP COLUMN a CASCADE;
        DROP RULE ru ON t;
        DROP RULE ru ON t; -- 42704
        DROP POLICY po ON t; -- 42704
        DROP POLICY IF EXISTS po ON t;
        ALTER TABLE t DROP COLUMN b;
        DROP TABLE l;
        DROP INDEX x; -- 42704
        ALTER TABLE t DROP CONSTRAINT x; -- 42704
    """,
    "several parents": """
        CREATE TABLE a (id int, x int);
        CREATE TABLE b (id int, y int);
        CREATE TABLE c (z int) INHERITS (a, b);
        CREATE TABLE d () INHERITS (c);
        CREATE PUBLICATION p FOR TABLE d (id, x, y, z);
        CREATE PUBLICATION q FOR TABLE ONLY a WHERE (x > 1);
        ALTER TABLE a RENAME COLUMN id TO i; -- 42P16
        ALTER TABLE a RENAME COLUMN x TO xx;
        ALTER TABLE b RENAME COLUMN y TO z; -- 42701
        ALTER TABLE c RENAME COLUMN xx TO q; -- 42P16
        ALTER TABLE a DROP COLUMN id;
        ALTER TABLE b DROP COLUMN id; -- 2BP01
        ALTER TABLE a DROP COLUMN xx; -- 2BP01
        ALTER TABLE ONLY a DROP COLUMN xx; -- 2BP01
        ALTER TABLE ONLY a DROP COLUMN xx CASCADE;
        DROP TABLE c; -- 2BP01
        DROP TABLE b; -- 2BP01
        DROP TABLE c CASCADE;
        DROP TABLE a, b;
    """,
    "foreign keys": """
        CREATE TABLE t (id int PRIMARY KEY, p int REFERENCES t, u int UNIQUE);
        CREATE TABLE x (a int REFERENCES t (u), b int CONSTRAINT myfk REFERENCES t);
        CREATE PUBLICATION p FOR TABLE x (a), t (id, u);
        ALTER TABLE t DROP COLUMN p;
        ALTER TABLE t DROP COLUMN id; -- 2BP01
        ALTER TABLE t DROP COLUMN u CASCADE;
        DROP INDEX t_pkey CASCADE; -- 2BP01
        ALTER TABLE x DROP COLUMN b;
        ALTER TABLE x DROP CONSTRAINT myfk; -- 42704
        DROP TABLE t;
        DROP TABLE t, x; -- 42P01
    """,
    "names in messages": """
        CREATE SCHEMA s;
        SET search_path = s, public;
        CREATE TABLE t (id int, "A b" int);
        CREATE TABLE public.t ("select" int, z int);
        CREATE TABLE "order" (id int, "user" int);
        CREATE PUBLICATION "My Pub" FOR TABLE t ("A b"), public.t (z), "order" WHERE ("user" > 1);
        ALTER TABLE t DROP COLUMN "A b"; -- 2BP01
        ALTER TABLE public.t DROP COLUMN z; -- 2BP01
        ALTER TABLE "order" DROP COLUMN "user"; -- 2BP01
        SET search_path = public;
        ALTER TABLE s.t DROP COLUMN "A b"; -- 2BP01
        ALTER TABLE t DROP COLUMN z; -- 2BP01
        ALTER TABLE s."order" DROP COLUMN "user" CASCADE;
        DROP SCHEMA s; -- 2BP01
        SET search_path = '';
        DROP SCHEMA s CASCADE;
        DROP TABLE t; -- 42P01
        DROP TABLE public.t;
    """,
    "generated columns": """
        CREATE TABLE t (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a * 2) STORED, h int GENERATED ALWAYS
            AS (a + id) STORED);
        CREATE PUBLICATION p FOR TABLE t WHERE (g > 1);
        CREATE VIEW v AS SELECT h FROM t;
        CREATE INDEX gi ON t (g);
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        ALTER TABLE t DROP COLUMN g; -- 2BP01
        ALTER TABLE t ALTER COLUMN g DROP EXPRESSION;
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        ALTER TABLE t DROP COLUMN a CASCADE;
        ALTER TABLE t DROP COLUMN g CASCADE;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(ComparedScripts): ...


TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int, b text); "


def test_column_of_a_row_filter_is_held_by_the_membership() -> None:
    told = last(TABLE + "CREATE PUBLICATION p FOR TABLE t WHERE (a > 0); ALTER TABLE t DROP COLUMN a")
    assert told.sqlstate == "2BP01"
    assert told.message == "cannot drop column a of table t because other objects depend on it"
    assert told.detail == "publication of table t in publication p depends on column a of table t"
    assert told.hint == "Use DROP ... CASCADE to drop the dependent objects too."
    assert told.key == "column-in-publication"


def test_names_are_qualified_when_the_search_path_does_not_lead_to_them() -> None:
    told = last(
        'CREATE SCHEMA s; CREATE TABLE s."Order" (id int, a int); '
        'CREATE PUBLICATION p FOR TABLE s."Order" (a); ALTER TABLE s."Order" DROP COLUMN a'
    )
    assert told.detail == 'publication of table s."Order" in publication p depends on column a of table s."Order"'


def test_keywords_are_quoted_from_the_major_that_has_them() -> None:
    script = "CREATE TABLE json_array (a int); CREATE VIEW v AS SELECT a FROM json_array; DROP TABLE json_array"
    assert last(script, 15).message == "cannot drop table json_array because other objects depend on it"
    assert last(script.replace("json_array", '"json_array"'), 18).message == (
        'cannot drop table "json_array" because other objects depend on it'
    )


def test_refusal_without_a_publication_is_not_judged() -> None:
    told = last(TABLE + "CREATE VIEW v AS SELECT a FROM t; ALTER TABLE t DROP COLUMN a")
    assert (told.sqlstate, told.key) == ("2BP01", None)


def test_cascade_takes_the_whole_membership() -> None:
    session, told = fold(TABLE + "CREATE PUBLICATION p FOR TABLE t (id, a); ALTER TABLE t DROP COLUMN a CASCADE")
    assert told[-1].notices == ("drop cascades to publication of table t in publication p",)
    assert not session.catalog.publication_rels
    assert session.catalog.publications


def test_cascade_to_several_names_each() -> None:
    told = last(
        TABLE
        + "CREATE VIEW v AS SELECT a FROM t; CREATE PUBLICATION p FOR TABLE t (a); ALTER TABLE t DROP COLUMN a CASCADE"
    )
    assert told.notices == (
        "drop cascades to 2 other objects DETAIL: drop cascades to view v\n"
        "drop cascades to publication of table t in publication p",
    )


def test_dropped_column_keeps_its_number() -> None:
    session, _ = fold(TABLE + "ALTER TABLE t DROP COLUMN a")
    (table,) = (row for row in session.catalog.relations.values() if row.name == "t")
    assert [(column.number, column.name, column.dropped) for column in table.columns] == [
        (1, "id", False),
        (2, "........pg.dropped.2........", True),
        (3, "b", False),
    ]


def test_index_of_a_constraint_goes_with_it_only() -> None:
    told = last(TABLE + "DROP INDEX t_pkey")
    assert told.message == "cannot drop index t_pkey because constraint t_pkey on table t requires it"
    assert told.hint == "You can drop constraint t_pkey on table t instead."
    session, _ = fold(TABLE + "ALTER TABLE t DROP CONSTRAINT t_pkey")
    assert not session.catalog.indexes


def test_only_a_hundred_dependents_are_named() -> None:
    views = "".join(f"CREATE VIEW v{number} AS SELECT a FROM t; " for number in range(103))
    detail = last(TABLE + views + "DROP TABLE t").detail
    assert detail is not None
    lines = detail.split("\n")
    assert len(lines) == 101
    assert lines[0] == "view v0 depends on table t"
    assert lines[-1] == "and 3 other objects (see server log for list)"


def test_chain_of_dependents_may_be_long() -> None:
    views = "".join(f"CREATE VIEW v{number + 1} AS SELECT * FROM v{number}; " for number in range(3000))
    session, told = fold("CREATE VIEW v0 AS SELECT 1 AS a; " + views + "DROP VIEW v0 CASCADE")
    assert told[-1].notices[0].startswith("drop cascades to 3000 other objects")
    assert not session.catalog.relations


def test_system_object_is_required_by_the_database_system() -> None:
    told = last("DROP SCHEMA pg_catalog")
    assert told.message == "cannot drop schema pg_catalog because it is required by the database system"


def test_relation_that_is_not_visible_vanishes_and_stays_gone() -> None:
    script = "DROP TABLE t; CREATE PUBLICATION p FOR TABLE t"
    told = last(script, complete=False)
    assert (told.sqlstate, told.message) == ("42P01", 'relation "t" does not exist')
    told = last("DROP TABLE IF EXISTS t; CREATE PUBLICATION p FOR TABLE t", complete=False)
    assert told.sqlstate == "42P01"


def test_refused_drop_leaves_everything() -> None:
    session, told = fold(TABLE + "CREATE VIEW v AS SELECT a FROM t; CREATE TABLE u (x int); DROP TABLE u, t")
    assert told[-1].message == "cannot drop desired object(s) because other objects depend on them"
    assert {row.name for row in session.catalog.relations.values()} == {"t", "t_pkey", "v", "u"}
