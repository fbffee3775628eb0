"""The pages of the rules and their index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pubcheck.postgres.versions import MAJORS
from pubcheck.rulebook import RULES, Rule, sections, summary
from tools.site.pages import Generated, table

_FAMILY = re.compile(r"^\| (PUB[\dx]+(?:, PUB[\dx]+)*) \| \[?([^]|]+?)(?:\]\(.*\))? \|$", re.MULTILINE)
"""A row of the table of families in `docs/concepts.md`, which declares them."""
_SENTENCE_END = re.compile(r"(?<=[.:])\s+(?=[A-Z`])")
_ANSWER = re.compile(r"^```text (\d\d(?:-(?:\d\d)?)?)$", re.MULTILINE)


def pages(root: Path) -> Iterator[Generated]:
    """Yield the index, then a page for each rule."""
    subjects = families((root / "docs" / "concepts.md").read_text(encoding="utf-8"))
    yield Generated("rules/index.md", _index(subjects), "All rules")
    for code, rule in RULES.items():
        yield Generated(
            f"rules/{code}.md", _page(rule), f"{code} {rule.name}", subjects[code], source=f"rules/{rule.filename}"
        )


def families(text: str) -> dict[str, str]:
    """Return the subject of each rule, by the table of `docs/concepts.md`."""
    subjects = {
        codes.rstrip("x"): subject[0].upper() + subject[1:]
        for row, subject in _FAMILY.findall(text)
        for codes in row.split(", ")
    }
    return {code: next(subjects[code[:size]] for size in (5, 4) if code[:size] in subjects) for code in RULES}


def versions(majors: tuple[int, ...]) -> str:
    """Return supported majors in words."""
    if len(majors) == 1:
        return str(majors[0])
    if majors[-1] == MAJORS[-1]:
        return f"{majors[0]} and later"
    return f"{majors[0]} to {majors[-1]}"


def _page(rule: Rule) -> str:
    facts = [
        f"**{rule.severity}**",
        f"[phase {rule.phase}](/concepts.md#rules)",
        f"PostgreSQL {versions(rule.postgres)}",
        *([f"SQLSTATE {', '.join(rule.sqlstate)}"] if rule.sqlstate else []),
        "has a fix" if rule.fix else "no automatic fix",
        "reported by default" if rule.default else "off by default",
    ]
    # A reader of the site knows the majors by their names; the pages have them as the fence's second word.
    text = _ANSWER.sub(lambda match: f'```text title="PostgreSQL {_span(match[1])}"', sections(rule.code))
    return f"# {rule.name} ({rule.code})\n\n{' · '.join(facts)}\n\n{text}"


def _span(text: str) -> str:
    first, dash, last = text.partition("-")
    if not dash:
        return first
    return f"{first} to {last}" if last else f"{first} and later"


def _index(subjects: Mapping[str, str]) -> str:
    rules = list(RULES.values())
    by_family: dict[str, list[Rule]] = {}
    for rule in rules:
        by_family.setdefault(subjects[rule.code], []).append(rule)
    parts = [
        "# Rules\n",
        f"pubcheck has {len(rules)} rules. `pubcheck rule PUB301` prints the page of one. "
        "[Concepts](../concepts.md#rules) explains the phases.\n",
        "[By severity](#by-severity), [by version](#by-version), [by name](#by-name).\n",
        '<div id="rule-filter"></div>\n',
    ]
    for title, members in by_family.items():
        parts += [
            f"## {title}\n",
            '<div class="rules" markdown>\n',
            table(("Rule", "Severity", "Phase", "PostgreSQL", "What happens"), map(_row, members)),
            "</div>\n",
        ]
    parts += ["## By severity\n", *_lists((rule.severity, rule) for rule in rules)]
    parts += [
        "## By version\n",
        "All other rules are about every version.\n",
        *_lists((f"PostgreSQL {versions(rule.postgres)}", rule) for rule in rules if rule.postgres != MAJORS),
    ]
    names = sorted(rules, key=lambda rule: rule.name)
    parts += ["## By name\n", "".join(f"- [{rule.name}]({rule.code}.md) {rule.code}\n" for rule in names)]
    return "\n".join(parts)


def _row(rule: Rule) -> tuple[str, ...]:
    off = "" if rule.default else ", off by default"
    return (
        f"{rule.code} [{rule.name}]({rule.code}.md)",
        rule.severity + off,
        rule.phase,
        versions(rule.postgres),
        _SENTENCE_END.split(summary(rule.code))[0],
    )


def _lists(keyed: Iterable[tuple[str, Rule]]) -> Iterator[str]:
    groups: dict[str, list[Rule]] = {}
    for key, rule in keyed:
        groups.setdefault(key, []).append(rule)
    for key in sorted(groups):
        yield f"### {key}\n"
        yield ", ".join(rule.code for rule in groups[key]) + "\n"
