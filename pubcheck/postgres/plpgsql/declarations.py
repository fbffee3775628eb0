"""The types that a body declares its variables with: the server looks them up when it compiles the body.

Follows pl_gram.y (read_datatype) and pl_comp.c (plpgsql_parse_wordtype and its kin).
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.compile_errors import NotParsed, is_template
from pubcheck.postgres.plpgsql.parse import Program, typname
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import folded, in_characters, tokens

_NAME = r'(?:"[^"]+"|[^\W\d][\w$]*)'
_TWO_WORDS = r"double\s+precision\b|national\s+char(?:acter)?\b"
_REFERENCE = ("type", "rowtype")


class Declaration(Struct, frozen=True):
    """The type in a declaration: its text, its place in the body, and its ``reference``: "type" or "rowtype" after a %,
    "[]" for an array, or "".
    """

    text: str
    start: int
    end: int
    reference: str

    @property
    def parts(self) -> list[str]:
        parts = re.findall(_NAME, self.text)
        return [part.strip('"') if part[0] == '"' else part.lower() for part in parts]


def declaration_of(body: str, node: Node) -> Declaration | None:
    """Return the declaration of a variable (PLpgSQL_var, PLpgSQL_rec); None if it has none with a type."""
    offset = _declarations(body).get((node["refname"], node.get("lineno", 1)))
    match = _TYPE.match(body, offset) if offset is not None else None
    if match is None or match[1].lower() in _NO_TYPES:
        return None
    return Declaration(match[1], match.start(1), match.end(1), "[]" if match[3] else (match[2] or "").lower())


_TYPE = re.compile(
    rf"\s+(?:constant\s+)?({_TWO_WORDS}|{_NAME}(?:\s*\.\s*{_NAME})*)\s*(?:%\s*(type|rowtype)\b|(\[|array\b))?",
    re.IGNORECASE,
)
_NO_TYPES = ("in", "alias", "cursor", "no", "scroll", "record", "slice")


@lru_cache(maxsize=16)
def _declarations(body: str) -> dict[tuple[str, int], int]:
    """Yield the end of each declared name of a body, by name and line, in the order of the text."""
    data = body.encode(errors="surrogatepass")
    places: dict[tuple[str, int], int] = {}
    before, declares = b";", False
    counted, line, characters = 0, 1, 0
    for kind, token, start in tokens(data):
        word = token.lower()
        if word in (b"declare", b"begin"):
            declares = word == b"declare"
        elif declares and before in (b"declare", b";") and kind == "name":
            line += data.count(b"\n", counted, start)
            characters += in_characters(data[counted:start])
            counted = start
            places.setdefault((folded(token), line), characters + in_characters(token))
        before = word
    return places


def all_types_exist(trial: QueryChecker, body: str, parsed: Program) -> bool:
    """Return whether the types of all variables of a body are known to exist. Raises NotParsed if one certainly does
    not."""
    nodes = (node for kind, node in parsed.variables if kind in _WITH_TYPES and "lineno" in node)
    # All of them: a missing one may follow one that is unknown.
    return False not in {_is_declarable(trial, body, node) for node in nodes}


_WITH_TYPES = ("PLpgSQL_var", "PLpgSQL_rec")


def _is_declarable(trial: QueryChecker, body: str, node: Node) -> bool:
    written = typname(node)
    declaration = declaration_of(body, node)
    if declaration is None:
        return not written or bool(trial.type_named(written)[0])
    if declaration.reference in _REFERENCE:
        return _refers(trial, body, declaration)
    if trial.type_named(declaration.text)[0]:
        return True
    try:
        trial.session.named_type(declaration.parts, declaration.reference)
    except ServerError as error:
        raise NotParsed(error.message, error.sqlstate, declaration.start) from None
    return False


def _refers(trial: QueryChecker, body: str, declaration: Declaration) -> bool:
    """%TYPE of a column or variable, and %ROWTYPE."""
    session, parts = trial.session, declaration.parts
    early = not session.catalog.major.type_references_parsed and declaration.reference == "type"
    missing: NotParsed | None = None
    if early:
        missing = NotParsed('syntax error at or near "%"', "42601", body.index("%", declaration.end))
    if declaration.reference == "type" and len(parts) == 1:
        # Of another variable.
        return re.search(rf'(?i)(?<![\w$.])"?{re.escape(parts[0])}"?\s', body[: declaration.start]) is not None
    column = parts.pop() if declaration.reference == "type" else ""
    written = ".".join(f'"{part}"' for part in parts)
    row = session.regclass(written)
    if row is None and column and len(parts) == 1 and _is_label(session, body, parts[0]):
        return False
    if row is None and session.certainly_none(written):
        if len(parts) > 1 and parts[-2] not in session.catalog.namespace_names:
            raise missing or NotParsed(f'schema "{parts[-2]}" does not exist', "3F000")
        raise missing or NotParsed(f'relation "{".".join(parts)}" does not exist', "42P01")
    if row is None or not row.seen:
        return False
    if not column or row.column(column) is not None:
        return True
    if row.columns and not session.blind and row.kind in "rp":
        raise missing or NotParsed(f'column "{column}" of relation "{row.name}" does not exist', "42703")
    return False


def _is_label(session: Session, body: str, name: str) -> bool:
    """Return whether a name may be a block's or function's label that qualifies its variables."""
    of_function = any(name == proc_name for _, proc_name in session.catalog.proc_names.groups)
    return of_function or re.search(rf"<<\s*\"?{re.escape(name)}\"?\s*>>", body, re.IGNORECASE) is not None


def first_refusal(trial: QueryChecker, body: str, failure: NotParsed) -> NotParsed | None:
    """Return the error that the server certainly raises first for a body that the parser refuses.

    A missing type in an earlier declaration comes before the parser's error. None if the error is not known, or if a
    body with placeholders is run as another text.
    """
    first = _missing_type(trial, body, failure) or failure
    return first if first.sqlstate is not None and (first.statement or not is_template(body)) else None


def _missing_type(trial: QueryChecker, body: str, failure: NotParsed) -> NotParsed | None:
    """A type of a declaration before a place, which is not there; one without a SQLSTATE perhaps is."""
    end = len(body) if failure.location is None else failure.location
    for (name, line), offset in _declarations(body).items():
        if offset > end:
            break
        node: Node = {"refname": name, "lineno": line}
        try:
            if _ends_by(body, node, body.find(";", offset, end)) and not _is_declarable(trial, body, node):
                return NotParsed(failure.message)
        except NotParsed as missing:
            return missing
    return None


def _ends_by(body: str, node: Node, semicolon: int) -> bool:
    """Return whether a declaration names a type before the semicolon (-1 for none)."""
    declaration = declaration_of(body, node)
    return declaration is not None and declaration.text.lower() != "begin" and declaration.end <= semicolon
