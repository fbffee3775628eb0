"""Statements of PostgreSQL 19 that are recognised, and not read any further."""

from __future__ import annotations

import itertools

from pubcheck.postgres.newer_grammar.reader import Reader

UNREAD = "UnreadStmt"
"""The node of a statement that may create or change something."""
_WITHOUT_EFFECT = {
    (b"wait", b"for", b"lsn"): "WaitStmt",
    (b"checkpoint", b"("): "CheckPointStmt",
    (b"comment", b"on", b"property"): "CommentStmt",
    (b"grant",): "GrantStmt",
    (b"revoke",): "GrantStmt",
}
_ANYWHERE = (
    (b"property", b"graph"),
    (b"graph_table", b"("),
    (b"ignore", b"nulls"),
    (b"respect", b"nulls"),
    (b"for", b"portion", b"of"),
    (b"do", b"select"),
)
_WITH_SETTINGS = ([b"alter", b"database"], [b"alter", b"role"], [b"alter", b"user"])
_NO_VALUE = ((b"to", b"null"), (b"=", b"null"))


def skipped_node(data: bytes) -> str | None:
    """Return the name of the node of a refused statement that has a form that is new in 19; None for any other."""
    reader = Reader(data)
    words = [token.lower() for _, token, _ in reader.tokens]
    pairs = list(itertools.pairwise(words))
    if words[:1] == [b"set"] or words[:2] in _WITH_SETTINGS:
        return UNREAD if any(pair in _NO_VALUE for pair in pairs) else None
    if words[:1] == [b"copy"]:
        return "CopyStmt" if (b"format", b"json") in pairs or words[-1:] == [b"json"] else None
    if words[1:4] == [b"foreign", b"data", b"wrapper"]:
        return UNREAD if b"connection" in words else None
    if not has_newer_words(words):
        return None
    return next((node for first, node in _WITHOUT_EFFECT.items() if reader.sees(*first)), UNREAD)


def has_newer_words(words: list[bytes]) -> bool:
    """Return whether words in lower case are those of a form that is new in 19."""
    if words[:3] == [b"wait", b"for", b"lsn"] or words[:2] == [b"checkpoint", b"("]:
        return True
    first = {form[0] for form in _ANYWHERE}
    return any(
        word in first and any(tuple(words[start : start + len(form)]) == form for form in _ANYWHERE)
        for start, word in enumerate(words)
    )
