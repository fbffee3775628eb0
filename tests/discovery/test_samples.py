"""The sample repositories of corpus/samples, one for each tool: their units, and what is found in them.

`python -m tests.discovery.test_samples` writes the findings into their expected.toml; read them before you commit.
"""

from __future__ import annotations

import tomllib
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from pubcheck.config import load
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.discovery.units import discover_units, find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files

SAMPLES = Path(__file__).parents[2] / "corpus" / "samples"
NAMES = sorted(path.parent.name for path in SAMPLES.glob("*/expected.toml"))


def found_in(sample: Path) -> dict[str, Any]:
    """What expected.toml holds: units in order, files that are passed over, findings."""
    with chdir(sample):
        config = load()
        met = discover_units(["."], config)
        findings = [finding for plan in met.units for finding in _findings(plan, config)]
        return {
            "unit": [
                {"name": plan.name, "convention": plan.convention, "files": [_file(file) for file in plan.files]}
                for plan in met.units
            ],
            "passed_over": [label for label, _ in met.skipped],
            "findings": sorted(findings),
        }


def _findings(plan: DiscoveredUnit, config: Any) -> list[str]:
    judged = lint_files(plan, Linter(config), excerpts=False)
    assert not judged.faults
    entries = [finding.entry for finding in judged.findings]
    return [
        f"{entry.path}:{entry.line}:{entry.column} {entry.rule} {entry.certainty} {entry.severity}"
        + (f" ({entry.operation})" if entry.operation else "")
        for entry in entries
    ]


def _file(file: Any) -> str:
    return str(file.label) + (" (context)" if file.context else "")


TOOLS = (
    "supabase flyway goose dbmate golang-migrate postgrator sqitch prisma drizzle liquibase rails alembic django hasura"
    " numbered initdb pg_dump demos dump-beside-migrations no-convention configured"
)


def test_there_is_a_sample_for_each_tool() -> None:
    assert set(NAMES) >= set(TOOLS.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_the_units_and_the_findings_that_it_should(name: str) -> None:
    expected = tomllib.loads((SAMPLES / name / "expected.toml").read_text())
    assert found_in(SAMPLES / name) == expected


@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_in_a_history_is_found_when_its_files_are_named_one_by_one(name: str) -> None:
    expected = tomllib.loads((SAMPLES / name / "expected.toml").read_text())
    guessed = {"file", "folder", "references", "numbered", "dump", "rails"}
    with chdir(SAMPLES / name):
        config = load()
        for unit in expected["unit"]:
            if unit["convention"] in guessed:
                continue
            paths = [path for path in unit["files"] if not path.endswith(" (context)")]
            (plan,) = find_units(paths, config)
            assert [_file(file) for file in plan.files] == unit["files"]
            for path in paths:
                (plan,) = find_units([path], config)
                about = [finding for finding in expected["findings"] if finding.startswith(f"{path}:")]
                assert set(about) <= set(_findings(plan, config)) <= set(expected["findings"])


def main() -> None:
    for folder in sorted(path for path in SAMPLES.iterdir() if path.is_dir()):
        expected = found_in(folder)
        parts = [_list("passed_over", expected["passed_over"]) + "\n" + _list("findings", expected["findings"])]
        for unit in expected["unit"]:
            named = [f"{key} = {chr(34)}{unit[key]}{chr(34)}" for key in ("name", "convention")]
            parts.append("\n".join(["[[unit]]", *named, _list("files", unit["files"])]))
        (folder / "expected.toml").write_text("\n\n".join(parts) + "\n")


def _list(key: str, values: list[str]) -> str:
    if not values:
        return f"{key} = []"
    return "\n".join([f"{key} = [", *(f'    "{value}",' for value in values), "]"])


if __name__ == "__main__":
    main()
