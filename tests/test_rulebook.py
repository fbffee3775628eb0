"""The rulebook: pages follow the format, the index is theirs, the whole specification is accounted for."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

import pubcheck
from pubcheck import rulebook
from pubcheck.postgres.versions import MAJORS
from pubcheck.rulebook import ALWAYS, RULES, selected
from tools.rulebook.compile import index_source, published_address
from tools.rulebook.pages import SECTIONS, PageError, parse_page, read_pages

PAGES = Path(__file__).parent.parent / "rules"
COVERAGE: dict[str, str] = tomllib.loads((PAGES / "coverage.toml").read_text())
INDEX = Path(pubcheck.__file__).parent / "rulebook" / "_index.py"
PAGE = (PAGES / "PUB120-option-unknown.md").read_text()
NAME = "PUB120-option-unknown.md"


def test_every_page_follows_the_format_and_the_index_is_theirs() -> None:
    address = published_address((PAGES.parent / "pyproject.toml").read_text())
    expected = index_source(read_pages(os.fspath(PAGES)), address)
    assert INDEX.read_text() == expected, "run `python -m tools.rulebook.compile`"


@pytest.mark.parametrize(
    ("metadata", "address"),
    [
        ("[project]\nname = 'a'\n", ""),
        ("[project]\nname = 'a'\nurls = { Source = 'https://example.com' }\n", ""),
        ("[project.urls]\nDocumentation = 'https://example.com/docs/'\n", "https://example.com/docs/rules/{code}/"),
    ],
)
def test_the_address_of_the_pages_is_that_of_the_documentation_in_the_metadata(metadata: str, address: str) -> None:
    assert published_address(metadata) == address
    compiled: dict[str, object] = {}
    exec(index_source([], address), compiled)
    assert compiled["ADDRESS"] == address


def test_pages_declare_supported_majors() -> None:
    assert {major for rule in RULES.values() for major in rule.postgres} <= set(MAJORS)


@pytest.mark.parametrize("code", RULES)
def test_a_page_is_found_by_its_code(code: str) -> None:
    file = (PAGES / RULES[code].filename).read_text()
    assert rulebook.page(code) == file.partition("\n---\n\n")[2]


def test_what_the_specification_has_is_a_rule_or_has_a_reason() -> None:
    assert len(COVERAGE) == 90
    by_code = {spec: value.split() for spec, value in COVERAGE.items() if value.startswith("PUB")}
    specs = {spec for rule in RULES.values() for spec in rule.spec}
    assert by_code == {spec: [rule.code for rule in RULES.values() if spec in rule.spec] for spec in specs}


def test_rules_are_found_by_name_and_code() -> None:
    rule = RULES["PUB301"]
    assert rulebook.find("pub301") is rule
    assert rulebook.find(rule.name) is rule
    assert rulebook.find("PUB999") is None


def test_without_selectors_the_default_rules_speak() -> None:
    assert selected() == {rule.code for rule in RULES.values() if rule.default}


def test_the_longer_selector_wins_and_ignore_wins_a_tie() -> None:
    assert selected(("PUB301",)) == {"PUB301", *ALWAYS}
    assert selected(("PUB",)) == set(RULES)
    assert "PUB301" not in selected((), ("PUB3",))
    assert "PUB301" in selected(("PUB301",), ("PUB3",))
    assert "PUB301" not in selected(("PUB3",), ("PUB301",))
    assert selected(("PUB301",), ("PUB301",)) == ALWAYS


def test_a_selector_is_the_beginning_of_a_code() -> None:
    assert rulebook.is_selector("PUB3")
    assert not rulebook.is_selector("PUBX")
    assert not rulebook.is_selector("")


def test_a_page_is_taken_apart() -> None:
    page = parse_page(PAGE, NAME)
    assert page.rule is not RULES["PUB120"]
    assert page.rule == RULES["PUB120"]
    assert list(page.sections) == list(SECTIONS)
    first, by_major = page.bad
    assert first.sql.startswith("CREATE TABLE orders")
    assert {answer.message for answer in first.answers.values() if answer} == {
        'unrecognized publication parameter: "update"'
    }
    assert [major for major, answer in by_major.answers.items() if answer is None] == [18, 19]
    assert len(page.good) == 1


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("---\ncode", "code", "begins with front matter"),
        ("code: PUB120", "code: PUB121", "makes the file's name PUB121-option-unknown.md"),
        ("fix: true", "fix: maybe", "fix"),
        ("fix: true", "fixes: false", "the front matter has no key fixes; its keys are code, "),
        ("fix: true", "fix: [true", "rules/PUB120-option-unknown.md: "),
        ("phase: ddl", "phase: later", "later"),
        ("fix: true\n", "", "fix"),
        ("sqlstate:", "postgres: 18+\nsqlstate:", "postgres must name majors"),
        ("# option-unknown (PUB120)", "# option", "the title must be"),
        ("## Why", "## Reason", "the sections must be"),
        ("### Good", "### Better", "`### Bad`, then `### Good`"),
        ("```text 18-\nOK\n```\n", "", "needs the answer of each"),
        ("^ PUB120", "^ PUB121", "does not mark a finding of PUB120 in the line above it"),
        ("^ PUB120", "^" * 60 + " PUB120", "does not mark a finding"),
        ("^ PUB120", "^PUB120", "needs a comment such as"),
        ("ERROR 42601: unrecognized", "ERROR 42602: unrecognized", "does not declare the SQLSTATE 42602"),
        ("ERROR 42601: unrecognized", "ERROR: unrecognized", "cannot read the server's answer"),
    ],
)
def test_a_page_that_breaks_the_format_is_refused(before: str, after: str, complaint: str) -> None:
    assert before in PAGE
    with pytest.raises(PageError, match=complaint):
        parse_page(PAGE.replace(before, after), NAME)


@pytest.mark.parametrize(
    ("again", "complaint"),
    [
        (("PUB120-option-unknown", "PUB120-other"), "code PUB120 is already that of PUB120-option-unknown.md"),
        (("PUB120-option-unknown", "PUB121-option-unknown"), "name option-unknown is already"),
        (("PUB120-option-unknown", "PUB121-other"), "spec option-unknown 42601 is already"),
    ],
)
def test_codes_names_and_specifications_are_unique(tmp_path: Path, again: tuple[str, str], complaint: str) -> None:
    code, _, name = again[1].partition("-")
    text = PAGE.replace("PUB120", code)
    text = text.replace("# option-unknown", f"# {name}").replace("name: option-unknown", f"name: {name}")
    (tmp_path / NAME).write_text(PAGE)
    (tmp_path / f"{again[1]}.md").write_text(text)
    with pytest.raises(PageError, match=complaint):
        read_pages(os.fspath(tmp_path))
