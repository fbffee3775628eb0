"""SET, RESET, set_config(), transactions, DISCARD."""

from __future__ import annotations

import pytest

from pubcheck.postgres.ddl.settings import listed
from pubcheck.postgres.errors import ServerError
from tests.postgres.ddl.expected import AnnotatedScripts
from tests.postgres.ddl.support import find, fold, relation

SCRIPT = """
CREATE SCHEMA a;
CREATE SCHEMA b;
SET search_path TO a, public;
CREATE SEQUENCE s1;
BEGIN;
SET LOCAL search_path TO b;
CREATE SEQUENCE s2;
SAVEPOINT p;
SET search_path TO a;
CREATE SEQUENCE s3;
ROLLBACK TO p;
CREATE SEQUENCE s4;
COMMIT;
CREATE SEQUENCE s5;
BEGIN;
SET LOCAL search_path TO b;
SET search_path TO public;
CREATE SEQUENCE s6;
COMMIT;
CREATE SEQUENCE s7;
BEGIN;
SET search_path TO a;
SET LOCAL search_path TO b;
CREATE SEQUENCE s8;
COMMIT AND CHAIN;
CREATE SEQUENCE s9;
ROLLBACK AND CHAIN;
CREATE SEQUENCE s10;
END;
SAVEPOINT x; -- 25P01
RELEASE x; -- 25P01
ROLLBACK TO x; -- 25P01
COMMIT AND CHAIN; -- 25P01
SET LOCAL search_path TO b;
CREATE SEQUENCE s11;
SET search_path TO '';
CREATE SEQUENCE s12; -- 3F000
SELECT pg_catalog.set_config('search_path', 'nosuch, "b", a', false);
CREATE SEQUENCE s13;
SELECT set_config('search_path', 'x,,', false); -- 22023
SELECT set_config('search_path', '', true);
CREATE SEQUENCE s14;
RESET search_path;
CREATE SEQUENCE s15;
SET SCHEMA 'a';
CREATE SEQUENCE s16;
RESET ALL;
CREATE SEQUENCE s17;
SET search_path = "$user", public;
CREATE SCHEMA postgres;
CREATE SEQUENCE s18;
DROP SCHEMA postgres CASCADE;
CREATE SEQUENCE s19;
SET search_path = pg_temp, public;
CREATE SEQUENCE s20;
DISCARD TEMP;
SET search_path = pg_catalog;
SET search_path TO a;
DISCARD PLANS;
CREATE SEQUENCE s21;
CREATE TEMP TABLE dt AS SELECT 1 a;
BEGIN;
DISCARD ALL; -- 25001
ROLLBACK;
DISCARD ALL;
CREATE SEQUENCE s22;
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
CREATE SEQUENCE t1;
SAVEPOINT a;
CREATE SEQUENCE t2;
ROLLBACK TO a;
RELEASE a;
ROLLBACK TO b;
CREATE SEQUENCE t3;
ROLLBACK TO a;
CREATE SEQUENCE t4;
RELEASE a;
COMMIT;
BEGIN;
CREATE SEQUENCE t5;
BEGIN;
ABORT;
COMMIT;
ROLLBACK;
CREATE ROLE hz1;
CREATE ROLE hz2 IN ROLE hz1;
SET ROLE hz2;
CREATE SEQUENCE u1; -- 42501
SET ROLE hz1;
SET ROLE postgres;
RESET ROLE;
SET SESSION AUTHORIZATION hz2;
SET ROLE postgres; -- 42501
SET ROLE hz1;
RESET ROLE;
SET ROLE NONE;
SET SESSION AUTHORIZATION DEFAULT;
SET SESSION AUTHORIZATION hz1;
SET ROLE hz2; -- 42501
RESET SESSION AUTHORIZATION;
BEGIN;
SET LOCAL ROLE hz1;
CREATE TEMP SEQUENCE u2;
COMMIT;
CREATE TEMP SEQUENCE u3;
SELECT set_config('role', 'hz2', false);
CREATE TEMP SEQUENCE u4;
RESET ALL;
CREATE TEMP SEQUENCE u5;
SELECT set_config('role', 'none', false);
BEGIN;
CREATE TEMP TABLE od ON COMMIT DROP AS SELECT 1 a;
CREATE VIEW odv AS SELECT * FROM od;
CREATE TEMP TABLE keep AS SELECT 1 a;
COMMIT;
CREATE TABLE IF NOT EXISTS od AS SELECT 1 b;
BEGIN;
SET LOCAL SESSION AUTHORIZATION hz1;
CREATE TEMP SEQUENCE u6;
COMMIT;
CREATE TEMP SEQUENCE u7;
SET search_path TO 'a', 'A', "b c";
CREATE SEQUENCE s30;
SELECT set_config('SEARCH_PATH', 'B', false);
CREATE SEQUENCE s31;
"""
"""Every sequence tells by its schema, persistence and owner which settings were in force when it was made."""


@pytest.mark.parametrize("script", [SCRIPT], ids=["settings"])
class TestScripts(AnnotatedScripts): ...


def schema_of(sql: str, name: str, *, complete: bool = True) -> str:
    """Where a script put a relation, by looking through all schemas."""
    session = fold(sql, complete=complete)
    (with_name,) = [row for row in session.catalog.relations.values() if row.name == name]
    return session.catalog.namespaces[with_name.namespace].name


@pytest.mark.parametrize(
    ("settings", "schema"),
    [
        ("SET search_path TO a, b;", "a"),
        ("SET search_path = nosuch, b;", "b"),
        ("SET SEARCH_PATH TO b;", "b"),
        ("SET SESSION search_path TO b;", "b"),
        ("SET LOCAL search_path TO b;", "public"),
        ("BEGIN; SET LOCAL search_path TO b;", "b"),
        ("BEGIN; SET LOCAL search_path TO b; COMMIT;", "public"),
        ("BEGIN; SET LOCAL search_path TO b; SET search_path TO a; COMMIT;", "a"),
        ("BEGIN; SET search_path TO a; SET LOCAL search_path TO b; COMMIT;", "a"),
        ("BEGIN; SET search_path TO a; ROLLBACK;", "public"),
        ("BEGIN; SAVEPOINT s; SET LOCAL search_path TO b; RELEASE s;", "b"),
        ("BEGIN; SAVEPOINT s; SET LOCAL search_path TO b; ROLLBACK TO s;", "public"),
        ("SET search_path TO a; SET search_path TO DEFAULT;", "public"),
        ("SET search_path TO a; RESET search_path;", "public"),
        ("SET search_path TO a; RESET ALL;", "public"),
        ("SET SCHEMA 'b';", "b"),
        ("SELECT set_config('search_path', 'a', false);", "a"),
        ("SELECT pg_catalog.set_config('search_path', 'b, a', false), 1;", "b"),
        ("SELECT set_config('search_path', 'a', true);", "public"),
        ("SELECT other.set_config('search_path', 'a', false);", "public"),
        ("SET search_path TO a; DISCARD ALL;", "public"),
        ("SET search_path TO a; DISCARD PLANS;", "a"),
        ("SET work_mem TO '1MB'; SET TIME ZONE 'UTC'; SET client_encoding = 'UTF8';", "public"),
    ],
)
def test_the_path_says_where_relations_are_made(settings: str, schema: str) -> None:
    assert schema_of(f"CREATE SCHEMA a; CREATE SCHEMA b; {settings} CREATE SEQUENCE made;", "made") == schema


@pytest.mark.parametrize(
    "emptied",
    ["SET search_path TO '';", "SELECT pg_catalog.set_config('search_path', '', false);"],
)
def test_an_empty_path_makes_nothing_and_finds_only_the_servers_own(emptied: str) -> None:
    session = fold(f"CREATE TABLE t AS SELECT 1 AS a; {emptied} CREATE SEQUENCE made;", complete=False)
    assert find(session, "made") is None
    assert find(session, "t") is None
    assert find(session, "pg_class") is not None
    assert "" not in session.catalog.namespace_names


def test_a_path_worked_out_at_run_time_makes_the_session_blind() -> None:
    assert not fold("SELECT setval('s', 1); SELECT set_config('work_mem', x, false) FROM t;").blind
    assert fold("SELECT set_config('search_path', current_setting('search_path') || ', a', false);").blind


@pytest.mark.parametrize(
    ("text", "schemas"),
    [
        ("", []),
        (" a ,B", ["a", "b"]),
        ('"B b", "q""q", $user', ["B b", 'q"q', "$user"]),
    ],
)
def test_lists_of_identifiers_are_split_as_the_server_does(text: str, schemas: list[str]) -> None:
    assert listed(text) == schemas


@pytest.mark.parametrize("text", ["a,", ",", "a b", '"a', "a,,b"])
def test_malformed_lists_of_identifiers_are_refused(text: str) -> None:
    with pytest.raises(ServerError) as refusal:
        listed(text)
    assert refusal.value.sqlstate == "22023"


def test_roles_own_what_is_made_while_they_are_set() -> None:
    session = fold("CREATE ROLE r SUPERUSER; SET ROLE r; CREATE SEQUENCE one; RESET ROLE; CREATE SEQUENCE two;")
    owners = [session.catalog.roles[relation(session, name).owner].name for name in ("one", "two")]
    assert owners == ["r", "postgres"]


def test_temporary_tables_on_commit_drop_end_with_the_transaction() -> None:
    made = "CREATE TEMP TABLE t ON COMMIT DROP AS SELECT 1 AS a;"
    assert find(fold(made), "t") is None
    assert find(fold(f"BEGIN; {made}"), "t") is not None
    assert find(fold(f"BEGIN; {made} COMMIT;"), "t") is None
    assert find(fold(f"BEGIN; {made} COMMIT AND CHAIN;"), "t") is None


def test_a_prepared_transaction_is_taken_as_committed() -> None:
    session = fold("BEGIN; CREATE SEQUENCE s; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x';")
    assert find(session, "s") is not None
    assert session.transaction is None
    assert not session.blind
    assert fold("ROLLBACK PREPARED 'x';").blind


@pytest.mark.parametrize(
    ("script", "name", "value"),
    [
        ("", "datestyle", None),
        ("SET DateStyle = 'ISO'", "datestyle", "ISO"),
        ("SET DateStyle = 'ISO'; SET datestyle TO european", "datestyle", "ISO, DMY"),
        ("SET DateStyle = german", "datestyle", "German, DMY"),
        ("SET DateStyle = 'ISO, YMD'; SET DateStyle = 'dmy, default'", "datestyle", "DMY"),
        ("SET DateStyle = 'SQL, DMY'; SET DateStyle = nonsense", "datestyle", "SQL, DMY"),
        ("SET DateStyle = 'ISO, SQL'", "datestyle", None),
        ("SET TIME ZONE 'UTC'; BEGIN; SET LOCAL TIME ZONE -7", "timezone", "-7"),
        ("SET TIME ZONE 'UTC'; BEGIN; SET LOCAL TIME ZONE -7; COMMIT", "timezone", "UTC"),
        ("SET TIME ZONE 'UTC'; BEGIN; SET TIME ZONE 'CET'; ROLLBACK", "timezone", "UTC"),
        ("BEGIN; SET LOCAL TIME ZONE 'CET'; COMMIT", "timezone", None),
        ("SET LOCAL TIME ZONE 'CET'", "timezone", None),
        ("SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE", "timezone", "INTERVAL '-08:00'"),
        ("SET timezone = 'UTC'; RESET timezone", "timezone", None),
        ("SET timezone = 'UTC'; SET TIME ZONE LOCAL", "timezone", None),
        ("SET timezone = 'UTC'; RESET ALL", "timezone", None),
        ("SET timezone = 'UTC'; DISCARD ALL", "timezone", None),
        ("SELECT set_config('TimeZone', 'UTC', false)", "timezone", "UTC"),
        ("SET timezone = 'UTC'; SELECT set_config('TimeZone', current_user, false)", "timezone", None),
        ("SET IntervalStyle = ISO_8601", "intervalstyle", "iso_8601"),
        ("SET IntervalStyle = other", "intervalstyle", None),
        ("SET XML OPTION DOCUMENT", "xmloption", "document"),
        ("SET transform_null_equals = 1", "transform_null_equals", "on"),
        ("SET transform_null_equals = ye", "transform_null_equals", "on"),
        ("SET transform_null_equals = on; SET transform_null_equals = o", "transform_null_equals", "on"),
    ],
)
def test_what_literals_are_read_by_is_remembered(script: str, name: str, value: str | None) -> None:
    assert fold(script).setting(name) == value


def test_reset_all_leaves_what_extensions_said() -> None:
    session = fold("CREATE EXTENSION something; RESET ALL;")
    assert session.extensions
