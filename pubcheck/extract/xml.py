"""XML: the statements in Liquibase's change logs, in the elements `sql` and `createProcedure`.

No document is built: elements are found by their tags. `rollback` elements are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.extract.embedded_sql import assembled, worked_out
from pubcheck.extract.escapes import Piece, pieces
from pubcheck.source import View

_OPENING = re.compile(r"<!--|<(?P<tag>sql|createProcedure|rollback)\b[^<>]*(?<!/)>")
_DATA = re.compile(r"<!--|<!\[CDATA\[")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
_TABLE = re.compile(r"\btableName\s*=\s*\"([A-Za-z_]\w{0,62})\"")


def xml(text: str) -> View:
    """Return a change log's statements. Which of its changes are run is known to Liquibase alone."""
    written = [worked_out(text, list(_pieces(text, *body)), body[1], runs=True) for body in _bodies(text)]
    view = assembled(text, written, [part.unseen for part in written if part.unseen >= 0], in_order=False)
    return replace(view, named=tuple((match.start(1), match[1]) for match in _TABLE.finditer(text)))


def _bodies(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of the texts of elements that hold statements."""
    offset, endless = 0, set()
    while (match := _OPENING.search(text, offset)) is not None:
        offset = match.end()
        closing = f"</{match['tag']}" if match["tag"] else "-->"
        end = text.find(closing, offset) if closing not in endless else -1
        if end < 0:
            endless.add(closing)
            continue
        if match["tag"] not in (None, "rollback"):
            yield offset, end
        offset = end + len(closing)


def _pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    offset = start
    while (mark := _DATA.search(text, offset, end)) is not None:
        yield from pieces(text, offset, mark.start(), "xml", ())
        close = text.find(_ENDS[mark[0]], mark.end(), end)
        close = end if close < 0 else close
        offset = min(close + 3, end)
        if mark[0] == "<!--":
            yield Piece(mark.start(), offset, " ", exact=False)
            continue
        yield Piece(mark.start(), mark.end(), "", exact=False)
        yield from pieces(text, mark.end(), close, "none", ())
        if offset > close:
            yield Piece(close, offset, "", exact=False)
    yield from pieces(text, offset, end, "xml", ())
