"""FOR PORTION OF of UPDATE and DELETE, and ON CONFLICT ... DO SELECT of INSERT (gram.y: for_portion_of_clause,
opt_on_conflict).
"""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused

_AFTER_PORTION = (b"as", b"set", b"using", b"where", b"returning", b";")
_INSERT = b"INSERT INTO t VALUES (1) "


def read_portion(reader: Reader) -> Node | None:
    """Read FOR PORTION OF up to the alias behind it, and return its column, and the texts of its two bounds or of the
    range. None if it cannot be read."""
    start = reader.offset
    reader.next += 1
    column = reader.data[start : reader.end]
    if reader.accept(b"("):
        texts = [_text(reader, b")")]
        reader.accept(b")")
    else:
        reader.accept(b"from")
        texts = [_text(reader, b"to")]
        reader.accept(b"to")
        first, begin = reader.next, reader.offset
        texts.append(_text(reader, *_AFTER_PORTION))
        if reader.next > first + 1 and _has_label(reader, begin):
            reader.next -= 1
            texts[1] = reader.data[begin : reader.end].decode(errors="surrogatepass")
    return {"column": column.decode(errors="surrogatepass"), "texts": texts} if all(texts) else None


def _text(reader: Reader, *words: bytes) -> str:
    start = reader.offset
    reader.skip_until(*words)
    return reader.data[start : max(start, reader.end)].decode(errors="surrogatepass")


def _has_label(reader: Reader, start: int) -> bool:
    """Return whether the expression that was read last ends in an alias without AS."""
    try:
        _, node = reader.parsed(b"SELECT ", start, reader.end)
    except SyntaxRefused:
        return False
    return "name" in node["targetList"][-1]["ResTarget"]


def read_do_select(reader: Reader, start: int) -> Node | None:
    """Read an ON CONFLICT clause behind its first words, and return its node if its action is DO SELECT."""
    reader.skip_until(b"do", b";")
    end = reader.offset
    if not reader.accept(b"do", b"select"):
        return None
    try:
        _, statement = reader.parsed(_INSERT, start, end, b"DO NOTHING")
        node: Node = {**statement["onConflictClause"], "action": "ONCONFLICT_SELECT"}
        node["locks"] = reader.accept(b"for")
        reader.skip_until(b"where", b"returning", b";", b")")
        if reader.sees(b"where"):
            where = reader.offset
            reader.skip_until(b"returning", b";", b")")
            _, query = reader.parsed(b"SELECT ", where, reader.end)
            node["whereClause"] = query["whereClause"]
    except SyntaxRefused:
        return None
    return node
