"""Each page about a running server is replayed on servers of all majors: its settings, its script, its findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import psycopg
import pytest
from msgspec import Struct
from psycopg import sql

from pubcheck.checks.running_server import statistics
from pubcheck.postgres.versions import span
from pubcheck.rulebook import RULES
from tests.live.test_live import run
from tests.support.servers import PACKAGES, Server, Servers, execute
from tools.rulebook.pages import read_pages

FOLDER = Path(__file__).parents[2] / "rules"
_FENCE = re.compile(r"^```(\w+) ?([\d,-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONNECT = re.compile(r"^\\connect (\w+)\n", re.MULTILINE)
PUBLISHER = "publisher"
PATIENCE = 30.0
"""Seconds until a worker has done what a page says."""


class LivePage(Struct, frozen=True):
    """A page: the settings of the server, the statements with the database of each, and the findings by major."""

    code: str
    settings: Mapping[str, str]
    script: tuple[tuple[str, str], ...]
    findings: Mapping[int, tuple[str, ...]]

    @property
    def database(self) -> str:
        """The database that pubcheck reads: the one that the script is connected to at its end."""
        return self.script[-1][0]


def live_page(code: str, example: str) -> LivePage | None:
    """Return a page that has a script for psql; None for any other one."""
    settings: dict[str, str] = {}
    script: list[tuple[str, str]] = []
    findings: dict[int, tuple[str, ...]] = {}
    for language, majors, text in _FENCE.findall(example):
        if language == "ini":
            settings |= dict(line.split(" = ", 1) for line in text.splitlines())
        elif language == "psql":
            pieces = _CONNECT.split(text)
            for database, piece in zip([PUBLISHER, *pieces[1::2]], pieces[::2], strict=True):
                statements = [part.strip() for part in re.split(r";\n", piece)]
                script += [(database, statement) for statement in statements if statement] or [(database, "")]
        elif script:
            lines = tuple(line for line in text.splitlines() if f"[{code}]" in line)
            findings |= dict.fromkeys((major for major in span(majors) if major in PACKAGES), lines)
    return LivePage(code, settings, tuple(script), findings) if script else None


PAGES = [
    page
    for text in read_pages(str(FOLDER))
    if (page := live_page(text.rule.code, text.sections["Example"])) is not None
]


def test_every_rule_about_a_running_server_has_a_script() -> None:
    codes = {code for code in RULES if "PUB860" <= code < "PUB900"}
    assert {page.code for page in PAGES} == codes
    for page in PAGES:
        assert set(page.findings) == set(PACKAGES)
        assert all(page.findings.values())


@pytest.fixture(scope="module")
def slot_servers() -> Iterator[Servers]:
    """Servers whose slots no other test has."""
    with Servers() as running:
        yield running


@contextmanager
def configured(servers: Servers, major: int, settings: Mapping[str, str]) -> Iterator[Server]:
    """A server with these settings: the running one if it takes them without a restart."""
    with servers[major].connect() as admin:
        restart = admin.execute(
            "SELECT name FROM pg_settings WHERE context = 'postmaster' AND name = ANY (%s)", [list(settings)]
        ).fetchall()
        if restart:
            with Servers((major,), settings) as own:
                yield own[major]
            return
        names = {name: sql.Identifier(name) for name in settings}
        try:
            for name, value in settings.items():
                admin.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(names[name], value))
            reload(admin)
            yield servers[major]
        finally:
            for name in settings:
                admin.execute(sql.SQL("ALTER SYSTEM RESET {}").format(names[name]))
            reload(admin)


def reload(admin: psycopg.Connection[Any]) -> None:
    """Make the server read its configuration, and wait until a new session has it."""
    before = admin.execute("SELECT pg_conf_load_time()").fetchall()
    admin.execute("SELECT pg_reload_conf()")
    wait(lambda: admin.execute("SELECT pg_conf_load_time()").fetchall() != before)


def wait(condition: Callable[[], bool]) -> bool:
    """Ask again and again until a condition holds, and return whether it came to hold."""
    end = monotonic() + PATIENCE
    while not (holds := condition()) and monotonic() < end:
        pass
    return holds


@contextmanager
def played(server: Server, page: LivePage) -> Iterator[str]:
    """Run a page's script in databases of its own, and return the connection string of the one to read."""
    with ExitStack() as stack:
        names = {database: stack.enter_context(server.database()) for database, _ in page.script}
        sessions = {database: stack.enter_context(server.connect(name)) for database, name in names.items()}
        stack.callback(clean_up, list(sessions.values()))
        publisher = f"host=127.0.0.1 port={server.port} user=postgres dbname={names.get(PUBLISHER)}"
        for database, statement in page.script:
            answer = execute(sessions[database], statement.replace("host=publisher dbname=shop", publisher))
            assert answer.ok, (statement, answer)
        yield server.conninfo(names[page.database])


def clean_up(sessions: list[psycopg.Connection[Any]]) -> None:
    """Drop the subscriptions of the databases, then their slots, which outlive a database."""
    for session in sessions:
        for (name,) in session.execute(
            "SELECT subname FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid"
            " WHERE d.datname = current_database()"
        ).fetchall():
            for action in ("ALTER SUBSCRIPTION {} DISABLE", "ALTER SUBSCRIPTION {} SET (slot_name = NONE)"):
                session.execute(sql.SQL(action).format(sql.Identifier(name)))
            session.execute(sql.SQL("DROP SUBSCRIPTION {}").format(sql.Identifier(name)))
    for session in sessions:
        slots = "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
        wait(partial(is_empty, session, f"{slots} AND active"))
        for (name,) in session.execute(slots).fetchall():
            session.execute("SELECT pg_drop_replication_slot(%s)", [name])


def is_empty(session: psycopg.Connection[Any], query: LiteralString) -> bool:
    return not session.execute(query).fetchall()


_NUMBERS = re.compile(r"\d[\d,.:+ -]*")


def without_numbers(lines: Iterator[str] | tuple[str, ...]) -> list[str]:
    """Return lines with one sign for each number, size and time: another server writes other WAL."""
    return [re.sub(r"# (bytes|[kMGT]B)\b", "#", _NUMBERS.sub("# ", line)) for line in lines]


def findings(conninfo: str, code: str) -> tuple[str, ...]:
    """Return what `pubcheck lint` reports of a rule, without the name of the database."""
    outcome = run("lint", "--format", "concise", "--select", code, conninfo)
    lines = (line for line in outcome.stdout.splitlines() if f"[{code}]" in line)
    return tuple(re.sub(r"^postgresql://\S+: ", "", line) for line in lines)


@pytest.mark.server
@pytest.mark.parametrize("major", PACKAGES)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_a_page_is_what_a_server_shows(
    slot_servers: Servers, page: LivePage, major: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "TYPICAL_PERIOD", 0)
    expected = without_numbers(page.findings[major])
    with configured(slot_servers, major, page.settings) as server, played(server, page) as conninfo:
        wait(lambda: without_numbers(findings(conninfo, page.code)) == expected)
        assert without_numbers(findings(conninfo, page.code)) == expected
