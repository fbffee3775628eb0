"""Each cause for which a write is refused is a finding of its own, with the server's answer once earlier ones are gone.

Servers of all majors are asked: a cause is removed, and the next answer must be that of the next finding.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pubcheck import baseline
from pubcheck.autofix import fix
from pubcheck.checks.write import replica_identity as write
from pubcheck.checks.write.replica_identity import Cause as IdentityCause
from pubcheck.checks.write.replica_identity import causes_in
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.findings import Finding, Resolver, report
from pubcheck.lint_files import lint_files
from pubcheck.report import render
from pubcheck.source import Source
from tests.support.linting import lint as lint_texts
from tests.support.servers import MAJORS, Answer, Servers, execute

Cause = tuple[str | None, str]


def causes(*texts: str, operation: str = "update", major: int = 18) -> list[Diagnostic]:
    """The findings of one operation, in the server's order."""
    sources = tuple(Source(f"{number}.sql", text) for number, text in enumerate(texts, 1))
    findings = Linter(Config(postgres=(major,), complete=True)).lint(Unit(sources)).diagnostics
    chosen = [
        finding
        for finding in findings
        if finding.phase == "write" and finding.server and finding.operation == operation
    ]
    return sorted(chosen, key=lambda finding: finding.after_count)


def names(findings: list[Diagnostic]) -> list[Cause]:
    return [(finding.publication, finding.rule) for finding in findings]


TABLE = "CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, d text NOT NULL);"
FILTERS = (
    f"{TABLE} CREATE PUBLICATION a FOR TABLE t WHERE (c = 'x');",
    "CREATE PUBLICATION b FOR TABLE t WHERE (d = 'y');",
)


def test_each_publication_is_at_fault_at_its_own_statement() -> None:
    first, second = causes(*FILTERS)
    assert (first.publications, first.span.source.label, first.after, first.after_count) == (("a",), "1.sql", (), 0)
    assert (second.publications, second.span.source.label, second.after_count) == (("b",), "2.sql", 1)
    assert [(finding.publication, finding.rule) for finding in second.after] == [("a", "PUB301")]
    assert 'publication "b" reads "d"' in second.message


def test_a_filter_and_a_list_of_one_publication_are_two_causes() -> None:
    findings = causes(f"{TABLE} CREATE PUBLICATION p FOR TABLE t (d) WHERE (c = 'x');")
    assert names(findings) == [("p", "PUB301"), ("p", "PUB406")]
    details = [finding.server.detail for finding in findings if finding.server is not None]
    assert [detail and detail.split()[1] for detail in details] == ["used", "list"]


def test_what_is_ignored_hides_nothing() -> None:
    ignored = FILTERS[0].replace(" CREATE PUBLICATION", "\nCREATE PUBLICATION") + " -- pubcheck: ignore[PUB301]\n"
    findings = [finding for finding in lint_texts(ignored, FILTERS[1]) if finding.phase == "write"]
    assert {(finding.publication, finding.span.source.label, finding.after_count) for finding in findings} == {
        ("b", "2.sql", 1)
    }


def test_a_cause_stays_where_it_came_and_goes_alone() -> None:
    drop = "ALTER PUBLICATION a DROP TABLE t;"
    (finding,) = causes(*FILTERS, drop)
    assert (finding.publication, finding.span.source.label, finding.after_count) == ("b", "2.sql", 0)
    key = "ALTER TABLE t REPLICA IDENTITY NOTHING;"
    assert [
        (diagnostic.publication, diagnostic.rule, diagnostic.span.source.label) for diagnostic in causes(*FILTERS, key)
    ] == [
        ("a", "PUB301", "1.sql"),
        ("b", "PUB301", "2.sql"),
        ("a", "PUB302", "3.sql"),
        ("b", "PUB302", "3.sql"),
    ]


def test_the_operations_that_a_publication_does_not_publish_are_not_its_own() -> None:
    script = (
        f"{TABLE} CREATE PUBLICATION a FOR TABLE t WHERE (c = 'x') WITH (publish = 'delete');"
        " CREATE PUBLICATION b FOR TABLE t WHERE (d = 'x') WITH (publish = 'update');"
    )
    assert names(causes(script)) == [("b", "PUB301")]
    assert names(causes(script, operation="delete")) == [("a", "PUB301")]


def test_a_help_says_what_it_leaves() -> None:
    first, second = causes(*FILTERS)
    lines = (second.help or "").splitlines()
    assert any("CREATE UNIQUE INDEX t_identity ON t (id, c, d)" in line and "remain" not in line for line in lines)
    assert any("ALTER PUBLICATION b SET" in line and line.endswith("1 other cause remains)") for line in lines)
    assert not any("PUBLICATION b" in line for line in (first.help or "").splitlines())


def test_what_a_finding_names_of_many_is_bounded() -> None:
    made = "".join(f"CREATE PUBLICATION p{number:02} FOR TABLE t WHERE (c = '{number}');" for number in range(30))
    last = causes(f"{TABLE}{made}")[-1]
    assert (last.after_count, len(last.after), last.after[0].publication) == (29, 10, "p00")


def test_text_shows_the_causes_of_a_table_together_and_update_with_delete() -> None:
    between = "CREATE TABLE u (a int); CREATE PUBLICATION c FOR TABLE u;"
    sources = tuple(Source(f"{number}.sql", text) for number, text in enumerate((FILTERS[0], between, FILTERS[1]), 1))
    result = Linter(Config(complete=True)).lint(Unit(sources))
    report_ = report(Resolver().findings(result.diagnostics), result.postgres, 3, result.statements)
    text = "".join(render(report_, "text"))
    assert re.findall(r"^error\[(\w+)\]: UPDATE of (\w) and DELETE from (\w) will fail", text, re.MULTILINE) == [
        ("PUB301", "t", "t"),
        ("PUB301", "t", "t"),
        ("PUB302", "u", "u"),
    ]
    assert 'after: PostgreSQL gives this answer once an earlier cause is gone: publication "a" (PUB301)' in text
    assert "Found 3 errors in" in text
    assert [line.split()[1][:4] for line in render(report_, "github")] == ["file"] * 3
    assert all(len(line) < 600 for line in render(report_, "github"))
    assert len(json.loads("".join(render(report_, "json")))["diagnostics"]) == 6


def test_a_baseline_knows_causes_one_by_one(tmp_path: Path) -> None:
    def found(*texts: str) -> list[Finding]:
        sources = tuple(Source(f"{number}.sql", text) for number, text in enumerate(texts, 1))
        return Resolver().findings(Linter(Config(complete=True)).lint(Unit(sources)).diagnostics)

    path = tmp_path / "known.json"
    path.write_text(baseline.text([found(FILTERS[0])], str(path))[0])
    new, known = baseline.read(str(path)).split(found(*FILTERS))
    assert {(finding.entry.publication, finding.entry.path) for finding in new} == {("b", "2.sql")}
    assert len(known) == 2


def test_fixes_of_many_causes_converge() -> None:
    made = "".join(f"CREATE PUBLICATION p{number:02} FOR TABLE t (d);\n" for number in range(25))
    plan = DiscoveredUnit("s", (File("s.sql", "s.sql", content=f"{TABLE}\n{made}".encode()),), "file", "")
    linter = Linter(Config(complete=True))
    changes = fix(plan, lambda plan: lint_files(plan, linter, excerpts=False), unsafe=True)
    assert [finding.entry.rule for finding in changes.linted.findings if finding.entry.phase == "write"] == []
    assert changes.files[0].after.decode().count("FOR TABLE t (d, id);") == 25
    assert sum(done.number for done in changes.applied) == 25


@pytest.mark.parametrize("table", [TABLE, ""])
def test_a_publication_is_not_checked_again_for_each_other_one_of_its_table(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = 0

    def counted(*inputs: object) -> tuple[IdentityCause, ...]:
        nonlocal checked
        checked += 1
        return original(*inputs)  # type: ignore[arg-type]

    original = causes_in
    monkeypatch.setattr(write, "causes_in", counted)
    made = "".join(f"CREATE PUBLICATION p{number} FOR TABLE t WHERE (c = 'x');" for number in range(200))
    changed = "".join(f"ALTER PUBLICATION p{number} SET (publish = 'update');" for number in range(200))
    lint_texts(f"{table}{made}{changed}")
    assert checked <= 200 * 6


# --- Servers ------------------------------------------------------------------------------------------------------

KEY = "CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, d text NOT NULL, j json)"
STORED = "CREATE TABLE t (a int NOT NULL, g int GENERATED ALWAYS AS (a) STORED, PRIMARY KEY (g))"
VIA_ROOT = "publish_via_partition_root"
SCRIPTS: dict[str, list[str]] = {
    "filters": [
        KEY,
        "CREATE PUBLICATION a FOR TABLE t WHERE (c = '')",
        "CREATE PUBLICATION b FOR TABLE t WHERE (d = '')",
    ],
    "a filter and a list": [KEY, "CREATE PUBLICATION a FOR TABLE t (d) WHERE (c = '')"],
    "lists first": [
        KEY,
        "CREATE PUBLICATION a FOR TABLE t (c)",
        "CREATE PUBLICATION b FOR TABLE t WHERE (d = '')",
        "CREATE PUBLICATION c FOR TABLE t (d) WHERE (c = '')",
    ],
    "no identity": [
        "CREATE TABLE t (c text, d text)",
        "CREATE PUBLICATION a FOR ALL TABLES",
        "CREATE PUBLICATION b FOR TABLE t WHERE (c = '')",
        "CREATE PUBLICATION c FOR TABLES IN SCHEMA public WITH (publish = 'insert, update')",
        "CREATE PUBLICATION e FOR TABLE t WHERE (d = '') WITH (publish = 'delete')",
    ],
    "FULL and lists": [
        KEY,
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "CREATE PUBLICATION a FOR TABLE t (id) WHERE (c = '')",
        "CREATE PUBLICATION b FOR TABLE t (id, c, d, j) WITH (publish = 'update')",
        "CREATE PUBLICATION c FOR ALL TABLES",
    ],
    "FULL, lists and generated columns": [
        STORED,
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "CREATE PUBLICATION a FOR TABLE t (a) WITH (publish = 'update, delete')",
        "CREATE PUBLICATION b FOR ALL TABLES",
        "CREATE PUBLICATION c FOR TABLE t (a) WITH (publish = 'update')",
        "CREATE PUBLICATION e FOR TABLE t WITH (publish = 'delete, truncate')",
    ],
    "a generated key": [
        STORED,
        "CREATE PUBLICATION a FOR TABLE t",
        "CREATE PUBLICATION b FOR TABLE t (a) WITH (publish = 'update')",
        "CREATE PUBLICATION c FOR TABLE t WHERE (a > 1)",
    ],
    "operations apart": [
        KEY,
        "CREATE PUBLICATION a FOR TABLE t (c) WITH (publish = 'update')",
        "CREATE PUBLICATION b FOR TABLE t (c) WITH (publish = 'delete, insert, truncate')",
        "CREATE PUBLICATION c FOR TABLE t WHERE (d = '') WITH (publish = 'update')",
        "CREATE PUBLICATION e FOR TABLE t WHERE (c = '') WITH (publish = 'delete')",
    ],
    "a partition": [
        "CREATE TABLE r (id int PRIMARY KEY, c text, d text) PARTITION BY RANGE (id)",
        "CREATE TABLE t PARTITION OF r FOR VALUES FROM (1) TO (9)",
        f"CREATE PUBLICATION a FOR TABLE r (c) WHERE (d = '') WITH ({VIA_ROOT})",
        "CREATE PUBLICATION b FOR TABLE t WHERE (c = '')",
        f"CREATE PUBLICATION c FOR TABLE r, TABLE t (d) WITH ({VIA_ROOT})",
        "CREATE PUBLICATION e FOR TABLE t (c)",
    ],
}


def random_script(seed: int) -> list[str]:
    """A table and a few publications that ask for this and that."""
    rng = random.Random(seed)
    kind = rng.choice(["key", "none", "full", "index", "generated"])
    key = {"key": "PRIMARY KEY (id)", "index": "UNIQUE (id, c)", "generated": "PRIMARY KEY (g)"}.get(
        kind, "CHECK (true)"
    )
    generated = "g int GENERATED ALWAYS AS (id) STORED" if rng.random() < 0.5 or kind == "generated" else "g int"
    script = [f"CREATE TABLE t (id int NOT NULL, c text NOT NULL, d text, {generated}, CONSTRAINT k {key})"]
    if kind == "full":
        script.append("ALTER TABLE t REPLICA IDENTITY FULL")
    if kind == "index":
        script.append("ALTER TABLE t REPLICA IDENTITY USING INDEX k")
    for number in range(rng.randint(1, 5)):
        columns = rng.choice(["", "", " (id)", " (c)", " (id, c, d)"])
        where = rng.choice(["", "", " WHERE (id > 0)", " WHERE (c = '')", " WHERE (c = '' AND d = '')"])
        objects = rng.choice(["ALL TABLES", "TABLES IN SCHEMA public", *[f"TABLE t{columns}{where}"] * 4])
        publish = rng.sample(["insert", "update", "delete", "truncate"], rng.randint(1, 4))
        options = rng.choice(["", "", f" WITH (publish = '{', '.join(publish)}')"])
        script.append(f"CREATE PUBLICATION p{number} FOR {objects}{options}")
    return script


RANDOM = {f"random {seed}": random_script(seed) for seed in range(20)}


def asked(connection: psycopg.Connection, operation: str) -> Answer:
    """What a server says of a write; a session of its own, for it keeps what it read of publications."""
    column = connection.execute(
        "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"
        " AND attgenerated = '' ORDER BY attnum LIMIT 1"
    ).fetchall()[0][0]
    write = f"UPDATE t SET {column} = {column}" if operation == "update" else "DELETE FROM t"
    return execute(connection, f"EXPLAIN {write}")


def removed(connection: psycopg.Connection, cause: Diagnostic) -> Iterator[str]:
    """Statements that take away one cause, and nothing else."""
    publication = cause.publication
    rows = connection.execute(
        "SELECT prrelid::regclass::text, relreplident, pg_get_expr(prqual, prrelid),"
        " (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        "  WHERE attrelid = prrelid AND attnum = ANY (prattrs::int2[])),"
        " (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        "  WHERE attrelid = prrelid AND attnum > 0 AND attgenerated = '' OR attrelid = prrelid AND attname = 'g')"
        " FROM pg_publication_rel r JOIN pg_publication p ON p.oid = prpubid JOIN pg_class c ON c.oid = 't'::regclass"
        " WHERE pubname = %s ORDER BY prrelid = 't'::regclass",
        (publication,),
    ).fetchall()
    if cause.rule == "PUB303":
        yield f"ALTER PUBLICATION {publication} SET (publish_generated_columns = stored)"
    elif cause.rule == "PUB302":
        yield f"ALTER PUBLICATION {publication} SET (publish = 'insert, truncate')"
    else:
        table, identity, where, columns, everything = rows[0]
        listed = f" ({columns})" if columns else ""
        if cause.rule == "PUB406":
            # Before 18 no list takes a generated column, and none of them fails without a list.
            listed = "" if identity == "f" or 18 not in cause.postgres else f" ({everything})"
        kept = "" if cause.rule in ("PUB301", "PUB304") or not where else f" WHERE ({where})"
        yield f"ALTER PUBLICATION {publication} DROP TABLE {table}"
        yield f"ALTER PUBLICATION {publication} ADD TABLE {table}{listed}{kept}"


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_a_server_gives_each_answer_once_the_causes_before_it_are_gone(major: int, servers: Servers) -> None:
    met = 0
    for name, script in (SCRIPTS | RANDOM).items():
        for operation in ("update", "delete"):
            with servers[major].database() as database, servers[major].connect(database) as connection:
                made = [text for text in script if execute(connection, text).ok]
                expected = causes(";\n".join(made), operation=operation, major=major)
                for cause in expected:
                    answer = asked(connection, operation)
                    server = cause.server
                    assert server is not None
                    assert (answer.sqlstate, answer.message, answer.detail, answer.hint) == (
                        *(server.sqlstate, server.message, server.detail, server.hint),
                    ), f"{name}, {operation}: {names(expected)} at {cause.publication} {cause.rule}"
                    for statement in removed(connection, cause):
                        assert execute(connection, statement).ok, f"{name}: {statement}"
                    met += 1
                assert asked(connection, operation).ok, f"{name}, {operation}: {names(expected)}"
    assert met > 100
