"""Statements of publications that the grammar refuses, written as they are meant: as edits of the statement's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.checks.remedies.statement_fixes import Change, StatementFix
from pubcheck.postgres.identifiers import identifier
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import folded, tokens


class _Token(Struct, frozen=True):
    word: str
    start: int
    end: int
    name: str


def correction(sql: str) -> StatementFix | None:
    """How to write a refused statement, where that is certain enough; PostgreSQL's grammar accepts what comes of it."""
    data = sql.encode(errors="surrogatepass")
    found = [
        _Token(token.decode(errors="replace").lower(), at, at + len(token), folded(token) if kind == "name" else "")
        for kind, token, at in tokens(data)
    ]
    while found and found[-1].word == ";":
        found.pop()
    for propose in _PROPOSALS:
        proposal = propose(found, data)
        if proposal is not None and _is_accepted(applied(proposal, sql), proposal):
            return proposal
    return None


def applied(proposal: StatementFix, sql: str) -> str:
    """The statement as a correction leaves it."""
    data = sql.encode(errors="surrogatepass")
    for start, end, text in reversed(proposal.changes):
        data = data[:start] + text.encode(errors="surrogatepass") + data[end:]
    return data.decode(errors="surrogatepass")


def _is_accepted(sql: str, proposal: StatementFix) -> bool:
    """Whether the grammar takes the corrected statement; of a block, the statement in it; of two, the second."""
    new = proposal.changes[0][2]
    whole = _WITHIN.fullmatch(new)
    try:
        return parse(sql if whole is None else whole["block"] or whole["second"]) is not None
    except (SyntaxRefused, TooDeep):
        return False


_WITHIN = re.compile(
    r"DO \$pubcheck\$\nBEGIN\n(?:  IF [^\n]* THEN\n)?(?P<block>.*)\n(?:  END IF;\nEND|EXCEPTION )[^;]*(?:;[^;]*)?"
    r"|DROP [^;]*;(?P<second>.*)",
    re.DOTALL,
)


def _words(found: Sequence[_Token], at: int, count: int) -> str:
    return " ".join(token.word for token in found[at : at + count])


def _beta(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """FOR ALL TABLES IN SCHEMA, which a beta of 15 had."""
    edits = tuple(
        (token.start, found[at + 1].start, "")
        for at, token in enumerate(found)
        if token.word == "all" and _words(found, at + 1, 3) == "tables in schema"
    )
    return StatementFix("Write TABLES IN SCHEMA", edits) if edits else None


_BEFORE = ("for", "add", "set", "drop", ",")


def _plural(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """TABLES before names of tables; safe where it begins the list, for after another kind it may be one of these."""
    places = [
        at
        for at, token in enumerate(found)
        if at and token.word == "tables" and found[at - 1].word in _BEFORE
        if _words(found, at + 1, 1) not in ("in", "")
    ]
    edits = tuple((found[at].start, found[at].end, _like("table", data, found[at])) for at in places)
    return StatementFix("Write TABLE", edits, all(found[at - 1].word != "," for at in places)) if edits else None


def _singular(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """TABLE IN SCHEMA."""
    edits = tuple(
        (token.start, token.end, _like("tables", data, token))
        for at, token in enumerate(found[1:], 1)
        if token.word == "table" and found[at - 1].word in _BEFORE and _words(found, at + 1, 2) == "in schema"
    )
    return StatementFix("Write TABLES IN SCHEMA", edits) if edits else None


def _schema(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """SCHEMA before names of schemas; not quite certain after SET, where SET SCHEMA is a command of other objects."""
    places = [
        at
        for at, token in enumerate(found)
        if at and token.word in ("schema", "schemas") and found[at - 1].word in _BEFORE and _words(found, at + 1, 1)
    ]
    edits = tuple((found[at].start, found[at].end, _like("tables in schema", data, found[at])) for at in places)
    safe = all(found[at - 1].word in ("for", "add", "drop") for at in places)
    return StatementFix("Write TABLES IN SCHEMA", edits, safe) if edits else None


def _no_kind(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """A name right after FOR, ADD, SET or DROP: of a table, most likely."""
    if len(found) < 5 or found[1].word != "publication" or found[3].word not in _BEFORE:
        return None
    if not found[4].name or _KINDS.fullmatch(found[4].word):
        return None
    return StatementFix("Write TABLE", ((found[4].start, found[4].start, _like("table ", data, found[3])),), safe=False)


_KINDS = re.compile(
    r"all|any|every(?:thing)?|schemas?|foreign|materialized|(?:column|database|domain|function|index|partition|procedure"
    r"|role|routine|sequence|table|trigger|type|view)s?|indexes"
)
"""Words for kinds of objects, which are unlikely to be meant as the name of a table."""


def _other_kind(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """What can only be a table after TABLES IN SCHEMA, and the schema of CURRENT_SCHEMA after TABLE.

    An entry without a word of its own before it is of the kind of the one before it.
    """
    edits: list[Change] = []
    schemas, depth = None, 0
    for at, token in enumerate(found):
        depth += (token.word == "(") - (token.word == ")")
        if depth or at < 4 or found[at - 1].word not in _BEFORE or token.word in ("(", "all"):
            continue
        if token.word in ("table", "tables"):
            schemas = token.word == "tables"
        elif edits:
            return None  # of which kind it is meant to be is not known
        elif schemas and _words(found, at + 1, 1) in (".", "(", "where"):
            edits.append((token.start, token.start, _like("table ", data, found[3])))
        elif schemas is False and token.word == "current_schema":
            edits.append((token.start, token.start, _like("tables in schema ", data, found[3])))
    title = "Write TABLE" if schemas else "Write TABLES IN SCHEMA"
    return StatementFix(title, tuple(edits)) if edits else None


def _filter(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """WHERE without parentheses around the whole row filter. DROP takes no filter at all."""
    if _words(found, 3, 1) == "drop":
        return None
    edits: list[Change] = []
    depth, start = 0, None
    for at, token in enumerate((*found, _END)):
        ends = token is _END or token.word == "," or (token.word == "with" and _words(found, at + 1, 1) == "(")
        if depth == 0 and start is not None and ends:
            if start < at and not _is_group(found[start:at]):
                edits += [(found[start].start, found[start].start, "("), (found[at - 1].end, found[at - 1].end, ")")]
            start = None
        depth += (token.word in ("(", "[")) - (token.word in (")", "]"))
        if depth == 0 and start is None and token.word == "where":
            start = at + 1
    return StatementFix("Put parentheses around the row filter", tuple(edits)) if edits else None


_END = _Token("", 0, 0, "")


def _is_group(found: Sequence[_Token]) -> bool:
    """Whether one pair of parentheses encloses all of these tokens."""
    depth = 0
    for at, token in enumerate(found):
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0:
            return at > 0 and at == len(found) - 1
    return False


def _like(word: str, data: bytes, token: _Token) -> str:
    """A keyword in the case in which the one it replaces is."""
    return word.upper() if data[token.start : token.end].isupper() else word


def _if_not_exists(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """CREATE PUBLICATION IF NOT EXISTS."""
    if _words(found, 0, 5) != "create publication if not exists" or len(found) < 6:
        return None
    statement = data[: found[2].start] + data[found[5].start : found[-1].end]
    return _block("Create it in a DO block that ignores duplicate_object", statement, "duplicate_object", found)


def _or_replace(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """CREATE OR REPLACE PUBLICATION."""
    if _words(found, 0, 4) != "create or replace publication" or len(found) < 5 or not found[4].name:
        return None
    name = identifier(found[4].name)
    statement = data[: found[1].start] + data[found[3].start : found[-1].end]
    text = f"DROP PUBLICATION IF EXISTS {name};\n{statement[found[0].start :].decode(errors='surrogatepass')}"
    return StatementFix("Drop it before it is made", ((found[0].start, found[-1].end, text),), safe=False)


def _member_if(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """ALTER PUBLICATION ... ADD TABLE IF NOT EXISTS or DROP TABLE IF EXISTS, of one table: with more, all or none."""
    if _words(found, 0, 2) != "alter publication" or len(found) < 8:
        return None
    action, words = found[3].word, ("if", "not", "exists") if found[3].word == "add" else ("if", "exists")
    at = 5 if found[4].word == "table" else 4
    if action not in ("add", "drop") or tuple(token.word for token in found[at : at + len(words)]) != words:
        return None
    if len(found) <= at + len(words) or _lists_several(found[at + len(words) :]):
        return None
    table = b"" if at == 5 else b"TABLE "
    statement = data[: found[at].start] + table + data[found[at + len(words)].start : found[-1].end]
    condition = "duplicate_object" if action == "add" else "undefined_object"
    what = "that is a member already" if action == "add" else "that is not a member"
    return _block(f"Do it in a block that passes over a table {what}", statement, condition, found)


def _alter_if(found: Sequence[_Token], data: bytes) -> StatementFix | None:
    """ALTER PUBLICATION IF EXISTS."""
    if _words(found, 0, 4) != "alter publication if exists" or len(found) < 6 or not found[4].name:
        return None
    statement = (data[: found[2].start] + data[found[4].start : found[-1].end])[found[0].start :]
    literal = found[4].name.replace("'", "''")
    text = (
        f"DO $pubcheck$\nBEGIN\n  IF EXISTS (SELECT FROM pg_publication WHERE pubname = '{literal}') THEN\n"
        f"    {statement.decode(errors='surrogatepass')};\n  END IF;\nEND\n$pubcheck$"
    )
    title = "Do it in a block that looks first whether the publication exists"
    return StatementFix(title, ((found[0].start, found[-1].end, text),), safe=False)


def _lists_several(found: Sequence[_Token]) -> bool:
    depth = 0
    for token in found:
        depth += (token.word == "(") - (token.word == ")")
        if token.word == "," and not depth:
            return True
    return False


def _block(title: str, statement: bytes, condition: str, found: Sequence[_Token]) -> StatementFix:
    inner = statement[found[0].start :].decode(errors="surrogatepass")
    text = f"DO $pubcheck$\nBEGIN\n  {inner};\nEXCEPTION WHEN {condition} THEN NULL;\nEND\n$pubcheck$"
    return StatementFix(title, ((found[0].start, found[-1].end, text),), safe=False)


_PROPOSALS = (
    _beta,
    _plural,
    _singular,
    _schema,
    _no_kind,
    _other_kind,
    _filter,
    _if_not_exists,
    _or_replace,
    _member_if,
    _alter_if,
)
