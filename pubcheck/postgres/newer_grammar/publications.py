"""CREATE PUBLICATION ... FOR ALL TABLES [EXCEPT (...)], ALL SEQUENCES and ALTER PUBLICATION ... SET of the same list
(gram.y: pub_all_obj_type_list, preprocess_pub_all_objtype_list).
"""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused

EXCEPT_TABLE = "PUBLICATIONOBJ_EXCEPT_TABLE"


def read_create_publication(reader: Reader) -> tuple[str, Node] | None:
    """Return the CreatePublicationStmt with a list of all tables or sequences, None for any other statement."""
    head = _head(reader, b"for", b"")
    if head is None:
        return None
    objects = _AllObjects(reader)
    if not reader.at_end and not reader.sees(b"with"):
        reader.refuse()
    _, node = reader.parsed(head, max(len(head), reader.offset), len(reader.data))
    return "CreatePublicationStmt", {**node, **objects.fields()}


def read_alter_publication(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterPublicationStmt that sets a list of all tables or sequences, None for any other statement."""
    head = _head(reader, b"set", b" DROP TABLE t")
    if head is None:
        return None
    objects = _AllObjects(reader)
    if not reader.at_end:
        reader.refuse()
    _, node = reader.parsed(head, len(head), len(head))
    return "AlterPublicationStmt", {"pubname": node["pubname"], "action": "AP_SetObjects", **objects.fields()}


def _head(reader: Reader, before_list: bytes, rest: bytes) -> bytes | None:
    """Return the statement up to its name, completed with ``rest``; the reader is then at the list of all objects.

    None if the statement has no such list, or a name that is refused.
    """
    reader.next = 3
    if not reader.accept(before_list) or not reader.sees(b"all"):
        return None
    _, name, offset = reader.tokens[2]
    head = reader.data[: offset + len(name)] + rest
    try:
        reader.parsed(head, len(head), len(head))
    except SyntaxRefused:
        return None
    return head


class _AllObjects:
    """The list: the kinds that it names, with their byte offsets, and those of the tables that it leaves out."""

    def __init__(self, reader: Reader) -> None:
        """Read the list. Raises SyntaxRefused."""
        self.reader = reader
        self.kinds: list[tuple[str, int]] = []
        self.excepted: list[tuple[int, int]] = []
        while not self.kinds or reader.accept(b","):
            start = reader.offset
            reader.expect(b"all")
            if reader.accept(b"tables"):
                self.kinds.append(("TABLES", start))
                if reader.accept(b"except"):
                    self._read_except()
            else:
                reader.expect(b"sequences")
                self.kinds.append(("SEQUENCES", start))

    def _read_except(self) -> None:
        reader = self.reader
        reader.expect(b"(")
        reader.expect(b"table")
        while True:
            self.excepted.append(reader.relation())
            if not reader.accept(b","):
                break
            reader.accept(b"table")
        reader.expect(b")")

    def fields(self) -> Node:
        """Return the fields of the statement. Raises SyntaxRefused if a kind is named twice."""
        fields: Node = {}
        for kind, offset in self.kinds:
            field = f"for_all_{kind.lower()}"
            if field in fields:
                detail = f"ALL {kind} can be specified only once."
                raise self.reader.refusal("invalid publication object list", offset, detail)
            fields[field] = True
        if self.excepted:
            fields["pubobjects"] = [
                {"PublicationObjSpec": {"pubobjtype": EXCEPT_TABLE, "pubtable": {"relation": relation}}}
                for relation in self.reader.range_vars(self.excepted)
            ]
        return fields
