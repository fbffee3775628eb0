"""The rulebook: which rules there are, and the page of each.

A rule is declared once, in the front matter of its page `rules/<code>-<name>.md`. The declarations are compiled into
`_index.py` by `python -m tools.rulebook.compile`, so that a run opens no page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from pubcheck.bundled_texts import PACKAGE, read_text
from pubcheck.diagnostics import Certainty, Diagnostic, Fix, Phase, Severity, Span
from pubcheck.postgres.versions import span
from pubcheck.rulebook import _index

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from typing import TypeVar, Unpack

    from pubcheck.diagnostics import Details

    _Function = TypeVar("_Function", bound=Callable[..., object])


class Rule(Struct, frozen=True):
    """The declaration of a rule in its page's front matter.

    ``majors``: to which the rule applies, as ``span`` reads it; "" for all. ``sqlstate``: the possible answers of the
    server, empty when nothing fails. ``spec``: the rules of the specification that it implements, empty for our own
    families.
    ``default``: whether `lint` reports it by default.
    """

    code: str
    name: str
    phase: Phase
    severity: Severity
    majors: str
    sqlstate: tuple[str, ...]
    spec: tuple[str, ...]
    fix: bool
    default: bool

    @property
    def postgres(self) -> tuple[int, ...]:
        """The supported majors to which the rule applies."""
        return span(self.majors)

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
        """Return a finding under this rule, of its severity unless another is given."""
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

ADDRESS = _index.ADDRESS
"""Where the project publishes the pages, with {code} for the code of a rule; "" if it does not."""
INTERNAL_ERROR = "PUB000"
"""The code of internal errors."""
UNREADABLE = "PUB001"
"""The code of files that cannot be read."""
ALWAYS = frozenset((INTERNAL_ERROR, UNREADABLE))
"""These are reported whatever is selected, ignored or in a baseline: something was not linted."""
_FIRST_SECTION = "## What happens\n"

_BY_NAME: Mapping[str, Rule] = {rule.name: rule for rule in RULES.values()}


FINDERS: dict[str, list[Callable[..., object]]] = {}
"""The functions that report a rule by themselves, by its code. The modules that are imported have entered theirs."""
FIXERS: dict[str, list[Callable[..., object]]] = {}
"""The functions that make the fixes of a rule, in the same way."""


def finder(*codes: str) -> Callable[[_Function], _Function]:
    """Enter a function under the codes of the rules that it reports."""
    return _entered(FINDERS, codes)


def fixer(*codes: str) -> Callable[[_Function], _Function]:
    """Enter a function under the codes of the rules whose findings it fixes."""
    return _entered(FIXERS, codes)


def _entered(table: dict[str, list[Callable[..., object]]], codes: Iterable[str]) -> Callable[[_Function], _Function]:
    def enter(function: _Function) -> _Function:
        for code in codes:
            table.setdefault(code, []).append(function)
        return function

    return enter


def reading_diagnostic(
    code: str, message: str, span: Span, majors: tuple[int, ...], help: str | None = None, fix: Fix | None = None
) -> Diagnostic:
    """Return a certain finding of the rule with that code about a file's text itself, for ``majors``."""
    return RULES[code].diagnostic("certain", majors, message, span, help=help, fixes=(fix,) if fix else ())


def find(code_or_name: str) -> Rule | None:
    """Return the rule that a person means by a code in any case, or by a name."""
    return RULES.get(code_or_name.upper()) or _BY_NAME.get(code_or_name.lower())


def page(code: str) -> str:
    """Return the Markdown of a rule's page, without front matter. Raises as ``sections``."""
    return f"# {RULES[code].name} ({code})\n\n{sections(code)}"


def sections(code: str) -> str:
    """Return the Markdown of a rule's page after its title. KeyError for an unknown code, OSError without the page.

    A checkout and an editable install have the pages next to the package.
    """
    text = read_text(code, os.path.join(os.path.dirname(PACKAGE), "rules", RULES[code].filename))
    return text[text.index(_FIRST_SECTION) :]


def summary(code: str) -> str:
    """Return the first paragraph of a rule's page, which says what happens, on one line. Raises as ``page``."""
    text = sections(code).removeprefix(_FIRST_SECTION).strip()
    return " ".join(text.partition("\n\n")[0].split())


# --- Which rules report -------------------------------------------------------------------------------------------


def is_selector(text: str) -> bool:
    """Return whether ``text`` is the code of a rule or the beginning of one (``PUB3``)."""
    return text.startswith("PUB") and any(code.startswith(text) for code in RULES)


def selected(select: Iterable[str] = (), ignore: Iterable[str] = (), extend: Iterable[str] = ()) -> frozenset[str]:
    """Return the codes that are reported under these selectors, which are codes or beginnings of codes.

    Without ``select`` the rules that are on by default; those of ``extend`` come on top. Between the two and ``ignore``
    the longer selector wins, ``ignore`` a tie: `--ignore PUB3 --select PUB301` reports PUB301. ``ALWAYS`` are
    reported in any case.
    """
    return _selected(tuple(select), tuple(ignore), tuple(extend))


@lru_cache(maxsize=16)
def _selected(select: tuple[str, ...], ignore: tuple[str, ...], extend: tuple[str, ...]) -> frozenset[str]:
    """Return the codes; a run asks for each of its units, and its selectors are the same."""
    chosen = set(ALWAYS)
    for code, rule in RULES.items():
        chosen_by = max((len(item) for item in select + extend if code.startswith(item)), default=-1)
        refused_by = max((len(item) for item in ignore if code.startswith(item)), default=-1)
        if not select and rule.default:
            chosen_by = max(chosen_by, 0)
        if chosen_by > refused_by:
            chosen.add(code)
    return frozenset(chosen)
