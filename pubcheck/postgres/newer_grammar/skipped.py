"""Statements of PostgreSQL 19 that are recognised, and skipped."""

from __future__ import annotations

import itertools

from pubcheck.postgres.newer_grammar.reader import Reader

_FIRST_WORDS = ((b"repack",), (b"wait", b"for", b"lsn"), (b"checkpoint", b"("))
_ANYWHERE = (
    (b"property", b"graph"),
    (b"graph_table", b"("),
    (b"ignore", b"nulls"),
    (b"respect", b"nulls"),
    (b"for", b"portion", b"of"),
    (b"do", b"select"),
)
_SCHEMA_ELEMENTS = frozenset(
    (b"aggregate", b"collation", b"domain", b"function", b"operator", b"procedure", b"text", b"type")
)
_SETTING = ((b"to", b"null"), (b"=", b"null"))


def is_of_newer_grammar(data: bytes) -> bool:
    """Return whether a refused statement has a form that is new in 19."""
    reader = Reader(data)
    if any(reader.sees(*words) for words in _FIRST_WORDS):
        return True
    words = [token.lower() for _, token, _ in reader.tokens]
    if words[:2] == [b"create", b"schema"]:
        return any(first == b"create" and second in _SCHEMA_ELEMENTS for first, second in itertools.pairwise(words))
    if words[:1] == [b"set"] or (words[:1] == [b"alter"] and b"set" in words):
        return any(pair in _SETTING for pair in itertools.pairwise(words))
    if words[:1] == [b"copy"]:
        return (b"format", b"json") in itertools.pairwise(words) or words[-1:] == [b"json"]
    if words[1:4] == [b"foreign", b"data", b"wrapper"]:
        return b"connection" in words
    return any(
        tuple(words[start : start + len(form)]) == form for form in _ANYWHERE for start in range(len(words))
    )
