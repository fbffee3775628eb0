"""A running server as input: what is read of it, what `lint` and `explain` say, and snapshots."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest
from msgspec import Struct

import pubcheck
from pubcheck import __version__
from pubcheck.checks.running_server import statistics
from pubcheck.cli import app
from pubcheck.live.connect import connect
from pubcheck.live.document import FORMAT, decode, encode, read_snapshot, with_facts
from tests.differential.__main__ import KINDS
from tests.live.compare import compare_live
from tests.support.servers import PACKAGES, ROLES, Server, Servers, execute, prepare

pytestmark = pytest.mark.server

SCRIPT = """
CREATE SCHEMA app;
CREATE TYPE app.mood AS ENUM ('ok', 'bad');
CREATE DOMAIN app.amount AS numeric(10, 2) CHECK (VALUE > 0);
CREATE TABLE app.orders (
    id bigserial PRIMARY KEY, region varchar(20) NOT NULL DEFAULT 'eu', mood app.mood, total app.amount,
    note text COLLATE "C" CHECK (note <> ''), twice numeric GENERATED ALWAYS AS (total * 2) STORED);
CREATE UNIQUE INDEX ON app.orders (region, lower(note)) WHERE region <> 'x';
CREATE TABLE app.items (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "Order" bigint REFERENCES app.orders);
CREATE TABLE app.log (id int, at date) PARTITION BY RANGE (at);
CREATE TABLE app.log_1 PARTITION OF app.log FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE public."Mixed. ""case"" " (id int);
CREATE VIEW app.v AS SELECT id, region FROM app.orders;
CREATE PUBLICATION eu FOR TABLE app.orders (id, region) WHERE (region = 'eu'), app.log, "Mixed. ""case"" ";
CREATE PUBLICATION inserts FOR TABLES IN SCHEMA app WITH (publish = 'insert');
CREATE SCHEMA listed; CREATE TABLE listed.b (id int PRIMARY KEY); CREATE TABLE listed.c (id int PRIMARY KEY);
CREATE TABLE listed.d (id int PRIMARY KEY); CREATE PUBLICATION listed FOR TABLE listed.b, listed.c, listed.d;
CREATE TABLE listed.a (id int PRIMARY KEY);
"""


@pytest.fixture(scope="module", params=PACKAGES)
def database(request: pytest.FixtureRequest, servers: Servers) -> Iterator[tuple[Server, str]]:
    """A database that the script built, on each server."""
    server = servers[request.param]
    with server.database() as name:
        with server.connect(name) as connection:
            connection.execute(SCRIPT)
        yield server, server.conninfo(name)


class Outcome(Struct):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Outcome:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = app.run(arguments)
    return Outcome(status, out.getvalue(), err.getvalue())


def report(*arguments: str) -> dict[str, Any]:
    completed = run("lint", "--format", "json", "--select", "PUB", *arguments)
    assert completed.returncode in (0, 1), completed.stderr
    document: dict[str, Any] = json.loads(completed.stdout)
    schema = Path(pubcheck.__file__).parent / "report" / "schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    return document


def keys(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return what findings say, without where."""
    names = ("rule", "certainty", "message", "object", "operation", "publications")
    rows = [row for row in document["diagnostics"] if not row["rule"].startswith("PUB86")]
    return sorted((json.dumps([row[name] for name in names]), json.dumps(row["server"])) for row in rows)


def test_the_findings_are_those_of_the_script_that_built_it(database: tuple[Server, str], tmp_path: Path) -> None:
    server, conninfo = database
    script = tmp_path / "schema.sql"
    script.write_text(SCRIPT)
    live = report(conninfo)
    assert keys(live) == keys(report("--complete", "--postgres", str(server.major), str(script)))
    assert "PUB818" in {row["rule"] for row in live["diagnostics"]}
    assert live["postgres"] == [server.major]
    objects = {row["database_object"] for row in live["diagnostics"]}
    assert "publication eu, table app.orders" in objects
    assert all(row["live"] for row in live["diagnostics"])


def test_a_snapshot_says_what_the_server_says(database: tuple[Server, str], tmp_path: Path) -> None:
    _, conninfo = database
    file = tmp_path / "shop.json"
    assert run("snapshot", conninfo, "-o", str(file)).returncode == 0
    assert run("snapshot", conninfo).stdout == file.read_text()
    taken = report(str(file))
    assert keys(taken) == keys(report(conninfo))
    lines = file.read_text().splitlines()
    for row in taken["diagnostics"]:
        named = json.loads(lines[row["line"] - 1].rstrip(","))
        assert row["database_object"].startswith(named["kind"].split()[0])
        assert named["name"] in row["database_object"]


def test_a_migration_is_linted_in_the_state_of_the_database(database: tuple[Server, str], tmp_path: Path) -> None:
    _, conninfo = database
    migration = tmp_path / "0042.sql"
    migration.write_text("ALTER PUBLICATION eu ADD TABLE app.items;\nALTER PUBLICATION eu ADD TABLE app.missing;\n")
    rows = report("--schema", conninfo, str(migration))["diagnostics"]
    assert [(row["rule"], row["certainty"], row["line"]) for row in rows if row["severity"] == "error"] == [
        ("PUB107", "certain", 2)
    ]


def test_a_loss_that_a_migration_causes_in_the_database_is_at_its_statement(servers: Servers, tmp_path: Path) -> None:
    server, snapshot, migration = servers[min(PACKAGES)], tmp_path / "shop.json", tmp_path / "0043.sql"
    filters = "WHERE (region = 'eu'), notes WHERE (topic = 'a') WITH (publish = 'insert')"
    change = "ALTER TABLE notes ADD region text;\nALTER TABLE orders ALTER region DROP NOT NULL;\n"
    migration.write_text(change)
    with server.database() as name, server.connect(name) as connection:
        connection.execute("CREATE TABLE orders (id int PRIMARY KEY, region text NOT NULL)")
        connection.execute("CREATE TABLE notes (id int PRIMARY KEY, topic text)")
        connection.execute(f"CREATE PUBLICATION eu FOR TABLE orders {filters}")
        conninfo = server.conninfo(name)
        assert run("snapshot", conninfo, "-o", str(snapshot)).returncode == 0
        for schema in (conninfo, str(snapshot)):
            (row,) = report("--schema", schema, str(migration))["diagnostics"]
            assert (row["rule"], row["path"], row["line"]) == ("PUB603", str(migration), 2)
        connection.execute(change)
        nullable = [row["object"] for row in report(conninfo)["diagnostics"] if row["rule"] == "PUB603"]
        assert nullable == ["public.notes", "public.orders"]


def test_a_migration_connects_to_its_own_database_by_name_and_others_are_unknown(tmp_path: Path) -> None:
    migration = tmp_path / "0044.sql"
    change = "ALTER PUBLICATION {} ADD TABLE missing;\n"
    texts = ("\\c shop\n", change.format("eu"), "\\c other\n", change.format("of_other"), "\\c shop\n")
    migration.write_text("".join((*texts, change.format("eu"))))
    rows = report("--schema", str(Path(__file__).with_name("shop.json")), str(migration))["diagnostics"]
    of_shop = [(row["line"], row["certainty"], row["server"]["message"]) for row in rows if row["severity"] == "error"]
    assert of_shop == [(line, "certain", 'relation "missing" does not exist') for line in (2, 6)]
    assert [(row["line"], row["certainty"]) for row in rows if row["severity"] == "note"] == [(4, "assumed")]


def test_reading_takes_few_round_trips_and_writes_nothing(database: tuple[Server, str]) -> None:
    _, conninfo = database
    with connect(conninfo) as connection:
        snapshot = read_snapshot(connection, __version__)
        with_facts(connection, snapshot)
        assert connection.round_trips <= 20
        assert connection.rows("SELECT pg_current_xact_id_if_assigned(), current_setting('transaction_read_only')") == [
            (None, "on")
        ]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection._connection.execute("CREATE TABLE public.t ()")
    assert decode(encode(snapshot)) == snapshot
    assert snapshot.pubcheck_snapshot == FORMAT


def test_nothing_is_written_and_no_right_is_needed(servers: Servers, tmp_path: Path) -> None:
    """Every command with a database, as a role without any grant, changes no row and takes no transaction id. (WAL is
    written all the time, for standbys.)"""
    server, migration, role = servers[17], tmp_path / "next.sql", f"stranger_{os.getpid()}"
    migration.write_text("ALTER PUBLICATION eu ADD TABLE app.items; UPDATE app.orders SET region = 'x';")
    query = """SELECT tup_inserted, tup_updated, tup_deleted, temp_files, pg_snapshot_xmax(pg_current_snapshot()),
        (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables) FROM pg_stat_database
        WHERE datname = current_database()"""
    with server.database() as name, server.connect(name) as connection:
        connection.execute(SCRIPT)
        connection.execute(f"CREATE ROLE {role} LOGIN; REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        connection.execute(f"GRANT CONNECT ON DATABASE {name} TO {role}; REVOKE ALL ON SCHEMA public, app FROM PUBLIC")
        conninfo = server.conninfo(name).replace("user=postgres", f"user={role}")
        try:
            connection.execute("SELECT pg_stat_force_next_flush()")
            before = connection.execute(query).fetchall()
            for command in (
                ("lint", conninfo),
                ("lint", "--schema", conninfo, str(migration)),
                ("explain", conninfo),
                ("snapshot", conninfo),
                ("snapshot", "--statistics", conninfo),
            ):
                assert run(*command).returncode in (0, 1), command
            connection.execute("SELECT pg_stat_force_next_flush()")
            assert connection.execute(query).fetchall() == before
        finally:
            connection.execute(f"REVOKE ALL ON DATABASE {name} FROM {role}; DROP ROLE {role}")


def test_an_ordinary_role_reads_the_same(database: tuple[Server, str]) -> None:
    _, conninfo = database
    ordinary = conninfo.replace("user=postgres", f"user={ROLES[0]}")
    assert run("snapshot", ordinary).stdout == run("snapshot", conninfo).stdout


def test_the_functions_and_views_of_a_database_are_followed(servers: Servers, tmp_path: Path) -> None:
    server = servers[18]
    migration = tmp_path / "next.sql"
    migration.write_text(
        "ALTER TABLE t DROP COLUMN b;\nSELECT publish();\nALTER PUBLICATION p ADD TABLE u;\nUPDATE v SET a = 2;\n"
        "SELECT a_caller_of_a_caller();\nALTER PUBLICATION p ADD TABLE w;\n"
    )
    script = """
        CREATE TABLE t (a int PRIMARY KEY, b int); CREATE TABLE u (a int PRIMARY KEY);
        CREATE VIEW v AS SELECT a, b FROM t; CREATE PUBLICATION p FOR TABLE t WHERE (b > 1);
        CREATE FUNCTION publish() RETURNS void LANGUAGE plpgsql AS
            $$ BEGIN EXECUTE 'ALTER PUBLICATION p ADD TABLE u'; END $$;
        CREATE TABLE w (a int PRIMARY KEY); CREATE SCHEMA app;
        CREATE FUNCTION app.publish_w() RETURNS void LANGUAGE plpgsql AS
            $$ BEGIN EXECUTE 'ALTER PUBLICATION p ADD TABLE w'; END $$;
        CREATE FUNCTION caller() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM app.publish_w(); END $$;
        CREATE FUNCTION a_caller_of_a_caller() RETURNS void LANGUAGE sql AS $$ SELECT caller() $$;
    """
    with server.database() as name:
        with server.connect(name) as connection:
            connection.execute(script)
        rows = report("--schema", server.conninfo(name), str(migration))["diagnostics"]
    built = tmp_path / "built.sql"
    built.write_text(script)
    of_files = report("--complete", "--schema", str(built), str(migration))["diagnostics"]
    places, of_script = (
        [(row["rule"], row["certainty"], row["line"]) for row in findings if row["phase"] == "ddl"]
        for findings in (rows, of_files)
    )
    assert places == of_script
    # The view depends on the column, the function made u a member, and the view's UPDATE is one of t.
    assert ("PUB701", "certain", 1) in places
    assert ("PUB130", "certain", 3) in places
    assert ("PUB130", "certain", 6) in places
    assert any(row["path"] == str(migration) and row["line"] == 4 for row in rows)


def test_a_migration_runs_with_the_settings_of_the_session_that_reads(servers: Servers, tmp_path: Path) -> None:
    server, role = servers[16], ROLES[0]
    statements = (
        "ALTER PUBLICATION p ADD TABLE of_user",
        "ALTER PUBLICATION p ADD TABLE of_app",
        "ALTER PUBLICATION p ADD TABLE t WHERE (day > '31.12.2024')",
        "RESET search_path",
        "ALTER PUBLICATION p DROP TABLE of_user",
        "SET search_path = public",
        "ALTER PUBLICATION p DROP TABLE of_app",
        "RESET datestyle",
        "ALTER PUBLICATION p SET TABLE app.t WHERE (day > '31.12.2024')",
        "SET datestyle = 'MDY'",
        "ALTER PUBLICATION p SET TABLE app.t WHERE (day > '31.12.2024')",
    )
    file = tmp_path / "next.sql"
    of_other = "ALTER TABLE of_other REPLICA IDENTITY USING INDEX missing"
    file.write_text(";\n".join((*statements, f"\\connect - {ROLES[1]}\n{of_other};")))
    with server.database() as name:
        with server.connect(name) as connection:
            connection.execute(f"""
                CREATE SCHEMA {role}; CREATE SCHEMA app; CREATE SCHEMA other; CREATE TABLE {role}.of_user (a int);
                CREATE TABLE app.of_app (a int); CREATE TABLE app.t (day date); CREATE TABLE other.of_other (a int);
                CREATE PUBLICATION p; GRANT ALL ON SCHEMA {role}, app, other TO PUBLIC;
                ALTER PUBLICATION p OWNER TO {role}; ALTER TABLE {role}.of_user OWNER TO {role};
                ALTER TABLE app.of_app OWNER TO {role}; ALTER TABLE app.t OWNER TO {role};
                ALTER TABLE other.of_other OWNER TO {ROLES[1]};
                ALTER DATABASE {name} SET search_path = app, other;
                ALTER ROLE {role} IN DATABASE {name} SET search_path = "$user", app;
                ALTER DATABASE {name} SET datestyle = 'German'""")
        conninfo = server.conninfo(name).replace("user=postgres", f"user={role}")
        taken = tmp_path / "taken.json"
        assert run("snapshot", conninfo, "-o", str(taken)).returncode == 0
        reports = [report("--schema", schema, str(file))["diagnostics"] for schema in (conninfo, str(taken))]
        with psycopg.connect(conninfo, autocommit=True) as connection:
            answers = [execute(connection, statement) for statement in statements]
        with psycopg.connect(conninfo.replace(role, ROLES[1]), autocommit=True) as connection:
            answers += [execute(connection, "SELECT 1"), execute(connection, of_other)]
    refused = [(line, answer.message) for line, answer in enumerate(answers, 1) if not answer.ok]
    assert [line for line, _ in refused] == [7, 11, 13]
    for rows in reports:
        errors = [row for row in rows if row["server"] is not None and row["phase"] == "ddl"]
        assert [(row["line"], row["server"]["message"]) for row in errors] == refused
        assert all(row["certainty"] == "certain" for row in errors)


@pytest.mark.parametrize("major", PACKAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_random_schema_gives_the_findings_of_its_script(servers: Servers, kind: str, major: int) -> None:
    compared = compare_live(servers[major], KINDS[kind](major).statements)
    assert (compared.missing, compared.added, compared.wrong) == ((), (), ())


BY_STATISTICS = ("PUB868", "PUB869")


@pytest.mark.parametrize("major", PACKAGES)
def test_a_snapshot_with_statistics_holds_no_values_and_gives_their_findings(
    servers: Servers, major: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "TYPICAL_PERIOD", 0)
    server, file = servers[major], tmp_path / "shop.json"
    with server.database() as name:
        with server.connect(name) as connection:
            prepare(connection, [
                "CREATE TABLE orders (id int PRIMARY KEY, region text, note text)",
                "CREATE TABLE documents (id bigint PRIMARY KEY, body text)",
                "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL",
                "ALTER TABLE documents REPLICA IDENTITY FULL",
                "INSERT INTO documents SELECT i, repeat('secret', 2000) FROM generate_series(1, 200) i",
                "UPDATE documents SET id = -id",
                "SELECT pg_stat_force_next_flush()",
                "INSERT INTO orders SELECT i, 'secret' || i % 2, 'secret' FROM generate_series(1, 500) i",
                "VACUUM ANALYZE",
                "CREATE PUBLICATION every FOR TABLE orders WHERE (region <> 'x'), documents",
                "CREATE PUBLICATION none FOR TABLE orders WHERE (note = 'x') WITH (publish = insert)",
                "CREATE PUBLICATION half FOR TABLE orders WHERE (region = 'secret1') WITH (publish = insert)",
            ])  # fmt: skip
        conninfo = server.conninfo(name)
        assert run("snapshot", "--statistics", conninfo, "-o", str(file)).returncode == 0
        rows, stored = (report(input)["diagnostics"] for input in (conninfo, str(file)))
        explained = [json.loads(run("explain", "--format", "json", input).stdout) for input in (conninfo, str(file))]
        assert "statistics" not in json.loads(run("snapshot", conninfo).stdout)
    assert "secret0" not in file.read_text()
    assert file.read_text().count("secret") == 1, "the literal of a filter"
    by_statistics = [
        [
            (row["rule"], re.sub(r"[\d,.]+ UPDATEs", "", row["message"]))
            for row in findings
            if row["rule"] in BY_STATISTICS
        ]
        for findings in (rows, stored)
    ]
    assert by_statistics[0] == by_statistics[1]
    assert sorted(rule for rule, _ in by_statistics[1]) == ["PUB868", "PUB868", "PUB869"]
    estimates = [
        {unit["name"]: unit["answers"][-1]["estimate"] for unit in document["units"][0]["publications"]}
        for document in explained
    ]
    assert estimates[0] == estimates[1]
    assert estimates[1]["half"]["low"] == pytest.approx(0.5)


def test_a_stream_is_checked_against_the_database_that_it_comes_from(servers: Servers, tmp_path: Path) -> None:
    server, capture, file, script = servers[16], tmp_path / "stream.hex", tmp_path / "shop.json", tmp_path / "work.sql"
    script.write_text("INSERT INTO t VALUES (3);")
    with server.database() as name, server.connect(name) as connection:
        prepare(connection, [
            "CREATE TABLE t (id int PRIMARY KEY)",
            "CREATE PUBLICATION p FOR TABLE t WHERE (id > 2)",
            f"SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')",
            "INSERT INTO t VALUES (1), (3)",
        ])  # fmt: skip
        messages = connection.execute(
            "SELECT encode(data, 'hex') FROM pg_logical_slot_get_binary_changes(%s, NULL, NULL, 'proto_version', '1',"
            " 'publication_names', 'p')",
            [name],
        ).fetchall()
        connection.execute("SELECT pg_drop_replication_slot(%s)", [name])
        capture.write_text("".join(f"{message}\n" for (message,) in messages))
        conninfo = server.conninfo(name)
        assert run("snapshot", conninfo, "-o", str(file)).returncode == 0
        for schema in (conninfo, str(file)):
            verified = run("verify", schema, str(capture))
            assert (verified.returncode, verified.stdout[:13]) == (0, "Nothing found"), verified
            assert "INSERT public.t id=3" in run("decode", str(capture), "--schema", schema).stdout
            for refused in (
                run("simulate", schema, str(script)),
                run("verify", schema, str(capture), "--script", str(script)),
            ):
                assert refused.returncode == 2
                assert "its rows are not read" in refused.stderr
        connection.execute("ALTER PUBLICATION p SET TABLE t WHERE (id > 5)")
        assert "PUB856" in run("verify", conninfo, str(capture)).stdout


def test_explain_reads_the_server(database: tuple[Server, str]) -> None:
    _, conninfo = database
    completed = run("explain", conninfo)
    assert "Publication eu" in completed.stdout, completed.stderr
    assert "the primary key (id)" in completed.stdout
