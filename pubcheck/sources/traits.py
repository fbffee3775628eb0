"""What of a file's bytes decides where it belongs: cheap facts, found in one pass and without a parser.

They may be wrong where a comment or a string looks like a statement; what rests on them is only which files are read
together. The names are PostgreSQL's: unquoted ones in lower case, without the schema `public`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from pubcheck.sources.selection import may_publish


class Names(Struct, frozen=True, omit_defaults=True):
    """The names that a file makes and needs.

    ``makes`` are tables, views and types; ``makes_again`` those of them that it makes only where there is none (IF NOT
    EXISTS). ``publishes`` are the publications that it makes. ``needs`` are the relations that its DDL and its
    publications name, ``uses`` those that its other statements name, ``alters`` the publications that it changes.
    ``everything``: it publishes all tables, or those of a schema, without naming them.
    """

    makes: frozenset[str] = frozenset()
    makes_again: frozenset[str] = frozenset()
    publishes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    alters: frozenset[str] = frozenset()
    everything: bool = False


class Traits(Struct, frozen=True, omit_defaults=True):
    """What of a file decides where it belongs.

    ``may_publish``: it may hold a statement about a publication; ``identifies``: or about a replica identity. ``kind``
    is the tool whose marks it bears, a key of ``MARKS``; ``dump`` the major in the header of a pg_dump, 0 where that
    does not say. ``order`` is what a tool's own list of migrations says, ``revision`` an Alembic migration's own
    identifier and those it comes after.
    """

    may_publish: bool = False
    identifies: bool = False
    kind: str | None = None
    dump: int | None = None
    order: tuple[str, ...] = ()
    revision: tuple[str, ...] = ()

    @property
    def concerned(self) -> bool:
        """Whether pubcheck may have something to say of it."""
        return self.may_publish or self.identifies


MARKS: dict[str, re.Pattern[bytes]] = {
    "goose": re.compile(rb"^\s*--[ \t]*\+goose[ \t]+up", re.I | re.M),
    "sql-migrate": re.compile(rb"^\s*--[ \t]*\+migrate[ \t]+up", re.I | re.M),
    "dbmate": re.compile(rb"^\s*--[ \t]*migrate:up", re.I | re.M),
    "liquibase": re.compile(rb"\A\s*--[ \t]*liquibase[ \t]+formatted[ \t]+sql", re.I),
    "node-pg-migrate": re.compile(rb"^\s*--[ \t]*up[ \t]+migration", re.I | re.M),
    "evolutions": re.compile(rb"^\s*(?:#|--)[ \t]*---[ \t]*!Ups", re.M),
    "tern": re.compile(rb"^----[ \t]*create above / drop below[ \t]*----", re.M),
}
"""What the files of a tool hold that keeps the way up and the way down in one file, by the name of the tool."""

LISTS = ("sqitch.plan", "_journal.json", "migration_lock.toml")
"""Files in which tools keep what they know of their migrations."""

_DUMP = re.compile(rb"^-- (?:Dumped from database version (\d+)|PostgreSQL database (?:cluster )?dump\s*$)", re.M)
_IDENTITY = re.compile(rb"replica\s+identity")
_HEAD = 4096
_MOST = 4 << 20
"""Bytes of a file in which names are looked for; a larger one is data, or a dump, which belongs to nothing else."""


def traits(path: str, content: bytes) -> Traits:
    """The facts of a file. Of ``path`` only the end counts."""
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in LISTS:
        return Traits(order=_order(name, content))
    head = content[:_HEAD]
    revision = _revision(content) if name.endswith(".py") and b"down_revision" in content else ()
    identifies = _IDENTITY.search(content.lower()) is not None
    return Traits(may_publish(content), identifies, kind_of(head), dump_of(head), revision=revision)


def kind_of(head: bytes) -> str | None:
    """The tool whose marks stand at the beginning of a file."""
    if b"--" not in head:
        return None
    for kind, pattern in MARKS.items():
        if pattern.search(head):
            return kind
    return None


def dump_of(head: bytes) -> int | None:
    """The major of the server that was dumped, 0 for a dump that does not say, None for what is no dump."""
    if b"PostgreSQL database" not in head[:2000] and b"Dumped from database version" not in head:
        return None
    found = [match[1] for match in _DUMP.finditer(head)]
    return int(next((major for major in found if major), 0)) if found else None


def _order(name: str, content: bytes) -> tuple[str, ...]:
    text = content.decode(errors="replace")
    if name == "sqitch.plan":
        # A change is a line that begins with its name; an @ or % begins a tag or a pragma.
        lines = (line.split("#")[0].split() for line in text.splitlines())
        return tuple(line[0].lstrip("+") for line in lines if line and line[0][0] not in "@%-")
    if name == "_journal.json":
        import msgspec

        try:
            journal = msgspec.json.decode(content, type=_Journal)
        except msgspec.DecodeError:
            return ()
        return tuple(entry.tag for entry in sorted(journal.entries, key=lambda entry: entry.idx))
    found = re.search(r'^\s*provider\s*=\s*"(\w+)"', text, re.M)
    return (found[1],) if found else ()


class _JournalEntry(Struct, frozen=True):
    idx: int
    tag: str


class _Journal(Struct, frozen=True):
    """What Drizzle writes of its migrations."""

    entries: tuple[_JournalEntry, ...] = ()


_REVISIONS = re.compile(rb"^(down_revision|revision)\b[^=\n]*=\s*(None|\([^)]*\)|\[[^\]]*\]|['\"][^'\"\n]*['\"])", re.M)


def _revision(content: bytes) -> tuple[str, ...]:
    """An Alembic migration's own identifier, and those that it comes after."""
    given = {
        match[1]: tuple(name.decode(errors="replace") for name in re.findall(rb"['\"]([^'\"]*)['\"]", match[2]))
        for match in _REVISIONS.finditer(content)
    }
    own = given.get(b"revision", ())
    return (*own[:1], *given.get(b"down_revision", ())) if own else ()


# Names.

_PART = rb'(?:"[^"\n]+"|[a-z_\x80-\xff][\w$\x80-\xff]*)'
_NAME = rb"%b(?:\s*\.\s*%b)?" % (_PART, _PART)
_ASIDE = re.compile(rb"--[^\n]*|/\*.*?\*/", re.S)
# On text in lower case, and with alternatives that begin with a letter: so the search leaps from one such letter to
# the next. Whether a word begins there is looked at afterwards.
_NAMED = re.compile(
    rb"create\s+(?:or\s+replace\s+)?(?P<temporary>(?:(?:global|local)\s+)?temp(?:orary)?\s+)?"
    rb"(?:unlogged\s+|foreign\s+|materialized\s+|recursive\s+)*"
    rb"(?:table|view|type|domain)\s+(?P<guard>if\s+not\s+exists\s+)?(?P<makes>%(name)b)"
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
    """The names that a file's SQL makes and needs; none of a file that is very large or in UTF-16."""
    if len(content) > _MOST or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Names()
    text = _ASIDE.sub(b" ", content)
    lower = text.lower()
    makes, again, publishes, needs, uses, alters = (set[str]() for _ in range(6))
    everything = False

    def written(found: re.Match[bytes], group: str) -> str:
        return plain(text[found.start(group) : found.end(group)])

    for found in _NAMED.finditer(lower):
        start = found.start()
        if start and _LETTERS.match(lower, start - 1):
            continue
        group = found.lastgroup  # the last to take part, which is the one that tells
        if group == "makes":
            if found["temporary"] is None:
                makes.add(name := written(found, "makes"))
                if found["guard"] is not None:
                    again.add(name)
        elif group == "rest":
            (publishes if found["verb"] == b"create" else alters).add(written(found, "publication"))
            rest = found["rest"]
            everything = everything or _EVERYTHING.search(rest) is not None
            needs |= _members(rest, text[found.start("rest") : found.end("rest")])
        elif group == "renamed":
            makes.add(written(found, "renamed"))
        elif group == "uses":
            uses.add(written(found, "uses"))
        elif group is not None:
            needs.add(written(found, group))
    return Names(
        frozenset(makes),
        frozenset(again),
        frozenset(publishes),
        frozenset(needs),
        frozenset(uses),
        frozenset(alters),
        everything,
    )


def mentions(content: bytes, wanted: frozenset[str]) -> bool:
    """Whether a file may hold one of these names."""
    lower = content.lower()
    return any(name.rpartition(".")[2].lower().encode() in lower for name in wanted)


def _members(lower: bytes, text: bytes) -> set[str]:
    """The tables that a publication's list names, given what follows the publication's name, twice."""
    start = _LIST.search(lower)
    if start is None:
        return set()
    lower, text = (_without_parentheses(each[start.end() :]) for each in (lower, text))
    ended = _WITH.search(lower)
    lower = lower[: ended.start()] if ended else lower
    return {plain(text[match.start(1) : match.end(1)]) for match in _MEMBER.finditer(lower)}


def _without_parentheses(text: bytes) -> bytes:
    kept, depth = [], 0
    for piece in re.split(rb"([()])", text):
        if piece == b"(":
            depth += 1
        elif piece == b")":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(piece)
    return b" ".join(kept)


_PARTS = re.compile(r'"[^"]*"|[^".\s]+')


def plain(name: bytes) -> str:
    """A name as written, as PostgreSQL has it; without `public`, which is where unqualified names lead by default."""
    parts = [
        part.strip('"') if part.startswith('"') else part.lower()
        for part in _PARTS.findall(name.decode(errors="replace"))
    ]
    return ".".join(parts[1:] if len(parts) == 2 and parts[0] == "public" else parts)
