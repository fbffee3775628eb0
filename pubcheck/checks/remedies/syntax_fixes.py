"""Statements of publications that the grammar refuses, written as they are meant: as edits of the statement's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.checks.misspelt_names import misspelt_keyword
from pubcheck.checks.remedies.statement_fixes import Change, StatementFix, Token, tokens_of
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import identifier
from pubcheck.rulebook import fixer


@fixer("PUB101", "PUB102", "PUB103")
def correction(sql: str) -> StatementFix | None:
    """Return a fix, which the grammar accepts, for a statement that it refuses; None if none is clear."""
    data = sql.encode(errors="surrogatepass")
    words = tokens_of(data)
    for propose in _PROPOSALS:
        proposal = propose(words, data)
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
    """Return whether the grammar takes the corrected statement; of a block, the statement in it; of two, the second."""
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


def _words(words: Sequence[Token], index: int, count: int) -> str:
    return " ".join(token.word for token in words[index : index + count])


def _beta(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """FOR ALL TABLES IN SCHEMA, the syntax of a beta version of PostgreSQL 15."""
    edits = tuple(
        (token.start, words[index + 1].start, "")
        for index, token in enumerate(words)
        if token.word == "all" and _words(words, index + 1, 3) == "tables in schema"
    )
    return StatementFix("Write TABLES IN SCHEMA", edits) if edits else None


_BEFORE = ("for", "add", "set", "drop", ",")


def _plural(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """TABLES before names of tables; safe where it begins the list, for after another kind it may be one of these."""
    places = [
        index
        for index, token in enumerate(words)
        if index and token.word == "tables" and words[index - 1].word in _BEFORE
        if _words(words, index + 1, 1) not in ("in", "")
    ]
    edits = tuple((words[index].start, words[index].end, _like("table", data, words[index])) for index in places)
    return StatementFix("Write TABLE", edits, all(words[index - 1].word != "," for index in places)) if edits else None


def _singular(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """TABLE IN SCHEMA."""
    edits = tuple(
        (token.start, token.end, _like("tables", data, token))
        for index, token in enumerate(words[1:], 1)
        if token.word == "table" and words[index - 1].word in _BEFORE and _words(words, index + 1, 2) == "in schema"
    )
    return StatementFix("Write TABLES IN SCHEMA", edits) if edits else None


def _schema(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """SCHEMA before names of schemas; not quite certain after SET, where SET SCHEMA is a command of other objects."""
    places = [
        index
        for index, token in enumerate(words)
        if index
        and token.word in ("schema", "schemas")
        and words[index - 1].word in _BEFORE
        and _words(words, index + 1, 1)
    ]
    edits = tuple(
        (words[index].start, words[index].end, _like("tables in schema", data, words[index])) for index in places
    )
    safe = all(words[index - 1].word in ("for", "add", "drop") for index in places)
    return StatementFix("Write TABLES IN SCHEMA", edits, safe) if edits else None


def _no_kind(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """A name right after FOR, ADD, SET or DROP: of a table, most likely."""
    if len(words) < 5 or words[1].word != "publication" or words[3].word not in _BEFORE:
        return None
    if not words[4].name or _KINDS.fullmatch(words[4].word):
        return None
    return StatementFix("Write TABLE", ((words[4].start, words[4].start, _like("table ", data, words[3])),), safe=False)


_KINDS = re.compile(
    r"all|any|every(?:thing)?|schemas?|foreign|materialized|(?:column|database|domain|function|index|partition|procedure"
    r"|role|routine|sequence|table|trigger|type|view)s?|indexes"
)
"""Words for kinds of objects, which are unlikely to be meant as the name of a table."""


def _other_kind(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """Tables listed after TABLES IN SCHEMA, and CURRENT_SCHEMA after TABLE.

    An entry without a keyword is of the kind of the entry before it.
    """
    edits: list[Change] = []
    schemas, depth = None, 0
    for index, token in enumerate(words):
        depth += (token.word == "(") - (token.word == ")")
        if depth or index < 4 or words[index - 1].word not in _BEFORE or token.word in ("(", "all"):
            continue
        if token.word in ("table", "tables"):
            schemas = token.word == "tables"
        elif edits:
            return None  # of which kind it is meant to be is not known
        elif schemas and _words(words, index + 1, 1) in (".", "(", "where"):
            edits.append((token.start, token.start, _like("table ", data, words[3])))
        elif schemas is False and token.word == "current_schema":
            edits.append((token.start, token.start, _like("tables in schema ", data, words[3])))
    title = "Write TABLE" if schemas else "Write TABLES IN SCHEMA"
    return StatementFix(title, tuple(edits)) if edits else None


def _filter(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """WHERE without parentheses around the whole row filter. DROP allows no filter at all."""
    if _words(words, 3, 1) == "drop":
        return None
    edits: list[Change] = []
    depth, start = 0, None
    for index, token in enumerate((*words, _END)):
        ends = token is _END or token.word == "," or (token.word == "with" and _words(words, index + 1, 1) == "(")
        if depth == 0 and start is not None and ends:
            if start < index and not _is_group(words[start:index]):
                edits += [
                    (words[start].start, words[start].start, "("),
                    (words[index - 1].end, words[index - 1].end, ")"),
                ]
            start = None
        depth += (token.word in ("(", "[")) - (token.word in (")", "]"))
        if depth == 0 and start is None and token.word == "where":
            start = index + 1
    return StatementFix("Put parentheses around the row filter", tuple(edits)) if edits else None


_END = Token("", "", 0, 0, "")


def _is_group(words: Sequence[Token]) -> bool:
    """Return whether one pair of parentheses encloses all of these tokens."""
    depth = 0
    for index, token in enumerate(words):
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0:
            return index > 0 and index == len(words) - 1
    return False


def _like(word: str, data: bytes, token: Token) -> str:
    """A keyword in the case in which the one it replaces is."""
    return word.upper() if data[token.start : token.end].isupper() else word


def _if_not_exists(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """CREATE PUBLICATION IF NOT EXISTS."""
    if _words(words, 0, 5) != "create publication if not exists" or len(words) < 6:
        return None
    statement = data[: words[2].start] + data[words[5].start : words[-1].end]
    return _block("Create it in a DO block that ignores duplicate_object", statement, "duplicate_object", words)


def _or_replace(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """CREATE OR REPLACE PUBLICATION."""
    if _words(words, 0, 4) != "create or replace publication" or len(words) < 5 or not words[4].name:
        return None
    name = identifier(words[4].name)
    statement = data[: words[1].start] + data[words[3].start : words[-1].end]
    text = f"DROP PUBLICATION IF EXISTS {name};\n{statement[words[0].start :].decode(errors='surrogatepass')}"
    return StatementFix("Drop it before creating it", ((words[0].start, words[-1].end, text),), safe=False)


def _member_if(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """ALTER PUBLICATION ... ADD TABLE IF NOT EXISTS or DROP TABLE IF EXISTS, of one table: with more, all or none."""
    if _words(words, 0, 2) != "alter publication" or len(words) < 8:
        return None
    action, clause = words[3].word, ("if", "not", "exists") if words[3].word == "add" else ("if", "exists")
    index = 5 if words[4].word == "table" else 4
    if action not in ("add", "drop") or tuple(token.word for token in words[index : index + len(clause)]) != clause:
        return None
    if len(words) <= index + len(clause) or _lists_several(words[index + len(clause) :]):
        return None
    table = b"" if index == 5 else b"TABLE "
    statement = data[: words[index].start] + table + data[words[index + len(clause)].start : words[-1].end]
    condition = "duplicate_object" if action == "add" else "undefined_object"
    table_kind = "that is a member already" if action == "add" else "that is not a member"
    return _block(f"Do it in a block that skips a table {table_kind}", statement, condition, words)


def _alter_if(words: Sequence[Token], data: bytes) -> StatementFix | None:
    """ALTER PUBLICATION IF EXISTS."""
    if _words(words, 0, 4) != "alter publication if exists" or len(words) < 6 or not words[4].name:
        return None
    statement = (data[: words[2].start] + data[words[4].start : words[-1].end])[words[0].start :]
    literal = words[4].name.replace("'", "''")
    text = (
        f"DO $pubcheck$\nBEGIN\n  IF EXISTS (SELECT FROM pg_publication WHERE pubname = '{literal}') THEN\n"
        f"    {statement.decode(errors='surrogatepass')};\n  END IF;\nEND\n$pubcheck$"
    )
    title = "Do it in a block that first checks whether the publication exists"
    return StatementFix(title, ((words[0].start, words[-1].end, text),), safe=False)


def _lists_several(words: Sequence[Token]) -> bool:
    depth = 0
    for token in words:
        depth += (token.word == "(") - (token.word == ")")
        if token.word == "," and not depth:
            return True
    return False


def _block(title: str, statement: bytes, condition: str, words: Sequence[Token]) -> StatementFix:
    inner = statement[words[0].start :].decode(errors="surrogatepass")
    text = f"DO $pubcheck$\nBEGIN\n  {inner};\nEXCEPTION WHEN {condition} THEN NULL;\nEND\n$pubcheck$"
    return StatementFix(title, ((words[0].start, words[-1].end, text),), safe=False)


def _keyword(words: Sequence[Token], data: bytes) -> StatementFix | None:
    misspelt = misspelt_keyword([token.word for token in words[:2]])
    if misspelt is None:
        return None
    token, right = words[misspelt[0]], misspelt[1]
    edit = token.start, token.end, _like(right, data, token)
    return StatementFix(f"Write {right.upper()}", (edit,), safe=False)


_PROPOSALS = (
    _keyword,
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
