"""A connection to a running server: one read-only transaction, opened as libpq opens it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pubcheck.live import LiveError
from pubcheck.postgres.conninfo import is_connection_string
from pubcheck.postgres.versions import MAJORS

if TYPE_CHECKING:
    import psycopg

CONNECT_TIMEOUT = 10
"""Seconds until an address that does not answer is given up. Without a limit of its own psycopg waits 130."""

_SETTINGS = {
    # Text of expressions, definitions and literals is the same on every server: every name that is not the system's is
    # qualified, and a pooler's session may hold temporary tables of somebody else, which come last.
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
    # The catalogs of 5,000 tables take some seconds. A server that needs a minute for one of these queries is in
    # trouble, and a lock on a system catalog (VACUUM FULL) is not waited for.
    "statement_timeout": "60s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    # Compiling takes longer than running such queries.
    "jit": "off",
}

# SET LOCAL, not SET: the session may be a pooler's, and goes on to serve others.
_BEGIN = "; ".join(
    [
        "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        *(f"SET LOCAL {name} = '{value}'" for name, value in _SETTINGS.items() if name != "search_path"),
        f"SET LOCAL search_path = {_SETTINGS['search_path']}",
        "SELECT pg_is_in_recovery()",
    ]
)


class Connection:
    """A server within one read-only, repeatable-read transaction.

    ``name`` is the connection as reports show it, without user and password. ``round_trips`` counts the queries, the
    opening one included.
    """

    def __init__(self, name: str, connection: psycopg.Connection[Any]) -> None:
        self.name = name
        self.round_trips = 0
        self._connection = connection
        self.server_version: int = connection.info.server_version

    @property
    def major(self) -> int:
        return self.server_version // 10_000

    def begin(self) -> None:
        """Open the transaction. Raises LiveError for a major that is not supported, and for a standby."""
        first, last = MAJORS[0], MAJORS[-1]
        if self.major not in MAJORS:
            raise LiveError(
                f"cannot read {self.name}: PostgreSQL {self.major} is not supported; pubcheck reads {first} to {last}"
            )
        if self.rows(_BEGIN) != [(False,)]:
            raise LiveError(
                f"cannot read {self.name}: it is a standby, and has neither the slots nor the statistics of its"
                " primary; connect to the primary (target_session_attrs=primary)"
            )

    def rows(self, query: str, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query's last statement. Raises LiveError."""
        self.round_trips += 1
        with _clear_errors(self.name), self._connection.cursor() as cursor:
            cursor.execute(query, parameters)
            while cursor.nextset():
                pass
            return cursor.fetchall()

    def results(self, *queries: str) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each query, in one round trip. Raises LiveError."""
        self.round_trips += 1
        with _clear_errors(self.name), self._connection.cursor() as cursor:
            cursor.execute("; ".join(queries))
            rows = [cursor.fetchall()]
            while cursor.nextset():
                rows.append(cursor.fetchall())
            return rows


def is_connection(argument: str) -> bool:
    """Return whether an argument of the command line names a server: a postgresql:// URI, or ``keyword=value`` with a
    keyword of libpq, such as ``service=shop``. Whatever exists as a file is a file."""
    return ("=" in argument or "://" in argument) and is_connection_string(argument) and not os.path.exists(argument)


@contextmanager
def connect(conninfo: str) -> Iterator[Connection]:
    """Connect as libpq does, with its environment, password and service files, and open the transaction.

    Raises LiveError, also for what goes wrong inside the block.
    """
    try:
        import psycopg
    except ImportError:
        raise LiveError("reading a database needs psycopg: pip install 'pubcheck[live]'") from None
    options = _options(conninfo)
    name = _name(options)
    with _clear_errors(name):
        # Autocommit: the transaction is begun in one message with its settings. No statement is prepared, as poolers
        # of transactions may not know it in the next one.
        opened = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None, **_defaults(options))
    with _clear_errors(name), opened:
        connection = Connection(name, opened)
        connection.begin()
        yield connection


def display_name(conninfo: str) -> str:
    """Return a connection as reports show it, without user and password. Raises LiveError if libpq cannot read it."""
    return _name(_options(conninfo))


def _options(conninfo: str) -> dict[str, Any]:
    """Return the options of a connection string. Raises LiveError without any text that may be of a password."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        options = conninfo_to_dict(conninfo)
    except psycopg.Error as error:
        hidden = "password" in conninfo or "@" in conninfo
        reason = "" if hidden else f": {_one_line(error)}"
        raise LiveError(f"cannot read the connection string{reason}; libpq documents its forms") from None
    if not str(options.get("port") or "0").replace(",", "").strip().isdecimal():
        # A password with a slash makes the user a host, and half of the password a port.
        raise LiveError(
            "cannot read the connection string: the port is not a number;"
            " write : / ? # @ and % in a user or a password as %3A %2F %3F %23 %40 and %25"
        )
    return options


def _name(options: dict[str, Any]) -> str:
    if "service" in options:
        return f"service={options['service']}"
    host = options.get("host") or options.get("hostaddr") or ""
    host = "" if host.startswith("/") else host  # a directory of sockets
    port = f":{options['port']}" if "port" in options else ""
    database = f"/{options['dbname']}" if "dbname" in options else ""
    return f"postgresql://{host}{port}{database}"


def _defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Return options for what neither the connection string nor the environment sets."""
    defaults: dict[str, Any] = {"fallback_application_name": "pubcheck"}
    service = "service" in options or "PGSERVICE" in os.environ
    if not service and "connect_timeout" not in options and "PGCONNECT_TIMEOUT" not in os.environ:
        defaults["connect_timeout"] = CONNECT_TIMEOUT
    return defaults


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    """Turn whatever psycopg raises into a LiveError."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise LiveError(f"cannot read {name}: {_reason(error)}") from None


def _reason(error: psycopg.Error) -> str:
    text = _one_line(error)
    if error.sqlstate == "42501":
        return f"{text}; reading needs SELECT on the system catalogs, which every role has unless it was revoked"
    return text


def _one_line(error: psycopg.Error) -> str:
    """Return the primary message of a server, or libpq's text, without line breaks."""
    text = error.diag.message_primary or str(error) or type(error).__name__
    return " ".join(text.removeprefix("connection failed: ").split()).rstrip(".")
