"""CREATE TABLE in all its forms (parser/parse_utilcmd.c: transformCreateStmt; commands/tablecmds.c: DefineRelation)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    AUTO,
    CONSTRAINT,
    DEFAULT,
    FIRST_GENERATED,
    FIRST_NORMAL_OID,
    INTERNAL,
    NORMAL,
    PARTITION,
    RELATION,
    TYPE,
)
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, NotNull, Relation
from pubcheck.postgres.ddl.bounds import STRATEGIES, read_bound, refuse_overlap
from pubcheck.postgres.ddl.columns import DIFFERENT, SYSTEM_COLUMNS, adopt_members, difference, renamed
from pubcheck.postgres.ddl.constraints import add_constraint
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.indexes import adopt_index, define_index, spec_of
from pubcheck.postgres.ddl.names import choose_constraint_name, choose_relation_name
from pubcheck.postgres.ddl.not_null import name_constraints
from pubcheck.postgres.ddl.typenames import COLLATIONS, collation_of, typmod_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import (
    BOOL,
    BPCHAR,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    JSON,
    JSONB,
    NAME,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    VARCHAR,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import column_names, find, without_locations

SERIAL = {
    "serial": "int4",
    "serial4": "int4",
    "bigserial": "int8",
    "serial8": "int8",
    "smallserial": "int2",
    "serial2": "int2",
}

LIKE_CONSTRAINTS, LIKE_DEFAULTS, LIKE_GENERATED, LIKE_IDENTITY, LIKE_INDEXES, LIKE_STORAGE = 4, 8, 16, 32, 64, 256
"""TableLikeOption bits (nodes/parsenodes.h)."""


def create_foreign_table(session: Session, node: Node) -> None:
    """CREATE FOREIGN TABLE, also as a partition."""
    create_table(session, node["base"], kind="f")


def create_table(session: Session, node: Node, kind: str = "") -> None:
    """CREATE TABLE: plain, partitioned, PARTITION OF, INHERITS, OF a type, LIKE."""
    catalog, rv = session.catalog, node["relation"]
    namespace, persistence = session.creation_target(rv)
    name = rv["relname"]
    existing = session.relation_in(namespace, name)
    if existing is not None and existing.seen:
        if node.get("if_not_exists"):
            session.notices.append(f'relation "{name}" already exists, skipping')
            return
        raise ServerError("42P07", f'relation "{name}" already exists')
    if existing is not None and existing.place is not None:
        # It was perhaps made, otherwise than here, or dropped since: nothing of it, as its indexes, is this one's.
        perform_deletion(session, [(RELATION, existing.oid, 0)], True)
        session.notices.clear()
        existing = None
    parents = [session.relation(parent["RangeVar"]) for parent in node.get("inhRelations", ())]
    if any(parent.name == name and parent.namespace == namespace for parent in parents):
        raise ServerError("42P01", f'relation "{name}" does not exist')
    if existing is not None and any(existing.oid in catalog.ancestors(parent.oid) for parent in parents):
        raise ServerError("42P07", f'relation "{name}" already exists')  # its parent could not be made before it
    partition = "partbound" in node
    for at, parent in enumerate(parents):
        if parent in parents[:at]:
            raise ServerError("42P07", f'relation "{parent.name}" would be inherited from more than once')
    for parent in parents:
        _check_parent(session, parent, partition, persistence)
    if not kind:
        kind = "p" if "partspec" in node else "r"

    bound = read_bound(session.catalog.relations[parents[0].oid], node["partbound"]) if partition else None
    columns = _inherited_columns(session, parents)
    if "ofTypename" in node:
        columns += _columns_of_type(session, node["ofTypename"])
    deferred: list[Node] = []
    likes: list[tuple[Relation, int]] = []
    owned: list[tuple[str, Node]] = []
    seen = all(parent.seen for parent in parents)
    positions = {column.name: at for at, column in enumerate(columns)}
    said: set[str] = set()
    for element in node.get("tableElts", ()):
        ((what, body),) = element.items()
        if what == "ColumnDef":
            column = define_column(session, body, name, deferred, owned, len(columns) + 1)
            called = column.name
            if called in said:
                raise ServerError("42701", f'column "{called}" specified more than once')
            said.add(called)
            if called in positions:
                known = columns[positions[called]]
                columns[positions[called]] = _merged(session, known, column, typed="typeName" in body)
            else:
                columns.append(column)
        elif what == "Constraint":
            deferred.append(body)
        elif what == "TableLikeClause":
            source = session.relation(body["relation"])
            seen = seen and source.seen
            if source.kind not in "rvmcfp":
                raise ServerError("42809", f'relation "{source.name}" is invalid in LIKE clause')
            likes.append((source, body.get("options", 0)))
            _copy_columns(columns, {*positions, *said}, source, body.get("options", 0))
            said.update(column.name for column in source.live())
    if parents or likes or "ofTypename" in node:
        _number(columns)
    if partition and bound is not None:
        refuse_overlap(session, parents[0], name, bound)

    oid = existing.oid if existing is not None else catalog.new_oid()
    if existing is not None:
        catalog.remove_relation(existing)
    row = Relation(
        oid,
        name,
        namespace,
        kind,
        session.setting("role"),
        tuple(columns),
        persistence,
        partition=partition,
        parents=tuple(parent.oid for parent in parents),
        of_type=session.type_oid(node["ofTypename"]) if "ofTypename" in node else 0,
        on_commit_drop=node.get("oncommit") == "ONCOMMIT_DROP",
        seen=seen,
        place=session.place(rv.get("location", 0), len(name.encode())),
        bound=bound,
    )
    if "partspec" in node:
        row = _partitioned(row, node["partspec"])
    if catalog.major.named_not_null:
        row = _with_not_nulls(session, row, deferred)
    catalog.add_relation(row)
    if existing is not None:
        adopt_members(session, existing, row)
    session.mentions.setdefault(oid, rv.get("location", 0))
    _depend_on_types(session, row)
    for parent in parents:
        catalog.depend((RELATION, oid, 0), (RELATION, parent.oid, 0), AUTO if partition else NORMAL)
    for owner, definition in owned:
        attach_default(session, oid, owner, definition)
    if parents or likes:
        _copy_defaults(session, oid, _own_defaults(node), [*parents, *(source for source, _ in likes)])
    for source, options in likes:
        copy_constraints(session, source, oid, options)
    for parent in parents:
        inherit_constraints(session, parent, oid)
    if partition and parents:
        # In DefineRelation, before the statements for the partition's own keys run.
        clone_indexes(session, parents[0], oid)
    if not session.superuser() and (
        any("serial" in definition for _, definition in owned)
        or any(node["contype"] != "CONSTR_CHECK" for node in deferred)
    ):
        session.relation(rv)  # the server looks the table up again for its keys, which takes USAGE of its schema
    for constraint in order_constraints(deferred):
        add_constraint(session, oid, constraint)
    for source, options in likes:
        if options & LIKE_INDEXES:
            copy_indexes(session, source, oid)


def _check_parent(session: Session, parent: Relation, partition: bool, persistence: str) -> None:
    """What MergeAttributes and transformPartitionBound refuse about a parent."""
    if not session.owns(parent.owner):
        raise ServerError("42501", f"must be owner of table {parent.name}")
    if partition and parent.kind != "p" and parent.seen:
        raise ServerError("42P16", f'"{parent.name}" is not partitioned')
    if partition and parent.kind != "p":
        session.catalog.relations.put(parent.oid, replace(parent, kind="p"))
    if not partition and parent.kind == "p":
        raise ServerError("42809", f'cannot inherit from partitioned table "{parent.name}"')
    if parent.kind not in "rpf":
        raise ServerError("42809", f'inherited relation "{parent.name}" is not a table or foreign table')
    if not partition and parent.partition:
        raise ServerError("42809", f'cannot inherit from partition "{parent.name}"')
    if parent.persistence == "t" and persistence != "t":
        raise ServerError("42809", f'cannot inherit from temporary relation "{parent.name}"')
    if partition and persistence == "t" and parent.persistence != "t" and parent.seen:
        raise ServerError(
            "42809", f'cannot create a temporary relation as partition of permanent relation "{parent.name}"'
        )


def _inherited_columns(session: Session, parents: Iterable[Relation]) -> list[Column]:
    """MergeAttributes: the parents' columns in order; equal names are one column."""
    columns: list[Column] = []
    positions: dict[str, int] = {}
    identities = session.catalog.major.partitions_inherit_identity
    for parent in parents:
        for column in session.catalog.relations[parent.oid].live():
            above = column.constraint
            if above is not None and above.no_inherit:
                column, above = replace(column, not_null=False), None
            at = positions.get(column.name)
            if at is None:
                positions[column.name] = len(columns)
                columns.append(
                    replace(
                        column,
                        local=False,
                        inherited=1,
                        identity=column.identity if identities and parent.kind == "p" else "",
                        constraint=NotNull(above.name, 1, False) if column.not_null and above is not None else None,
                    )
                )
                continue
            known = columns[at]
            if wrong := difference(known, column):
                raise ServerError(DIFFERENT[wrong], f'inherited column "{column.name}" has a {wrong} conflict')
            if known.generated != column.generated:
                raise ServerError("42804", f'inherited column "{column.name}" has a generation conflict')
            held = known.constraint
            if column.not_null and above is not None:
                held = NotNull(above.name, 1, False) if held is None else replace(held, inherited=held.inherited + 1)
            columns[at] = replace(
                known,
                inherited=known.inherited + 1,
                not_null=known.not_null or column.not_null,
                constraint=held,
            )
    return columns


def _columns_of_type(session: Session, node: Node) -> list[Column]:
    oid = session.type_oid(node)
    row = session.catalog.types.get(oid)
    if row is None and not oid:
        return []
    if row is None or not row.relation or session.catalog.relations[row.relation].kind != "c":
        raise ServerError("42809", f"type {node['names'][-1]['String']['sval']} is not a composite type")
    return list(session.catalog.relations[row.relation].live())


def _merged(session: Session, known: Column, column: Column, *, typed: bool) -> Column:
    """A column merged into the inherited one of its name, or that of the table's type (MergeChildAttribute).

    Raises ServerError 42804, 42P21 or 42611 where type, collation or generation differ. ``typed``: it says its type.
    """
    if typed and (wrong := difference(known, column)):
        raise ServerError(DIFFERENT[wrong], f'column "{column.name}" has a {wrong} conflict')
    if known.inherited:
        _refuse_generation(session, known, column)
    constraint = known.constraint
    if column.not_null and session.catalog.major.named_not_null:
        constraint = _both(known, column.constraint or NotNull())
    return replace(
        known,
        local=known.local or typed,
        not_null=known.not_null or column.not_null,
        has_default=known.has_default or column.has_default,
        default_type=column.default_type if column.has_default else known.default_type,
        identity=column.identity or known.identity,
        generated=column.generated or known.generated,
        expression=column.expression if column.generated else known.expression,
        constraint=constraint,
        tree=column.tree if column.generated else known.tree,
    )


def _refuse_generation(session: Session, known: Column, column: Column) -> None:
    """What a child's column may not say about an inherited one's generation."""
    own = session.catalog.major.own_generation
    if known.generated:
        if column.generated and not own:
            raise ServerError("42611", f'child column "{column.name}" specifies generation expression')
        if column.has_default and not column.generated:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column but specifies default')
        if column.identity:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column but specifies identity')
        if column.generated and column.generated != known.generated:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column of different kind')
    elif column.generated and own:
        raise ServerError("42611", f'child column "{column.name}" specifies generation expression')


def _copy_columns(columns: list[Column], taken: set[str], source: Relation, options: int) -> None:
    """transformTableLikeClause: names, types and NOT NULL always; the rest as INCLUDING says."""
    for column in source.live():
        generated = column.generated if options & LIKE_GENERATED else ""
        if column.name in taken:
            raise ServerError("42701", f'column "{column.name}" specified more than once')
        columns.append(
            replace(
                column,
                identity=column.identity if options & LIKE_IDENTITY else "",
                generated=generated,
                expression=column.expression if generated else (),
                tree=column.tree if generated else None,
                storage=column.storage if options & LIKE_STORAGE else "",
                has_default=column.has_default and bool(options & LIKE_DEFAULTS),
                inherited=0,
                local=True,
                constraint=column.constraint
                and NotNull(column.constraint.name, no_inherit=column.constraint.no_inherit),
            )
        )


def _number(columns: list[Column]) -> None:
    for at, column in enumerate(columns, 1):
        if column.number != at:
            columns[at - 1] = replace(column, number=at)


def define_column(
    session: Session, body: Node, table: str, deferred: list[Node], owned: list[tuple[str, Node]], number: int = 0
) -> Column:
    """A ColumnDef as a column (transformColumnDefinition).

    Constraints that are the table's go to ``deferred``, and what brings objects of its own (a default that may call
    something, a serial's or identity's sequence) to ``owned``.
    """
    name = body["colname"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{name}" conflicts with a system column name')
    type_name = body.get("typeName")
    oid, serial, typmod, collation = 0, "", -1, 0
    if type_name is not None:
        parts = type_name["names"]
        if len(parts) == 1:
            serial = SERIAL.get(parts[0]["String"]["sval"], "")
        if serial and "arrayBounds" not in type_name:
            oid = session.named_type(["pg_catalog", serial])
        else:
            oid = session.type_oid(type_name)
            if "typmods" in type_name:
                typmod = typmod_of(session, type_name, oid)
            if oid >= FIRST_GENERATED or "collClause" in body:
                collation = collation_of(session, body.get("collClause"), oid)
            else:
                collation = COLLATIONS.get(oid, 0)
    not_null, identity, generated, default, of_type = body.get("is_not_null", False), "", "", False, 0
    reads: tuple[str, ...] = ()
    tree: object = None
    if serial:
        not_null, default, of_type = True, True, INT8
        owned.append((name, {"serial": True}))
    held: NotNull | None = None
    last: Node | None = None
    for item in body.get("constraints", ()):
        constraint = item["Constraint"]
        kind = constraint["contype"]
        if kind == "CONSTR_NOTNULL":
            not_null = True
            if "is_no_inherit" in constraint and not session.catalog.major.named_not_null:
                raise ServerError("42601", 'syntax error at or near "NO"')
            if "conname" in constraint or "is_no_inherit" in constraint:
                held = NotNull(constraint.get("conname", ""), no_inherit=constraint.get("is_no_inherit", False))
        elif kind == "CONSTR_DEFAULT":
            expression = constraint["raw_expr"]
            default, of_type = True, default_type(session, expression, oid)
            if not (oid and _is_simple(expression) and _suits(session, oid, of_type, expression)):
                owned.append((name, constraint))
        elif kind == "CONSTR_IDENTITY":
            identity, not_null = constraint["generated_when"], True
            owned.append((name, constraint))
        elif kind == "CONSTR_GENERATED":
            generated = constraint.get("generated_kind", "s")
            if generated == "v" and not session.catalog.major.virtual_columns:
                raise ServerError("42601", "syntax error at end of GENERATED ALWAYS AS (...)")
            reads = tuple(column_names(constraint.get("raw_expr")))
            if generated == "v":
                tree = renamed(constraint["raw_expr"])
            owned.append((name, constraint))
        elif kind in ("CONSTR_ATTR_DEFERRABLE", "CONSTR_ATTR_DEFERRED"):
            if last is not None:
                last["deferrable"] = True
                if kind == "CONSTR_ATTR_DEFERRED":
                    last["initdeferred"] = True
        elif kind == "CONSTR_ATTR_NOT_ENFORCED":
            if last is not None:
                last["is_enforced"] = False
        elif kind in ("CONSTR_PRIMARY", "CONSTR_UNIQUE"):
            last = {**constraint, "keys": [{"String": {"sval": name}}]}
            deferred.append(last)
            not_null = not_null or kind == "CONSTR_PRIMARY"
        elif kind == "CONSTR_FOREIGN":
            last = {**constraint, "fk_attrs": [{"String": {"sval": name}}]}
            deferred.append(last)
        elif kind == "CONSTR_CHECK":
            deferred.append({**constraint, "of_column": name})
    column = Column(
        number,
        name,
        oid,
        not_null,
        identity,
        generated,
        default,
        collation=collation,
        expression=reads,
        constraint=held if held is not None and session.catalog.major.named_not_null else None,
        typmod=typmod,
        tree=tree,
        storage=storage_word(body["storage_name"]) if "storage_name" in body else "",
        default_type=of_type,
    )
    if identity:
        refuse_identity_type(column)
    return column


_TYPES_OF_CALLS = {"now": TIMESTAMPTZ, "nextval": INT8, "gen_random_uuid": UUID}
_TYPES_OF_WORDS = {
    "SVFOP_CURRENT_DATE": DATE,
    "SVFOP_CURRENT_ROLE": NAME,
    "SVFOP_CURRENT_TIMESTAMP": TIMESTAMPTZ,
    "SVFOP_CURRENT_USER": NAME,
    "SVFOP_LOCALTIMESTAMP": TIMESTAMP,
    "SVFOP_SESSION_USER": NAME,
    "SVFOP_USER": NAME,
}


def default_type(session: Session, expression: Node, column: int) -> int:
    """The type of a default without what assignment to a column of type ``column`` adds; 0 where it does not show."""
    ((kind, body),) = expression.items()
    if kind == "A_Const":
        if "sval" in body:
            return column
        # A float without a point may be an int8, which is assigned to as much.
        return INT4 if "ival" in body else BOOL if "boolval" in body else NUMERIC if "fval" in body else 0
    if kind == "TypeCast":
        try:
            return session.type_oid(body["typeName"])
        except ServerError:
            return 0
    if kind == "FuncCall":
        return _TYPES_OF_CALLS.get(body["funcname"][-1]["String"]["sval"], 0)
    return _TYPES_OF_WORDS.get(body["op"], 0) if kind == "SQLValueFunction" else 0


def storage_word(written: str) -> str:
    """What STORAGE says, in lower case; DEFAULT is the type's, as is saying nothing (GetAttributeStorage)."""
    word = written.lower()
    return word if word in ("plain", "external", "extended", "main") else ""


_IDENTITY_TYPES = (20, 21, 23)


def refuse_identity_type(column: Column) -> None:
    """Raises ServerError 22023 for an identity column of a type that is no integer, not even a domain over one."""
    if column.type and column.type not in _IDENTITY_TYPES:
        raise ServerError("22023", "identity column type must be smallint, integer, or bigint")


def attach_default(session: Session, relation: int, name: str, definition: Node) -> None:
    """What a default, an identity or a generation expression brings and depends on (StoreAttrDefault)."""
    catalog = session.catalog
    row = catalog.relations[relation]
    column = row.column(name)
    if column is None:
        return
    if definition.get("contype") == "CONSTR_DEFAULT":
        expression = definition["raw_expr"]
        simple = _is_simple(expression)
        given = column.default_type
        if not given and "sval" in expression.get("A_Const", ()):
            given = column.type  # a partition's column does not say its type
        if not _suits(session, column.type, given, expression):
            known = 0 if simple and _constant(expression) is not None else column.default_type
            defaults = import_module("pubcheck.postgres.ddl.defaults")
            defaults.refuse_default_value(session, row, column, expression, known)
        if simple:
            return
    this = (RELATION, relation, column.number)
    if "serial" in definition or definition.get("contype") == "CONSTR_IDENTITY":
        sequence = _own_sequence(session, row, column, definition)
        catalog.depend((RELATION, sequence, 0), this, AUTO if "serial" in definition else INTERNAL)
        if "serial" in definition:
            _default(session, relation, column.number, [(RELATION, sequence, 0)])
        return
    if definition.get("contype") == "CONSTR_GENERATED":
        if column.generated == "v" and "raw_expr" in definition and row.seen:
            import_module("pubcheck.postgres.ddl.virtual").refuse_virtual(session, row, column, definition["raw_expr"])
        default = (DEFAULT, catalog.new_oid(), 0)
        catalog.depend(default, this, AUTO)
        for other in column.expression:
            base = row.column(other)
            if base is not None:
                if base.generated and "raw_expr" in definition:
                    raise ServerError("42P17", f'cannot use generated column "{other}" in column generation expression')
                catalog.depend(this, (RELATION, relation, base.number), NORMAL)
            elif row.seen and other not in SYSTEM_COLUMNS and other != row.name:
                raise ServerError("42703", f'column "{other}" does not exist')
        return
    uses = [
        (RELATION, sequence.oid, 0) for sequence in _sequences_used(session, definition.get("raw_expr")) if sequence
    ]
    if uses:
        _default(session, relation, column.number, uses)


def _own_defaults(node: Node) -> set[str]:
    """The columns of a CREATE TABLE that say what their values are unless one is given."""
    kinds = ("CONSTR_DEFAULT", "CONSTR_IDENTITY", "CONSTR_GENERATED")
    bodies = (element["ColumnDef"] for element in node.get("tableElts", ()) if "ColumnDef" in element)
    return {
        body["colname"]
        for body in bodies
        if any(item["Constraint"]["contype"] in kinds for item in body.get("constraints", ()))
        or (body.get("typeName") and body["typeName"]["names"][-1]["String"]["sval"] in SERIAL)
    }


def _copy_defaults(session: Session, relation: int, own: set[str], sources: list[Relation]) -> None:
    """What defaults and expressions that came with the columns of other tables depend on."""
    catalog = session.catalog
    for column in catalog.relations[relation].live():
        if column.name in own:
            continue
        if column.generated:
            attach_default(session, relation, column.name, {"contype": "CONSTR_GENERATED"})
        elif column.has_default:
            for source in sources:
                known = source.column(column.name)
                if known is not None and known.has_default:
                    uses = _uses_of_default(session, source.oid, known.number)
                    if uses:
                        _default(session, relation, column.number, uses)
                    break


def _uses_of_default(session: Session, relation: int, number: int) -> list[tuple[str, int, int]]:
    catalog = session.catalog
    return [
        (*key, used)
        for dependent, of, _ in catalog.dependents.get((RELATION, relation))
        if dependent[0] == DEFAULT and of == number
        for key, (_, used, how) in catalog.dependencies.get(dependent[:2])
        if how == NORMAL
    ]


def _is_simple(expression: Node) -> bool:
    """A literal or a call without arguments, cast or not: most defaults are, and they use no sequence."""
    while "TypeCast" in expression:
        expression = expression["TypeCast"].get("arg", {})
    return "A_Const" in expression or ("FuncCall" in expression and "args" not in expression["FuncCall"])


def _constant(expression: Node) -> Node | None:
    """The literal that a default is, cast or not."""
    while "TypeCast" in expression:
        expression = expression["TypeCast"].get("arg", {})
    return expression.get("A_Const")


_STRINGS = frozenset((TEXT, BPCHAR, VARCHAR, NAME))
_NUMBERS = frozenset((INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8))
_TIMES = frozenset((DATE, TIMESTAMP, TIMESTAMPTZ))
_LITERALS = {
    **dict.fromkeys(_NUMBERS, re.compile(r"-?[0-9]{1,4}")),
    BOOL: re.compile("true|false|[tf]"),
    JSON: re.compile(r"\{\}|\[\]"),
    JSONB: re.compile(r"\{\}|\[\]"),
}


def _suits(session: Session, wanted: int, given: int, expression: Node) -> bool:
    """Whether it shows at a glance that a column of type ``wanted`` can have a default of the type ``given``, or that
    nothing can be said of it.

    So it is with most, and a closer look takes all that reads expressions.
    """
    if not wanted or not given:
        return True
    if given != wanted and wanted not in _STRINGS and not any({given, wanted} <= alike for alike in (_NUMBERS, _TIMES)):
        return False
    text = (_constant(expression) or {}).get("sval")
    if text is None or given in _STRINGS:
        return True
    own = session.catalog.types.get(given)
    if own is not None and own.kind == "e":
        return text["sval"] in own.labels
    known = _LITERALS.get(given)
    return known is not None and known.fullmatch(text["sval"]) is not None


def _default(session: Session, relation: int, number: int, uses: list[tuple[str, int, int]]) -> None:
    catalog = session.catalog
    default = (DEFAULT, catalog.new_oid(), 0)
    catalog.depend(default, (RELATION, relation, number), AUTO)
    for used in uses:
        catalog.depend(default, used, NORMAL)


def _sequences_used(session: Session, expression: Node | None) -> Iterable[Relation | None]:
    """The sequences that nextval('...'::regclass) of an expression names."""
    if not expression:
        return
    for _, call in find(expression, "FuncCall"):
        if call["funcname"][-1].get("String", {}).get("sval") in ("nextval", "currval", "setval"):
            constant = call.get("args", [{}])[0]
            while "TypeCast" in constant:
                constant = constant["TypeCast"]["arg"]
            text = constant.get("A_Const", {}).get("sval", {}).get("sval")
            if text:
                yield sequence_named(session, text)


def sequence_named(session: Session, text: str) -> Relation | None:
    """A sequence by the text of a regclass constant, or None."""
    found = session.regclass(text)
    return found if found is not None and found.kind == "S" else None


def _own_sequence(session: Session, row: Relation, column: Column, definition: Node) -> int:
    """The sequence of a serial or identity column (generateSerialExtraStmts)."""
    catalog = session.catalog
    name, namespace = "", row.namespace
    for item in definition.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "sequence_name":
            name = option["arg"]["List"]["items"][-1]["String"]["sval"]
    name = name or choose_relation_name(catalog, namespace, row.name, column.name, "seq", constraint=False)
    session.free_name(namespace, name)
    sequence = Relation(catalog.new_oid(), name, namespace, "S", row.owner, persistence=row.persistence, identity="n")
    catalog.add_relation(sequence)
    return sequence.oid


def _with_not_nulls(session: Session, row: Relation, constraints: list[Node]) -> Relation:
    """NOT NULL and PRIMARY KEY of a new table as constraints with names (18); NOT NULL is then off the list."""
    wanted: list[tuple[str, NotNull]] = []
    for node in constraints:
        if node["contype"] == "CONSTR_NOTNULL":
            held = NotNull(node.get("conname", ""), no_inherit=node.get("is_no_inherit", False))
            wanted.append((node["keys"][0]["String"]["sval"], held))
        elif node["contype"] == "CONSTR_PRIMARY" and "indexname" not in node:
            wanted += ((key["String"]["sval"], NotNull()) for key in node.get("keys", ()))
    columns = list(row.columns)
    for name, held in wanted:
        column = row.column(name)
        if column is None:
            if row.seen:
                raise ServerError("42703", f'column "{name}" of relation "{row.name}" does not exist')
            continue
        at = column.number - 1
        columns[at] = replace(columns[at], not_null=True, constraint=_both(columns[at], held))
    constraints[:] = [node for node in constraints if node["contype"] != "CONSTR_NOTNULL"]
    row = replace(row, columns=tuple(columns)) if wanted else row
    named = name_constraints(session, row)
    return row if named is row.columns else replace(row, columns=named)


def _both(column: Column, new: NotNull) -> NotNull:
    """A table's own NOT NULL constraint beside the one that its column has already, its own or inherited."""
    known = column.constraint
    if not column.not_null or known is None:
        return new if not column.not_null or new.name or new.no_inherit else NotNull()
    if known.inherited and new.no_inherit:
        raise ServerError("42804", f'cannot define not-null constraint with NO INHERIT on column "{column.name}"')
    return NotNull(
        new.name or (known.name if known.local else ""),
        inherited=known.inherited,
        no_inherit=new.no_inherit or (known.local and known.no_inherit),
    )


def _partitioned(row: Relation, spec: Node) -> Relation:
    """The table with its partition key; columns inside expressions of the key are bound to it too."""
    if spec["strategy"] == "PARTITION_STRATEGY_LIST" and len(spec.get("partParams", ())) > 1:
        raise ServerError("42P17", 'cannot use "list" partition strategy with more than one column')
    expressions = [item["PartitionElem"].get("expr") for item in spec.get("partParams", ())]
    named = (row.column(name) for name in column_names(expressions))
    return replace(
        row,
        partition_key=partition_key(row, spec),
        partition_reads=tuple(column.number for column in named if column is not None),
        strategy=STRATEGIES[spec["strategy"]],
    )


def partition_key(row: Relation, spec: Node) -> tuple[int, ...]:
    """The numbers of a partition key's columns, 0 for an expression (transformPartitionSpec)."""
    keys = []
    for item in spec.get("partParams", ()):
        name = item["PartitionElem"].get("name")
        column = row.column(name) if name else None
        if name and column is None and row.seen:
            raise ServerError("42703", f'column "{name}" named in partition key does not exist')
        if column is not None and column.generated:
            raise ServerError("42P17", "cannot use generated column in partition key")
        keys.append(column.number if column else 0)
    return tuple(keys)


def _depend_on_types(session: Session, row: Relation) -> None:
    for column in row.columns:
        if column.type >= FIRST_NORMAL_OID:
            depend_on_type(session, row.oid, column)
    if row.of_type >= FIRST_NORMAL_OID:
        session.catalog.depend((RELATION, row.oid, 0), (TYPE, row.of_type, 0), NORMAL)


def depend_on_type(session: Session, relation: int, column: Column) -> None:
    """A column of a user-defined type goes, or stands in the way, when the type is dropped."""
    if column.type >= FIRST_NORMAL_OID:
        session.catalog.depend((RELATION, relation, column.number), (TYPE, column.type, 0), NORMAL)


def order_constraints(constraints: list[Node]) -> list[Node]:
    """Keys before the rest: transformIndexConstraints puts the primary key first, foreign keys come last."""
    if len(constraints) > 1:
        constraints = _without_repeated_keys(constraints)
    if len(constraints) < 2:
        return constraints
    rank = {"CONSTR_PRIMARY": 0, "CONSTR_UNIQUE": 1, "CONSTR_EXCLUSION": 1, "CONSTR_CHECK": 2, "CONSTR_NOTNULL": 2}
    return sorted(constraints, key=lambda constraint: rank.get(constraint["contype"], 3))


_KEY_FIELDS = ("keys", "including", "exclusions", "where_clause", "nulls_not_distinct", "deferrable", "initdeferred")


def _without_repeated_keys(constraints: list[Node]) -> list[Node]:
    """A key that is given twice is one, the primary key rather than the other, with the name that either has."""
    first: dict[str, Node] = {}
    kept: list[Node] = []
    for constraint in sorted(constraints, key=lambda item: item["contype"] != "CONSTR_PRIMARY"):
        if constraint["contype"] in ("CONSTR_PRIMARY", "CONSTR_UNIQUE") and "indexname" not in constraint:
            said = repr([without_locations(constraint.get(field)) for field in _KEY_FIELDS])
            known = first.get(said)
            if known is not None and constraint["contype"] == "CONSTR_UNIQUE":
                if "conname" in constraint:
                    known.setdefault("conname", constraint["conname"])
                continue
            constraint = first[said] = {**constraint}
        kept.append(constraint)
    return kept


def copy_constraints(session: Session, source: Relation, target: int, options: int) -> None:
    """LIKE: named NOT NULL constraints come with the columns; CHECK constraints by INCLUDING CONSTRAINTS."""
    catalog = session.catalog
    if not options & LIKE_CONSTRAINTS:
        return
    for oid in catalog.constraints_of.get(source.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c":
            _copy_check(session, constraint, target, inherited=False)


def inherit_constraints(session: Session, parent: Relation, child: int) -> None:
    """CHECK constraints come down to children, foreign keys to partitions."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(parent.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c" and not constraint.no_inherit:
            if catalog.constraint(child, constraint.name) is None:
                _copy_check(session, constraint, child, inherited=True)
        elif constraint.kind == "f" and parent.kind == "p":
            clone_foreign_key(session, constraint, parent, child)


def _copy_check(session: Session, constraint: Constraint, target: int, *, inherited: bool) -> None:
    catalog = session.catalog
    source, row = catalog.relations[constraint.relation], catalog.relations[target]
    named = (row.column(source.columns[key - 1].name) for key in constraint.keys)
    new = replace(
        constraint,
        oid=catalog.new_oid(),
        relation=target,
        keys=tuple(column.number for column in named if column),
        inherited=1 if inherited else 0,
        local=not inherited,
    )
    catalog.add_constraint(new)
    for key in new.keys or (0,):
        catalog.depend((CONSTRAINT, new.oid, 0), (RELATION, target, key), AUTO)


def clone_foreign_key(session: Session, constraint: Constraint, parent: Relation, child: int) -> None:
    """A partitioned table's foreign key holds for each partition (CloneForeignKeyConstraints)."""
    catalog = session.catalog
    row = catalog.relations[child]
    named = [row.column(parent.columns[key - 1].name) for key in constraint.keys]
    keys = tuple(column.number for column in named if column)
    name = constraint.name
    if catalog.constraint(child, name) is not None:
        name = choose_constraint_name(catalog, row.namespace, row.name, "_".join(c.name for c in named if c), "fkey")
    new = replace(
        constraint,
        oid=catalog.new_oid(),
        name=name,
        relation=child,
        keys=keys,
        parent=constraint.oid,
        inherited=1,
        local=False,
    )
    catalog.add_constraint(new)
    this = (CONSTRAINT, new.oid, 0)
    catalog.depend(this, (CONSTRAINT, constraint.oid, 0), PARTITION)
    for key in keys:
        catalog.depend(this, (RELATION, child, key), AUTO)


def clone_indexes(session: Session, parent: Relation, child: int) -> None:
    """A new partition gets the indexes and keys of its parent."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(parent.oid):
        index = catalog.indexes[oid]
        adopt_index(
            session,
            catalog.relations[parent.oid],
            index,
            catalog.relations[child],
            constraint=catalog.owner_of_index(oid),
        )


def copy_indexes(session: Session, source: Relation, target: int) -> None:
    """LIKE ... INCLUDING INDEXES: indexes and keys under names made anew (expandTableLikeClause)."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(source.oid):
        index: Index = catalog.indexes[oid]
        spec = spec_of(session, catalog.relations[source.oid], index, catalog.owner_of_index(oid))
        define_index(session, catalog.relations[target], spec)
