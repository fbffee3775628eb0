"""DROP, RENAME, SET SCHEMA, OWNER TO of publications, which are judged, and of all else, which is followed."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.agreement import fold, last
from tests.postgres.ddl.expected import ComparedScripts

SCRIPTS = {
    "names and schemas": """
        CREATE SCHEMA s;
        CREATE SCHEMA s2;
        CREATE TABLE s.t (id serial PRIMARY KEY, a int UNIQUE CHECK (a > 0), b int REFERENCES s.t (a));
        CREATE INDEX i ON s.t (b);
        CREATE TABLE s2.i (x int);
        CREATE SEQUENCE s.q OWNED BY s.t.a;
        CREATE PUBLICATION p FOR TABLE s.t WHERE (id > 1);
        CREATE PUBLICATION q;
        ALTER TABLE s.t RENAME TO i; -- 42P07
        ALTER TABLE s.t RENAME COLUMN a TO b; -- 42701
        ALTER TABLE s.t RENAME COLUMN nope TO b; -- 42703
        ALTER TABLE s.t RENAME COLUMN a TO ctid; -- 42701
        ALTER TABLE s.t RENAME COLUMN a TO aa;
        ALTER TABLE s.t RENAME CONSTRAINT t_pkey TO i; -- 42P07
        ALTER TABLE s.t RENAME CONSTRAINT t_pkey TO pk;
        ALTER INDEX s.t_a_key RENAME TO ak;
        ALTER TABLE s.t RENAME CONSTRAINT t_a_check TO ac;
        ALTER TABLE s.t RENAME CONSTRAINT nope TO ac; -- 42704
        ALTER TABLE s.t RENAME CONSTRAINT ac TO t_b_fkey; -- 42710
        ALTER SEQUENCE s.t_id_seq SET SCHEMA s2; -- 0A000
        ALTER TABLE s.t SET SCHEMA s2; -- 42P07
        DROP TABLE s2.i;
        ALTER TABLE s.t SET SCHEMA s2;
        ALTER TABLE s2.t SET SCHEMA nope; -- 3F000
        ALTER INDEX s2.i RENAME TO i2;
        ALTER VIEW s2.t RENAME TO x; -- 42809
        ALTER INDEX s2.t RENAME TO tnew;
        ALTER TABLE s2.i2 RENAME TO i3;
        ALTER SEQUENCE s2.tnew RENAME TO x; -- 42809
        ALTER SCHEMA s RENAME TO s2; -- 42P06
        ALTER SCHEMA s2 RENAME TO s3;
        ALTER SCHEMA s3 RENAME TO pg_x; -- 42939
        ALTER TABLE IF EXISTS nope RENAME TO x;
        ALTER TABLE nope RENAME TO x; -- 42P01
        ALTER PUBLICATION p RENAME TO q; -- 42710
        ALTER PUBLICATION p RENAME TO p; -- 42710
        ALTER PUBLICATION p RENAME TO r;
        ALTER PUBLICATION p RENAME TO z; -- 42704
        DROP PUBLICATION p; -- 42704
        DROP PUBLICATION IF EXISTS p;
        DROP PUBLICATION r, q, q;
        CREATE COLLATION co FROM "C";
        CREATE COLLATION co FROM "C"; -- 42710
        CREATE COLLATION IF NOT EXISTS co FROM "C";
        ALTER COLLATION co RENAME TO co2;
        ALTER COLLATION co2 SET SCHEMA s;
        DROP COLLATION s.co2;
        DROP COLLATION IF EXISTS co2;
        CREATE STATISTICS st2 ON id, aa FROM s3.tnew;
        CREATE STATISTICS st ON id, b FROM s3.tnew;
        DROP STATISTICS st;
        ALTER TABLE s3.tnew DROP COLUMN id;
    """,
    "rights": """
        CREATE SCHEMA s AUTHORIZATION spec_user;
        CREATE TABLE t (id int);
        ALTER TABLE t OWNER TO spec_user;
        CREATE PUBLICATION p;
        CREATE PUBLICATION a FOR ALL TABLES;
        CREATE PUBLICATION b FOR TABLES IN SCHEMA s;
        CREATE TYPE e AS ENUM ('x');
        ALTER PUBLICATION p OWNER TO nobody; -- 42704
        ALTER PUBLICATION nope OWNER TO nobody; -- 42704
        ALTER PUBLICATION nope OWNER TO spec_user; -- 42704
        ALTER PUBLICATION p OWNER TO spec_user;
        ALTER PUBLICATION a OWNER TO spec_user;
        ALTER PUBLICATION b OWNER TO spec_user;
        SET ROLE spec_user;
        ALTER PUBLICATION p OWNER TO spec_user2; -- 42501
        ALTER PUBLICATION p OWNER TO spec_user;
        ALTER PUBLICATION p RENAME TO p2;
        DROP TYPE e; -- 42501
        ALTER TYPE e RENAME TO e2; -- 42501
        ALTER TABLE t RENAME TO t2; -- 42501
        DROP SCHEMA public; -- 42501
        RESET ROLE;
        GRANT spec_user2 TO spec_user;
        SET ROLE spec_user;
        ALTER PUBLICATION p2 OWNER TO spec_user2; -- 42501
        ALTER PUBLICATION p OWNER TO spec_user2; -- 42704
        RESET ROLE;
        ALTER PUBLICATION a OWNER TO spec_user;
        ALTER PUBLICATION b OWNER TO spec_user;
        GRANT CREATE ON DATABASE the_database TO spec_user2;
        SET ROLE spec_user;
        ALTER PUBLICATION a OWNER TO spec_user2; -- 42501
        ALTER PUBLICATION b OWNER TO spec_user2; -- 42501
        ALTER PUBLICATION p OWNER TO spec_user2; -- 42704
        DROP PUBLICATION p; -- 42704
        ALTER PUBLICATION p2 OWNER TO spec_user2;
        ALTER PUBLICATION p2 OWNER TO postgres; -- 42501
        RESET ROLE;
        DROP PUBLICATION a;
        REVOKE spec_user2 FROM spec_user;
        SET ROLE spec_user;
        DROP PUBLICATION p2; -- 42501
        RESET ROLE;
    """,
    "transactions": """
        CREATE TABLE t (id int PRIMARY KEY, a int);
        CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);
        BEGIN;
        DROP TABLE t;
        CREATE TABLE t (x int);
        ROLLBACK;
        BEGIN;
        ALTER TABLE t RENAME TO u;
        SAVEPOINT s1;
        ALTER PUBLICATION p RENAME TO q;
        ROLLBACK TO s1;
        DROP SCHEMA public CASCADE;
        ROLLBACK;
        ALTER TABLE t DROP COLUMN a; -- 2BP01
        BEGIN;
        DROP PUBLICATION p;
        COMMIT;
        ALTER TABLE t DROP COLUMN a;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(ComparedScripts): ...


PUBLICATION = "CREATE PUBLICATION p; "


def test_renamed_publication_is_gone_under_its_old_name() -> None:
    told = last(PUBLICATION + "ALTER PUBLICATION p RENAME TO q; DROP PUBLICATION p", complete=False)
    assert (told.sqlstate, told.message) == ("42704", 'publication "p" does not exist')
    assert told.key == "no-publication"


@pytest.mark.parametrize("name", ["q", "p"])
def test_new_name_of_a_publication_must_be_free_even_of_itself(name: str) -> None:
    told = last(PUBLICATION + f"CREATE PUBLICATION q; ALTER PUBLICATION p RENAME TO {name}")
    assert (told.sqlstate, told.message) == ("42710", f'publication "{name}" already exists')
    assert told.key == "publication-exists"


@pytest.mark.parametrize("statement", ["DROP PUBLICATION p", "ALTER PUBLICATION p RENAME TO q"])
def test_only_its_owner_drops_or_renames_a_publication(statement: str) -> None:
    told = last(PUBLICATION + f"CREATE ROLE u; SET ROLE u; {statement}")
    assert (told.sqlstate, told.message) == ("42501", "must be owner of publication p")
    assert told.key == "publication-owner"


def test_missing_publication_is_skipped_if_exists() -> None:
    told = last("DROP PUBLICATION IF EXISTS nosuch")
    assert told.sqlstate is None
    assert told.notices == ('publication "nosuch" does not exist, skipping',)


def test_publication_that_is_not_visible_is_renamed_all_the_same() -> None:
    session, told = fold("ALTER PUBLICATION p RENAME TO q", complete=False)
    assert told[-1].sqlstate is None
    assert [error.message for error in session.unseen_names()] == ['publication "p" does not exist']
    assert set(session.catalog.publication_names) == {"q"}


@pytest.mark.parametrize(
    ("major", "message"), [(15, 'must be member of role "v"'), (16, 'must be able to SET ROLE "v"')]
)
def test_new_owner_must_be_a_role_one_belongs_to(major: int, message: str) -> None:
    told = last(
        PUBLICATION + "CREATE ROLE u; CREATE ROLE v; ALTER PUBLICATION p OWNER TO u; SET ROLE u; "
        "ALTER PUBLICATION p OWNER TO v",
        major,
    )
    assert (told.sqlstate, told.message, told.key) == ("42501", message, "set-role")


def test_superuser_gives_a_publication_to_anyone() -> None:
    session, told = fold("CREATE PUBLICATION p FOR ALL TABLES; CREATE ROLE u; ALTER PUBLICATION p OWNER TO u")
    assert told[-1].sqlstate is None
    (row,) = session.catalog.publications.values()
    assert session.catalog.roles[row.owner].name == "u"


def test_nothing_is_held_against_a_role_the_unit_did_not_make() -> None:
    told = last("CREATE PUBLICATION p FOR ALL TABLES; SET ROLE app; ALTER PUBLICATION p OWNER TO dba", complete=False)
    assert told.sqlstate is None


def test_generated_column_reads_its_base_under_the_new_name() -> None:
    session, _ = fold("CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a * 2) STORED); ALTER TABLE t RENAME a TO b")
    (table,) = session.catalog.relations.values()
    assert table.columns[1].expression == ("b",)


def test_renaming_an_index_renames_its_constraint_and_the_other_way_round() -> None:
    for statement in ("ALTER INDEX t_pkey RENAME TO k", "ALTER TABLE t RENAME CONSTRAINT t_pkey TO k"):
        session, _ = fold("CREATE TABLE t (id int PRIMARY KEY); " + statement)
        assert {row.name for row in session.catalog.relations.values()} == {"t", "k"}
        assert "k" in {row.name for row in session.catalog.constraints.values()}


def test_members_follow_their_table_to_another_schema() -> None:
    session, _ = fold(
        "CREATE SCHEMA s; CREATE TABLE t (id serial PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t; "
        "ALTER TABLE t SET SCHEMA s; ALTER SCHEMA s RENAME TO s2"
    )
    catalog = session.catalog
    assert {catalog.namespaces[row.namespace].name for row in catalog.relations.values()} == {"s2"}
    assert len(catalog.publication_rels) == 1


ODD = """
    DROP TABLE a.b.c; DROP TABLE IF EXISTS a.b; DROP VIEW "a b" CASCADE; DROP TYPE a.b.c, pg_catalog.int4, int[]; DROP
    FUNCTION f, pg_catalog.now(), g(nosuch, int[]); DROP AGGREGATE count(*); DROP OPERATOR pg_catalog.+ (int, int);
    DROP OPERATOR - (NONE, nosuch); DROP CAST (int AS nosuch); DROP TRIGGER x ON a.b; DROP RULE "_RETURN" ON v; DROP
    POLICY IF EXISTS x ON nosuch; DROP OPERATOR CLASS s.x USING btree; DROP OPERATOR FAMILY x USING gin CASCADE; DROP
    TRANSFORM FOR int LANGUAGE sql; DROP TEXT SEARCH PARSER IF EXISTS a.b; DROP CONVERSION IF EXISTS c; DROP ACCESS
    METHOD heap; DROP EVENT TRIGGER e; DROP LANGUAGE plpgsql; DROP SERVER IF EXISTS s CASCADE; DROP EXTENSION IF
    EXISTS x; DROP SCHEMA public, information_schema, pg_catalog CASCADE; DROP STATISTICS s.x; DROP INDEX CONCURRENTLY
    IF EXISTS x; DROP COLLATION "C"; DROP DOMAIN information_schema.sql_identifier; ALTER TABLE pg_class RENAME TO x;
    ALTER TABLE a.b.c RENAME TO x; ALTER VIEW IF EXISTS nosuch RENAME a TO b; ALTER TYPE pg_catalog.int4 RENAME TO x;
    ALTER TYPE nosuch RENAME ATTRIBUTE a TO b CASCADE; ALTER TYPE _e RENAME TO x; ALTER DOMAIN d RENAME CONSTRAINT a
    TO b; ALTER DATABASE x RENAME TO y; ALTER TABLESPACE x RENAME TO y; ALTER TRIGGER x ON nosuch RENAME TO y; ALTER
    RULE x ON nosuch RENAME TO y; ALTER POLICY IF EXISTS x ON n RENAME TO y; ALTER ROLE nosuch RENAME TO y; ALTER
    OPERATOR FAMILY x USING btree RENAME TO y; ALTER SUBSCRIPTION s RENAME TO t; ALTER EXTENSION x SET SCHEMA s; ALTER
    OPERATOR CLASS x USING btree SET SCHEMA s; ALTER TABLE x SET SCHEMA pg_temp; ALTER AGGREGATE a(int ORDER BY text)
    SET SCHEMA s; ALTER TEXT SEARCH TEMPLATE x SET SCHEMA s; ALTER LARGE OBJECT 5 OWNER TO x; ALTER DATABASE d OWNER
    TO SESSION_USER; ALTER TABLESPACE x OWNER TO CURRENT_ROLE; ALTER SUBSCRIPTION s OWNER TO x; ALTER EVENT TRIGGER e
    OWNER TO x; ALTER OPERATOR - (NONE, int) OWNER TO x; ALTER PUBLICATION p OWNER TO CURRENT_USER; ALTER PUBLICATION
    p OWNER TO SESSION_USER; ALTER SCHEMA s OWNER TO public
"""


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("first", ["", "CREATE TABLE b (a int); CREATE TYPE e AS ENUM (); CREATE VIEW v AS SELECT 1;"])
def test_odd_statements_are_survived(first: str, complete: bool) -> None:
    fold(first + ODD, complete=complete)
