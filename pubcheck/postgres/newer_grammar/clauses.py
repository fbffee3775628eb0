"""Statements of PostgreSQL 19 that are not read as a whole.

Some are recognised, and not read any further. Of others new clauses are blanked, and the rest is parsed at its places:
UPDATE and DELETE ... FOR PORTION OF, INSERT ... ON CONFLICT DO SELECT (gram.y: for_portion_of_clause,
opt_on_conflict), IGNORE or RESPECT NULLS of window functions, GRAPH_TABLE, and SET search_path TO NULL. None of them
changes which tables a statement writes.

The grammar of 18 accepts some statements that that of 19 refuses, because of its new keywords: IGNORE and RESPECT are
labels of columns only behind AS, and GRAPH_TABLE names neither a function nor a type.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NoReturn

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.lexical import QUOTED_SINCE, RESERVED
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import dictionaries, move_locations
from pubcheck.postgres.tokens import in_characters, tokens

_MOST_PARTS = 3
"""Parts of a qualified name: database, schema and relation."""


def words_of(data: bytes, count: int) -> list[bytes]:
    """Return the first tokens of a text in lower case."""
    return [token.lower() for _, token, _ in itertools.islice(tokens(data), count)]


def _with_escapes(data: bytes) -> list[tuple[str, bytes, int]]:
    """Return the tokens of a text. U&"..." UESCAPE '.' is one of them, as it is to the server's grammar."""
    items: list[tuple[str, bytes, int]] = []
    for item in tokens(data):
        items.append(item)
        if len(items) > 2 and items[-2][1].lower() == b"uescape" and items[-3][1][:3].lower() == b'u&"':
            kind, _, start = items[-3]
            items[-3:] = [(kind, data[start : item[2] + len(item[1])], start)]
    return items


class Reader:
    """Reads the tokens of a statement, and raises SyntaxRefused as the server's parser does."""

    def __init__(self, data: bytes, *, keep_semicolons: bool = False) -> None:
        self.data = data
        self.tokens = [item for item in _with_escapes(data) if keep_semicolons or item[1] != b";"]
        self.next = 0
        """The number of the next token."""

    @property
    def at_end(self) -> bool:
        return self.next >= len(self.tokens)

    @property
    def offset(self) -> int:
        """The byte offset of the next token, or of the end of the text."""
        return len(self.data) if self.at_end else self.tokens[self.next][2]

    @property
    def end(self) -> int:
        """The byte offset behind the token that was read last."""
        _, token, offset = self.tokens[min(self.next, len(self.tokens)) - 1]
        return offset + len(token)

    def sees(self, *words: bytes) -> bool:
        """Return whether the next tokens are these words."""
        following = self.tokens[self.next : self.next + len(words)]
        return tuple(token.lower() for _, token, _ in following) == words

    def follows(self, token: bytes) -> bool:
        """Return whether the token that was read last is this one."""
        return self.next > 0 and self.tokens[self.next - 1][1] == token

    def accept(self, *words: bytes) -> bool:
        """Read these words if they are next."""
        if not self.sees(*words):
            return False
        self.next += len(words)
        return True

    def expect(self, word: bytes) -> None:
        if not self.accept(word):
            self.refuse()

    def skip_until(self, *words: bytes) -> None:
        """Read on to the first of these words that is outside parentheses, or to the one that closes those around."""
        depth = 0
        while not self.at_end:
            token = self.tokens[self.next][1].lower()
            if depth == 0 and (token in words or token == b")"):
                return
            depth += (token == b"(") - (token == b")")
            self.next += 1

    def refuse(self) -> NoReturn:
        """Raise the syntax error at the next token."""
        if self.at_end:
            raise SyntaxRefused("syntax error at end of input", None)
        shown = self.tokens[self.next][1].decode(errors="replace")
        raise self.refusal(f'syntax error at or near "{shown}"', self.offset)

    def refusal(self, message: str, offset: int, detail: str | None = None) -> SyntaxRefused:
        """Return an error at a byte offset."""
        return SyntaxRefused(message, in_characters(self.data, offset), detail=detail)

    def name(self) -> None:
        """Read a ColId: an identifier that is not a reserved word."""
        kind, token, start = ("", b"", 0) if self.at_end else self.tokens[self.next]
        if kind != "name" or token.lower().decode(errors="replace") in RESERVED:
            self.refuse()
        self._read_identifier(token, start)

    def _read_identifier(self, token: bytes, start: int) -> None:
        self.next += 1
        if token == b'""' or token[1:2] == b"&":
            # Its escapes may be refused.
            self.range_vars([(start, self.end)])

    def qualified_name(self) -> Node:
        """Read a qualified_name, and return its RangeVar."""
        start = self.offset
        self._dotted_name()
        return self.range_vars([(start, self.end)])[0]

    def relation(self) -> tuple[int, int]:
        """Read a relation_expr, and return its byte offsets."""
        start = self.offset
        if not self.accept(b"only"):
            self._dotted_name()
            self.accept(b"*")
        elif self.accept(b"("):
            self._dotted_name()
            self.expect(b")")
        else:
            self._dotted_name()
        return start, self.end

    def _dotted_name(self) -> None:
        start, parts = self.offset, 1
        self.name()
        while self.accept(b"."):
            # Behind a dot any word is a name.
            if self.at_end or self.tokens[self.next][0] != "name":
                self.refuse()
            self._read_identifier(*self.tokens[self.next][1:])
            parts += 1
        if parts > _MOST_PARTS:
            self.range_vars([(start, self.end)])

    def range_vars(self, spans: list[tuple[int, int]]) -> list[Node]:
        """Return the RangeVars of relations between byte offsets. Raises SyntaxRefused for one with too many dots."""
        text, end = b"LOCK TABLE ", spans[0][0]
        pieces = [text, b" " * (end - len(text))]
        for start, after in spans:
            if start > end:
                pieces += (b",", b" " * (start - end - 1))
            pieces.append(self.data[start:after])
            end = after
        statement = parse(b"".join(pieces).decode(errors="surrogatepass"))
        assert statement is not None
        return [item["RangeVar"] for item in statement[1]["relations"]]

    def parsed(self, head: bytes, start: int, end: int, tail: bytes = b"") -> tuple[str, Node]:
        """Parse ``head`` followed by a piece of the text and ``tail``; locations are those of the text.

        Raises SyntaxRefused.
        """
        text = head + b" " * (start - len(head)) + self.data[start:end] + tail
        shift = max(0, len(head) - start)
        try:
            statement = parse(text.decode(errors="surrogatepass"))
        except SyntaxRefused as refusal:
            if shift and refusal.location is not None:
                refusal.location -= shift
            raise
        assert statement is not None
        if shift:
            move_locations(statement[1], -shift)
        return statement


UNREAD = "UnreadStmt"
"""The node of a statement that may create or change something."""
_WITHOUT_EFFECT = {
    (b"wait", b"for", b"lsn"): "WaitStmt",
    (b"checkpoint", b"("): "CheckPointStmt",
    (b"comment", b"on", b"property"): "CommentStmt",
    (b"grant",): "GrantStmt",
    (b"revoke",): "GrantStmt",
}
_ANYWHERE = (
    (b"property", b"graph"),
    (b"graph_table", b"("),
    (b"ignore", b"nulls"),
    (b"respect", b"nulls"),
    (b"for", b"portion", b"of"),
    (b"do", b"select"),
)
_WITH_SETTINGS = ([b"alter", b"database"], [b"alter", b"role"], [b"alter", b"user"])
_NO_VALUE = ((b"to", b"null"), (b"=", b"null"))


def skipped_node(data: bytes) -> str | None:
    """Return the name of the node of a refused statement that has a form that is new in 19; None for any other."""
    reader = Reader(data)
    words = [token.lower() for _, token, _ in reader.tokens]
    pairs = list(itertools.pairwise(words))
    if words[:1] == [b"set"] or words[:2] in _WITH_SETTINGS:
        return UNREAD if any(pair in _NO_VALUE for pair in pairs) else None
    if words[:1] == [b"copy"]:
        return "CopyStmt" if (b"format", b"json") in pairs or words[-1:] == [b"json"] else None
    if words[1:4] == [b"foreign", b"data", b"wrapper"]:
        return UNREAD if b"connection" in words else None
    if not has_newer_words(words):
        return None
    return next((node for first, node in _WITHOUT_EFFECT.items() if reader.sees(*first)), UNREAD)


def has_newer_words(words: list[bytes]) -> bool:
    """Return whether words in lower case are those of a form that is new in 19."""
    if words[:3] == [b"wait", b"for", b"lsn"] or words[:2] == [b"checkpoint", b"("]:
        return True
    first = {form[0] for form in _ANYWHERE}
    return any(
        word in first and any(tuple(words[start : start + len(form)]) == form for form in _ANYWHERE)
        for start, word in enumerate(words)
    )


_ALIKE = {b"graph_table": b"out", b"ignore": b"second", b"respect": b"varying"}
"""Keywords of 18 that are allowed where those of 19 are (kwlist.h), and that are not longer."""


def refused_keyword(text: str) -> SyntaxRefused | None:
    """Return the refusal of 19 of a statement that 18 accepts, or None if it accepts it too."""
    data = text.encode(errors="surrogatepass")
    reader = Reader(data)
    replaced = bytearray(data)
    for kind, token, offset in reader.tokens:
        alike = _ALIKE.get(token.lower()) if kind == "name" else None
        if alike is not None:
            replaced[offset : offset + len(token)] = alike.ljust(len(token))
    if replaced == data:
        return None
    try:
        parse(replaced.decode(errors="surrogatepass"))
    except SyntaxRefused as refusal:
        return _of_newer(reader, text, refusal)
    return None


def _of_newer(reader: Reader, text: str, refusal: SyntaxRefused) -> SyntaxRefused:
    """Return a refusal of the replaced text as 19 words it."""
    if refusal.location is None:
        return refusal
    place = len(text[: refusal.location].encode(errors="surrogatepass"))
    reader.next = next(number for number, item in enumerate(reader.tokens) if item[2] >= place)
    label = reader.tokens[reader.next][1].lower() in (b"ignore", b"respect")
    if label and reader.follows(b")") and _closes_call(reader):
        # There NULLS could follow.
        reader.next += 1
    try:
        reader.refuse()
    except SyntaxRefused as worded:
        return worded


def _closes_call(reader: Reader) -> bool:
    """Return whether the parenthesis that was read last closes the call of a function that no keyword names."""
    depth = 0
    for number in range(reader.next - 1, 0, -1):
        depth += (reader.tokens[number][1] == b")") - (reader.tokens[number][1] == b"(")
        if depth == 0:
            kind, name, _ = reader.tokens[number - 1]
            return kind == "name" and name.decode(errors="replace").lower() not in QUOTED_SINCE
    return False


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


_SUSPECT = lazy_compile(rb"(?i)\b(?:portion|conflict|nulls|graph_table|search_path)\b")
_CHANGES = frozenset(("DeleteStmt", "InsertStmt", "UpdateStmt"))
_SOME_TABLE = b"XMLTABLE(''PASSING''COLUMNS a int)"
"""An item of FROM with columns that are not known, and that is not longer than any GRAPH_TABLE."""


class _Clause(Struct, frozen=True):
    """A new clause between two byte offsets; ``instead`` is what the grammar of 18 reads there, padded with blanks.

    ``call`` is where the call begins that NULLS belongs to, or -1, ``graph`` the graph of GRAPH_TABLE. ``node`` is put
    into the ``field`` of an INSERT, UPDATE or DELETE.
    """

    start: int
    end: int
    instead: bytes = b""
    call: int = -1
    graph: Node | None = None
    field: str = ""
    node: Node | None = None


def parse_without_clauses(data: bytes) -> tuple[str, Node] | None:
    """Return the node of a statement with new clauses; None if there is none, or the rest is refused too.

    A call with NULLS has ``ignore_nulls``, GRAPH_TABLE is a node GraphTable, and a change FOR PORTION OF a range
    has a ``forPortionOf``.
    """
    clauses = _new_clauses(data)
    if not clauses:
        return None
    try:
        statement = parse(_blanked(data, clauses).decode(errors="surrogatepass"))
    except SyntaxRefused:
        return None
    if statement is not None:
        return statement if _mark(statement, clauses) else None
    return None


def _mark(statement: tuple[str, Node], clauses: list[_Clause]) -> bool:
    """Mark the calls with NULLS, and put all other clauses in their places; False if one has none."""
    calls = {clause.call for clause in clauses}
    graphs = {clause.start: clause.graph for clause in clauses if clause.graph is not None}
    changes: dict[int, Node] = {}
    for item in list(dictionaries({statement[0]: statement[1]})):
        if "FuncCall" in item and item["FuncCall"].get("location", 0) in calls:
            item["FuncCall"]["ignore_nulls"] = True
        elif "RangeTableFunc" in item and item["RangeTableFunc"].get("location", 0) in graphs:
            body = item.pop("RangeTableFunc")
            item["GraphTable"] = {"graph": graphs[body["location"]], "alias": body.get("alias", {})}
        for kind in _CHANGES & item.keys():
            changes[item[kind]["relation"].get("location", 0)] = item[kind]
    for clause in clauses:
        if clause.field:
            # The target is the last one before the clause.
            target = max((place for place in changes if place < clause.start), default=None)
            if target is None:
                return False
            changes[target][clause.field] = clause.node
    return True


def without_new_clauses(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text with its new clauses blanked, and their byte offsets."""
    clauses = _new_clauses(data)
    return _blanked(data, clauses), [(clause.start, clause.end) for clause in clauses]


def _blanked(data: bytes, clauses: list[_Clause]) -> bytes:
    blanked = bytearray(data)
    for clause in clauses:
        blanked[clause.start : clause.end] = clause.instead.ljust(clause.end - clause.start)
    return bytes(blanked)


def _new_clauses(data: bytes) -> list[_Clause]:
    return [] if _SUSPECT.search(data) is None else list(_read_clauses(Reader(data, keep_semicolons=True)))


def _read_clauses(reader: Reader) -> Iterator[_Clause]:
    while not reader.at_end:
        start = reader.offset
        if reader.accept(b"for", b"portion", b"of"):
            node = read_portion(reader)
            if node is not None:
                yield _Clause(start, reader.end, field="forPortionOf", node=node)
        elif reader.accept(b"on", b"conflict"):
            node = read_do_select(reader, start)
            if node is not None:
                yield _Clause(start, reader.end, field="onConflictClause", node=node)
        elif (reader.sees(b"ignore", b"nulls") or reader.sees(b"respect", b"nulls")) and reader.follows(b")"):
            call = _call_before(reader)
            reader.next += 2
            yield _Clause(start, reader.end, call=call)
        elif reader.accept(b"graph_table", b"("):
            graph = _graph(reader)
            if graph is not None and reader.end - start >= len(_SOME_TABLE):
                yield _Clause(start, reader.end, _SOME_TABLE, graph=graph)
        elif reader.accept(b"search_path", b"to", b"null") or reader.accept(b"search_path", b"=", b"null"):
            yield _Clause(reader.end - len(b"null"), reader.end, b"''")
        else:
            reader.next += 1


def _graph(reader: Reader) -> Node | None:
    """Read GRAPH_TABLE behind its opening parenthesis, and return its graph; None for another call of that name."""
    try:
        graph = reader.qualified_name()
    except SyntaxRefused:
        return None
    if not reader.accept(b"match"):
        return None
    reader.skip_until(b")")
    reader.accept(b")")
    return graph


def _call_before(reader: Reader) -> int:
    """Return the byte offset of the name of the call whose closing parenthesis was read last."""
    number, depth = reader.next - 1, 0
    while number > 0:
        token = reader.tokens[number][1]
        depth += (token == b")") - (token == b"(")
        number -= 1
        if depth == 0:
            break
    while number > 1 and reader.tokens[number - 1][1] == b".":
        number -= 2
    return reader.tokens[number][2]
