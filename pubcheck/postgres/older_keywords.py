"""Statements in which a word is an ordinary name to earlier majors, and a keyword to the grammar that parses them."""

from __future__ import annotations

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.lexical import LATER
from pubcheck.postgres.parse import LARGEST, Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import tokens
from pubcheck.postgres.versions import Major

MAY_DIFFER = lazy_compile(r"(?ai:\b(?:system_user|merge_action|json_\w+)\b|\bjson\s*\()")
"""Text without any of this is the same to all majors. JSON is the name of a type to all of them."""
_INITIALS = "qzjxwkvy"


def has_fewer_keywords(major: Major) -> bool:
    """Return whether a major has not all of the keywords of the grammar."""
    return not major.includes(max(LATER))


def parse_with_names(sql: str, major: Major, most: int = LARGEST) -> tuple[str, Node] | None:
    """Return the tree of a statement for a major to which keywords of later ones are names.

    None if none of them is in it, or if they cannot be names there: then it is for this major what it is for the
    others, or refused.
    """
    data = sql.encode(errors="surrogatepass")
    words = {word for since, group in LATER.items() if not major.includes(since) for word in group.split()}
    replacements: dict[str, str] = {}
    sent = bytearray(data)
    for kind, token, offset in tokens(data):
        word = token.lower().decode(errors="replace")
        if kind == "name" and word in words:
            # A name of the same length keeps all locations.
            name = replacements.setdefault(word, _unused_name(word, sql))
            sent[offset : offset + len(token)] = name.encode()
    if not replacements:
        return None
    try:
        return parse(sent.decode(errors="surrogatepass"), most, {name: word for word, name in replacements.items()})
    except (SyntaxRefused, TooDeep):
        return None


def _unused_name(word: str, sql: str) -> str:
    """Return a name as long as a word that a text does not have."""
    lowered = sql.lower()
    return next((name for initial in _INITIALS if (name := initial + word[1:]) not in lowered), "\0" + word[1:])
