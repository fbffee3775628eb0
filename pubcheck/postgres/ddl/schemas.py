"""CREATE SCHEMA (commands/schemacmds.c: CreateSchemaCommand; parser/parse_utilcmd.c puts its elements in order), and
CREATE DATABASE."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres import ddl
from pubcheck.postgres.catalog.rows import Namespace
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

# The order in which elements run up to 18, whatever the order they are written in, and where each says its schema.
_ELEMENTS = {
    "CreateSeqStmt": (0, "sequence"),
    "CreateStmt": (1, "relation"),
    "ViewStmt": (2, "view"),
    "IndexStmt": (3, "relation"),
    "CreateTrigStmt": (4, "relation"),
    "GrantStmt": (5, ""),
    "AlterTableStmt": (6, "relation"),
    "CompositeTypeStmt": (6, "typevar"),
    "CreateDomainStmt": (6, "domainname"),
    "CreateEnumStmt": (6, "typeName"),
    "CreateFunctionStmt": (6, "funcname"),
    "CreateRangeStmt": (6, "typeName"),
    "DefineStmt": (6, "defnames"),
}


def create_schema(session: Session, node: Node) -> None:
    """CREATE SCHEMA with all its elements. Raises ServerError 42501, 42939, 42P06, 42P15 and those of the elements."""
    catalog = session.catalog
    owner = session.role_spec(node["authrole"]) if "authrole" in node else session.role
    name = node.get("schemaname") or owner.name
    if not session.may_create_in_database():
        raise ServerError("42501", f"permission denied for database {catalog.database}")
    if not session.member_of(owner.oid):
        raise ServerError("42501", f'must be able to SET ROLE "{owner.name}"')
    if name.startswith("pg_"):
        raise ServerError("42939", f'unacceptable schema name "{name}"')
    oid = catalog.namespace_names.get(name)
    existing = None if oid is None else catalog.namespaces[oid]
    if existing is not None and existing.seen:
        if node.get("if_not_exists"):
            session.notices.append(f'schema "{name}" already exists, skipping')
            return
        raise ServerError("42P06", 'schema "{name}" already exists', name=name)
    # One that was only referred to becomes the real thing; what was found in it stays where it is.
    row = (
        replace(existing, owner=owner.oid, seen=True)
        if existing
        else Namespace(catalog.new_oid(), name, owner.oid, seen=True)
    )
    catalog.add(row)
    if existing is not None:
        # Either it was there before, and is not made here, or what gave it to publications was refused.
        held = catalog.publication_namespaces.values()
        session.doubt_publications({entry.publication for entry in held if entry.namespace == row.oid})
    session.forget_path()
    if "schemaElts" in node:
        _create_elements(session, row, node["schemaElts"])


def _create_elements(session: Session, schema: Namespace, elements: list[Node]) -> None:
    """They run as the schema's owner, with the schema first on the path; both go back afterwards."""
    ordered: list[tuple[int, str, Node]] = []
    in_order = session.catalog.major.schema_elements_in_order
    if in_order:
        elements = _with_foreign_keys_last(elements)
    for element in elements:
        ((kind, body),) = element.items()
        rank, place = _ELEMENTS.get(kind, (6, ""))
        ordered.append((rank, kind, _in_schema(body, place, schema.name) if place else body))
    settings = session.catalog.settings
    path, role = settings["search_path"], settings["role"]
    settings.put("search_path", (schema.name, *path))
    settings.put("role", schema.owner)
    session.forget_path()
    try:
        if not in_order:
            ordered.sort(key=lambda element: element[0])
        for _, kind, body in ordered:
            ddl.apply(session, kind, body)
    finally:
        settings.put("search_path", path)
        settings.put("role", role)
        session.forget_path()


def _with_foreign_keys_last(elements: list[Node]) -> list[Node]:
    """The elements, with the foreign keys of tables as statements after all others."""
    first: list[Node] = []
    keys: list[Node] = []
    for element in elements:
        table = element.get("CreateStmt")
        if table is None or "tableElts" not in table:
            first.append(element)
            continue
        kept: list[Node] = []
        for part in table["tableElts"]:
            column = part.get("ColumnDef")
            stated = column.get("constraints", []) if column else [part]
            foreign = [constraint for constraint in stated if _is_foreign_key(constraint)]
            if column:
                rest = [constraint for constraint in stated if constraint not in foreign]
                kept.append({"ColumnDef": {**column, "constraints": rest}} if foreign else part)
            elif not foreign:
                kept.append(part)
            keys += (_added(table, constraint["Constraint"], column) for constraint in foreign)
        first.append({"CreateStmt": {**table, "tableElts": kept}})
    return first + keys


def _is_foreign_key(constraint: Node) -> bool:
    return bool(constraint.get("Constraint", {}).get("contype") == "CONSTR_FOREIGN")


def _added(table: Node, constraint: Node, column: Node | None) -> Node:
    """ALTER TABLE ... ADD of a constraint that CREATE TABLE states."""
    if column is not None:
        constraint = {**constraint, "fk_attrs": [{"String": {"sval": column["colname"]}}]}
    command = {"subtype": "AT_AddConstraint", "def": {"Constraint": constraint}, "behavior": "DROP_RESTRICT"}
    return {
        "AlterTableStmt": {
            "relation": table["relation"],
            "cmds": [{"AlterTableCmd": command}],
            "objtype": "OBJECT_TABLE",
        }
    }


def _in_schema(body: Node, place: str, schema: str) -> Node:
    """The statement with its object in the schema (setSchemaName, checkSchemaNameList)."""
    name = body[place]
    if isinstance(name, list):
        schema_name = name[-2]["String"]["sval"] if len(name) > 1 else schema
        qualified: Any = [{"String": {"sval": schema}}, name[-1]]
    else:
        schema_name = name.get("schemaname", schema)
        qualified = {**name, "schemaname": schema}
    if schema_name != schema:
        raise ServerError(
            "42P15", f"CREATE specifies a schema ({schema_name}) different from the one being created ({schema})"
        )
    return {**body, place: qualified}


def create_database(session: Session, node: Node) -> None:
    """createdb (dbcommands.c): the owner is the current role unless another is named."""
    owner = session.role.oid
    for item in node.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "owner" and "String" in option.get("arg", {}):
            owner = session.role_named(option["arg"]["String"]["sval"]).oid
    session.catalog.databases.put(node["dbname"], owner)
