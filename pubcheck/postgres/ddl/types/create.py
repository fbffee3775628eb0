"""CREATE TYPE and CREATE DOMAIN, and ALTER of both (commands/typecmds.c): x (...) and the shell that comes before it
(DefineType), AS ENUM and its values (DefineEnum; catalog/pg_enum.c), AS RANGE (DefineRange), AS (...) with its
attributes, domains (DefineDomain, AlterDomain...).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CAST, INTERNAL, NORMAL, OTHER, PG_CATALOG, PROC, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Cast, Column, EnumLabels, OtherObject, Proc, Relation, Type
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.index_keys import no_operator_class
from pubcheck.postgres.ddl.new_objects import NAME_BYTES, creation_name, make_object_name
from pubcheck.postgres.ddl.object_address import functions_called, functions_named
from pubcheck.postgres.ddl.partition_bounds import relabel
from pubcheck.postgres.ddl.row_constraints import refuse_check
from pubcheck.postgres.ddl.tables.default_types import is_simple
from pubcheck.postgres.ddl.tables.default_values import refuse_default
from pubcheck.postgres.ddl.types import (
    DEFAULT_COLLATION,
    collation_of,
    free_type_name,
    known_type,
    make_shell,
    named_collation,
    new_type,
    new_type_oid,
    shell_named,
    type_collation,
    typmod_of,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import is_true, names, value_text
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, put_columns, require_column


def create_base(session: Session, node: Node) -> None:
    """CREATE TYPE x, a shell, and CREATE TYPE x (...), which fills one in (DefineType)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    shell = shell_named(session, namespace, name)
    if shell is None:
        free_type_name(session, namespace, name)
    owner = session.setting("role")
    if "definition" not in node:
        if shell is not None:
            raise ServerError("42710", 'type "{name}" already exists', name=name)
        make_shell(session, namespace, name)
        return
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node["definition"]}
    for needed in ("input", "output"):
        if needed not in options:
            raise ServerError("42P17", f"type {needed} function must be specified")
    if shell is None and session.complete and not session.blind:
        raise ServerError("42710", f'type "{name}" does not exist')
    element = session.type_oid(options["element"]["TypeName"]) if "TypeName" in options.get("element", {}) else 0
    category = value_text(options.get("category"))[:1] or "U"
    if not " " <= category <= "~":
        raise ServerError("22023", f'invalid type category "{value_text(options["category"])}": must be simple ASCII')
    row = Type(
        shell.oid if shell is not None else catalog.new_oid(),
        name,
        namespace,
        owner,
        "b",
        element=element,
        category=category,
        preferred=is_true(options, "preferred"),
        collation=DEFAULT_COLLATION if is_true(options, "collatable") else 0,
        subscript=_subscripts(options, element),
        seen=True,
    )
    row = new_type(session, row)
    for which in ("input", "output", "receive", "send", "typmod_in", "typmod_out", "analyze", "subscript"):
        function_name = options.get(which, {}).get("TypeName")
        if function_name is not None:
            for function in functions_named(session, names(function_name["names"])):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def _subscripts(options: dict[str, Node], element: int) -> str:
    """Return the element type of a base type's subscripts: by its handler, else as for a fixed-length array."""
    handler = value_text(options.get("subscript")).rpartition(".")[2]
    if not handler:
        return "f" if element else ""
    return {"array_subscript_handler": "a", "raw_array_subscript_handler": "f", "jsonb_subscript_handler": "j"}.get(
        handler, "u"
    )


def create_enum(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS ENUM (DefineEnum)."""
    namespace, name = creation_name(session, names(node["typeName"]))
    oid = new_type_oid(session, namespace, name)
    labels = names(node.get("vals", ()))
    for label in labels:
        _check_label(label)
    if len(set(labels)) < len(labels):
        raise ServerError("23505", 'duplicate key value violates unique constraint "pg_enum_typid_label_index"')
    row = Type(oid, name, namespace, session.setting("role"), "e", labels=EnumLabels(labels), category="E", seen=True)
    new_type(session, row)
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
    labels, label = row.labels, node["newVal"]
    _check_label(label)
    old = node.get("oldVal")
    if old is not None:
        if old not in labels:
            raise ServerError("22023", f'"{old}" is not an existing enum label')
        if label in labels:
            raise ServerError("42710", 'enum label "{name}" already exists', name=label)
        labels = EnumLabels(label if current_label == old else current_label for current_label in labels)
        relabel(session, row.oid, old, label)
    elif label in labels:
        if not node.get("skipIfNewValExists"):
            raise ServerError("42710", 'enum label "{name}" already exists', name=label)
        session.notices.append(f'enum label "{label}" already exists, skipping')
        return
    else:
        neighbor = node.get("newValNeighbor")
        if neighbor is None:
            labels = labels.appended(label)
        elif neighbor not in labels:
            raise ServerError("22023", f'"{neighbor}" is not an existing enum label')
        else:
            position = labels.index(neighbor) + (1 if node.get("newValIsAfter") else 0)
            before = list(labels)
            labels = EnumLabels((*before[:position], label, *before[position:]))
        # EnumTypeUncommitted.
        if session.transaction is not None and not (row.oid in session.enums and catalog.major.new_enum_values_usable):
            session.labels.add((row.oid, label))
    catalog.types.put(row.oid, replace(row, labels=labels))


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


def create_domain(session: Session, node: Node) -> None:
    """CREATE DOMAIN (DefineDomain)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["domainname"]))
    oid = new_type_oid(session, namespace, name)
    type_name = node["typeName"]
    base = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, base) if "typmods" in type_name else -1
    parent = known_type(session, base)
    if parent is not None and parent.kind == "p":
        raise ServerError("42804", f'"{parent.name}" is not a valid base type for a domain')
    collation = collation_of(session, node.get("collClause"), base)
    constraints = [item["Constraint"] for item in node.get("constraints", ())]
    kinds = {item["contype"] for item in constraints}
    if {"CONSTR_NOTNULL", "CONSTR_NULL"} <= kinds:
        raise ServerError("42601", "conflicting NULL/NOT NULL constraints")
    for kind in ("CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION", "CONSTR_FOREIGN"):
        if kind in kinds:
            raise ServerError("42601", "constraint not possible for domains")
    row = Type(
        oid,
        name,
        namespace,
        session.setting("role"),
        "d",
        base=base,
        not_null="CONSTR_NOTNULL" in kinds,
        category=parent.category if parent is not None else "U",
        collation=collation,
        typmod=typmod,
        checked=parent is not None and parent.checked,
        seen=True,
    )
    _refuse_expressions(session, Column(1, "value", base, collation=collation, typmod=typmod), constraints)
    row = new_type(session, row)
    catalog.depend((TYPE, row.oid, 0), (TYPE, base, 0), NORMAL)
    for item in constraints:
        if item["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, item)
        elif item["contype"] == "CONSTR_DEFAULT":
            for function in functions_called(session, item.get("raw_expr")):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def _refuse_expressions(session: Session, value: Column, constraints: list[Node]) -> None:
    """Raise ServerError for conditions and defaults that are certainly invalid; ``value`` represents VALUE."""
    table = Relation(0, "", PG_CATALOG, "r", 0, columns=(value,), seen=True)
    defaults = [item["raw_expr"] for item in constraints if item["contype"] == "CONSTR_DEFAULT"]
    if len(defaults) > 1:
        raise ServerError("42601", "multiple default expressions")
    for expression in defaults:
        refuse_default(session, table, value, expression, value.type, simple=is_simple(expression))
    for item in constraints:
        if item["contype"] == "CONSTR_CHECK":
            refuse_check(session, table, item["raw_expr"])


def _add_domain_check(session: Session, row: Type, constraint: Node) -> None:
    catalog = session.catalog
    name: str | None = constraint.get("conname")
    if name is None:
        attempt = 0
        while name is None or ("constraint", row.oid, name) in catalog.other_names:
            name = make_object_name(row.name, None, f"check{attempt or ''}")
            attempt += 1
    elif ("constraint", row.oid, name) in catalog.other_names:
        raise ServerError("42710", 'constraint "{name}" for domain "{owner}" already exists', name=name, owner=row.name)
    oid = catalog.new_oid()
    catalog.add(OtherObject(oid, "constraint", name, row.oid, row.owner))
    catalog.definitions.put(("domain check", oid), constraint["raw_expr"])
    if constraint.get("skip_validation"):
        catalog.definitions.put(("domain check not valid", oid), True)
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
    subtype = node["subtype"]
    if subtype in ("O", "N"):
        catalog.types.put(row.oid, replace(row, not_null=subtype == "O"))
    elif subtype == "C":
        constraint = node["def"]["Constraint"]
        if constraint["contype"] == "CONSTR_NOTNULL":
            catalog.types.put(row.oid, replace(row, not_null=True))
        elif constraint["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, constraint)
    elif subtype == "V":
        checked = catalog.other_names.get(("constraint", row.oid, node["name"]), 0)
        if ("domain check not valid", checked) in catalog.definitions:
            catalog.definitions.remove(("domain check not valid", checked))
    elif subtype == "X":
        name = node["name"]
        constraint_oid = catalog.other_names.get(("constraint", row.oid, name))
        if constraint_oid is not None:
            perform_deletion(session, [(OTHER, constraint_oid, 0)], node.get("behavior") == "DROP_CASCADE")
        elif name.endswith("not_null") and catalog.major.domain_not_null:
            catalog.types.put(row.oid, replace(row, not_null=False))
        elif not node.get("missing_ok"):
            raise ServerError("42704", f'constraint "{name}" of domain "{row.name}" does not exist')


def create_composite(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS (...): a relation of kind 'c' and its type (DefineCompositeType)."""
    catalog = session.catalog
    rv = node["typevar"]
    namespace, _ = session.creation_target(rv)
    name = rv["relname"]
    oid = new_type_oid(session, namespace, name)
    session.free_name(namespace, name)
    columns: list[Column] = []
    for number, item in enumerate(node.get("coldeflist", ()), 1):
        columns.append(_attribute(session, item["ColumnDef"], number))
        if any(earlier.name == columns[-1].name for earlier in columns[:-1]):
            raise ServerError("42701", f'column "{columns[-1].name}" specified more than once')
    owner = session.setting("role")
    relation = Relation(catalog.new_oid(), name, namespace, "c", owner, columns=tuple(columns), identity="n", seen=True)
    catalog.add_relation(relation)
    row = Type(oid, name, namespace, owner, "c", relation=relation.oid, category="C", seen=True)
    row = new_type(session, row)
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


def alter_composite(session: Session, node: Node) -> Iterator[tuple[int, Node]]:
    """ALTER TYPE ...

    ADD, DROP, ALTER ATTRIBUTE: change the type, and yield the tables OF it with their commands (CASCADE).
    """
    row = session.relation(node["relation"])
    if not row.seen:
        return
    if row.kind != "c":
        raise ServerError("42809", f'"{row.name}" is not a composite type')
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    for item in node.get("cmds", ()):
        command = item["AlterTableCmd"]
        cascade = command.get("behavior") == "DROP_CASCADE"
        typed = typed_tables(session, row, cascade=cascade)
        _alter_attribute(session, command, row.oid, cascade)
        for table in typed:
            yield table, command


def typed_tables(session: Session, composite: Relation, *, cascade: bool) -> list[int]:
    """The tables OF a composite type (find_typed_table_dependencies). Raises ServerError 2BP01 without ``cascade``."""
    catalog = session.catalog
    oid = catalog.type_names.get((composite.namespace, composite.name), 0)
    tables = [
        dependent[1]
        for dependent, _, _ in catalog.dependents.get((TYPE, oid))
        if dependent[0] == RELATION and not dependent[2] and catalog.relations[dependent[1]].of_type == oid
    ]
    if tables and not cascade:
        raise ServerError(
            "2BP01",
            f'cannot alter type "{composite.name}" because it is the type of a typed table',
            hint="Use ALTER ... CASCADE to alter the typed tables too.",
        )
    return tables


def _alter_attribute(session: Session, command: Node, oid: int, cascade: bool) -> None:
    """Apply a command to the composite type itself; its relation is ``oid``."""
    catalog = session.catalog
    subtype = command["subtype"]
    row = catalog.relations[oid]
    if subtype == "AT_AddColumn":
        body = command["def"]["ColumnDef"]
        if row.column(body["colname"]) is not None:
            raise ServerError(
                "42701", 'column "{name}" of relation "{owner}" already exists', name=body["colname"], owner=row.name
            )
        column = _attribute(session, body, len(row.columns) + 1)
        put_columns(session, row, (*row.columns, column))
        catalog.depend((RELATION, oid, column.number), (TYPE, column.type, 0), NORMAL)
    elif subtype == "AT_DropColumn":
        name = command["name"]
        if command.get("missing_ok") and row.column(name) is None:
            session.notices.append(f'column "{name}" of relation does not exist, skipping')
            return
        perform_deletion(session, [(RELATION, oid, require_column(session, oid, name).number)], cascade)
    elif subtype == "AT_AlterColumnType":
        name, body = command["name"], command["def"]["ColumnDef"]
        _refuse_stored(session, row.name, catalog.type_names.get((row.namespace, row.name), 0), set())
        column = require_column(session, oid, name)
        new = _typed(session, column, body)
        put_columns(session, row, tuple(new if attribute is column else attribute for attribute in row.columns))
        catalog.forget_dependencies((RELATION, oid), column.number, on=(TYPE, column.type))
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
