"""CREATE TYPE, CREATE DOMAIN and what alters them (commands/typecmds.c, catalog/pg_type.c, catalog/pg_enum.c)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    AUTO,
    CAST,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OTHER,
    PROC,
    RELATION,
    TEMPORARY,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Cast, Column, Other, Proc, Relation, Type
from pubcheck.postgres.ddl.columns import SYSTEM_COLUMNS, put_columns, require_column
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.names import NAME_BYTES, make_object_name
from pubcheck.postgres.ddl.typenames import (
    DEFAULT_COLLATION,
    collation_of,
    known_type,
    named_collation,
    type_collation,
    typmod_of,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, names
from pubcheck.postgres.tree import find

TEXT = 25


def creation_name(session: Session, parts: list[str]) -> tuple[int, str]:
    """(namespace, name) for a CREATE of what is not a relation (QualifiedNameGetCreationNamespace).

    Raises ServerError 3F000, 42501.
    """
    catalog = session.catalog
    if len(parts) < 2:
        namespace = catalog.namespaces[session.creation_namespace()]
    elif parts[-2] == "pg_temp":
        namespace = session.temporary()
    else:
        namespace = session.namespace(parts[-2])
    if not session.may_create_in(namespace):
        raise ServerError("42501", f"permission denied for schema {namespace.name}")
    return namespace.oid, parts[-1]


def depend_on_schema(session: Session, target: Object, namespace: int) -> None:
    if namespace != TEMPORARY:
        session.catalog.depend(target, (NAMESPACE, namespace, 0), NORMAL)


def free_type_name(session: Session, namespace: int, name: str, *, shell: bool = False) -> Type | None:
    """Make sure that a type may be called so; an array type in the way gets another name (moveArrayTypeName).

    Answers the shell type of that name where ``shell`` says that it may be filled in. Raises ServerError 42710.
    """
    catalog = session.catalog
    oid = catalog.type_names.get((namespace, name))
    if oid is not None:
        row = catalog.types[oid]
        if row.kind == "p" and shell:
            return row
        if not (row.subscript == "a" and row.name.startswith("_")):
            raise ServerError("42710", f'type "{name}" already exists')
        moved = catalog.array_type_name(namespace, name)
        catalog.type_names.remove((namespace, name))
        catalog.add_type(replace(row, name=moved))
        return None
    relation = session.relation_in(namespace, name)
    if relation is not None and relation.seen and relation.kind in "rpvmf":
        raise ServerError("42710", f'type "{name}" already exists')
    return None


def _new_type(session: Session, row: Type) -> Type:
    row = session.catalog.add_type_with_array(row)
    depend_on_schema(session, (TYPE, row.oid, 0), row.namespace)
    return row


def create_enum(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS ENUM (DefineEnum)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["typeName"]))
    free_type_name(session, namespace, name)
    labels = tuple(names(node.get("vals", ())))
    for label in labels:
        _check_label(label)
    if len(set(labels)) < len(labels):
        raise ServerError("23505", 'duplicate key value violates unique constraint "pg_enum_typid_label_index"')
    row = Type(catalog.new_oid(), name, namespace, session.setting("role"), "e", labels=labels, category="E")
    _new_type(session, row)
    if session.transaction is not None:
        session.enums.add(row.oid)


def _check_label(label: str) -> None:
    if len(label.encode()) > NAME_BYTES:
        raise ServerError("42602", f'invalid enum label "{label}"')


def alter_enum(session: Session, node: Node) -> None:
    """ALTER TYPE ... ADD VALUE and RENAME VALUE (AddEnumLabel, RenameEnumLabel)."""
    catalog = session.catalog
    parts = names(node["typeName"])
    row = catalog.types.get(session.named_type(parts))
    if row is None:
        return
    if row.kind != "e":
        raise ServerError("42809", f"{'.'.join(parts)} is not an enum")
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    labels, label = list(row.labels), node["newVal"]
    _check_label(label)
    old = node.get("oldVal")
    if old is not None:
        if old not in labels:
            raise ServerError("22023", f'"{old}" is not an existing enum label')
        if label in labels:
            raise ServerError("42710", f'enum label "{label}" already exists')
        labels[labels.index(old)] = label
    elif label in labels:
        if not node.get("skipIfNewValExists"):
            raise ServerError("42710", f'enum label "{label}" already exists')
        session.notices.append(f'enum label "{label}" already exists, skipping')
        return
    else:
        neighbor = node.get("newValNeighbor")
        if neighbor is None:
            labels.append(label)
        elif neighbor not in labels:
            raise ServerError("22023", f'"{neighbor}" is not an existing enum label')
        else:
            labels.insert(labels.index(neighbor) + (1 if node.get("newValIsAfter") else 0), label)
        # From 17 on the values of a type that the transaction made itself may be used (EnumTypeUncommitted).
        if session.transaction is not None and not (row.oid in session.enums and catalog.major.number >= 17):
            session.labels.add((row.oid, label))
    catalog.types.put(row.oid, replace(row, labels=tuple(labels)))


# Domains.


def create_domain(session: Session, node: Node) -> None:
    """CREATE DOMAIN (DefineDomain)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["domainname"]))
    free_type_name(session, namespace, name)
    type_name = node["typeName"]
    base = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, base) if "typmods" in type_name else -1
    parent = known_type(session, base)
    if parent is not None and parent.kind == "p":
        raise ServerError("42804", f'"{parent.name}" is not a valid base type for a domain')
    collation = collation_of(session, node.get("collClause"), base)
    constraints = [item["Constraint"] for item in node.get("constraints", ())]
    said = {item["contype"] for item in constraints}
    if {"CONSTR_NOTNULL", "CONSTR_NULL"} <= said:
        raise ServerError("42601", "conflicting NULL/NOT NULL constraints")
    for kind in ("CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION", "CONSTR_FOREIGN"):
        if kind in said:
            raise ServerError("42601", "constraint not possible for domains")
    row = Type(
        catalog.new_oid(),
        name,
        namespace,
        session.setting("role"),
        "d",
        base=base,
        not_null="CONSTR_NOTNULL" in said,
        category=parent.category if parent is not None else "U",
        collation=collation,
        typmod=typmod,
        checked=parent is not None and parent.checked,
    )
    row = _new_type(session, row)
    catalog.depend((TYPE, row.oid, 0), (TYPE, base, 0), NORMAL)
    for item in constraints:
        if item["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, item)
        elif item["contype"] == "CONSTR_DEFAULT":
            for function in functions_called(session, item.get("raw_expr")):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def _add_domain_check(session: Session, row: Type, constraint: Node) -> None:
    catalog = session.catalog
    name: str | None = constraint.get("conname")
    if name is None:
        attempt = 0
        while name is None or ("constraint", row.oid, name) in catalog.other_names:
            name = make_object_name(row.name, None, f"check{attempt or ''}")
            attempt += 1
    elif ("constraint", row.oid, name) in catalog.other_names:
        raise ServerError("42710", f'constraint "{name}" for domain "{row.name}" already exists')
    oid = catalog.new_oid()
    catalog.add_other(Other(oid, "constraint", name, row.oid, row.owner))
    catalog.depend((OTHER, oid, 0), (TYPE, row.oid, 0), AUTO)
    for function in functions_called(session, constraint.get("raw_expr")):
        catalog.depend((OTHER, oid, 0), (PROC, function, 0), NORMAL)
    catalog.check_domain(row.oid)


def alter_domain(session: Session, node: Node) -> None:
    """ALTER DOMAIN: NOT NULL and constraints (AlterDomainNotNull, AlterDomainAddConstraint, ...DropConstraint)."""
    catalog = session.catalog
    row = catalog.types.get(session.named_type(names(node["typeName"])))
    if row is None:
        return
    if row.kind != "d":
        raise ServerError("42809", f"{row.name} is not a domain")
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of domain {row.name}")
    what = node["subtype"]
    if what in ("O", "N"):
        catalog.types.put(row.oid, replace(row, not_null=what == "O"))
    elif what == "C":
        constraint = node["def"]["Constraint"]
        if constraint["contype"] == "CONSTR_NOTNULL":
            catalog.types.put(row.oid, replace(row, not_null=True))
        elif constraint["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, constraint)
    elif what == "X":
        name = node["name"]
        found = catalog.other_names.get(("constraint", row.oid, name))
        if found is not None:
            perform_deletion(session, [(OTHER, found, 0)], node.get("behavior") == "DROP_CASCADE")
        elif name.endswith("not_null") and catalog.major.number >= 17:
            catalog.types.put(row.oid, replace(row, not_null=False))
        elif not node.get("missing_ok"):
            raise ServerError("42704", f'constraint "{name}" of domain "{row.name}" does not exist')


# Composite types.


def create_composite(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS (...): a relation of kind 'c' and its type (DefineCompositeType)."""
    catalog = session.catalog
    rv = node["typevar"]
    namespace, _ = session.creation_target(rv)
    name = rv["relname"]
    free_type_name(session, namespace, name)
    session.free_name(namespace, name)
    columns: list[Column] = []
    for number, item in enumerate(node.get("coldeflist", ()), 1):
        columns.append(_attribute(session, item["ColumnDef"], number))
        if any(known.name == columns[-1].name for known in columns[:-1]):
            raise ServerError("42701", f'column "{columns[-1].name}" specified more than once')
    owner = session.setting("role")
    relation = Relation(catalog.new_oid(), name, namespace, "c", owner, tuple(columns), identity="n")
    catalog.add_relation(relation)
    row = Type(catalog.new_oid(), name, namespace, owner, "c", relation=relation.oid, category="C")
    row = _new_type(session, row)
    catalog.depend((RELATION, relation.oid, 0), (TYPE, row.oid, 0), INTERNAL)
    for column in columns:
        catalog.depend((RELATION, relation.oid, column.number), (TYPE, column.type, 0), NORMAL)


def _attribute(session: Session, body: Node, number: int) -> Column:
    name = body["colname"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{name}" conflicts with a system column name')
    if body["typeName"].get("setof"):
        raise ServerError("42P16", f'column "{name}" cannot be declared SETOF')
    return _typed(session, Column(number, name), body)


def _typed(session: Session, column: Column, body: Node) -> Column:
    """An attribute with the type that its ColumnDef says."""
    type_name = body["typeName"]
    oid = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    return replace(column, type=oid, typmod=typmod, collation=collation_of(session, body.get("collClause"), oid))


def alter_composite(session: Session, node: Node) -> None:
    """ALTER TYPE ... ADD, DROP, ALTER ATTRIBUTE, with the tables OF the type under CASCADE (ATTypedTableRecursion)."""
    catalog = session.catalog
    row = session.relation(node["relation"])
    if not row.seen:
        return
    if row.kind != "c":
        raise ServerError("42809", f'"{row.name}" is not a composite type')
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    oid = catalog.type_names.get((row.namespace, row.name), 0)
    typed = [
        dependent[1]
        for dependent, _, _ in catalog.dependents.get((TYPE, oid))
        if dependent[0] == RELATION and not dependent[2] and catalog.relations[dependent[1]].of_type == oid
    ]
    for item in node.get("cmds", ()):
        command = item["AlterTableCmd"]
        cascade = command.get("behavior") == "DROP_CASCADE"
        if typed and not cascade:
            raise ServerError(
                "2BP01",
                f'cannot alter type "{row.name}" because it is the type of a typed table',
                hint="Use ALTER ... CASCADE to alter the typed tables too.",
            )
        _alter_attribute(session, command, row.oid, cascade)
        for table in typed:
            import_module("pubcheck.postgres.ddl.alter_table").alter_typed(session, table, command)


def _alter_attribute(session: Session, command: Node, oid: int, cascade: bool) -> None:
    """What a command does to the composite type itself; its relation is ``oid``."""
    catalog = session.catalog
    what = command["subtype"]
    row = catalog.relations[oid]
    if what == "AT_AddColumn":
        body = command["def"]["ColumnDef"]
        if row.column(body["colname"]) is not None:
            raise ServerError("42701", f'column "{body["colname"]}" of relation "{row.name}" already exists')
        column = _attribute(session, body, len(row.columns) + 1)
        put_columns(session, row, (*row.columns, column))
        catalog.depend((RELATION, oid, column.number), (TYPE, column.type, 0), NORMAL)
    elif what == "AT_DropColumn":
        name = command["name"]
        if command.get("missing_ok") and row.column(name) is None:
            session.notices.append(f'column "{name}" of relation does not exist, skipping')
            return
        perform_deletion(session, [(RELATION, oid, require_column(session, oid, name).number)], cascade)
    elif what == "AT_AlterColumnType":
        name, body = command["name"], command["def"]["ColumnDef"]
        _refuse_stored(session, row.name, catalog.type_names.get((row.namespace, row.name), 0), set())
        column = require_column(session, oid, name)
        new = _typed(session, column, body)
        put_columns(session, row, tuple(new if known is column else known for known in row.columns))
        _forget_type(session, oid, column)
        catalog.depend((RELATION, oid, new.number), (TYPE, new.type, 0), NORMAL)


def _refuse_stored(session: Session, name: str, oid: int, seen: set[int]) -> None:
    """find_composite_type_dependencies: values of the type, or of what is made of it, that a table may hold."""
    catalog = session.catalog
    if oid in seen:
        return
    seen.add(oid)
    for (kind, dependent, number), _, _ in catalog.dependents.get((TYPE, oid)):
        if kind == TYPE:
            _refuse_stored(session, name, dependent, seen)
        elif kind == RELATION and number:
            row = catalog.relations[dependent]
            if row.kind in "rpm":
                used = f"{row.name}.{row.columns[number - 1].name}"
                raise ServerError("0A000", f'cannot alter type "{name}" because column "{used}" uses it')
            _refuse_stored(session, name, catalog.type_names.get((row.namespace, row.name), 0), seen)


def _forget_type(session: Session, relation: int, column: Column) -> None:
    catalog = session.catalog
    this = (RELATION, relation)
    for key, entry in catalog.dependencies.get(this):
        if key == (TYPE, column.type) and entry[0][2] == column.number:
            catalog.dependencies.remove(this, (key, entry))
            catalog.dependents.remove(key, entry)


# Ranges.


def create_range(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS RANGE: the range, its multirange, their arrays and constructors (DefineRange)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["typeName"]))
    shell = free_type_name(session, namespace, name, shell=True)
    subtype, multirange = 0, _multirange_name(name)
    subtype_given = False
    chosen: list[str] = []
    multirange_namespace = namespace
    for item in node.get("params", ()):
        option = item["DefElem"]
        if option["defname"] == "subtype" and "TypeName" in option.get("arg", {}):
            subtype, subtype_given = session.type_oid(option["arg"]["TypeName"]), True
        elif option["defname"] == "multirange_type_name" and "TypeName" in option.get("arg", {}):
            multirange_namespace, multirange = creation_name(session, names(option["arg"]["TypeName"]["names"]))
        elif option["defname"] == "collation" and "TypeName" in option.get("arg", {}):
            chosen = names(option["arg"]["TypeName"]["names"])
    if not subtype_given:
        raise ServerError("42601", 'type attribute "subtype" is required')
    bounds = type_collation(session, subtype)
    if chosen:
        if not bounds and known_type(session, subtype) is not None:
            raise ServerError("42809", "range collation specified but subtype does not support collation")
        bounds = named_collation(session, chosen)
    owner = session.setting("role")
    free_type_name(session, multirange_namespace, multirange)
    oid = shell.oid if shell is not None else catalog.new_oid()
    row = Type(oid, name, namespace, owner, "r", base=subtype, category="R", bounds=bounds)
    row = _new_type(session, row)
    many = Type(catalog.new_oid(), multirange, multirange_namespace, owner, "m", base=row.oid, category="R")
    many = _new_type(session, many)
    row = replace(row, multirange=many.oid)
    catalog.types.put(row.oid, row)
    catalog.depend((TYPE, row.oid, 0), (TYPE, subtype, 0), NORMAL)
    catalog.depend((TYPE, many.oid, 0), (TYPE, row.oid, 0), INTERNAL)
    for made, arguments, variadic in (
        (row, (subtype, subtype), 0),
        (row, (subtype, subtype, TEXT), 0),
        (many, (), 0),
        (many, (row.oid,), 0),
        (many, (row.array,), row.oid),
    ):
        proc = Proc(
            catalog.new_oid(),
            made.name,
            made.namespace,
            owner,
            "f",
            arguments,
            made.oid,
            volatility="i",
            variadic=variadic,
            strict=made is many,
            modes=("v",) if variadic else (),
            parameters=arguments if variadic else (),
        )
        catalog.add_proc(proc)
        catalog.depend((PROC, proc.oid, 0), (TYPE, made.oid, 0), INTERNAL)
        if arguments == (row.oid,):
            cast = Cast(catalog.new_oid(), row.oid, many.oid, proc.oid, "e", "f")
            catalog.casts.put(cast.oid, cast)
            for on in ((TYPE, row.oid, 0), (TYPE, many.oid, 0), (PROC, proc.oid, 0)):
                catalog.depend((CAST, cast.oid, 0), on, INTERNAL)


def _multirange_name(name: str) -> str:
    """makeMultirangeTypeName."""
    if "range" in name:
        made = name.replace("range", "multirange", 1)
    else:
        made = name.encode()[: NAME_BYTES - len("_multirange")].decode(errors="ignore") + "_multirange"
    return made.encode()[:NAME_BYTES].decode(errors="ignore")


# Base types.


def create_base(session: Session, node: Node) -> None:
    """CREATE TYPE x, a shell, and CREATE TYPE x (...), which fills one in (DefineType)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    shell = free_type_name(session, namespace, name, shell=True)
    owner = session.setting("role")
    if "definition" not in node:
        if shell is not None:
            raise ServerError("42710", f'type "{name}" already exists')
        make_shell(session, namespace, name)
        return
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node["definition"]}
    for needed in ("input", "output"):
        if needed not in options:
            raise ServerError("42P17", f"type {needed} function must be specified")
    if shell is None and session.complete and not session.blind:
        raise ServerError("42710", f'type "{name}" does not exist')
    element = session.type_oid(options["element"]["TypeName"]) if "TypeName" in options.get("element", {}) else 0
    category = word_of(options.get("category"))[:1] or "U"
    if not " " <= category <= "~":
        raise ServerError("22023", f'invalid type category "{word_of(options["category"])}": must be simple ASCII')
    row = Type(
        shell.oid if shell is not None else catalog.new_oid(),
        name,
        namespace,
        owner,
        "b",
        element=element,
        category=category,
        preferred=says_yes(options, "preferred"),
        collation=DEFAULT_COLLATION if says_yes(options, "collatable") else 0,
        subscript=_subscripts(options, element),
    )
    row = _new_type(session, row)
    for which in ("input", "output", "receive", "send", "typmod_in", "typmod_out", "analyze", "subscript"):
        given = options.get(which, {}).get("TypeName")
        if given is not None:
            for function in functions_named(session, names(given["names"])):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def word_of(option: Node | None) -> str:
    """An option's value as text (defGetString): a string, a number, a keyword, or a name taken for a type's."""
    if not option:
        return ""
    if "TypeName" in option:
        return ".".join(names(option["TypeName"]["names"]))
    ((kind, body),) = option.items()
    field = {"Integer": "ival", "Float": "fval", "Boolean": "boolval"}.get(kind, "sval")
    value = body.get(field, False if kind == "Boolean" else 0 if kind == "Integer" else "")
    return str(value).lower() if kind == "Boolean" else str(value)


def says_yes(options: dict[str, Node], name: str) -> bool:
    """defGetBoolean; an option without a value says yes."""
    if name not in options:
        return False
    return not options[name] or word_of(options[name]).lower() in ("true", "on", "1")


def _subscripts(options: dict[str, Node], element: int) -> str:
    """What subscripts of a base type do: as its handler says, else as those of a fixed-length array."""
    handler = word_of(options.get("subscript")).rpartition(".")[2]
    if not handler:
        return "f" if element else ""
    return {"array_subscript_handler": "a", "raw_array_subscript_handler": "f", "jsonb_subscript_handler": "j"}.get(
        handler, "u"
    )


def make_shell(session: Session, namespace: int, name: str) -> Type:
    """TypeShellMake: a type of which only the name is known."""
    row = Type(session.catalog.new_oid(), name, namespace, session.setting("role"), "p")
    session.catalog.add_type(row)
    depend_on_schema(session, (TYPE, row.oid, 0), namespace)
    return row


def functions_named(session: Session, parts: list[str]) -> list[int]:
    """The unit's functions of a name, in the first schema of the search path that has any."""
    catalog = session.catalog
    if len(parts) > 1:
        namespace = TEMPORARY if parts[-2] == "pg_temp" else catalog.namespace_names.get(parts[-2])
        return catalog.proc_names.get((namespace, parts[-1])) if namespace is not None else []
    for candidate in session.path:
        found = catalog.proc_names.get((candidate, parts[-1]))
        if found:
            return found
    return []


def functions_called(session: Session, tree: Any) -> list[int]:
    """The unit's functions that an expression calls, where their name and number of arguments leave one candidate."""
    catalog = session.catalog
    found: dict[int, None] = {}
    if not catalog.procs:
        return []
    for _, call in find(tree, "FuncCall"):
        given = len(call.get("args", ()))
        candidates = [
            oid
            for oid in functions_named(session, names(call["funcname"]))
            if (row := catalog.procs[oid]).variadic or len(row.arguments) - row.defaults <= given <= len(row.arguments)
        ]
        if len(candidates) == 1:
            found[candidates[0]] = None
    return list(found)
