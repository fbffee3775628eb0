"""The statements of PostgreSQL 19 that the parser, which has the grammar of 18, refuses.

They are recognised by their tokens after the parser has refused them, so other statements cost nothing. A statement
about publications, subscriptions or partitions becomes the node that PostgreSQL 19 makes of it (gram.y). In other
statements the clauses that are new are blanked, and the rest is parsed. All others are skipped: ``clauses.UNREAD``.
``clauses`` also finds statements of 18 that 19 refuses.
"""

from __future__ import annotations

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.parse import LARGEST, Node, SyntaxRefused, parse

_NEW_KEYWORDS = lazy_compile(r"(?i)\b(?:graph_table|ignore|respect)\b")


def newly_refused(sql: str) -> SyntaxRefused | None:
    """Return the refusal by the grammar of 19 of a statement that 18 accepts; None if both accept it."""
    if _NEW_KEYWORDS.search(sql) is None:
        return None
    # Loaded only where a statement has one of these words.
    from pubcheck.postgres.newer_grammar.clauses import refused_keyword

    return refused_keyword(sql)


def parse_with(newer: bool, sql: str, most: int = LARGEST) -> tuple[str, Node] | None:
    """Parse a statement as ``parse`` does; ``newer``: also with the grammar of 19."""
    try:
        statement = parse(sql, most)
    except SyntaxRefused:
        if not newer:
            raise
        # Loaded only where a statement is refused.
        from pubcheck.postgres.newer_grammar.statements import parse_newer

        accepted = parse_newer(sql)
        if accepted is None:
            raise
        return accepted
    refusal = newly_refused(sql) if newer else None
    if refusal is not None:
        raise refusal
    return statement
