"""Shell scripts: the databases that their commands connect to, and commands that run on a condition."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from tests.programs.support import certainties, lint


def test_a_shell_script_that_speaks_to_two_servers_means_two_databases() -> None:
    text = (
        "psql -h primary <<'EOF'\nCREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t;\nEOF\n"
        "psql -h replica <<'EOF'\nCREATE TABLE t (id int);\nALTER TABLE t ADD COLUMN x int;\nEOF\n"
        "psql -h primary <<'EOF'\nALTER PUBLICATION p ADD TABLE t;\nEOF\n"
    )
    assert certainties(lint(text, "shell")) == [("PUB130", "certain")]


_CREATE = '-c "CREATE PUBLICATION p FOR ALL TABLES"'


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("shell", f"psql {_CREATE}\nPGHOST=other psql {_CREATE}\n"),
        ("shell", f'psql "$A_URL" {_CREATE}\npsql "$B_URL" {_CREATE}\n'),
        ("shell", f"export PGDATABASE=a\npsql {_CREATE}\nexport PGDATABASE=b\npsql {_CREATE}\n"),
        ("shell", f"DB=a\npsql $DB {_CREATE}\nDB=b\npsql $DB {_CREATE}\n"),
        ("shell", f"psql -U x {_CREATE} a\npsql -U x {_CREATE} b\n"),
        ("shell", f"psql -h a {_CREATE}\npsql postgres://b/app {_CREATE}\n"),
        ("shell", f"ssh a <<EOF\npsql {_CREATE}\nEOF\nssh b <<EOF\npsql {_CREATE}\nEOF\n"),
        ("yaml", f"a:\n  command: psql -h a {_CREATE}\nb:\n  command: psql -h b {_CREATE}\n"),
    ],
)
def test_what_is_made_in_two_databases_is_not_there_already(kind: str, text: str) -> None:
    assert [finding.rule for finding in lint(text, kind) if finding.severity == "error"] == []


@pytest.mark.parametrize("options", ["", "-U x ", '-d "$DB" ', "-v ON_ERROR_STOP=1 app ", "-p5433 "])
def test_what_is_made_twice_in_one_database_is(options: str) -> None:
    assert ("PUB105", "certain") in certainties(lint(f"psql {options}{_CREATE}\n" * 2, "shell"))


def test_what_stands_in_a_condition_of_a_shell_script_runs_perhaps() -> None:
    text = (
        "psql -c 'CREATE TABLE t (id int PRIMARY KEY)'\nif [ -n \"$X\" ]; then\n"
        "  psql -c 'CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)'\nfi\n"
    )
    assert certainties(lint(text, "shell")) == [("PUB209", "assumed")]


def test_a_file_after_a_shell_script_is_for_the_first_database_again() -> None:
    script = extract.source(
        "0.sh", "psql -h a <<'EOF'\nCREATE PUBLICATION p;\nEOF\npsql -h b <<'EOF'\nSELECT 1;\nEOF\n", "shell"
    )
    after = extract.source("1.sql", "CREATE PUBLICATION p;\n")
    findings = Linter(Config(postgres=(18,))).lint(Unit((script, after))).diagnostics
    assert ("PUB105", "certain") in certainties(list(findings))
