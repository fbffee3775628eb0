"""CREATE SEQUENCE and ALTER SEQUENCE (commands/sequence.c: DefineSequence, AlterSequence, process_owned_by).

Refused options (init_params) are not reported, also those of a serial or identity column; the sequence, or the table
that it belongs to, is then not created.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.new_objects import choose_relation_name
from pubcheck.postgres.ddl.types import free_row_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT2, INT4, INT8
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, require_column

_BITS = {INT2: 15, INT4: 31, INT8: 63}
_accepted: list[Iterable[Node]] = [()]
"""The options of a bigint sequence that were accepted last: the trees of a dump's sequences share them."""


def refuse_options(session: Session, nodes: Iterable[Node], of_type: int = INT8) -> None:
    """Raise ServerError 42601, 22023. ``of_type`` is the sequence's type unless the options name another."""
    if nodes is _accepted[0] and of_type == INT8:
        return
    arguments: dict[str, Node] = {}
    for item in nodes:
        option = item["DefElem"]
        if option["defname"] in arguments:
            raise ServerError("42601", "conflicting or redundant options")
        arguments[option["defname"]] = option.get("arg", {})
    if "TypeName" in arguments.get("as", {}):
        of_type = session.type_oid(arguments["as"]["TypeName"])
        if of_type and of_type not in _BITS:
            raise ServerError("22023", "sequence type must be smallint, integer, or bigint")
    bits = _BITS.get(of_type)
    if bits is None:
        return
    numbers = {name: number for name, node in arguments.items() if (number := _number(node)) is not None}
    increment = numbers.get("increment", 1)
    if increment == 0:
        raise ServerError("22023", "INCREMENT must not be zero")
    up = increment > 0
    lowest, highest = -(1 << bits), (1 << bits) - 1
    high = numbers.get("maxvalue", highest if up else -1)
    low = numbers.get("minvalue", 1 if up else lowest)
    for name, value in (("MAXVALUE", high), ("MINVALUE", low)):
        if not lowest <= value <= highest:
            raise ServerError("22023", f"{name} ({value}) is out of range for sequence data type")
    if low >= high:
        raise ServerError("22023", f"MINVALUE ({low}) must be less than MAXVALUE ({high})")
    start = numbers.get("start", low if up else high)
    for name, value in (("START", start), ("RESTART", numbers.get("restart", start))):
        if not low <= value <= high:
            raise ServerError("22023", f"{name} value ({value}) is not between MINVALUE ({low}) and MAXVALUE ({high})")
    if numbers.get("cache", 1) <= 0:
        raise ServerError("22023", "CACHE must be greater than zero")
    if "as" not in arguments and of_type == INT8:
        _accepted[0] = nodes


def _number(value: Node) -> int | None:
    """Return the number of an option; None for NO MAXVALUE and the like."""
    if "Integer" in value:
        return int(value["Integer"].get("ival", 0))
    if "Float" not in value:
        return None
    digits = value["Float"].get("fval", "")
    return int(digits) if digits.lstrip("+-").isdigit() and len(digits) < _MANY else None


_MANY = 40


SEQUENCE_FUNCTIONS = ("nextval", "currval", "setval")
"""Their argument is a regclass constant, which is a dependency (find_expr_references_walker)."""


def create_sequence(session: Session, node: Node) -> None:
    """CREATE SEQUENCE. Raises ServerError 42P07, and the errors of its options and OWNED BY."""
    rv = node["sequence"]
    namespace, persistence = session.creation_target(rv, optional=node.get("if_not_exists", False))
    name = rv["relname"]
    existing = session.relation_in(namespace, name)
    if existing is not None and existing.seen and node.get("if_not_exists"):
        session.notices.append(f'relation "{name}" already exists, skipping')
        return
    session.free_name(namespace, name)
    free_row_type_name(session, namespace, name)
    if "options" in node:
        refuse_options(session, node["options"])
    row = Relation(
        # One that was only referred to becomes the real thing: what refers to it stays.
        session.catalog.new_oid() if existing is None else existing.oid,
        name,
        namespace,
        "S",
        session.setting("role"),
        persistence=persistence,
        identity="n",
        place=session.place(rv.get("location", 0), len(name.encode())),
        seen=True,
    )
    session.catalog.add_relation(row)
    session.catalog.define("sequence", row.oid, (0, node.get("options", ())))
    session.mentions.setdefault(row.oid, rv.get("location", 0))
    _owned_by(session, row, node)


def alter_sequence(session: Session, node: Node) -> None:
    """Run ALTER SEQUENCE; only OWNED BY matters here.

    Raises ServerError 42P01, 42809, 42501 and the errors of OWNED BY.
    """
    rv = node["sequence"]
    if node.get("missing_ok") and session.find_relation(rv) is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    row = session.relation(rv)
    if row.kind != "S":
        if row.seen:
            raise ServerError("42809", f'"{row.name}" is not a sequence')
        row = replace(row, kind="S", identity="n")
        session.catalog.relations.put(row.oid, row)
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of sequence {row.name}")
    _owned_by(session, row, node)


def _owned_by(session: Session, row: Relation, node: Node) -> None:
    """process_owned_by: the sequence goes with the column; 'none' undoes that."""
    for option in node.get("options", ()):
        owner = option["DefElem"]
        if owner["defname"] == "owned_by":
            _own(session, row, owner)
            return


def _own(session: Session, row: Relation, owner: Node) -> None:
    catalog, sequence = session.catalog, (RELATION, row.oid, 0)
    path = [part["String"]["sval"] for part in owner["arg"]["List"]["items"]]
    former = [entry for entry in catalog.dependencies.get(sequence[:2]) if entry[0][0] == RELATION]
    if any(how == INTERNAL for _, (_, _, how) in former):
        raise ServerError("0A000", "cannot change ownership of identity sequence")
    if len(path) == 1:
        if path != ["none"]:
            raise ServerError("42601", "invalid OWNED BY option")
        target = None
    else:
        *schema, name, column_name = path
        rv: Node = {"relname": name}
        if schema:
            rv["schemaname"] = schema[-1]
        if len(schema) > 1:
            rv["catalogname"] = schema[-2]
        table = session.relation(rv)
        if table.kind not in "rfvp":
            raise ServerError("42809", f'sequence cannot be owned by relation "{table.name}"')
        if table.owner != row.owner and table.seen and row.seen:
            raise ServerError("55000", "sequence must have same owner as table it is linked to")
        if table.namespace != row.namespace and table.seen and row.seen:
            raise ServerError("55000", "sequence must be in same schema as table it is linked to")
        target = (RELATION, table.oid, require_column(session, table.oid, column_name).number)
    catalog.forget_dependencies(sequence[:2], how=AUTO)
    if target is not None:
        catalog.depend(sequence, target, AUTO)


def sequences_used(session: Session, calls: Iterable[Node]) -> Iterable[Relation | None]:
    """Return the sequences that nextval('...'::regclass) among these calls names. Raises ServerError 42P01."""
    for call in calls:
        if call["funcname"][-1].get("String", {}).get("sval") in SEQUENCE_FUNCTIONS:
            constant, read_later = call.get("args", [{}])[0], False
            while "TypeCast" in constant:
                read_later = constant["TypeCast"]["typeName"]["names"][-1]["String"]["sval"] != "regclass"
                constant = constant["TypeCast"]["arg"]
            text = constant.get("A_Const", {}).get("sval", {}).get("sval")
            if text:
                sequence = sequence_named(session, text)
                if sequence is None and not read_later and session.certainly_none(text):
                    raise ServerError("42P01", f'relation "{text}" does not exist')
                yield sequence


def sequence_named(session: Session, text: str) -> Relation | None:
    """Return the sequence of a regclass constant's text, or None."""
    relation = session.regclass(text)
    return relation if relation is not None and relation.kind == "S" else None


def own_sequence(session: Session, row: Relation, column: Column, definition: Node) -> int:
    """Create the sequence of a serial or identity column (generateSerialExtraStmts)."""
    catalog = session.catalog
    if "options" in definition and column.type:
        refuse_options(session, definition["options"], column.type)
    name, namespace = "", row.namespace
    for item in definition.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "sequence_name":
            name = option["arg"]["List"]["items"][-1]["String"]["sval"]
    name = name or choose_relation_name(catalog, namespace, row.name, column.name, "seq", constraint=False)
    session.free_name(namespace, name)
    free_row_type_name(session, namespace, name)
    sequence = Relation(
        catalog.new_oid(), name, namespace, "S", row.owner, persistence=row.persistence, identity="n", seen=True
    )
    catalog.add_relation(sequence)
    catalog.define("sequence", sequence.oid, (column.type, definition.get("options", ())))
    return sequence.oid
