"""Row filters as their statements write them, and without some of their conditions."""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import PublicationRel, Relation
from pubcheck.postgres.tokens import folded, name_end, tokens


def written_filter(text: bytes, entry: PublicationRel, source: Relation) -> str | None:
    """Return the row filter of a membership in the text of its statement, without its parentheses.

    None if it has none, or if the table or a column that it names was renamed since.
    """
    if entry.filter is None:
        return None
    for number, place in entry.filter.places:
        name = text[place.start : name_end(text, place.start)]
        parts = [folded(token) for kind, token, _ in tokens(name) if kind == "name"]
        named = source.column(parts[-1]) if parts else None
        # Where a virtual column is named, what is read are the columns of its expression.
        if named is None or (named.number != number and named.generated != "v"):
            return None
        if parts[1:] and parts[-2] != source.name:
            return None
    depth, start, inside = 0, -1, False
    for kind, token, offset in tokens(text, entry.place.start):
        if token == b"(":
            depth += 1
            if inside and depth == 1:
                start = offset + 1
        elif token == b")":
            depth = max(0, depth - 1)
            if start >= 0 and depth == 0:
                return text[start:offset].decode().strip()
        elif depth == 0 and kind == "name" and token.lower() == b"where":
            inside = True
        elif depth == 0 and token in (b",", b";"):
            return None
    return None


_SPLITS_NO_MORE = frozenset((b"or", b"between", b"case"))


def without(written: str | None, names: set[str]) -> str | None:
    """The filter without those of its conditions, joined by AND, that read one of the columns; None for no filter."""
    if written is None:
        return None
    text = written.encode()
    parts: list[tuple[int, int, bool]] = []
    depth, start, reads = 0, 0, False
    for kind, token, offset in tokens(text):
        word = token.lower()
        depth += (token in b"([") - (token in b")]")
        if depth == 0 and word in _SPLITS_NO_MORE:
            return None
        if depth == 0 and word == b"and":
            parts.append((start, offset, reads))
            start, reads = offset + len(token), False
        elif kind == "name" and folded(token) in names:
            reads = True
    parts.append((start, len(text), reads))
    return " AND ".join(text[first:last].decode().strip() for first, last, reads in parts if not reads) or None
