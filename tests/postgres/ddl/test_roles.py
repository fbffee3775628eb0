"""Roles, memberships, rights to CREATE, objects by owner."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.postgres.ddl.support import find, fold, outcomes, relation

SCRIPT = """
CREATE ROLE hy1;
CREATE ROLE hy1; -- 42710
CREATE ROLE pg_hy; -- 42939
CREATE ROLE hyc CREATEROLE;
CREATE ROLE hyd CREATEDB SUPERUSER NOSUPERUSER; -- 42601
CREATE ROLE hym IN ROLE hy1 ROLE hyc;
GRANT hym TO hy1; -- 0LP01
GRANT hy1 TO hy1; -- 0LP01
CREATE SCHEMA hs AUTHORIZATION hy1;
CREATE SCHEMA AUTHORIZATION hy1;
CREATE SCHEMA AUTHORIZATION hy1; -- 42P06
CREATE SCHEMA IF NOT EXISTS AUTHORIZATION hy1;
CREATE SCHEMA pg_hs; -- 42939
CREATE SCHEMA sx CREATE VIEW v AS SELECT * FROM q CREATE TABLE q(i int) CREATE SEQUENCE nosuch.s; -- 42P15
CREATE SCHEMA sx AUTHORIZATION hy1 CREATE INDEX ON q(i) CREATE VIEW v AS SELECT * FROM q CREATE TABLE q(i int)
    CREATE SEQUENCE sq CREATE TABLE sx.q2(i int);
CREATE TABLE after(i int);
SET ROLE hy1;
CREATE SCHEMA h2; -- 42501
RESET ROLE;
CREATE TABLE hs.t1(i int);
SET ROLE hy1;
CREATE TABLE hs.t2(i int);
CREATE TABLE public.t2(i int); -- 42501
SET ROLE hym;
CREATE TABLE hs.t3(i int);
RESET ROLE;
CREATE ROLE hyn NOINHERIT IN ROLE hy1;
GRANT USAGE ON SCHEMA hs TO hyn;
SET ROLE hyn;
CREATE TABLE hs.t4(i int); -- 42501
RESET ROLE;
GRANT CREATE ON SCHEMA hs TO hyn;
SET ROLE hyn;
CREATE TABLE hs.t5(i int);
GRANT CREATE ON SCHEMA hs TO hyc;
RESET ROLE;
REVOKE CREATE ON SCHEMA hs FROM hyn;
SET ROLE hyn;
CREATE TABLE hs.t6(i int); -- 42501
CREATE ROLE hyx; -- 42501
SET ROLE hyc;
RESET ROLE;
SET ROLE hyc;
CREATE ROLE hyz;
CREATE ROLE hyy SUPERUSER; -- 42501
CREATE ROLE hyy CREATEDB; -- 16: 42501, 17: 42501, 18: 42501
ALTER ROLE hyz CREATEROLE;
ALTER ROLE hy1 CREATEROLE; -- 16: 42501, 17: 42501, 18: 42501
ALTER ROLE postgres NOLOGIN; -- 42501
GRANT hyz TO hyn;
GRANT hyd TO hyn; -- 42704
DROP ROLE hyz;
DROP ROLE hyd; -- 42704
RESET ROLE;
GRANT CREATE ON SCHEMA public TO PUBLIC;
SET ROLE hyn;
CREATE TABLE public.t7(i int);
RESET ROLE;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO PUBLIC;
SET ROLE hyn;
CREATE TABLE public.t8(i int); -- 42501
RESET ROLE;
DROP ROLE hyn; -- 2BP01
DROP ROLE nosuch; -- 42704
DROP ROLE IF EXISTS nosuch;
REASSIGN OWNED BY hyn TO hy1;
GRANT hyn TO hym;
DROP ROLE hyn; -- 2BP01
DROP OWNED BY hyn;
DROP ROLE hyn;
CREATE VIEW dep AS SELECT * FROM hs.t2;
DROP OWNED BY hy1; -- 2BP01
DROP OWNED BY hy1 CASCADE;
DROP OWNED BY postgres; -- 2BP01
REASSIGN OWNED BY postgres TO hy1; -- 2BP01
CREATE TABLE kept(i int);
ALTER GROUP hy1 ADD USER hyc;
ALTER GROUP hy1 DROP USER hyc;
REVOKE ADMIN OPTION FOR hy1 FROM hym;
REVOKE hy1 FROM hym;
GRANT hym TO hy1;
CREATE ROLE hyo;
SET ROLE hyo;
SET ROLE hy1;
RESET ROLE;
SET SESSION AUTHORIZATION hyo;
SET ROLE hy1; -- 42501
DROP ROLE hyo; -- 42501
RESET SESSION AUTHORIZATION;
GRANT pg_monitor TO hyo;
"""
"""Who may do what, told by what is refused and by the owners of what is made."""

USAGE = """
CREATE ROLE hx1;
CREATE SCHEMA us;
CREATE TABLE us.t(a int);
GRANT CREATE ON SCHEMA public TO hx1;
SET search_path TO us, public;
SET ROLE hx1;
CREATE VIEW public.v1 AS SELECT a FROM us.t; -- 42501
CREATE TEMP VIEW v2 AS SELECT a FROM t; -- 42P01
CREATE SEQUENCE s1;
CREATE SEQUENCE us.s2; -- 42501
RESET ROLE;
GRANT USAGE ON SCHEMA us TO hx1;
SET ROLE hx1;
CREATE VIEW public.v3 AS SELECT a FROM us.t;
CREATE TEMP VIEW v4 AS SELECT a FROM t;
CREATE SEQUENCE s3; -- 42501
CREATE SEQUENCE us.s4; -- 42501
RESET ROLE;
GRANT CREATE ON SCHEMA us TO hx1;
REVOKE USAGE ON SCHEMA us FROM hx1;
SET ROLE hx1;
CREATE SEQUENCE us.s5;
CREATE SEQUENCE s6;
RESET ROLE;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE ROLE hx2;
SET ROLE hx2;
SET search_path TO public;
CREATE VIEW pg_temp.v5 AS SELECT * FROM public.v3; -- 42501
RESET ROLE;
GRANT USAGE ON SCHEMA public TO PUBLIC;
SET ROLE hx2;
CREATE VIEW pg_temp.v6 AS SELECT * FROM public.v3;
"""
"""What USAGE on a schema opens: names in it, and its place on the search path."""


@pytest.mark.parametrize("script", [SCRIPT, USAGE], ids=["roles", "usage"])
class TestScripts(AnnotatedScripts): ...


@pytest.mark.parametrize(
    ("grants", "allowed"),
    [
        ("", False),
        ("GRANT CREATE ON DATABASE postgres TO r;", True),
        ("GRANT ALL ON DATABASE postgres TO r;", True),
        ("GRANT CREATE, CONNECT ON DATABASE postgres TO PUBLIC;", True),
        ("GRANT CONNECT ON DATABASE postgres TO r;", False),
        ("GRANT CREATE ON DATABASE other TO r;", False),
        ("GRANT CREATE ON DATABASE postgres TO r; REVOKE CREATE ON DATABASE postgres FROM r;", False),
        ("GRANT CREATE ON DATABASE postgres TO r; REVOKE ALL ON DATABASE postgres FROM r;", False),
        (
            "GRANT CREATE ON DATABASE postgres TO r WITH GRANT OPTION;"
            " REVOKE GRANT OPTION FOR CREATE ON DATABASE postgres FROM r;",
            True,
        ),
        ("CREATE ROLE g; GRANT CREATE ON DATABASE postgres TO g; GRANT g TO r;", True),
        ("BEGIN; GRANT CREATE ON DATABASE postgres TO r; ROLLBACK;", False),
        ("ALTER ROLE r SUPERUSER;", True),
    ],
)
def test_create_on_the_database_is_what_grants_leave(grants: str, allowed: bool) -> None:
    assert outcomes(f"CREATE ROLE r; {grants} SET ROLE r; CREATE SCHEMA s;")[-1] == (None if allowed else "42501")


def test_in_the_open_world_any_database_may_be_this_one() -> None:
    sql = "CREATE ROLE r; GRANT CREATE ON DATABASE app TO r; SET ROLE r; CREATE SCHEMA s;"
    assert outcomes(sql, complete=False)[-1] is None


def test_a_role_that_the_unit_did_not_make_may_do_anything() -> None:
    sql = "SET ROLE app; CREATE SCHEMA s; SET ROLE other; CREATE SEQUENCE s.q;"
    assert outcomes(sql, complete=False) == [None] * 4
    assert outcomes(f"CREATE ROLE one; {sql}")[1] == "22023"


def test_roles_are_the_clusters_and_in_no_dump_of_a_database() -> None:
    sql = "CREATE PUBLICATION p FOR ALL TABLES; ALTER PUBLICATION p OWNER TO app; ALTER PUBLICATION p OWNER TO PUBLIC;"
    assert outcomes(sql) == [None, None, "42704"]
    assert outcomes(f"CREATE ROLE one; {sql}") == [None, None, "42704", "42704"]


@pytest.mark.parametrize(
    ("member", "grant", "inherits"),
    [
        ("INHERIT", "GRANT g TO r", {15: True, 16: True, 18: True}),
        ("NOINHERIT", "GRANT g TO r", {15: False, 16: False, 18: False}),
        ("NOINHERIT", "GRANT g TO r; ALTER ROLE r INHERIT", {15: True, 16: False, 18: False}),
        ("INHERIT", "GRANT g TO r WITH INHERIT FALSE", {16: False, 18: False}),
        ("NOINHERIT", "GRANT g TO r WITH INHERIT TRUE", {16: True, 18: True}),
        ("INHERIT", "GRANT g TO r; REVOKE INHERIT OPTION FOR g FROM r", {16: False, 18: False}),
        ("INHERIT", "GRANT g TO r; REVOKE g FROM r", {15: False, 18: False}),
    ],
)
def test_rights_come_through_memberships_that_inherit(member: str, grant: str, inherits: dict[int, bool]) -> None:
    for major, expected in inherits.items():
        sql = f"CREATE ROLE g; CREATE ROLE r {member}; {grant}; CREATE SCHEMA s AUTHORIZATION g; SET ROLE r;"
        assert outcomes(f"{sql} CREATE SEQUENCE s.q;", major)[-1] == (None if expected else "42501"), major


def test_set_role_needs_a_membership_with_set() -> None:
    sql = "CREATE ROLE g; CREATE ROLE r; GRANT g TO r WITH SET FALSE; SET SESSION AUTHORIZATION r; SET ROLE g;"
    assert outcomes(sql)[-1] == "42501"
    assert outcomes(sql.replace("FALSE", "TRUE"))[-1] is None


def test_a_dropped_role_is_certainly_gone() -> None:
    sql = "CREATE ROLE r; DROP ROLE r; CREATE SCHEMA AUTHORIZATION r; CREATE ROLE r; CREATE SCHEMA AUTHORIZATION r;"
    assert outcomes(sql, complete=False) == [None, None, "42704", None, None]


def test_reassign_owned_gives_everything_to_the_other_role() -> None:
    session = fold(
        "CREATE ROLE a SUPERUSER; CREATE ROLE b; SET ROLE a; CREATE SCHEMA s; CREATE SEQUENCE s.q;"
        " CREATE PUBLICATION p; RESET ROLE; REASSIGN OWNED BY a TO b; DROP ROLE a;"
    )
    b = session.catalog.role_names["b"]
    assert relation(session, "s.q").owner == b
    assert session.publication("p").owner == b
    assert session.namespace("s").owner == b
    assert "a" not in session.catalog.role_names


def test_drop_owned_takes_publications_and_rights_along() -> None:
    session = fold(
        "CREATE ROLE a SUPERUSER; GRANT CREATE ON SCHEMA public TO a; SET ROLE a; CREATE SEQUENCE q;"
        " CREATE PUBLICATION p; RESET ROLE; DROP OWNED BY a; DROP ROLE a;"
    )
    assert find(session, "q") is None
    assert "p" not in session.catalog.publication_names
    assert "a" not in session.catalog.role_names
