"""The statements of PostgreSQL 19 that the parser, which has the grammar of 18, refuses.

They are recognised by their tokens after the parser has refused them, so other statements cost nothing. A statement
about publications, subscriptions or partitions becomes the node that PostgreSQL 19 makes of it (gram.y). In other
statements the clauses that are new are blanked, and the rest is parsed. All others are skipped: ``skipped.UNREAD``.
"""

from __future__ import annotations

from pubcheck.postgres.parse import LARGEST, Node, SyntaxRefused, parse


def parse_with(newer: bool, sql: str, most: int = LARGEST) -> tuple[str, Node] | None:
    """Parse a statement as ``parse`` does; ``newer``: also with the grammar of 19."""
    try:
        return parse(sql, most)
    except SyntaxRefused:
        if not newer:
            raise
        # Loaded only where a statement is refused.
        from pubcheck.postgres.newer_grammar.statements import parse_newer

        statement = parse_newer(sql)
        if statement is None:
            raise
        return statement
