"""Find the names that a file's SQL creates and needs, in one pass and without a parser.

They may be wrong where a string looks like a statement. They only decide which files are read together. Unquoted names
are in lower case, and the schema `public` is left out.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from pubcheck.source import in_utf8


class Names(Struct, frozen=True, omit_defaults=True):
    """The names that a file creates and needs.

    - ``creates``: tables, views and types; ``creates_if_missing``: those of them with IF NOT EXISTS
    - ``publishes``: the publications that it creates
    - ``needs``: the relations that its DDL and its publications name; ``uses``: the relations in other statements
    - ``alters``: the publications that it changes; ``adds``: pairs of a publication and a table added to it
    - ``everything``: it publishes all tables, or those of a schema, without naming them
    """

    creates: frozenset[str] = frozenset()
    creates_if_missing: frozenset[str] = frozenset()
    publishes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    alters: frozenset[str] = frozenset()
    adds: frozenset[tuple[str, str]] = frozenset()
    everything: bool = False


_MOST = 4 << 20
"""The largest file, in bytes, that is searched for names. A larger one is data or a dump, and a unit of its own."""

_PART = rb'(?:"[^"\n]+"|[a-z_\x80-\xff][\w$\x80-\xff]*)'
_NAME = rb"%b(?:\s*\.\s*%b)?" % (_PART, _PART)
_ASIDE = re.compile(rb"--[^\n]*|/\*.*?\*/", re.S)
# On text in lower case, and with alternatives that begin with a letter: so the search leaps from one such letter to
# the next. Whether a word begins there is looked at afterwards.
_NAMED = re.compile(
    rb"create\s+(?:or\s+replace\s+)?(?P<temporary>(?:(?:global|local)\s+)?temp(?:orary)?\s+)?"
    rb"(?:unlogged\s+|foreign\s+|materialized\s+|recursive\s+)*"
    rb"(?:table|view|type|domain)\s+(?P<guard>if\s+not\s+exists\s+)?(?P<creates>%(name)b)"
    rb"|(?P<verb>create|alter|drop)\s+publication\s+(?:if\s+(?:not\s+)?exists\s+)?"
    rb"(?P<publication>%(part)b)(?P<rest>[^;]*)"
    rb"|create\s+(?:unique\s+)?index\s+[^;(]*?\bon\s+(?:only\s+)?(?P<indexed>%(name)b)"
    rb"|alter\s+(?:foreign\s+)?table\s+(?:if\s+exists\s+)?(?:only\s+)?(?P<altered>%(name)b)"
    rb"|(?:references|partition\s+of|inherits\s*\()\s*(?P<needs>%(name)b)"
    rb"|rename\s+to\s+(?P<renamed>%(part)b)"
    rb"|(?:from|join|into|update|truncate(?:\s+table)?|copy|drop\s+table(?:\s+if\s+exists)?)\s+(?:only\s+)?"
    rb"(?P<uses>%(name)b)" % {b"name": _NAME, b"part": _PART}
)
_LIST = re.compile(rb"\btables?\s+(?!in\s+schema\b)(?:only\s+)?")
_EVERYTHING = re.compile(rb"\b(?:all\s+tables|tables\s+in\s+schema)\b")
_MEMBER = re.compile(rb"(?:\A|,)\s*(?:table\s+)?(?:only\s+)?(?!tables\s+in\b)(%b)" % _NAME)
_WITH = re.compile(rb"\bwith\b")
_LETTERS = re.compile(rb"[\w$\x80-\xff]")


def names(content: bytes) -> Names:
    """Return the names that a file's SQL creates and needs; none of a file that is very large."""
    if len(content) > _MOST:
        return Names()
    text = _ASIDE.sub(b" ", in_utf8(content))
    lower = text.lower()
    creates, if_missing, publishes, needs, uses, alters = (set[str]() for _ in range(6))
    adds: set[tuple[str, str]] = set()
    everything = False

    def written(match: re.Match[bytes], group: str) -> str:
        return plain(text[match.start(group) : match.end(group)])

    for match in _NAMED.finditer(lower):
        start = match.start()
        if start and _LETTERS.match(lower, start - 1):
            continue
        group = match.lastgroup  # the last to take part, which is the one that tells
        if group == "creates":
            if match["temporary"] is None:
                creates.add(name := written(match, "creates"))
                if match["guard"] is not None:
                    if_missing.add(name)
        elif group == "rest":
            publication = written(match, "publication")
            (publishes if match["verb"] == b"create" else alters).add(publication)
            rest = match["rest"]
            everything = everything or _EVERYTHING.search(rest) is not None
            members = _members(rest, text[match.start("rest") : match.end("rest")])
            needs |= members
            if rest.lstrip().startswith(b"add"):
                adds.update((publication, member) for member in members)
        elif group == "renamed":
            creates.add(written(match, "renamed"))
        elif group == "uses":
            uses.add(written(match, "uses"))
        elif group is not None:
            needs.add(written(match, group))
    if b"create_table" in lower or b"createtable" in lower:
        creates |= {text[slice(*match.span(1))].decode(errors="replace") for match in _CALLED.finditer(lower)}
    if b"datasource" in lower:
        for model in _MODEL.finditer(text, 0, text.rfind(b"}") + 1):
            mapped = _MAPPED.search(model[2])
            creates.add((mapped[1] if mapped else model[1]).decode(errors="replace"))
    return Names(
        frozenset(creates),
        frozenset(if_missing),
        frozenset(publishes),
        frozenset(needs),
        frozenset(uses),
        frozenset(alters),
        frozenset(adds),
        everything,
    )


_CALLED = re.compile(rb"create_?table\s*\(?\s*[:\"']\s*([\w.]+)")
"""Calls by which frameworks create tables."""
_MODEL = re.compile(rb"^[ \t]*model[ \t]+(\w+)[ \t]*\{([^}]*)\}", re.M)
_MAPPED = re.compile(rb"@@map\(\s*(?:name\s*:\s*)?\"([^\"]*)\"")
"""Prisma's models, and the names that their tables are given."""


def mentions(content: bytes, needed: frozenset[str]) -> bool:
    """Return whether DDL in a file may name one of these relations. Much faster than ``names``."""
    lower = in_utf8(content).lower()
    return any(name in lower for name in _lower(needed)) and _after_words(needed).search(lower) is not None


@lru_cache(maxsize=8)
def _lower(needed: frozenset[str]) -> tuple[bytes, ...]:
    return tuple({name.rpartition(".")[2].lower().encode() for name in needed})


@lru_cache(maxsize=8)
def _after_words(needed: frozenset[str]) -> re.Pattern[bytes]:
    """Return a pattern for one of the names after a word that may precede the name of a relation."""
    names = b"|".join(map(re.escape, sorted(_lower(needed))))
    word = rb"(?:table|exists|only|view|type|domain|references|of|on|to|inherits|model|map|[,(])"
    return re.compile(rb"%b[\s(:'\"]*(?:%b\s*\.\s*)?\"?(?:%b)(?![\w$])" % (word, _PART, names))


def _members(lower: bytes, text: bytes) -> set[str]:
    """Return the tables of a publication's list from the text after its name, given in lower case and as written."""
    start = _LIST.search(lower)
    if start is None:
        return set()
    lower, text = (_without_parentheses(part[start.end() :]) for part in (lower, text))
    ended = _WITH.search(lower)
    lower = lower[: ended.start()] if ended else lower
    return {plain(text[match.start(1) : match.end(1)]) for match in _MEMBER.finditer(lower)}


def _without_parentheses(text: bytes) -> bytes:
    remaining, depth = [], 0
    for piece in re.split(rb"([()])", text):
        if piece == b"(":
            depth += 1
        elif piece == b")":
            depth = max(0, depth - 1)
        elif not depth:
            remaining.append(piece)
    return b" ".join(remaining)


_PARTS = re.compile(r'"[^"]*"|[^".\s]+')


def plain(name: bytes) -> str:
    """Return a written name as PostgreSQL folds it, without the schema `public`, the default of unqualified names."""
    parts = [
        part.strip('"') if part.startswith('"') else part.lower()
        for part in _PARTS.findall(name.decode(errors="replace"))
    ]
    return ".".join(parts[1:] if len(parts) == 2 and parts[0] == "public" else parts)
