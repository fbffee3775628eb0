"""The words of a text: which name is at an offset, and everywhere that a name is written; and the words that may follow
in a statement about publications (completion)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from pubcheck.consumers import NAMES
from pubcheck.engine.replay import Replay
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.catalog.tables import INFORMATION_SCHEMA, PG_CATALOG
from pubcheck.postgres.tokens import folded, identifier, in_characters, tokens


class Name(Struct, frozen=True):
    """A name, qualified or not: its parts folded as PostgreSQL folds them, and the offsets of its last part."""

    parts: tuple[str, ...]
    start: int
    end: int

    @property
    def last(self) -> str:
        return self.parts[-1]


class Word(Struct, frozen=True):
    """A token with its offsets in code points; ``text`` is folded if it is a name."""

    kind: str
    text: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Word]:
    """Yield the tokens of a text, without blanks and comments. Of a dollar-quoted body, such as a DO block's, those
    inside."""
    data = text.encode(errors="surrogatepass")
    ascii_only = len(data) == len(text)
    for kind, token, offset in tokens(data):
        start = offset if ascii_only else in_characters(data, offset)
        end = offset + len(token) if ascii_only else in_characters(data, offset + len(token))
        if token.startswith(b"$") and kind == "text":
            quote = text.index("$", start + 1) + 1 - start
            shift = start + quote
            for word in words_of(text[shift : end - quote]):
                yield Word(word.kind, word.text, word.start + shift, word.end + shift)
            continue
        yield Word(kind, folded(token) if kind == "name" else token.decode(errors="replace"), start, end)


def names_of(text: str) -> Iterator[Name]:
    """Yield the names of a text, each part of a qualified one with those before it."""
    parts: list[str] = []
    dotted = False
    for word in words_of(text):
        if word.kind == "name":
            parts = [*parts, word.text] if dotted else [word.text]
            yield Name(tuple(parts), word.start, word.end)
            dotted = False
        else:
            dotted = word.text == "." and not dotted and bool(parts)
            if not dotted:
                parts = []


def name_at(text: str, offset: int) -> Name | None:
    """Return the name that an offset is in or at the end of."""
    for name in names_of(text):
        if name.start <= offset <= name.end:
            return name
        if name.start > offset:
            break
    return None


Kind = Literal["table", "column", "publication", "schema", "option", "value", "function", "keyword"]


class Completion(Struct, frozen=True):
    """``label`` is inserted; ``detail`` is shown next to it."""

    label: str
    kind: Kind
    detail: str = ""


_OPTIONS = {
    "publish": "the operations to publish: 'insert, update, delete, truncate'",
    "publish_via_partition_root": "whether partitions are published under the name of their root",
    "publish_generated_columns": "whether generated columns are published (18)",
}
_VALUES = {
    "publish": ("'insert, update, delete, truncate'", "'insert'", "'insert, update'", "'insert, update, delete'"),
    "publish_via_partition_root": ("true", "false"),
    "publish_generated_columns": ("stored", "none"),
}


_OPERATIONS = ("insert", "update", "delete", "truncate")
_MEMBERS = ("TABLE", "TABLES IN SCHEMA")
_AFTER_NAME = {
    "create": ("FOR TABLE", "FOR ALL TABLES", "FOR TABLES IN SCHEMA", "WITH ("),
    "alter": ("ADD TABLE", "DROP TABLE", "SET TABLE", "SET (", "OWNER TO", "RENAME TO"),
}
_AFTER_WORD = {
    "for": (*_MEMBERS, "ALL TABLES"),
    "add": _MEMBERS,
    "drop": _MEMBERS,
    "set": (*_MEMBERS, "("),
    "all": ("TABLES",),
    "in": ("SCHEMA",),
    "owner": ("TO",),
    "rename": ("TO",),
    "with": ("(",),
    "where": ("(",),
}


def consumers(before: str) -> list[Completion]:
    """Return the consumers that a comment may name, nothing if the text before is not the beginning of such a list."""
    if _CONSUMERS.search(before) is None:
        return []
    return [Completion(key, "value", name) for key, name in NAMES.items()]


def _is_in_comment(words: list[Word], before: str) -> bool:
    pairs = pairwise(words)
    if any(word.text + follower.text == "/*" and word.end == follower.start for word, follower in pairs):
        return True  # it is not closed, so its words are read
    return bool(words and _COMMENTS.sub("", before[words[-1].end :]).strip())


_COMMENTS = lazy_compile(r"--[^\n\r]*[\n\r]|/\*.*?\*/", re.DOTALL)
"""Comments that are closed."""
_CONSUMERS = lazy_compile(r"--\s*pubcheck:\s*consumer\[[^\]\n]*\Z")


def completions(replay: Replay, before: str) -> list[Completion]:
    """Return what may follow the beginning of a statement, nothing if it is not about publications."""
    words = list(words_of(before))
    if _is_in_comment(words, before):
        return []
    if words and words[-1].kind == "name" and words[-1].end == len(before):
        words.pop()  # the word that is being written
    names = [word.text for word in words]
    if names[:2] not in (["create", "publication"], ["alter", "publication"], ["drop", "publication"]):
        if names[:2] in (["create", "subscription"], ["alter", "subscription"]) and "publication" in names[2:]:
            return list(_publications(replay))
        return []
    if names[-1] == ";":
        return []
    if names[0] == "drop":
        return list(_publications(replay)) if names[-1] in ("publication", "exists", ",") else []
    if len(names) == 2:
        return [] if names[0] == "create" else list(_publications(replay))
    return list(_in_statement(replay, words, names))


def _in_statement(replay: Replay, words: list[Word], names: list[str]) -> Iterator[Completion]:
    opened = _open_parenthesis(words)
    if opened is None:
        yield from _outside(replay, words, names)
    elif names[opened - 1] in ("with", "set"):
        yield from _options(words, opened)
    elif "'" not in names[opened:]:  # a text that is not closed
        relation = _relation_before(replay, words, opened - 1 if names[opened - 1] == "where" else opened)
        if relation is not None:
            listed = set(names[opened:]) if names[opened - 1] != "where" else set()
            yield from (completion for completion in _columns(replay, relation) if completion.label not in listed)
        if names[opened - 1] == "where":
            yield from _functions(replay)


def _open_parenthesis(words: list[Word]) -> int | None:
    """Return the number of the outermost parenthesis that is not closed."""
    opened: list[int] = []
    for number, word in enumerate(words):
        if word.text == "(":
            opened.append(number)
        elif word.text == ")" and opened:
            opened.pop()
    return opened[0] if opened else None


def _outside(replay: Replay, words: list[Word], names: list[str]) -> Iterator[Completion]:
    last, members = names[-1], _kind_of_members(names)
    keywords: tuple[str, ...] = ()
    if len(names) == 3:
        keywords = _AFTER_NAME[names[0]]
    elif last in ("table", "only") or (last == "," and members == "table"):
        yield from _tables(replay)
    elif last == "." and len(words) > 1:
        yield from _tables(replay, words[-2].text)
    elif last == "schema" or (last == "," and members == "schema"):
        yield from (Completion(name, "schema") for name in _schemas(replay))
    elif last in _AFTER_WORD:
        keywords = _AFTER_WORD[last]
    elif last == "tables" and names[-2] != "all":
        keywords = ("IN SCHEMA",)
    else:
        keywords = tuple(_clauses(names, members))
    yield from (Completion(keyword, "keyword") for keyword in keywords)


def _kind_of_members(names: list[str]) -> str:
    """Return the word before the last list of members, "table" or "schema", or an empty text."""
    return next((name for name in reversed(names) if name in ("table", "schema")), "")


def _clauses(names: list[str], members: str) -> Iterator[str]:
    """Yield the clauses that may follow a member, its filter, or FOR ALL TABLES."""
    closed = _before_last_parenthesis(names)
    if members == "table" and closed not in ("where", "with") and "drop" not in names[3:4]:
        yield "WHERE ("
    if names[0] == "create" and closed != "with":
        yield "WITH ("


def _before_last_parenthesis(names: list[str]) -> str:
    """Return the word before the parentheses that end a statement's beginning, or an empty text."""
    depth = 0
    for number in range(len(names) - 1, 0, -1):
        depth += (names[number] == ")") - (names[number] == "(")
        if depth <= 0:
            return names[number - 1] if names[number] == "(" else ""
    return ""


def _options(words: list[Word], opened: int) -> Iterator[Completion]:
    inside = [word.text for word in words[opened + 1 :]]
    if "'" in inside:  # a text that is not closed
        number = inside.index("'")
        if inside[max(0, number - 2) : number] == ["publish", "="] and inside[-1] in ("'", ","):
            yield from (Completion(name, "value") for name in _OPERATIONS if name not in inside[number:])
        return
    current = inside[len(inside) - inside[::-1].index(",") :] if "," in inside else inside
    if current[-1:] == ["="]:
        for value in _VALUES.get(current[0], ()):
            yield Completion(value, "value")
    elif not current:
        yield from (Completion(name, "option", detail) for name, detail in _OPTIONS.items() if name not in inside)


def _publications(replay: Replay) -> Iterator[Completion]:
    for name in replay.catalog.publication_names:
        yield Completion(identifier(name), "publication")


def _schemas(replay: Replay) -> Iterator[str]:
    yield "CURRENT_SCHEMA"
    for row in replay.catalog.namespaces.values():
        if row.oid not in (PG_CATALOG, INFORMATION_SCHEMA) and not row.name.startswith("pg_"):
            yield identifier(row.name)


def _tables(replay: Replay, schema: str = "") -> Iterator[Completion]:
    catalog = replay.catalog
    for row in catalog.relations.values():
        if row.kind not in "rp" or row.namespace in (PG_CATALOG, INFORMATION_SCHEMA):
            continue
        namespace = catalog.namespaces[row.namespace]
        if schema:
            if namespace.name == schema:
                yield Completion(identifier(row.name), "table")
        elif replay.session.find_unqualified(row.name) is row:
            yield Completion(identifier(row.name), "table", namespace.name)
        else:
            yield Completion(f"{identifier(namespace.name)}.{identifier(row.name)}", "table", namespace.name)


def _relation_before(replay: Replay, words: list[Word], end: int) -> Relation | None:
    """Return the table whose name ends before a word."""
    number = end - 1
    if number >= 0 and words[number].text == ")":
        # There may be a column list between the table and WHERE.
        while number >= 0 and words[number].text != "(":
            number -= 1
        number -= 1
    if number >= 0 and words[number].text == "*":
        number -= 1
    if number < 0 or words[number].kind != "name":
        return None
    parts = [words[number].text]
    if number > 1 and words[number - 1].text == ".":
        parts.insert(0, words[number - 2].text)
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return replay.session.regclass(quoted)


def _columns(replay: Replay, relation: Relation) -> Iterator[Completion]:
    for column in relation.live():
        kind = replay.session.syscache.format_type(column.type, column.typmod) if column.type else ""
        yield Completion(identifier(column.name), "column", kind + (" NOT NULL" if column.not_null else ""))


def _functions(replay: Replay) -> Iterator[Completion]:
    """Yield the built-in functions that a row filter may call: immutable ones, without those behind operators."""
    for name in replay.session.syscache.builtin.immutable_functions:
        yield Completion(name, "function")
