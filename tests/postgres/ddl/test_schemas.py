"""CREATE SCHEMA and its elements."""

from __future__ import annotations

from tests.postgres.ddl.support import find, fold, outcomes, relation


def test_elements_run_in_the_servers_order_inside_the_schema() -> None:
    session = fold(
        "CREATE SCHEMA s CREATE INDEX i ON t (a) CREATE VIEW v AS SELECT * FROM t CREATE TABLE t (a int)"
        " CREATE SEQUENCE q; CREATE SEQUENCE after;"
    )
    assert [relation(session, name).kind for name in ("s.i", "s.v", "s.t", "s.q")] == ["i", "v", "r", "S"]
    assert relation(session, "after").namespace == session.catalog.namespace_names["public"]


def test_elements_belong_to_the_schemas_owner() -> None:
    session = fold("CREATE ROLE r; CREATE SCHEMA AUTHORIZATION r CREATE SEQUENCE q; CREATE SEQUENCE after;")
    assert session.catalog.roles[relation(session, "r.q").owner].name == "r"
    assert session.catalog.roles[relation(session, "after").owner].name == "postgres"


def test_a_refused_element_takes_the_schema_back() -> None:
    sql = "CREATE SCHEMA s CREATE TABLE t (a int) CREATE SEQUENCE t; SET search_path TO s, public; CREATE SEQUENCE q;"
    assert outcomes(sql) == ["42P07", None, None]
    session = fold(sql)
    assert "s" not in session.catalog.namespace_names
    assert find(session, "public.q") is not None


def test_refusals() -> None:
    sql = """
        CREATE SCHEMA a;
        CREATE SCHEMA a;
        CREATE SCHEMA IF NOT EXISTS a;
        CREATE SCHEMA public;
        CREATE SCHEMA pg_x;
        CREATE SCHEMA b CREATE SEQUENCE a.q;
    """
    assert outcomes(sql) == [None, "42P06", None, "42P06", "42939", "42P15"]


def test_a_schema_that_was_only_referred_to_becomes_the_real_thing() -> None:
    session = fold("CREATE SEQUENCE s.q; CREATE SCHEMA s;", complete=False)
    schema = session.namespace("s")
    assert schema.seen
    assert relation(session, "s.q").namespace == schema.oid


def test_a_new_schema_on_the_path_is_found_at_once() -> None:
    session = fold("SET search_path TO s, public; CREATE SEQUENCE one; CREATE SCHEMA s; CREATE SEQUENCE two;")
    assert find(session, "public.one") is not None
    assert find(session, "s.two") is not None
