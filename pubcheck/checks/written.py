"""What the statements of a unit say that the catalog does not hold: calls of functions, access methods, row security.

The model of the server follows publications; these are facts of extensions and of readers, which are read from the
text of the statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from pubcheck.checks.context import RuleContext, order
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.source import has_unknown_order
from pubcheck.statement_index import StatementText

_NAME = r"""(?P<name>(?:"[^"]+"|[\w$]+)(?:\s*\.\s*(?:"[^"]+"|[\w$]+))?)"""
_TABLE = rf"(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?{_NAME}"
_HYPERTABLE = lazy_compile(rf"(?i)\bcreate_hypertable\s*\(\s*(?:\w+\s*(?:=>|:=)\s*)?'{_NAME}'")
_HYPERTABLE_OPTION = lazy_compile(
    rf"(?is)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*\(.*\)\s*WITH\s*\([^)]*\b(?:timescaledb|tsdb)\.hypertable\b"
)
_COLUMNAR = lazy_compile(rf"(?is)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*\(.*\)\s*USING\s+columnar\b")
_TO_COLUMNAR = lazy_compile(
    rf"(?i)\b(?:alter_table_set_access_method\s*\(\s*'{_NAME}'\s*,\s*'columnar'"
    rf"|ALTER\s+TABLE\s+{_TABLE.replace('<name>', '<table>')}\s+SET\s+ACCESS\s+METHOD\s+columnar\b)"
)
_ROW_SECURITY = lazy_compile(rf"(?i)\bALTER\s+TABLE\s+{_TABLE}\s+ENABLE\s+ROW\s+LEVEL\s+SECURITY\b")
_IDENTITY = lazy_compile(rf"(?i)\bALTER\s+TABLE\s+{_TABLE}\s+REPLICA\s+IDENTITY\b")
_SLOT = lazy_compile(r"(?is)\bpg_create_logical_replication_slot(?=\s*\([^)]*'pgoutput')")
_CONNECT = lazy_compile(r"(?m)^\s*\\c(?:onnect)?\b")
_WRITES = lazy_compile(r"(?i)\s*(?:INSERT|UPDATE|DELETE|MERGE|COPY|TRUNCATE)\b")
_PUBLICATION = r"(?P<name>\"[^\"]+\"|[\w$]+)"
_ALTERED = lazy_compile(rf"(?i)\s*ALTER\s+PUBLICATION\s+{_PUBLICATION}\s+(?:ADD|SET|DROP)\b")
_COMMENTED = lazy_compile(rf"(?i)\s*COMMENT\s+ON\s+PUBLICATION\s+{_PUBLICATION}\b")
_COMMENT = lazy_compile(r"--[^\n\r]*|/\*.*?\*/", re.DOTALL)


def hypertables(context: RuleContext) -> dict[int, Place]:
    """Return the tables that TimescaleDB splits into chunks, with the places where they become hypertables."""
    return {**_tables(context, _HYPERTABLE), **_tables(context, _HYPERTABLE_OPTION)}


def columnar_tables(context: RuleContext) -> dict[int, Place]:
    """Return the tables that Citus stores by columns."""
    return {**_tables(context, _COLUMNAR), **_tables(context, _TO_COLUMNAR)}


def slots(context: RuleContext) -> list[Place]:
    """Return the calls that create a replication slot for pgoutput, except where the files connect elsewhere."""
    if any(_CONNECT.search(source.text) for source in context.statements.sources):
        return []
    return [place for place, _ in _matches(context, _SLOT)]


def writes_rows(context: RuleContext, after: Place, before: Place) -> bool:
    """Return whether a statement between two others changes rows."""
    return any(order(after) < order(place) < order(before) for place, _ in _matches(context, _WRITES))


def _publications(context: RuleContext, pattern: re.Pattern[str]) -> dict[str, Place]:
    names = ((place, match["name"]) for place, match in _matches(context, pattern))
    return {name[1:-1] if name.startswith('"') else name.lower(): place for place, name in names}


def _tables(context: RuleContext, pattern: re.Pattern[str]) -> dict[int, Place]:
    places: dict[int, Place] = {}
    for place, match in _matches(context, pattern):
        name = match["name"] or match.groupdict().get("table")
        relation: Relation | None = context.session.regclass(name) if name else None
        if relation is not None:
            places[relation.oid] = place
    return places


def _matches(context: RuleContext, pattern: re.Pattern[str]) -> Iterator[tuple[Place, re.Match[str]]]:
    """Yield where a pattern matches the statements, in their order. Comments do not count."""
    for number, source in enumerate(context.statements.sources):
        if has_unknown_order(source) or pattern.search(source.text) is None:
            continue
        starts, _ = context.statements.bounds(number)
        for index in range(len(starts)):
            text = _without_comments(context.statements[number, index])
            match = pattern.search(text)
            if match is not None:
                start, end = (len(text[:offset].encode()) for offset in match.span())
                yield Place(number, index, start, end), match


def _without_comments(statement: StatementText) -> str:
    """Return the text of a statement with blanks in the place of comments."""
    text = statement.text
    if "--" not in text and "/*" not in text:
        return text
    return _COMMENT.sub(lambda match: " " * len(match[0]), text)


tables_with_row_security = partial(_tables, pattern=_ROW_SECURITY)
"""The tables on which row security is enabled."""
altered_identities = partial(_tables, pattern=_IDENTITY)
"""The last ALTER TABLE of each table that sets its replica identity."""
publications_altered = partial(_publications, pattern=_ALTERED)
"""The last ALTER PUBLICATION of each publication that changes its members or options."""
publications_commented = partial(_publications, pattern=_COMMENTED)
"""The last COMMENT ON PUBLICATION of each publication."""
