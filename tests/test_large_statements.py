"""Statements that are too large to be read are findings, and nothing else is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubcheck.cli.app import run
from pubcheck.config import ConfigError, from_options
from pubcheck.postgres.parse import TooLarge, is_too_large, parse
from tests.support.linting import run as lint

pytestmark = pytest.mark.slow

TABLE = "CREATE TABLE t (id int PRIMARY KEY, c text);\n"
AFTER = "\nCREATE PUBLICATION w FOR TABLE t WHERE (c = 'x');\n"


def large(tokens: int) -> str:
    return f"CREATE VIEW v AS SELECT {'1,' * (tokens // 2)}1;"


@pytest.mark.parametrize("statement", [large(1_100_000), f"CREATE VIEW v AS SELECT '{'x' * (33 << 20)}';"])
def test_a_statement_that_is_too_large_is_a_finding_and_the_rest_is_certain(statement: str) -> None:
    result = lint(TABLE + statement + AFTER)
    findings = [
        (finding.rule, finding.certainty, finding.statement and finding.statement.index)
        for finding in result.diagnostics
    ]
    assert findings == [("PUB006", "assumed", 1), ("PUB301", "certain", 2), ("PUB301", "certain", 2)]
    assert result.faults == ()


def test_one_that_may_heal_makes_what_rests_on_it_assumed() -> None:
    statement = f"CREATE FUNCTION f() RETURNS text AS '{'x' * (33 << 20)} REPLICA IDENTITY FULL' LANGUAGE sql;"
    findings = lint(TABLE + AFTER + statement).diagnostics
    assert {(finding.rule, finding.certainty) for finding in findings} == {("PUB006", "assumed"), ("PUB301", "assumed")}


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES " + "(1, 2),\n" * 600_000 + "(3, 4);",
        "COPY t FROM stdin;\n" + "1\tx\n" * 2_000_000 + "\\.\n",
        f"COMMENT ON TABLE t IS '{'x' * (33 << 20)}';",
        f"CREATE VIEW v AS SELECT '{'x' * (20 << 20)}';",
        f"CREATE VIEW v AS SELECT 1 /* {'x ' * 5_000_000} */;",
    ],
    ids=["INSERT", "COPY", "COMMENT", "long text", "comment"],
)  # fmt: skip
def test_data_and_long_texts_are_not_limited(statement: str) -> None:
    assert "PUB006" not in {finding.rule for finding in lint(TABLE + statement + AFTER).diagnostics}


def test_the_limit_counts_bytes_and_at_least_32_for_a_token() -> None:
    assert not is_too_large("SELECT 1, 2", 11 * 32)
    assert is_too_large("SELECT " + "1," * 50 + "1", 100 * 32)
    assert not is_too_large("SELECT " + "1," * 45 + "1", 100 * 32)
    assert not is_too_large(f"SELECT '{'1,' * 1000}', $a${'1,' * 400}$a$ -- {'1,' * 100}", 100 * 32)
    with pytest.raises(TooLarge):
        parse("SELECT 1, 2, 3", 64)


def test_the_limit_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.sql"
    path.write_text(TABLE + large(10_000) + AFTER)

    def rules(*arguments: str) -> set[str]:
        assert run(["lint", "--format", "json", *arguments, str(path)]) in (0, 1)
        return {finding["rule"] for finding in json.loads(capsys.readouterr().out)["diagnostics"]}

    assert rules() == {"PUB301"}
    assert rules("--max-statement-size", "100K") == {"PUB006", "PUB301"}
    config = tmp_path / "pubcheck.toml"
    config.write_text('max-statement-size = "100K"\n')
    assert rules("--config", str(config)) == {"PUB006", "PUB301"}
    assert from_options({"max-statement-size": 5000}).max_statement_size == 5000
    for wrong in ("many", -1, True, "32Q"):
        with pytest.raises(ConfigError, match="is not a size"):
            from_options({"max-statement-size": wrong})
