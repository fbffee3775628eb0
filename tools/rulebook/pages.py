"""The pages of the rules: their format, their examples, and the declarations in their front matter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec import Struct

from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.versions import span
from pubcheck.rulebook import Rule

SECTIONS = ("What happens", "Why", "Example", "How to fix", "Source")
"""The headings of every page, in this order."""

_KEYS = ("code", "name", "phase", "severity", "postgres", "sqlstate", "spec", "fix", "default")
_SPAN = re.compile(r"(?:\d\d(?:-(?:\d\d)?)?)?")
_FENCE = re.compile(r"^```(\w*)[ ]*([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"--( *)(\^+) (PUB\d{3})")
_ANSWER = re.compile(r"ERROR (?P<sqlstate>[0-9A-Z]{5}): (?P<message>.*)")


class PageError(ValueError):
    """A page that does not follow the format; the message names the page and what is wrong."""


_Fail = Callable[[str], PageError]


class Place(Struct, frozen=True, order=True):
    """The place of an example's finding: line and columns count from 1, ``end`` is exclusive. A finding of several
    lines is marked up to the end of its first line."""

    line: int
    column: int
    end: int


class BadExample(Struct, frozen=True):
    """SQL with findings of the page's rule.

    ``answers``: by major, what the server answers to the last statement; None when it accepts them all. Empty when no
    server can be asked, for example because the SQL needs an extension. ``places``: by major, where the linter reports
    the rule.
    """

    sql: str
    answers: Mapping[int, ServerAnswer | None]
    places: Mapping[int, tuple[Place, ...]]


class Page(Struct, frozen=True):
    """A page taken apart: its declaration, its sections by heading, its examples in the order of the page."""

    rule: Rule
    sections: Mapping[str, str]
    bad: tuple[BadExample, ...]
    good: tuple[str, ...]


def parse_page(text: str, filename: str) -> Page:
    """Take a page apart and checks it against the format; raises PageError. Its front matter is YAML."""

    def fail(problem: str) -> PageError:
        return PageError(f"rules/{filename}: {problem}")

    head, body = _split(text, fail)
    rule = _declaration(head, fail)
    if filename != rule.filename:
        raise fail(f"the front matter makes the file's name {rule.filename}")
    title, *parts = re.split(r"^## +(.+?) *$", body, flags=re.MULTILINE)
    if title.strip() != f"# {rule.name} ({rule.code})":
        raise fail(f"the title must be `# {rule.name} ({rule.code})`")
    sections = dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    if tuple(parts[::2]) != SECTIONS:
        raise fail(f"the sections must be {', '.join(SECTIONS)}, and are {', '.join(parts[::2])}")
    if empty := [heading for heading, section in sections.items() if not section]:
        raise fail(f"nothing is written under {empty[0]}")
    if "```sql" not in sections["Example"] and not (rule.spec or rule.sqlstate):
        return Page(rule, sections, (), ())  # about files, not about SQL
    bad_text, separator, good_text = sections["Example"].partition("### Good\n")
    if not separator or not bad_text.startswith("### Bad\n"):
        raise fail("Example must hold `### Bad`, then `### Good`")
    good = tuple(sql for language, _, sql in _FENCE.findall(good_text) if language == "sql")
    bad = tuple(_bad_examples(rule, bad_text, fail))
    if not bad or not good:
        raise fail("Bad and Good each need an sql block")
    return Page(rule, sections, bad, good)


def _split(text: str, fail: _Fail) -> tuple[str, str]:
    match = re.match(r"---\n(.*?\n)---\n+(.*)", text, re.DOTALL)
    if match is None:
        raise fail("a page begins with front matter between two lines of `---`")
    return match[1], match[2]


def _declaration(head: str, fail: _Fail) -> Rule:
    try:
        fields = msgspec.yaml.decode(head, type=dict[str, object])
        if unknown := [key for key in fields if key not in _KEYS]:
            raise fail(f"the front matter has no key {unknown[0]}; its keys are {', '.join(_KEYS)}")
        for key in ("spec", "sqlstate"):
            value = fields.get(key, [])
            fields[key] = [value] if isinstance(value, str) else value
        fields["majors"] = str(fields.pop("postgres", ""))
        rule = msgspec.convert(fields, Rule)
    except msgspec.DecodeError as error:
        raise fail(str(error)) from None
    if not re.fullmatch(r"PUB\d{3}", rule.code) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name):
        raise fail("a code is PUB and three digits, a name is words in lower case joined with hyphens")
    if _SPAN.fullmatch(rule.majors) is None:
        raise fail('postgres must name majors as "15", "15-17" or "18-"; without it the rule applies to all')
    return rule


def _bad_examples(rule: Rule, text: str, fail: _Fail) -> Iterator[BadExample]:
    blocks = _FENCE.findall(text)
    while blocks:
        language, _, marked = blocks.pop(0)
        if language != "sql":
            raise fail("an answer without the statements before it")
        try:
            sql, places = marked_places(marked, rule.code)
        except ValueError as error:
            raise fail(str(error)) from None
        if not places:
            raise fail(f"a bad example needs a comment such as `--   ^^^^ {rule.code}` below each finding")
        answers: dict[int, ServerAnswer | None] = {}
        while blocks and blocks[0][0] == "text":
            _, majors, claimed = blocks.pop(0)
            answer = _parse_answer(claimed, fail)
            if answer and rule.sqlstate and answer.sqlstate not in rule.sqlstate:
                raise fail(f"the front matter does not declare the SQLSTATE {answer.sqlstate} that an example claims")
            if _SPAN.fullmatch(majors) is None:
                raise fail(f'an answer names majors as "15", "15-17" or "18-", not {majors!r}')
            answers.update(dict.fromkeys((major for major in span(majors) if major in rule.postgres), answer))
        if (answers or rule.sqlstate) and tuple(sorted(answers)) != rule.postgres:
            raise fail(f"a bad example needs the answer of each of {rule.postgres}, and has {tuple(sorted(answers))}")
        # Where only other majors refuse the statement, this one has nothing to report.
        refusal = bool(rule.sqlstate) and rule.phase in ("ddl", "write")
        by_major = {major: () if refusal and answers.get(major) is None else places for major in rule.postgres}
        yield BadExample(sql, answers, by_major)


def marked_places(text: str, code: str) -> tuple[str, tuple[Place, ...]]:
    """Split an example into its SQL and the places that comments below its lines mark, in their order.

    ``--    ^^^^^^ PUB301`` marks what is above the carets. Carets that follow ``--`` directly mark from the line's
    first column on: nothing else can be marked there. Raises ValueError for a mark that marks nothing.
    """
    lines: list[str] = []
    places: list[Place] = []
    for line in text.splitlines(keepends=True):
        mark = _MARK.fullmatch(line.rstrip("\n"))
        if mark is None:
            lines.append(line)
            continue
        column = len("--") + len(mark[1]) + 1 if mark[1] else 1
        end = len("--") + len(mark[1]) + len(mark[2]) + 1
        if mark[3] != code or not lines or end > len(lines[-1]):
            raise ValueError(f"`{line.strip()}` does not mark a finding of {code} in the line above it")
        places.append(Place(len(lines), column, end))
    return "".join(lines), tuple(sorted(places))


def _parse_answer(text: str, fail: _Fail) -> ServerAnswer | None:
    """`OK`, or `ERROR <sqlstate>: <message>` with lines `DETAIL: ` and `HINT: ` where the server sends them.

    Further lines go on with the one before.
    """
    if text.strip() == "OK":
        return None
    first, *rest = text.rstrip("\n").split("\n")
    match = _ANSWER.fullmatch(first)
    more: dict[str, str] = {}
    for line in rest:
        key, _, value = line.partition(": ")
        if key in ("DETAIL", "HINT"):
            more[key] = value
        elif more:
            more[[*more][-1]] += f"\n{line}"
        else:
            match = None
    if match is None:
        raise fail(f"cannot read the server's answer {text!r}")
    return ServerAnswer(match["sqlstate"], match["message"], more.get("DETAIL"), more.get("HINT"))


def read_pages(folder: str) -> list[Page]:
    """Every page of ``folder``, by code.

    Raises PageError, also when two pages share a code, a name, or a ``spec`` with the same SQLSTATE.
    """
    pages = []
    for filename in sorted(os.listdir(folder)):
        if filename.endswith(".md"):
            with open(os.path.join(folder, filename), encoding="utf-8") as file:
                pages.append(parse_page(file.read(), filename))
    for field, owners in (
        ("code", [(page.rule.code, page) for page in pages]),
        ("name", [(page.rule.name, page) for page in pages]),
        (
            "spec",
            [
                (f"{spec} {state}".strip(), page)
                for page in pages
                for spec in page.rule.spec
                for state in page.rule.sqlstate or ("",)
            ],
        ),
    ):
        owner_of: dict[str, str] = {}
        for key, owner in owners:
            if key in owner_of:
                raise PageError(f"rules/{owner.rule.filename}: {field} {key} is already that of {owner_of[key]}")
            owner_of[key] = owner.rule.filename
    return pages
