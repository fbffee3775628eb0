"""Test cases in a program: each runs on a database of its own, after what is done outside of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.extract.program_migrations import block_end, within
from pubcheck.extract.string_literals import Literal

_CALLED = r"^[ \t]*(?:(?:await|return)[ \t]+)?(?:Deno\.|bench\.|t\.)?(?:it|test|specify|example|scenario)"
_RUBY_TEST = rf"{_CALLED}(?:[ \t(]+[\"'][^\n]*\bdo\b|[ \t]+do\b|[ \t]*\{{)|^[ \t]*def[ \t]+test_\w+"
_JAVA_TEST = r"^[ \t]*@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b[^\n]*(?:\n[ \t]*@[^\n]*)*\n?[^\n]*\("
_HEADERS = {
    "python": r"^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*[ \t]*\(",
    "ruby": _RUBY_TEST,
    "javascript": rf"{_CALLED}(?:\.\w+)*(?:\([^()\n]*\)|`[^`]*`)?(?:<[^<>\n]*>)?"
    r"\([ \t]*(?:[\"'`]|async\b|\(|function\b|\n)",
    "go": r"^func[ \t]+(?:\([^()\n]*\)[ \t]*)?(?:Test|Benchmark|Example|Fuzz)\w*[ \t]*\(",
    "elixir": r"^[ \t]*(?:test|property)[ \t]+\"[^\n]*\bdo\b|^[ \t]*test[ \t]+\"[^\n]*",
    "java": _JAVA_TEST,
    "csharp": r"^[ \t]*\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b[^\n]*\]\s*"
    r"(?:\[[^\n]*\]\s*)*[^\n]*\(",
    "php": rf"^[ \t]*(?:public[ \t]+)?(?:static[ \t]+)?function[ \t]+test\w*[ \t]*\(|{_CALLED}\(",
    "rust": r"^[ \t]*\#\[(?:\w+::)*test\b[^\n]*\]\s*(?:\#\[[^\n]*\]\s*)*(?:pub[ \t]+)?(?:async[ \t]+)?fn\b",
}


def cases(text: str, language: str, strings: Sequence[Literal]) -> tuple[tuple[int, int], ...]:
    """Return the ascending spans of the test cases of a program, those within others left out."""
    spans: list[tuple[int, int]] = []
    starts = [string.start for string in strings]
    for header in re.finditer(_HEADERS[language], text, re.MULTILINE):
        start = header.start()
        if (not spans or start >= spans[-1][1]) and not within(start, strings, starts):
            spans.append((start, block_end(text, start, header.end() - 1, strings, starts)))
    return tuple(spans)
