"""A help names tables so that whoever runs its SQL reaches them, also those outside search_path: over all rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tools.rulebook.pages import read_pages

PAGES = read_pages(str(Path(__file__).parents[3] / "rules"))
OTHERWISE = ["PUB113-2", "PUB114-2", "PUB134-1", "PUB137-2", "PUB211-2", "PUB508-1", "PUB705-3", "PUB813-1"]
"""Examples about search_path, the schema public or a complete database, which have no finding in another schema."""
EXAMPLES = [
    pytest.param(
        page.rule.code,
        example.sql,
        max(major for major, places in example.places.items() if places),
        id=f"{page.rule.code}-{number}",
    )
    for page in PAGES
    for number, example in enumerate(page.bad, 1)
    if f"{page.rule.code}-{number}" not in OTHERWISE
]
NAMED = re.compile(
    r"\b(?:(?:ALTER|ADD|DROP|SET|FOR) TABLE (?:ONLY )?|CREATE (?:UNIQUE )?INDEX \w+ ON )"
    r'(?P<name>(?:"[^"]+"|[a-z_]\w*)(?:\.(?:"[^"]+"|[a-z_]\w*))?)'
)
"""A table in SQL that a help tells to run; keywords there are in upper case, names in lower."""


def outside(sql: str, major: int) -> list[Diagnostic]:
    """What is found where the tables of a script are in a schema that is not in search_path afterwards."""
    text = f"CREATE SCHEMA app;\nSET search_path = app;\n{sql}\n;RESET search_path;\n"
    config = Config(postgres=(major,), select=("PUB",))
    return list(Linter(config).lint(Unit((Source("a.sql", text),))).diagnostics)


@pytest.mark.parametrize(("code", "sql", "major"), EXAMPLES)
def test_a_table_outside_search_path_is_named_with_its_schema(code: str, sql: str, major: int) -> None:
    created = re.compile(r"(?i)\bCREATE (?:UNLOGGED |FOREIGN )?TABLE (?:IF NOT EXISTS )?([a-z_]\w*)\b(?!\.)")
    tables = set(created.findall(sql))
    findings = outside(sql, major)
    assert code in {diagnostic.rule for diagnostic in findings}
    for finding in findings:
        appended = [edit.text for fix in finding.fixes if fix.whole for edit in fix.edits]
        for text in (finding.help or "", *appended):
            named = [match["name"] for match in NAMED.finditer(text)]
            assert not tables.intersection(named), f"{finding.rule}: {text}"


def test_the_long_values_of_a_table_in_a_schema() -> None:
    findings = outside(
        "CREATE TABLE customers (id int PRIMARY KEY, r text NOT NULL, note text);"
        "CREATE UNIQUE INDEX i ON customers (id, r); ALTER TABLE customers REPLICA IDENTITY USING INDEX i;"
        "CREATE PUBLICATION p FOR TABLE customers WHERE (r = 'x');",
        18,
    )
    (lost,) = (finding for finding in findings if finding.rule == "PUB602")
    assert (lost.help or "").startswith("ALTER TABLE app.customers REPLICA IDENTITY FULL")


def test_a_table_of_public_has_its_schema_where_search_path_lacks_it() -> None:
    script = "SET search_path = '';\nCREATE TABLE public.t (a int);\nCREATE PUBLICATION p FOR TABLE public.t;\n"
    findings = Linter(Config()).lint(Unit((Source("a.sql", script),))).diagnostics
    helps = [finding.help or "" for finding in findings if finding.rule == "PUB302"]
    assert helps
    assert all("ALTER TABLE public.t REPLICA IDENTITY FULL" in text for text in helps)
