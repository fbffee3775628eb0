"""`pubcheck scaffold` writes what satisfies a consumer: no finding under its profile, and servers accept it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pubcheck.config import Config
from pubcheck.consumers import NAMES
from pubcheck.consumers.demands import Unread
from pubcheck.consumers.profiles import ConsumerUse, load
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.scaffold import Scaffold, Wishes, scaffold
from pubcheck.source import Source
from tests.cli.conftest import Call
from tests.support.scripts import statements
from tests.support.servers import PACKAGES, Servers, execute, rolled_back

CORPUS = Path(__file__).parents[2] / "corpus"
SCHEMAS = ("frameworks/django/recorded.sql", "samples/shop.sql", "frameworks/rails/recorded.sql")
"""The schemas of the corpus with the most tables."""
QUICK = "samples/shop.sql"
"""The one that a quick run takes."""


def profiles() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every consumer without a mode, and in each of its modes."""
    for key in NAMES:
        yield key, ()
        yield from ((key, (mode.id,)) for mode in load(key).modes)


PROFILES = [pytest.param(key, modes, id=":".join((key, *modes))) for key, modes in profiles()]
READS_NONE = {
    key for key in NAMES if any(isinstance(demand, Unread) for claim in load(key).claims for demand in claim.demands)
}
IMPOSSIBLE = {("seatunnel", "frameworks/rails/recorded.sql")}
"""Each table of the schema has a column of a type that the consumer does not read."""


@cache
def schema(path: str) -> str:
    return (CORPUS / path).read_text(encoding="utf-8")


def scaffolded(key: str, modes: tuple[str, ...], path: str, major: int) -> Scaffold:
    unit = Unit((Source("schema.sql", schema(path)),), postgres=(major,))
    return scaffold(unit, ConsumerUse(key, modes), (), Config())


@pytest.mark.parametrize(
    "path", [QUICK, *(pytest.param(path, marks=pytest.mark.slow) for path in SCHEMAS if path != QUICK)]
)
@pytest.mark.parametrize(("key", "modes"), PROFILES)
def test_a_scaffold_gives_no_finding_under_its_profile(key: str, modes: tuple[str, ...], path: str) -> None:
    result = scaffolded(key, modes, path, 18)
    if key in READS_NONE:
        assert result.problems == (f"{NAMES[key]} does not read publications",)
        return
    if (key, path) in IMPOSSIBLE:
        assert result.problems == ("no table is left",)
        return
    assert result.problems == ()
    assert any(statement.startswith("CREATE PUBLICATION") for statement in result.statements)
    name = Wishes(ConsumerUse(key, modes), 18).name
    config = Config(postgres=(18,), consumers=(ConsumerUse(key, modes, (name,)),))
    sources = (Source("schema.sql", schema(path)), Source("scaffold.sql", result.sql()))
    diagnostics = Linter(config).lint(Unit(sources)).diagnostics
    assert [
        finding.message for finding in diagnostics if finding.claim is not None and name in finding.publications
    ] == []
    assert [finding.message for finding in diagnostics if finding.refused] == []


@pytest.mark.server
@pytest.mark.parametrize("path", SCHEMAS)
def test_servers_accept_every_scaffold(servers: Servers, path: str) -> None:
    # Between 15 and 17 no option of a publication was added.
    texts = {
        major: {scaffolded(key, (), path, major).statements for key in NAMES if key not in READS_NONE} - {()}
        for major in (min(PACKAGES), max(PACKAGES))
    }
    for major in PACKAGES:
        server, expected = servers[major], texts[max(PACKAGES) if major == max(PACKAGES) else min(PACKAGES)]
        assert len(expected) > 20
        with server.database() as name, server.connect(name) as connection:
            for statement in statements(schema(path)):
                connection.execute(statement.sql)
            for text in expected:
                with rolled_back(connection):
                    answers = [execute(connection, statement) for statement in text]
                assert [answer.message for answer in answers if not answer.ok] == []


def test_a_table_that_is_named_and_cannot_satisfy_the_consumer_exits_1(pubcheck: Call) -> None:
    path = str(CORPUS / "samples" / "shop.sql")
    called = pubcheck("scaffold", "--consumer", "zero", "--tables", "app.clicks", path)
    assert (called.status, called.out) == (1, "")
    assert "app.clicks is left out: " in called.err
    assert "without a primary key" in called.err
    called = pubcheck("scaffold", "--consumer", "zero", "--tables", "app.c*", path)
    assert called.status == 0
    assert called.out.startswith("-- app.clicks is left out: ")
    assert "app.customers" in called.out


def test_a_name_and_tables_can_be_chosen(pubcheck: Call) -> None:
    path = str(CORPUS / "samples" / "shop.sql")
    called = pubcheck(
        *("scaffold", "--consumer", "sequin", "--publication", "Stream", "--tables", "billing.invoices", path)
    )
    assert called.out == (
        "ALTER TABLE billing.invoices REPLICA IDENTITY FULL;\n"
        'CREATE PUBLICATION "Stream" FOR TABLE\n    billing.invoices;\n'
    )
    assert pubcheck("scaffold", "--consumer", "sequin", "--tables", "nothing", path).status == 1
    called = pubcheck("scaffold", "--consumer", "powersync", "--publication", "stream", path)
    assert called.status == 1
    assert "another name" in called.err


ODD = """CREATE TABLE "Order Items" (id integer PRIMARY KEY); CREATE TABLE "we""ird" (id integer PRIMARY KEY);
CREATE TABLE visits (day date PRIMARY KEY) PARTITION BY RANGE (day);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE VIEW counts AS SELECT 1; CREATE UNLOGGED TABLE cache (id integer PRIMARY KEY); CREATE SEQUENCE numbers;
"""


@pytest.mark.parametrize(
    ("pattern", "members"),
    [
        ("Order Items", ['public."Order Items"']),
        ('"Order Items"', ['public."Order Items"']),
        ('public."we""ird"', ['public."we""ird"']),
        ("visits", ["public.visits_1"]),
    ],
)
def test_tables_are_named_quoted_or_not_and_partitions_by_their_root(pattern: str, members: list[str]) -> None:
    result = scaffold(Unit((Source("schema.sql", ODD),)), ConsumerUse("powersync"), (pattern,), Config())
    assert result.problems == ()
    assert result.statements[-1] == "CREATE PUBLICATION powersync FOR TABLE\n    " + ",\n    ".join(members)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("visit", "there is no table visit"),
        ("other.*", "there is no table other.*"),
        ("counts", "public.counts is a view, which cannot be published"),
        ("cache", "public.cache is an unlogged table, which cannot be published"),
        ("numbers", "public.numbers is a sequence, which cannot be published"),
    ],
)
def test_a_pattern_without_a_table_is_a_problem_even_next_to_others(pattern: str, problem: str) -> None:
    result = scaffold(Unit((Source("schema.sql", ODD),)), ConsumerUse("powersync"), ("visits", pattern), Config())
    assert (result.statements, result.problems) == ((), (problem,))


@pytest.mark.parametrize(
    ("consumer", "advice"),
    [("powersync", "drop it"), ("peerdb", "choose another name with --publication, or drop it")],
)
def test_a_publication_of_that_name_is_a_problem(consumer: str, advice: str) -> None:
    schema = f"{ODD} CREATE PUBLICATION powersync FOR ALL TABLES;"
    result = scaffold(Unit((Source("schema.sql", schema),)), ConsumerUse(consumer), (), Config(), "powersync")
    assert result.problems == (f'there is a publication "powersync" already: {advice}',)


def test_each_table_that_is_left_out_has_the_reason_of_its_own() -> None:
    schema = f"{ODD} CREATE TABLE a (line text); CREATE TABLE b (line text); CREATE TABLE c () INHERITS (a);"
    result = scaffold(Unit((Source("schema.sql", schema),)), ConsumerUse("zero"), (), Config())
    reason = "A table needs a primary key or a unique index over NOT NULL columns (zero-11)"
    assert {name: text for name, text in result.left_out if name.endswith((".a", ".b", ".c"))} == {
        "public.a": reason, "public.b": reason, "public.c": reason,
    }  # fmt: skip


def test_a_consumer_that_reads_no_publication_exits_1(pubcheck: Call) -> None:
    called = pubcheck("scaffold", "--consumer", "aws-dms", str(CORPUS / "samples" / "shop.sql"))
    assert (called.status, called.err) == (1, "pubcheck: AWS DMS does not read publications\n")
