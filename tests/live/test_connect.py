"""Connecting to a server: which arguments name one, how it is read, and what becomes of each failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pubcheck.live import LiveError
from pubcheck.live import connect as module
from pubcheck.live.connect import Connection, connect, display_name, is_connection
from pubcheck.postgres.versions import MAJORS
from tests.support.servers import PACKAGES, Server, Servers


@pytest.mark.parametrize(
    "argument",
    [
        "postgresql://localhost/shop",
        "postgres://bob@db:5432/shop?sslmode=verify-full",
        "postgresql://",
        "service=shop",
        "host=db dbname=shop",
        " dbname = shop",
        "sslnegotiation=direct",
    ],
)
def test_a_connection_string_names_a_server(argument: str) -> None:
    assert is_connection(argument)


@pytest.mark.parametrize(
    "argument", ["schema.sql", "a=b.sql", "-", "", ".", "mysql://localhost/shop", "dbname", "C:\\dbname\\a=b", "=x"]
)
def test_anything_else_is_a_file(argument: str) -> None:
    assert not is_connection(argument)


def test_a_file_that_exists_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host=db").write_text("")
    assert not is_connection("host=db")


@pytest.mark.parametrize(
    ("conninfo", "name"),
    [
        ("postgresql://bob:secret@db:5433/shop?sslmode=require", "postgresql://db:5433/shop"),
        ("host=db user=bob password='my secret' dbname=shop", "postgresql://db/shop"),
        ("service=shop password=secret", "service=shop"),
        ("postgresql://one:5432,two:5433/shop", "postgresql://one,two:5432,5433/shop"),
        ("host=/var/run/postgresql dbname=shop", "postgresql:///shop"),
    ],
)
def test_the_name_of_a_connection_has_no_user_and_no_password(conninfo: str, name: str) -> None:
    assert display_name(conninfo) == name


def read(conninfo: str, query: str) -> None:
    with connect(conninfo) as connection:
        connection.rows(query)


def failure(conninfo: str, query: str = "SELECT 1") -> str:
    """Return the one line with which connecting, or a query, fails."""
    with pytest.raises(LiveError) as error:
        read(conninfo, query)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "conninfo",
    [
        "postgresql://bob:pa/ss-secret@db/shop",
        "postgresql://bob:12/ss-secret@db/shop?x",
        "host=db password=my secret",
        "password=secret host='db",
        "postgresql://bob:%zzsecret@db/shop",
    ],
)
def test_a_string_that_libpq_cannot_read_is_one_line_without_its_password(conninfo: str) -> None:
    assert failure(conninfo).startswith("cannot read the connection string")
    assert "secret" not in failure(conninfo)


def test_the_reason_is_named_where_no_password_can_be_in_it() -> None:
    assert 'invalid connection option "dbnam"' in failure("host=db dbnam=shop")


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'pubcheck[live]'" in failure("dbname=shop")


def test_a_port_without_a_server_is_one_line() -> None:
    line = failure("host=127.0.0.1 port=1")
    assert line.startswith("cannot read postgresql://127.0.0.1:1: ")
    assert "refused" in line


@pytest.fixture(params=PACKAGES)
def server(request: pytest.FixtureRequest, servers: Servers) -> Server:
    return servers[request.param]


@pytest.mark.server
def test_the_transaction_is_read_only_and_sees_one_snapshot(server: Server) -> None:
    with server.database() as name, server.connect(name) as writer, connect(server.conninfo(name)) as connection:
        assert connection.major == server.major
        settings = connection.rows(
            "SELECT current_setting('transaction_read_only'), current_setting('transaction_isolation'),"
            " current_setting('search_path'), current_setting('application_name')"
        )
        assert settings == [("on", "repeatable read", "pg_catalog, pg_temp", "pubcheck")]
        count = "SELECT count(*) FROM pg_class"
        before = connection.rows(count)
        writer.execute("CREATE TABLE later (id int)")
        assert connection.rows(count) == before
        assert connection.round_trips == 4
        with pytest.raises(LiveError, match="cannot execute CREATE TABLE in a read-only transaction"):
            connection.rows("CREATE TABLE mine (id int); SELECT 1")


@pytest.mark.server
def test_the_session_is_left_as_it_was(server: Server) -> None:
    """A pooler hands it to the next client."""
    query = "SELECT name, setting FROM pg_settings WHERE name <> 'transaction_isolation' ORDER BY 1"
    with server.connect() as session:
        before = session.execute(query).fetchall()
        connection = Connection("shop", session)
        connection.begin()
        assert session.execute(query).fetchall() != before
        session.rollback()
        assert session.execute(query).fetchall() == before


@pytest.mark.server
def test_a_database_that_does_not_exist_is_one_line(server: Server) -> None:
    line = failure(server.conninfo("nowhere"))
    assert line.startswith(f"cannot read postgresql://127.0.0.1:{server.port}/nowhere: ")
    assert line.endswith('database "nowhere" does not exist')


@pytest.fixture
def password_role(server: Server) -> Iterator[str]:
    """A role that needs a password, which is its name."""
    with server.connect() as admin:
        [(path,)] = admin.execute("SHOW hba_file").fetchall()
        hba = Path(path)
        before = hba.read_text()
        role = f"guarded_{os.getpid()}"
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), role))
        try:
            hba.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{before}")
            reload(admin)
            yield role
        finally:
            hba.write_text(before)
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
            reload(admin)


def reload(admin: psycopg.Connection[object]) -> None:
    """Make the server read its configuration, and wait until it has."""
    [before] = admin.execute("SELECT pg_conf_load_time()").fetchall()
    admin.execute("SELECT pg_reload_conf()")
    while admin.execute("SELECT pg_conf_load_time()").fetchall() == [before]:
        pass


@pytest.mark.server
def test_a_wrong_password_is_one_line(
    server: Server, password_role: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conninfo = f"postgresql://{password_role}@127.0.0.1:{server.port}/postgres"
    monkeypatch.setenv("PGPASSWORD", "wrong")
    assert "password authentication failed" in failure(conninfo)
    monkeypatch.setenv("PGPASSWORD", password_role)
    with connect(conninfo) as connection:
        assert connection.rows("SELECT current_user::text") == [(password_role,)]
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pgpass").write_text(f"*:*:*:{password_role}:{password_role}\n")
    (tmp_path / "pgpass").chmod(0o600)
    (tmp_path / "services").write_text(
        f"[shop]\nhost=127.0.0.1\nport={server.port}\ndbname=postgres\nuser={password_role}\n"
    )
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    with connect("service=shop") as connection:
        assert connection.name == "service=shop"
        assert connection.rows("SELECT current_user::text") == [(password_role,)]


@pytest.mark.server
def test_a_connection_that_is_killed_is_one_line(server: Server) -> None:
    with server.connect() as admin, connect(server.conninfo()) as connection:
        [(pid,)] = connection.rows("SELECT pg_backend_pid()")
        admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        with pytest.raises(LiveError, match=r"terminating connection|server closed the connection") as error:
            connection.rows("SELECT 1")
    assert "\n" not in str(error.value)


@pytest.mark.server
def test_a_server_kills_a_query_in_one_line(server: Server) -> None:
    assert "terminating connection" in failure(server.conninfo(), "SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.mark.server
def test_missing_rights_are_one_line(server: Server) -> None:
    with server.database() as name, server.connect(name) as admin:
        admin.execute("REVOKE SELECT ON pg_catalog.pg_publication FROM PUBLIC")
        conninfo = server.conninfo(name).replace("user=postgres", "user=spec_user")
        line = failure(conninfo, "SELECT pubname FROM pg_publication")
        assert "permission denied for table pg_publication; reading needs SELECT" in line
        admin.execute(sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
        assert "permission denied for database" in failure(conninfo)


@pytest.mark.server
@pytest.mark.parametrize("version", [140009, 200000])
def test_another_major_is_refused(servers: Servers, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", version)
    line = failure(servers[18].conninfo())
    assert f"PostgreSQL {version // 10_000} is not supported; pubcheck reads {MAJORS[0]} to {MAJORS[-1]}" in line


@pytest.mark.server
def test_a_standby_is_refused() -> None:
    with Servers((15,), {"max_connections": "100"}, standby=True) as running:  # initdb's number
        assert "it is a standby" in failure(running[15].conninfo())


@pytest.mark.server
def test_a_query_that_takes_too_long_is_one_line(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BEGIN", module._BEGIN.replace("'60s'", "'50ms'"))
    line = failure(servers[18].conninfo(), "SELECT pg_sleep(60)")
    assert line.endswith("canceling statement due to statement timeout")
