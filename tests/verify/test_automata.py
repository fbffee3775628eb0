"""Automata accept what their patterns match."""

from __future__ import annotations

import random
import re

import pytest

from pubcheck.verify.usual_changes import automaton_of
from pubcheck.verify.usual_texts import usual_texts
from tests.verify.test_usual_texts import OTHERS, damaged_text, inputs_of_types
from tests.verify.usual_in_python import accepts

WITHOUT = {"json", "jsonb", "xml", "jsonb[]", "json[]", "point[]"}
"""Types whose texts automata cannot accept, or not alone."""
PATTERNS = {
    "a": ("a", "", "aa", "b", "\0"),
    "": ("", "a"),
    "a|bc|": ("a", "bc", "", "b", "abc"),
    "(?:a|b?c)*": ("", "abcac", "cc", "bb", "cb"),
    "a+?b??": ("a", "aab", "b", "abb"),
    r"[^\0-\x1f\]-]{2}": ("ab", "a-", "a]", "a\x1f", "a\x7f", "aé", "a"),
    r"[-\d\\]{1,3}": ("1-\\", "-", "", "1234", "d"),
    r"\{a{2,}\}": ("{aa}", "{aaaa}", "{a}", "aa"),
    r"[\t-\r]\n?": ("\t", "\r\n", "\n", "t", " "),
    "(?:a{0,2}b){2}": ("abaab", "bb", "aaabb", "ab"),
}
UNSUPPORTED = ("(?!a)b", "(a)", r"\w", "a.", "^a", "a$", "é", "(?:a", "a)", "(?:a{1,99}){1,99}")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_automata_accept_what_patterns_match(pattern: str) -> None:
    automaton = automaton_of(pattern)
    assert automaton is not None
    outcomes = {text: accepts(automaton, text) for text in PATTERNS[pattern]}
    assert outcomes == {text: text.isascii() and re.fullmatch(pattern, text) is not None for text in outcomes}
    assert len({*outcomes.values()}) == 2


@pytest.mark.parametrize("pattern", UNSUPPORTED)
def test_other_patterns_have_none(pattern: str) -> None:
    assert automaton_of(pattern) is None


@pytest.mark.parametrize(("oid", "typmod", "texts"), OTHERS.values(), ids=OTHERS)
def test_automata_of_types(oid: int, typmod: int, texts: tuple[str, ...], request: pytest.FixtureRequest) -> None:
    usual, chance, accepted = usual_texts(inputs_of_types(), oid, typmod), random.Random(oid), 0
    assert usual is not None
    automaton = None if usual.pattern is None else automaton_of(usual.pattern)
    assert (automaton is None) == (request.node.callspec.id in WITHOUT)
    if automaton is None:
        return
    for _ in range(2000):
        text = damaged_text(chance.choice(texts), chance)
        is_accepted = accepts(automaton, text)
        accepted += is_accepted
        assert not is_accepted or usual.one(text), text
        assert is_accepted or not usual.is_all or not usual.one(text), text
    assert accepted > 100
