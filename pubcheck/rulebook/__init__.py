"""The rulebook: which rules there are, and the page of each.

A rule is declared once, in the front matter of its page `rules/<code>-<name>.md`. The declarations are compiled into
`_index.py` by `python -m pubcheck.rulebook compile`, so that a run opens no page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Unpack

from msgspec import Struct

from pubcheck.diagnostics import Certainty, Details, Diagnostic, Fix, Phase, ServerAnswer, Severity, Span
from pubcheck.lazy_regex import lazy_compile
from pubcheck.rulebook import _index


class Rule(Struct, frozen=True):
    """What a page's front matter declares.

    ``postgres``: the majors in which the rule can speak. ``sqlstate``: what the server may answer, empty when nothing
    fails. ``spec``: the rules of the specification that it stands for, empty for the families of our own. ``default``:
    whether `lint` reports it unless told otherwise.
    """

    code: str
    name: str
    phase: Phase
    severity: Severity
    postgres: tuple[int, ...]
    sqlstate: tuple[str, ...]
    spec: tuple[str, ...]
    fix: bool
    default: bool

    @property
    def filename(self) -> str:
        return f"{self.code}-{self.name}.md"

    def diagnostic(
        self,
        certainty: Certainty,
        majors: tuple[int, ...],
        message: str,
        span: Span,
        *,
        severity: Severity | None = None,
        **details: Unpack[Details],
    ) -> Diagnostic:
        """A finding under this rule, of its severity unless another is given."""
        return Diagnostic(
            rule=self.code,
            name=self.name,
            phase=self.phase,
            severity=severity or self.severity,
            certainty=certainty,
            postgres=majors,
            message=message,
            span=span,
            **details,
        )


RULES: Mapping[str, Rule] = {row[0]: Rule(*row) for row in _index.ROWS}
"""Every rule by its code, in the order of the codes."""

INTERNAL_ERROR = "PUB000"
"""The code of internal errors, which are reported whatever is selected or ignored."""

_BY_SPEC: dict[str, list[Rule]] = {}
for _rule in RULES.values():
    for _spec in _rule.spec:
        _BY_SPEC.setdefault(_spec, []).append(_rule)
_BY_NAME: Mapping[str, Rule] = {rule.name: rule for rule in RULES.values()}


def rule_for_spec(spec: str, sqlstate: str = "") -> Rule:
    """The rule that stands for a rule of the specification (``ri-filter-column``), or one of our own that is called so;
    KeyError when there is none.

    Where several share it, that which declares ``sqlstate``, and the last that declares any for any other.
    """
    rules = _BY_SPEC.get(spec) or [_BY_NAME[spec]]
    others = [rule for rule in rules if rule.sqlstate] or rules
    return next((rule for rule in rules if sqlstate in rule.sqlstate), others[-1])


def remark(
    code: str, message: str, span: Span, majors: tuple[int, ...], help: str | None = None, fix: Fix | None = None
) -> Diagnostic:
    """Return a certain finding of the rule with that code about a file's text itself, for ``majors``."""
    return RULES[code].diagnostic("certain", majors, message, span, help=help, fixes=(fix,) if fix else ())


def find(code_or_name: str) -> Rule | None:
    """The rule that a person means by a code in any case, or by a name."""
    return RULES.get(code_or_name.upper()) or _BY_NAME.get(code_or_name.lower())


def page(code: str) -> str:
    """The Markdown of a rule's page, front matter included. KeyError for an unknown code, OSError without the page.

    Pages stand in the package, where the wheel puts them, or else beside it, in a checkout or an editable install.
    """
    filename = RULES[code].filename
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "rules", filename)
    path = inside if os.path.exists(inside) else os.path.join(os.path.dirname(package), "rules", filename)
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().replace("\r\n", "\n")


def body(code: str) -> str:
    """The Markdown of a rule's page without its front matter. Raises as ``page``."""
    return page(code).partition("\n---\n")[2].strip() + "\n"


def summary(code: str) -> str:
    """The first paragraph of a rule's page, which says what happens, on one line. Raises as ``page``."""
    text = body(code).partition("\n## What happens\n")[2].strip()
    return " ".join(text.partition("\n\n")[0].split())


# --- Which rules speak --------------------------------------------------------------------------------------------


def is_selector(text: str) -> bool:
    """Whether ``text`` is the code of a rule or the beginning of one (``PUB3``)."""
    return text != "" and any(code.startswith(text) for code in RULES)


def selected(select: Iterable[str] = (), ignore: Iterable[str] = (), extend: Iterable[str] = ()) -> frozenset[str]:
    """The codes that are reported under these selectors, which are codes or beginnings of codes.

    Without ``select`` the rules that are on by default; those of ``extend`` come on top. Between the two and ``ignore``
    the longer selector wins, ``ignore`` a tie: `--ignore PUB3 --select PUB301` reports PUB301.
    """
    select, ignore, extend = tuple(select), tuple(ignore), tuple(extend)
    chosen = set()
    for code, rule in RULES.items():
        wanted = max((len(item) for item in select + extend if code.startswith(item)), default=-1)
        refused = max((len(item) for item in ignore if code.startswith(item)), default=-1)
        if not select and rule.default:
            wanted = max(wanted, 0)
        if wanted > refused:
            chosen.add(code)
    return frozenset(chosen)


# --- Pages --------------------------------------------------------------------------------------------------------

SECTIONS = ("What happens", "Why", "Example", "How to fix", "Source")
"""The headings of every page, in this order."""

_FIELDS = ("code", "name", "phase", "severity", "postgres", "sqlstate", "spec", "fix", "default")
_FENCE = lazy_compile(r"^```(\w*)[ ]*([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_MARK = lazy_compile(r"--( *)(\^+) (PUB\d{3})")
_ANSWER = lazy_compile(r"ERROR (?P<sqlstate>[0-9A-Z]{5}): (?P<message>.*)")


class PageError(ValueError):
    """A page that does not follow the format; the message names the page and what is wrong."""


_Fail = Callable[[str], PageError]


class Place(Struct, frozen=True, order=True):
    """Where an example has a finding: line and columns count from 1, ``end`` is exclusive.

    A finding of several lines is marked up to the end of its first one.
    """

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
    """Takes a page apart and checks it against the format; raises PageError.

    The front matter is YAML that needs no YAML parser: between two lines of `---`, each line `key: value`, where a
    value is a bare word or JSON (a number, a quoted text, a list on one line, true or false).
    """

    def fail(what: str) -> PageError:
        return PageError(f"rules/{filename}: {what}")

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
    bad_text, found, good_text = sections["Example"].partition("### Good\n")
    if not found or not bad_text.startswith("### Bad\n"):
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
    import msgspec

    fields: dict[str, object] = {}
    for line in head.splitlines():
        key, colon, value = line.partition(":")
        value = value.strip()
        if not colon or key not in _FIELDS or key in fields or not value:
            raise fail(f"cannot read the line `{line}` of the front matter; its keys are {', '.join(_FIELDS)}")
        try:
            fields[key] = msgspec.json.decode(value) if re.match(r'["\[\d]|(true|false)$', value) else value
        except msgspec.DecodeError as error:
            raise fail(f"{key}: {error}") from None
    for key in ("spec", "sqlstate"):
        given = fields.get(key, [])
        fields[key] = [given] if isinstance(given, str) else given
    try:
        rule = msgspec.convert(fields, Rule)
    except msgspec.ValidationError as error:
        raise fail(str(error)) from None
    if not re.fullmatch(r"PUB\d{3}", rule.code) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name):
        raise fail("a code is PUB and three digits, a name is words in lower case joined with hyphens")
    if not rule.postgres or list(rule.postgres) != sorted(set(rule.postgres)):
        raise fail("postgres must list the majors, ascending")
    return rule


def _bad_examples(rule: Rule, text: str, fail: _Fail) -> Iterator[BadExample]:
    blocks = _FENCE.findall(text)
    while blocks:
        language, _, marked = blocks.pop(0)
        if language != "sql":
            raise fail("an answer without the statements before it")
        sql, places = _marked_places(marked, rule, fail)
        answers: dict[int, ServerAnswer | None] = {}
        while blocks and blocks[0][0] == "text":
            _, majors, said = blocks.pop(0)
            answer = _parse_answer(said, fail)
            if answer and rule.sqlstate and answer.sqlstate not in rule.sqlstate:
                raise fail(f"the front matter does not declare the SQLSTATE {answer.sqlstate} that an example claims")
            for major in [int(word) for word in re.findall(r"\d+", majors)] or rule.postgres:
                answers[major] = answer
        if (answers or rule.sqlstate) and tuple(sorted(answers)) != rule.postgres:
            raise fail(f"a bad example needs the answer of each of {rule.postgres}, and has {tuple(sorted(answers))}")
        # Where only other majors refuse the statement, this one has nothing to report.
        refusal = bool(rule.sqlstate) and rule.phase in ("ddl", "write")
        by_major = {major: () if refusal and answers.get(major) is None else places for major in rule.postgres}
        yield BadExample(sql, answers, by_major)


def _marked_places(text: str, rule: Rule, fail: _Fail) -> tuple[str, tuple[Place, ...]]:
    """Split an example into its SQL and the places that comments below its lines mark, in their order.

    ``--    ^^^^^^ PUB301`` marks what is above the carets. Carets that follow ``--`` directly mark from the line's
    first column on: nothing else can be marked there.
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
        if mark[3] != rule.code or not lines or end > len(lines[-1]):
            raise fail(f"`{line.strip()}` does not mark a finding of {rule.code} in the line above it")
        places.append(Place(len(lines), column, end))
    if not places:
        raise fail(f"a bad example needs a comment such as `--   ^^^^ {rule.code}` below each finding")
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


# --- Compiling ----------------------------------------------------------------------------------------------------


def read_pages(folder: str) -> list[Page]:
    """Every page of ``folder``, by code.

    Raises PageError, also when two pages share a code, a name, or a ``spec`` with the same SQLSTATE.
    """
    pages = []
    for filename in sorted(os.listdir(folder)):
        if filename.endswith(".md"):
            with open(os.path.join(folder, filename), encoding="utf-8") as file:
                pages.append(parse_page(file.read(), filename))
    for what, owners in (
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
        seen: dict[str, str] = {}
        for key, owner in owners:
            if key in seen:
                raise PageError(f"rules/{owner.rule.filename}: {what} {key} is already that of {seen[key]}")
            seen[key] = owner.rule.filename
    return pages


def index_source(pages: Iterable[Page]) -> str:
    """The Python source of `_index.py` for these pages."""
    rows = "".join(
        f"    ({', '.join(repr(getattr(page.rule, field)) for field in Rule.__struct_fields__)}),\n" for page in pages
    )
    return (
        '"""Generated from rules/*.md by `python -m pubcheck.rulebook compile`; edit the pages."""\n\n'
        "from typing import Any\n\n"
        f"# {', '.join(Rule.__struct_fields__)}\n"
        f"ROWS: tuple[tuple[Any, ...], ...] = (\n{rows})\n"
    )


def main(arguments: list[str]) -> int:
    """`compile` writes the index of a checkout's pages; 2 for anything else, or a page that breaks the format."""
    import sys

    if arguments != ["compile"]:
        print("usage: python -m pubcheck.rulebook compile", file=sys.stderr)
        return 2
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        pages = read_pages(os.path.join(os.path.dirname(package), "rules"))
    except PageError as error:
        print(error, file=sys.stderr)
        return 2
    with open(os.path.join(package, "rulebook", "_index.py"), "w", encoding="utf-8", newline="\n") as file:
        file.write(index_source(pages))
    print(f"{len(pages)} rules")
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
