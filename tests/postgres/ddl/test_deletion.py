"""DROP and DROP COLUMN: what stands in the way, what goes along, in which words and order."""

from __future__ import annotations

import pytest

from pubcheck.postgres.versions import MAJORS
from tests.postgres.ddl.agreement import assert_agrees, fold, last
from tests.support.servers import Servers

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
        ALTER TABLE t DROP COLUMN a;
        ALTER TABLE t DROP COLUMN b;
        ALTER TABLE t DROP COLUMN e;
        ALTER TABLE t DROP COLUMN id;
        ALTER TABLE t DROP COLUMN f;
        ALTER TABLE t DROP COLUMN d;
        ALTER TABLE t DROP COLUMN b CASCADE;
        ALTER TABLE t DROP COLUMN a CASCADE;
        ALTER TABLE t DROP COLUMN e CASCADE;
        DROP INDEX t_pkey;
        DROP TABLE t;
        ALTER TABLE t DROP CONSTRAINT t_pkey;
        ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE;
    """,
    "tables": """
        CREATE TABLE t (id int PRIMARY KEY, a int);
        CREATE TABLE u (x int REFERENCES t);
        CREATE VIEW v AS SELECT * FROM t;
        CREATE MATERIALIZED VIEW m AS SELECT * FROM v;
        CREATE PUBLICATION p FOR TABLE t, u;
        DROP VIEW t;
        DROP TABLE v;
        DROP TABLE t;
        DROP TABLE t, u;
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
        CREATE TABLE fkroot (id int, k int REFERENCES u2) PARTITION BY LIST (k);
        CREATE TABLE u2 (id int PRIMARY KEY);
        CREATE TABLE fkroot (id int, k int REFERENCES u2) PARTITION BY LIST (k);
        CREATE TABLE fk1 PARTITION OF fkroot FOR VALUES IN (1);
        DROP INDEX p1_v_idx;
        DROP INDEX p1_pkey;
        ALTER TABLE p1 DROP CONSTRAINT p1_pkey;
        ALTER TABLE pt DROP COLUMN v;
        ALTER TABLE p1 DROP COLUMN v;
        DROP TABLE fk1;
        DROP TABLE u2;
        DROP TABLE p2;
        DROP TABLE pt;
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
        ALTER TABLE ONLY par RENAME COLUMN b TO bb;
        ALTER TABLE ch RENAME COLUMN b TO bb;
        ALTER TABLE par DROP COLUMN aa;
        ALTER TABLE par DROP COLUMN b;
        DROP TABLE par;
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
        DROP SCHEMA s;
        DROP SCHEMA s CASCADE;
        DROP SCHEMA IF EXISTS s;
        DROP SCHEMA s;
    """,
    "the schema public": """
        CREATE TABLE t (id serial PRIMARY KEY, a int);
        CREATE TYPE e AS ENUM ('a');
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1';
        CREATE PUBLICATION p FOR TABLE t;
        DROP SCHEMA public;
        DROP SCHEMA public CASCADE;
        CREATE SCHEMA public;
        CREATE TABLE t (id int);
    """,
}


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_server_agrees(servers: Servers, major: int, script: str) -> None:
    assert_agrees(servers[major], script)


TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int, b text); "


def test_column_of_a_row_filter_is_held_by_the_membership() -> None:
    told = last(TABLE + "CREATE PUBLICATION p FOR TABLE t WHERE (a > 0); ALTER TABLE t DROP COLUMN a")
    assert told.sqlstate == "2BP01"
    assert told.message == "cannot drop column a of table t because other objects depend on it"
    assert told.detail == "publication of table t in publication p depends on column a of table t"
    assert told.hint == "Use DROP ... CASCADE to drop the dependent objects too."
    assert told.rule == "ddl-drop-column"


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
    assert (told.sqlstate, told.rule) == ("2BP01", None)


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
