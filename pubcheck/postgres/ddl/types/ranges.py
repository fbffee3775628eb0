"""CREATE TYPE ... AS RANGE (commands/typecmds.c: DefineRange)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import CAST, INTERNAL, NORMAL, PROC, TYPE
from pubcheck.postgres.catalog.rows import Cast, Proc, Type
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.creation_namespace import creation_name
from pubcheck.postgres.ddl.generated_names import NAME_BYTES
from pubcheck.postgres.ddl.index_keys import no_operator_class
from pubcheck.postgres.ddl.type_modifiers import known_type, named_collation, type_collation
from pubcheck.postgres.ddl.types import new_type, new_type_oid
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session


def create_range(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS RANGE: the range, its multirange, their arrays and constructors (DefineRange)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["typeName"]))
    oid = new_type_oid(session, namespace, name)
    subtype, multirange = 0, _multirange_name(name)
    subtype_given = classed = False
    chosen: list[str] = []
    multirange_namespace = namespace
    for item in node.get("params", ()):
        option = item["DefElem"]
        if option["defname"] == "subtype" and "TypeName" in option.get("arg", {}):
            subtype, subtype_given = session.type_oid(option["arg"]["TypeName"]), True
        elif option["defname"] == "multirange_type_name" and "TypeName" in option.get("arg", {}):
            multirange_namespace, multirange = creation_name(session, names(option["arg"]["TypeName"]["names"]))
        elif option["defname"] == "subtype_opclass":
            classed = True
        elif option["defname"] == "collation" and "TypeName" in option.get("arg", {}):
            chosen = names(option["arg"]["TypeName"]["names"])
    if not subtype_given:
        raise ServerError("42601", 'type attribute "subtype" is required')
    if subtype and not classed:
        with only_certain(session):
            if session.syscache.default_class(subtype, "b") == (0, 0):
                raise no_operator_class(session, subtype, "btree")
    bounds = type_collation(session, subtype)
    if chosen:
        if not bounds and known_type(session, subtype) is not None:
            raise ServerError("42809", "range collation specified but subtype does not support collation")
        bounds = named_collation(session, chosen)
    owner = session.setting("role")
    multirange_oid = new_type_oid(session, multirange_namespace, multirange)
    row = Type(oid, name, namespace, owner, "r", base=subtype, category="R", bounds=bounds, seen=True)
    row = new_type(session, row)
    many = Type(multirange_oid, multirange, multirange_namespace, owner, "m", base=row.oid, category="R", seen=True)
    many = new_type(session, many)
    row = replace(row, multirange=many.oid)
    catalog.types.put(row.oid, row)
    catalog.depend((TYPE, row.oid, 0), (TYPE, subtype, 0), NORMAL)
    catalog.depend((TYPE, many.oid, 0), (TYPE, row.oid, 0), INTERNAL)
    _make_constructors(session, row, many)


def _make_constructors(session: Session, row: Type, many: Type) -> None:
    """The functions that make ranges and multiranges, and the cast of the one to the other (makeRangeConstructors)."""
    catalog = session.catalog
    for type_row, arguments, variadic in (
        (row, (row.base, row.base), 0),
        (row, (row.base, row.base, TEXT), 0),
        (many, (), 0),
        (many, (row.oid,), 0),
        (many, (row.array,), row.oid),
    ):
        proc = Proc(
            catalog.new_oid(),
            type_row.name,
            type_row.namespace,
            type_row.owner,
            "f",
            arguments,
            type_row.oid,
            volatility="i",
            variadic=variadic,
            strict=type_row is many,
            modes=("v",) if variadic else (),
            parameters=arguments if variadic else (),
        )
        catalog.add(proc)
        catalog.depend((PROC, proc.oid, 0), (TYPE, type_row.oid, 0), INTERNAL)
        if arguments == (row.oid,):
            cast = Cast(catalog.new_oid(), row.oid, many.oid, proc.oid, "e", "f")
            catalog.casts.put(cast.oid, cast)
            for on in ((TYPE, row.oid, 0), (TYPE, many.oid, 0), (PROC, proc.oid, 0)):
                catalog.depend((CAST, cast.oid, 0), on, INTERNAL)


def _multirange_name(name: str) -> str:
    """makeMultirangeTypeName."""
    if "range" in name:
        candidate = name.replace("range", "multirange", 1)
    else:
        candidate = name.encode()[: NAME_BYTES - len("_multirange")].decode(errors="ignore") + "_multirange"
    return candidate.encode()[:NAME_BYTES].decode(errors="ignore")
