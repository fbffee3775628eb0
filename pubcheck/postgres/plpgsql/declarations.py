"""The types that a body declares its variables with: the server looks them up when it compiles the body.

Follows pl_gram.y (read_datatype) and pl_comp.c (plpgsql_parse_wordtype and its kin).
"""

from __future__ import annotations

import re

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.compiling import NotParsed
from pubcheck.postgres.plpgsql.trial import Trial
from pubcheck.postgres.scan import tokens

_NAME = r'(?:"[^"]+"|[^\W\d][\w$]*)'
_REFERENCE = ("type", "rowtype")


class Declared(Struct, frozen=True):
    """The type that a declaration names: its text, where that begins and ends in the body, and what stands behind it:
    "type" or "rowtype" after a %, or ""."""

    text: str
    start: int
    end: int
    reference: str

    @property
    def parts(self) -> list[str]:
        found = re.findall(_NAME, self.text)
        return [part.strip('"') if part[0] == '"' else part.lower() for part in found]


def declared(body: str, node: Node) -> Declared | None:
    """What a variable (PLpgSQL_var, PLpgSQL_rec) is declared as; None for one that no declaration with a type made."""
    at = 0
    for _ in range(node.get("lineno", 1) - 1):
        at = body.find("\n", at) + 1
    name = re.escape(node["refname"])
    said = re.compile(
        rf'(?i)(?<![\w$.])"?{name}"?\s+(?:constant\s+)?({_NAME}(?:\s*\.\s*{_NAME})*)\s*(?:%\s*(type|rowtype)\b|(\[|array\b))?'
    ).search(body, at)
    if said is None or said[3] or said[1].lower() in _NO_TYPES:
        return None
    return Declared(said[1], said.start(1), said.end(1), (said[2] or "").lower())


_NO_TYPES = ("in", "alias", "cursor", "no", "scroll", "record", "slice")


def is_declarable(trial: Trial, body: str, node: Node) -> bool:
    """Whether the type of a variable is known to be there. Raises NotParsed if it certainly is not."""
    said = node.get("datatype", {}).get("PLpgSQL_type", {}).get("typname", "")
    found = declared(body, node)
    if found is None:
        return not said or bool(trial.type_named(said)[0])
    if found.reference:
        return _refers(trial, body, found)
    if trial.type_named(found.text)[0]:
        return True
    try:
        trial.session.named_type(found.parts)
    except ServerError as error:
        raise NotParsed(error.message, error.sqlstate, found.start) from None
    return False


def _refers(trial: Trial, body: str, found: Declared) -> bool:
    """%TYPE of a column or variable, and %ROWTYPE."""
    session, parts = trial.session, found.parts
    early = session.catalog.major.number < 17 and found.reference == "type"
    missing: NotParsed | None = None
    if early:
        missing = NotParsed('syntax error at or near "%"', "42601", body.index("%", found.end))
    if found.reference == "type" and len(parts) == 1:
        # Of another variable.
        return re.search(rf'(?i)(?<![\w$.])"?{re.escape(parts[0])}"?\s', body[: found.start]) is not None
    column = parts.pop() if found.reference == "type" else ""
    written = ".".join(f'"{part}"' for part in parts)
    row = session.regclass(written)
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


def first_refusal(trial: Trial, body: str, failure: NotParsed) -> NotParsed:
    """What the server says first of a body that the parser refuses: a type in a declaration before that is not there.

    Where it is not known whether it is, nothing is certain.
    """
    data = body.encode(errors="surrogatepass")
    end = len(data) if failure.location is None else len(body[: failure.location].encode(errors="surrogatepass"))
    before, declares = b";", False
    for kind, token, start in tokens(data):
        word = token.lower()
        if start >= end or word in (b"declare", b"begin"):
            declares = word == b"declare"
        elif declares and before in (b"declare", b";") and kind == "name":
            line = data.count(b"\n", 0, start) + 1
            node: Node = {"refname": token.decode(errors="replace").strip('"'), "lineno": line}
            try:
                if _ends_by(body, node, data, data.find(b";", start, end)) and not is_declarable(trial, body, node):
                    return NotParsed(failure.message)
            except NotParsed as missing:
                return missing
        before = word
    return failure


def _ends_by(body: str, node: Node, data: bytes, semicolon: int) -> bool:
    """Whether a declaration names a type before the semicolon (in bytes; -1 for none)."""
    found = declared(body, node)
    if found is None or semicolon < 0 or found.text.lower() == "begin":
        return False
    return found.end <= len(data[:semicolon].decode(errors="surrogatepass"))
