"""ALTER TABLE and its kin for views, sequences and indexes (commands/tablecmds.c).

Subcommands run in the server's passes, not in the order of the text: what is dropped goes first, REPLICA IDENTITY
comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    CONSTRAINT,
    DEFAULT,
    FIRST_UNPINNED,
    INTERNAL,
    NORMAL,
    OTHER,
    PUBLICATION_REL,
    RELATION,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Column, Constraint, NotNull, Relation
from pubcheck.postgres.ddl.columns import DIFFERENT, change_columns, difference, put_columns, renamed, require_column
from pubcheck.postgres.ddl.constraints import add_constraint
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.descriptions import relation_name
from pubcheck.postgres.ddl.indexes import attach_index, validate_partitioned
from pubcheck.postgres.ddl.lookup import RELATION_KINDS, RELATION_WORDS
from pubcheck.postgres.ddl.not_null import (
    add_not_null,
    column_constrained,
    drop_constraint,
    drop_not_null,
    set_not_null,
    validate,
)
from pubcheck.postgres.ddl.partitions import add_inherit, attach_partition, detach_partition, drop_inherit
from pubcheck.postgres.ddl.replica_identity import set_replica_identity
from pubcheck.postgres.ddl.tables import (
    attach_default,
    default_type,
    define_column,
    depend_on_type,
    order_constraints,
    refuse_identity_type,
    storage_word,
)
from pubcheck.postgres.ddl.typenames import collation_of, typmod_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.kinds import RELKIND_NOUN, not_supported_for
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

Subcommand = Callable[[Session, int, Node, bool], None]
"""(session, relation, AlterTableCmd, whether it goes down to children)."""


def alter_table(session: Session, node: Node) -> None:
    """ALTER TABLE | VIEW | SEQUENCE | INDEX | MATERIALIZED VIEW | FOREIGN TABLE | TYPE."""
    if node.get("objtype") == "OBJECT_TYPE":
        import_module("pubcheck.postgres.ddl.types.composites").alter_composite(session, node)
        return
    commands = [item["AlterTableCmd"] for item in node["cmds"]]
    rv = node["relation"]
    rule = None
    for command in commands:
        if command["subtype"] == "AT_ReplicaIdentity":
            rule = "relation-missing"
    if node.get("missing_ok") and session.find_relation(rv) is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    relation = session.relation(rv, rule=rule)
    judged = "replica-identity-ddl" if rule else None
    if not session.owns(relation.owner):
        noun = RELKIND_NOUN.get(relation.kind, "table")
        raise ServerError("42501", f"must be owner of {noun} {relation.name}", rule=judged and "permission")
    if relation.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{relation.name}" is a system catalog', rule=judged)
    try:
        _refuse_kind(relation, node.get("objtype", "OBJECT_TABLE"), commands)
        _run(session, relation.oid, commands, rv.get("inh", False))
    except ServerError as error:
        # What sets the replica identity is refused with all else that the statement says.
        if judged and error.rule is None:
            error.rule, error.relation = judged, session.qualified(relation)
        raise


def alter_typed(session: Session, relation: int, command: Node) -> None:
    """What ALTER TYPE ... CASCADE says of an attribute, done to a table OF the type (ATTypedTableRecursion)."""
    _ACTIONS[command["subtype"]](session, relation, {**command, "through_type": True}, True)


def _refuse_kind(relation: Relation, objtype: str, commands: list[Node]) -> None:
    """RangeVarCallbackForAlterRelation and ATSimplePermissions: ALTER TABLE alters anything but a composite type."""
    if not relation.seen:
        return
    kinds = RELATION_KINDS.get(objtype, "") if objtype != "OBJECT_TABLE" else ""
    if kinds and relation.kind not in kinds:
        raise ServerError("42809", f'"{relation.name}" is not {RELATION_WORDS[objtype]}')
    if relation.kind == "c":
        raise ServerError("42809", f'"{relation.name}" is a composite type', hint="Use ALTER TYPE instead.")
    for command in commands:
        allowed = _ALLOWED.get(command["subtype"])
        if allowed is not None and relation.kind not in allowed[0]:
            raise ServerError(
                "42809",
                f'ALTER action {allowed[1]} cannot be performed on relation "{relation.name}"',
                detail=not_supported_for(relation.kind),
            )


_ALLOWED = {
    "AT_AddColumn": ("rpf", "ADD COLUMN"),
    "AT_DropColumn": ("rpf", "DROP COLUMN"),
    "AT_ColumnDefault": ("rpvf", "ALTER COLUMN ... SET DEFAULT"),
    "AT_DropNotNull": ("rpf", "ALTER COLUMN ... DROP NOT NULL"),
    "AT_SetNotNull": ("rpf", "ALTER COLUMN ... SET NOT NULL"),
    "AT_AddConstraint": ("rpf", "ADD CONSTRAINT"),
    "AT_DropConstraint": ("rpf", "DROP CONSTRAINT"),
    "AT_ValidateConstraint": ("rpf", "VALIDATE CONSTRAINT"),
    "AT_AlterColumnType": ("rpf", "ALTER COLUMN ... SET DATA TYPE"),
    "AT_AddIdentity": ("rpvf", "ALTER COLUMN ... ADD IDENTITY"),
    "AT_DropIdentity": ("rpvf", "ALTER COLUMN ... DROP IDENTITY"),
    "AT_DropExpression": ("rpf", "ALTER COLUMN ... DROP EXPRESSION"),
    "AT_SetExpression": ("rpf", "ALTER COLUMN ... SET EXPRESSION"),
    "AT_SetLogged": ("rpS", "SET LOGGED"),
    "AT_SetUnLogged": ("rpS", "SET UNLOGGED"),
    "AT_AddInherit": ("rpf", "INHERIT"),
    "AT_DropInherit": ("rpf", "NO INHERIT"),
    "AT_AddOf": ("rp", "OF"),
    "AT_DropOf": ("rp", "NOT OF"),
    "AT_AttachPartition": ("pI", "ATTACH PARTITION"),
    "AT_DetachPartition": ("p", "DETACH PARTITION"),
}
"""Subcommand -> (relkinds it takes, its name in messages). REPLICA IDENTITY looks at the kind itself."""


def _run(session: Session, relation: int, commands: list[Node], recurse: bool) -> None:
    if len(commands) > 1:
        commands.sort(key=_pass)
        if session.catalog.major.named_not_null:
            _refuse_lost_not_null(session, relation, commands)
    retyped: dict[int, Relation] = {}
    for command in commands:
        action = _ACTIONS.get(command["subtype"])
        if command["subtype"] == "AT_AlterColumnType":
            if not retyped:
                rows = session.catalog.relations
                retyped = {oid: rows[oid] for oid in session.catalog.descendants(relation)}
        elif retyped:
            _retyped(session, retyped)
            retyped = {}
        if action is not None:
            action(session, relation, command, recurse)
    if retyped:
        _retyped(session, retyped)


def _retyped(session: Session, former: dict[int, Relation]) -> None:
    """ATPostAlterTypeParse, once all columns have their new types; ``former`` are the relations before that."""
    import_module("pubcheck.postgres.ddl.retyping").rebuild_dependents(session, former)


def _refuse_lost_not_null(session: Session, relation: int, commands: list[Node]) -> None:
    """ATPrepAddPrimaryKey looks before anything is dropped: what is NOT NULL then gets no constraint of its own."""
    row = session.catalog.relations[relation]
    keys = {
        key["String"]["sval"]
        for command in commands
        if command["subtype"] == "AT_AddConstraint" and command["def"]["Constraint"]["contype"] == "CONSTR_PRIMARY"
        for key in command["def"]["Constraint"].get("keys", ())
    }
    if not keys:
        return
    lost = {command.get("name", "") for command in commands if command["subtype"] == "AT_DropNotNull"}
    for command in commands:
        held = column_constrained(row, command["name"]) if command["subtype"] == "AT_DropConstraint" else None
        if held is not None:
            lost.add(held.name)
    for name in sorted(keys & lost):
        column = row.column(name)
        if column is not None and column.not_null:
            raise ServerError("42P16", f'primary key column "{name}" is not marked NOT NULL')


def _pass(command: Node) -> int:
    if command["subtype"] == "AT_ColumnDefault" and "def" not in command:
        return 0
    return _PASSES.get(command["subtype"], 9)


_PASSES = {
    "AT_DropColumn": 0,
    "AT_DropConstraint": 0,
    "AT_DropNotNull": 0,
    "AT_DropExpression": 0,
    "AT_AlterColumnType": 1,
    "AT_AddColumn": 2,
    "AT_SetExpression": 3,
    "AT_SetNotNull": 4,
    "AT_AddIdentity": 4,
    "AT_AddConstraint": 5,
}


def _names(session: Session, relation: int, name: str, recurse: bool) -> list[int]:
    """The relation and, going down, its descendants that have the column."""
    catalog = session.catalog
    found = catalog.descendants(relation) if recurse or catalog.relations[relation].kind == "p" else [relation]
    return [oid for oid in found if catalog.relations[oid].column(name) is not None]


def _add_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    body = command["def"]["ColumnDef"]
    row = catalog.relations[relation]
    name = body["colname"]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot add column to typed table")
    if row.partition:
        raise ServerError("42809", "cannot add column to a partition")
    if row.column(name) is not None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" already exists, skipping')
            return
        raise ServerError("42701", f'column "{name}" of relation "{row.name}" already exists')
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", "column must be added to child tables too")
    deferred: list[Node] = []
    owned: list[tuple[str, Node]] = []
    column = define_column(session, body, row.name, deferred, owned, len(row.columns) + 1)
    if column.identity and catalog.children.has(relation) and row.kind != "p":
        raise ServerError("42P16", "cannot recursively add identity column to table that has child tables")
    wanted = column.constraint
    if column.not_null and catalog.major.named_not_null:
        # The constraint is one of its own, which children inherit (18).
        wanted = wanted or NotNull()
        column = replace(column, not_null=False, constraint=None)
    put_columns(session, row, (*row.columns, column))
    depend_on_type(session, relation, column)
    if column.generated == "s" or column.identity or any("serial" in definition for _, definition in owned):
        _rewritten(session, relation)
    for child in sorted(catalog.children.get(relation)):
        _add_inherited(session, child, column)
    if wanted is not None:
        add_not_null(session, relation, name, wanted, recurse)
    for owner, definition in owned:
        attach_default(session, relation, owner, definition)
    for constraint in order_constraints(deferred):
        add_constraint(session, relation, constraint, recurse)


def _rewritten(session: Session, relation: int) -> None:
    """A table that is written anew has its indexes built anew, and then they are valid (finish_heap_swap)."""
    catalog = session.catalog
    if catalog.relations[relation].kind != "p":
        for oid in catalog.indexes_of.get(relation):
            if not catalog.indexes[oid].valid:
                catalog.indexes.put(oid, replace(catalog.indexes[oid], valid=True))


def _add_inherited(session: Session, child: int, column: Column) -> None:
    """ATExecAddColumn going down: a column that is there already is inherited from here on, and it goes no deeper."""
    catalog = session.catalog
    row = catalog.relations[child]
    known = row.column(column.name)
    if known is not None:
        if wrong := difference(known, column):
            message = f'child table "{row.name}" has different {wrong} for column "{column.name}"'
            raise ServerError(DIFFERENT[wrong], message)
        change_columns(session, child, [known.number], inherited=known.inherited + 1)
        return
    new = replace(column, number=len(row.columns) + 1, inherited=1, local=False)
    put_columns(session, row, (*row.columns, new))
    depend_on_type(session, child, new)
    if new.generated == "s":
        _rewritten(session, child)
    if new.generated:
        attach_default(session, child, new.name, {"contype": "CONSTR_GENERATED"})
    for grandchild in sorted(catalog.children.get(child)):
        _add_inherited(session, grandchild, column)


def _drop_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecDropColumn: children lose the column too unless they have it from elsewhere."""
    catalog = session.catalog
    row = catalog.relations[relation]
    name = command["name"]
    column = row.column(name)
    if column is None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" does not exist, skipping')
            return
        column = require_column(session, relation, name)
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot drop column from typed table")
    objects: list[Object] = []
    _collect_column(session, relation, column, recurse, False, objects)
    perform_deletion(session, objects, command.get("behavior") == "DROP_CASCADE", rule="ddl-drop-column")


def _collect_column(
    session: Session, relation: int, column: Column, recurse: bool, recursing: bool, objects: list[Object]
) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    name = column.name
    if column.inherited and not recursing:
        raise ServerError("42P16", f'cannot drop inherited column "{name}"')
    if column.number in row.partition_key or column.number in row.partition_reads:
        raise ServerError(
            "42P16", f'cannot drop column "{name}" because it is part of the partition key of relation "{row.name}"'
        )
    children = sorted(catalog.children.get(relation))
    if children and row.kind == "p" and not recurse:
        raise ServerError("42P16", "cannot drop column from only the partitioned table when partitions exist")
    for child in children:
        inherited = catalog.relations[child].column(name)
        if inherited is None:
            continue
        if recurse and inherited.inherited == 1 and not inherited.local:
            _collect_column(session, child, inherited, recurse, True, objects)
        else:
            change_columns(
                session,
                child,
                [inherited.number],
                inherited=max(0, inherited.inherited - 1),
                local=inherited.local or not recurse,
            )
    objects.append((RELATION, relation, column.number))


def _drop_constraint(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    name = command["name"]
    constraint = catalog.constraint(relation, name)
    if constraint is None:
        column = column_constrained(row, name)
        if column is not None:
            drop_constraint(session, relation, column, recurse=recurse)
        elif command.get("missing_ok"):
            session.notices.append(f'constraint "{name}" of relation "{row.name}" does not exist, skipping')
        elif row.seen:
            raise ServerError("42704", f'constraint "{name}" of relation "{row.name}" does not exist')
        return
    if constraint.inherited and not constraint.local:
        raise ServerError("42P16", f'cannot drop inherited constraint "{name}" of relation "{row.name}"')
    perform_deletion(session, [(CONSTRAINT, constraint.oid, 0)], command.get("behavior") == "DROP_CASCADE")
    if constraint.kind == "c":
        for child in catalog.children.get(relation):
            _drop_inherited_check(session, child, name)


def _drop_inherited_check(session: Session, child: int, name: str) -> None:
    catalog = session.catalog
    constraint: Constraint | None = catalog.constraint(child, name)
    if constraint is None:
        return
    if constraint.inherited > 1 or constraint.local:
        catalog.constraints.put(constraint.oid, replace(constraint, inherited=constraint.inherited - 1))
        return
    catalog.remove(CONSTRAINT, constraint.oid)
    for grandchild in catalog.children.get(child):
        _drop_inherited_check(session, grandchild, name)


def _drop_not_null(session: Session, relation: int, command: Node, recurse: bool) -> None:
    drop_not_null(session, relation, command["name"], recurse=recurse)


def _set_not_null(session: Session, relation: int, command: Node, recurse: bool) -> None:
    set_not_null(session, relation, command["name"], recurse=recurse)


def _set_default(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecColumnDefault: a new default replaces what the old one depended on."""
    catalog = session.catalog
    column = require_column(session, relation, command["name"])
    row = catalog.relations[relation]
    if column.identity or column.generated:
        raise ServerError("42601", f'column "{column.name}" of relation "{row.name}" is not an ordinary column')
    _forget_default(session, relation, column.number)
    of_type = default_type(session, command["def"], column.type) if "def" in command else 0
    if column.has_default != ("def" in command) or column.default_type != of_type:
        change_columns(session, relation, [column.number], has_default="def" in command, default_type=of_type)
    if "def" in command:
        attach_default(session, relation, column.name, {"contype": "CONSTR_DEFAULT", "raw_expr": command["def"]})


def _forget_default(session: Session, relation: int, number: int) -> None:
    catalog = session.catalog
    for dependent, of, _ in catalog.dependents.get((RELATION, relation)):
        if dependent[0] == DEFAULT and of == number:
            catalog.remove(DEFAULT, dependent[1])


def _alter_type(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepAlterColumnType, ATExecAlterColumnType: what depends on the column may forbid it."""
    catalog = session.catalog
    name = command["name"]
    column = require_column(session, relation, name)
    row = catalog.relations[relation]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot alter column type of typed table")
    if column.inherited and row.seen:
        raise ServerError("42P16", f'cannot alter inherited column "{name}"')
    definition = command["def"]["ColumnDef"]
    type_name = definition["typeName"]
    oid = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    collation = collation_of(session, definition.get("collClause"), oid)
    if column.identity:
        refuse_identity_type(replace(column, type=oid))
    members = _names(session, relation, name, recurse)
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", f'type of inherited column "{name}" must be changed in child tables too')
    for member in members:
        _refuse_partition_key(session, member, name)
    retyping = import_module("pubcheck.postgres.ddl.retyping")
    retyping.refuse_cast(session, row, column, oid, typmod, definition.get("raw_default"))
    _refuse_other_not_null(session, members, name)
    for member in members:
        here = require_column(session, member, name)
        if here.inherited > sum(parent in members for parent in catalog.relations[member].parents):
            other = catalog.relations[member].name
            raise ServerError("42P16", f'cannot alter inherited column "{name}" of relation "{other}"')
        retyping.refuse_default(session, here, oid)
        _refuse_type_change(session, catalog.relations[member], here)
        catalog.forget_dependencies((RELATION, member), here.number, on=(TYPE, here.type))
        change_columns(session, member, [here.number], type=oid, typmod=typmod, collation=collation, storage="")
        depend_on_type(session, member, require_column(session, member, name))
        _rebuild_keys(session, member, here.number)


def _rebuild_keys(session: Session, relation: int, number: int) -> None:
    """ATPostAlterTypeCleanup makes indexes again, a partition's key as a part of its parent's and as that is."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if number in (*index.keys, *index.included) and not index.valid and catalog.relations[oid].kind == "i":
            index = replace(index, valid=True)
            catalog.indexes.put(oid, index)
        owner = catalog.owner_of_index(oid) if index.parent and number in index.keys else None
        if owner is not None and not owner.local:
            above = catalog.indexes[index.parent]
            if (index.primary, index.immediate) != (above.primary, above.immediate):
                kind = "p" if above.primary else "u"
                catalog.indexes.put(oid, replace(index, primary=above.primary, immediate=above.immediate))
                catalog.constraints.put(owner.oid, replace(owner, kind=kind, deferrable=not above.immediate))


def _refuse_partition_key(session: Session, relation: int, name: str) -> None:
    row = session.catalog.relations[relation]
    column = require_column(session, relation, name)
    if column.number in row.partition_key:
        raise ServerError(
            "42P16", f'cannot alter column "{name}" because it is part of the partition key of relation "{row.name}"'
        )


def _refuse_other_not_null(session: Session, members: Sequence[int], name: str) -> None:
    """18 writes NOT NULL constraints of a changed column anew, a parent's first and in its children too."""
    catalog = session.catalog
    above: dict[int, set[str]] = {}
    for member in members:
        row, column = catalog.relations[member], require_column(session, member, name)
        held = column.constraint if column.not_null else None
        names = {known for parent in row.parents for known in above.get(parent, ())}
        if held is not None and held.local:
            if names - {held.name}:
                raise ServerError(
                    "55000",
                    f'cannot create not-null constraint "{held.name}" on column "{name}" of table "{row.name}"',
                )
            if not held.no_inherit:
                names.add(held.name)
        above[member] = names


def _refuse_type_change(session: Session, row: Relation, column: Column) -> None:
    """RememberAllDependentForRebuilding: the first dependent that cannot be rebuilt, in the order they came."""
    catalog = session.catalog
    for dependent, number, kind in catalog.dependents.get((RELATION, row.oid)):
        if number != column.number:
            continue
        if dependent[0] == PUBLICATION_REL:
            member = catalog.publication_rels[dependent[1]]
            publication = catalog.publications[member.publication].name
            session.doubt_members([member.oid])
            error = ServerError(
                "0A000",
                "cannot alter type of a column used by a publication WHERE clause",
                rule="ddl-alter-type",
                detail=f"publication of table {relation_name(session, row)} in publication {publication} "
                f'depends on column "{column.name}"',
            )
            error.relation, error.publication = session.qualified(row), publication
            raise error
        if dependent[0] == RELATION and kind == NORMAL and catalog.relations[dependent[1]].kind in "vm":
            raise ServerError("0A000", "cannot alter type of a column used by a view or rule")
        if dependent[0] == RELATION and dependent[1] == row.oid and dependent[2]:
            generated = row.columns[dependent[2] - 1].name
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a generated column",
                rule="ddl-alter-type" if catalog.memberships.has(row.oid) else None,
                detail=f'Column "{column.name}" is used by generated column "{generated}".',
            )
        if dependent[0] == OTHER and kind == NORMAL:
            raise ServerError("0A000", "cannot alter type of a column used by another object")


def _set_storage(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetStorage, which goes down to children (ATSimpleRecursion)."""
    require_column(session, relation, command["name"])
    word = storage_word(command["def"]["String"]["sval"])
    for member in _names(session, relation, command["name"], recurse):
        column = require_column(session, member, command["name"])
        change_columns(session, member, [column.number], storage=word)


def _set_expression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """AT_SetExpression (17 on; virtual columns 18 on), which goes down to children (ATSimpleRecursion)."""
    if session.catalog.major.number < _SET_EXPRESSION_SINCE:
        raise ServerError("42601", 'syntax error at or near "EXPRESSION"')
    require_column(session, relation, command["name"])
    members = _names(session, relation, command["name"], recurse) if recurse else [relation]
    for member in members:
        _set_expression_of(session, member, command)
    _refuse_other_not_null(session, members, command["name"])


_SET_EXPRESSION_SINCE = 17


def _set_expression_of(session: Session, relation: int, command: Node) -> None:
    """ATExecSetExpression."""
    catalog = session.catalog
    row = catalog.relations[relation]
    column = require_column(session, relation, command["name"])
    if not column.generated and row.seen:
        raise ServerError("55000", f'column "{column.name}" of relation "{row.name}" is not a generated column')
    if column.generated == "v":
        if any(catalog.constraints[oid].kind == "c" for oid in catalog.constraints_of.get(relation)):
            raise ServerError(
                "0A000",
                "ALTER TABLE / SET EXPRESSION is not supported for virtual generated columns "
                "in tables with check constraints",
            )
        members = catalog.memberships.get(relation)
        if members:
            error = ServerError(
                "0A000",
                "ALTER TABLE / SET EXPRESSION is not supported for virtual generated columns "
                "in tables that are part of a publication",
                rule="ddl-set-expression",
                detail=f'Column "{column.name}" of relation "{row.name}" is a virtual generated column.',
            )
            error.relation = session.qualified(row)
            raise error
    catalog.forget_dependencies((RELATION, relation), column.number, on=(RELATION, relation))
    if column.generated == "s":
        _rewritten(session, relation)
    _forget_default(session, relation, column.number)
    definition = {"contype": "CONSTR_GENERATED", "raw_expr": command["def"]}
    from pubcheck.postgres.tree import column_names

    read = tuple(column_names(command["def"]))
    tree = renamed(command["def"]) if column.generated == "v" else None
    change_columns(session, relation, [column.number], expression=read, tree=tree)
    attach_default(session, relation, column.name, definition)


def _drop_expression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepDropExpression, which goes down to children one by one and so refuses children of children."""
    catalog = session.catalog
    column = require_column(session, relation, command["name"])
    below = catalog.descendants(relation)[1:]
    if any(catalog.children.has(oid) for oid in below) or (below and not recurse):
        raise ServerError("0A000", "ALTER TABLE / DROP EXPRESSION must be applied to child tables too")
    row = catalog.relations[relation]
    if column.inherited and row.seen:
        raise ServerError("42P16", "cannot drop generation expression from inherited column")
    for oid in _names(session, relation, column.name, recurse):
        here = require_column(session, oid, column.name)
        if here.generated == "v":
            raise ServerError("0A000", "ALTER TABLE / DROP EXPRESSION is not supported for virtual generated columns")
        if not here.generated and catalog.relations[oid].seen:
            if command.get("missing_ok"):
                continue
            named = catalog.relations[oid].name
            raise ServerError("55000", f'column "{column.name}" of relation "{named}" is not a generated column')
        catalog.forget_dependencies((RELATION, oid), here.number, on=(RELATION, oid))
        _forget_default(session, oid, here.number)
        change_columns(session, oid, [here.number], generated="", expression=(), tree=None)


def _add_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAddIdentity; from 17 on partitions have their root's."""
    catalog = session.catalog
    body = command["def"].get("Constraint") or command["def"]["ColumnDef"]["constraints"][0]["Constraint"]
    name = command["name"]
    row = catalog.relations[relation]
    _refuse_part_of_identity(session, row, recurse, "add")
    column = require_column(session, relation, name)
    if row.seen and (not column.not_null or column.identity or column.has_default):
        raise ServerError("55000", f'column "{name}" of relation "{row.name}" cannot become an identity column')
    refuse_identity_type(column)
    for oid in _with_partitions(session, relation):
        here = require_column(session, oid, name)
        change_columns(session, oid, [here.number], identity=body["generated_when"])
    attach_default(session, relation, name, body)


def _refuse_part_of_identity(session: Session, row: Relation, recurse: bool, verb: str) -> None:
    if not session.catalog.major.partitions_inherit_identity:
        return
    if row.partition:
        word = "add identity to" if verb == "add" else "drop identity from"
        raise ServerError("42P16", f"cannot {word} a column of a partition")
    if row.kind == "p" and not recurse:
        word = "add identity to" if verb == "add" else "drop identity from"
        raise ServerError("42P16", f"cannot {word} a column of only the partitioned table")


def _with_partitions(session: Session, relation: int) -> list[int]:
    catalog = session.catalog
    if catalog.major.partitions_inherit_identity and catalog.relations[relation].kind == "p":
        return catalog.descendants(relation)
    return [relation]


def _drop_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    name = command["name"]
    row = catalog.relations[relation]
    _refuse_part_of_identity(session, row, recurse, "drop")
    column = require_column(session, relation, name)
    if not column.identity:
        if row.seen and not command.get("missing_ok"):
            raise ServerError("55000", f'column "{name}" of relation "{row.name}" is not an identity column')
        return
    for oid in _with_partitions(session, relation):
        here = require_column(session, oid, name)
        change_columns(session, oid, [here.number], identity="")
    for dependent, number, kind in catalog.dependents.get((RELATION, relation)):
        if number == column.number and kind == INTERNAL and dependent[0] == RELATION:
            catalog.forget_dependencies(dependent[:2])
            perform_deletion(session, [dependent], False)


def _change_owner(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecChangeOwner: indexes and owned sequences go with the table."""
    catalog = session.catalog
    owner = session.role_spec(command["newowner"])
    row = catalog.relations[relation]
    if owner.oid == row.owner:
        return
    if not session.superuser() and not session.member_of(owner.oid):
        raise ServerError("42501", f'must be able to SET ROLE "{owner.name}"')
    catalog.relations.put(relation, replace(row, owner=owner.oid))
    for oid in catalog.indexes_of.get(relation):
        catalog.relations.put(oid, replace(catalog.relations[oid], owner=owner.oid))
    for dependent, number, _ in catalog.dependents.get((RELATION, relation)):
        if number and dependent[0] == RELATION and dependent[2] == 0:
            owned = catalog.relations.get(dependent[1])
            if owned is not None and owned.kind == "S":
                catalog.relations.put(owned.oid, replace(owned, owner=owner.oid))


def _set_unlogged(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepChangePersistence: a member of a publication cannot become unlogged."""
    catalog = session.catalog
    row = catalog.relations[relation]
    members = catalog.memberships.get(relation)
    publication = catalog.publications[catalog.publication_rels[members[0]].publication].name if members else None
    rule = "ddl-set-unlogged" if members else None
    if row.kind == "S":
        return
    if row.kind == "p" and not catalog.major.unlogged_partitioned:
        error = ServerError(
            "42809",
            f'ALTER action SET UNLOGGED cannot be performed on relation "{row.name}"',
            rule=rule,
            detail=not_supported_for(row.kind),
        )
        error.relation, error.publication = session.qualified(row), publication
        raise error
    if row.persistence == "t":
        raise ServerError("42P16", f'cannot change logged status of table "{row.name}" because it is temporary')
    if row.persistence == "u":
        return
    if members:
        session.doubt_members(members)
        error = ServerError(
            "55000",
            f'cannot change table "{row.name}" to unlogged because it is part of a publication',
            rule=rule,
            detail="Unlogged relations cannot be replicated.",
        )
        error.relation, error.publication = session.qualified(row), publication
        raise error
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        if constraint.kind == "f":
            target = catalog.relations[constraint.references]
            if target.oid != relation and target.seen and target.persistence == "p" and row.persistence == "p":
                continue
    for dependent, _, _ in catalog.dependents.get((RELATION, relation)):
        referencing = catalog.constraints.get(dependent[1]) if dependent[0] == CONSTRAINT else None
        if referencing is not None and referencing.kind == "f" and referencing.relation != relation:
            other = catalog.relations[referencing.relation]
            if referencing.references == relation and other.persistence == "p":
                raise ServerError(
                    "42P16",
                    f'could not change table "{row.name}" to unlogged because it references logged table '
                    f'"{other.name}"',
                )
    _persist(session, relation, "u")


def _set_logged(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if row.kind == "p" and not catalog.major.unlogged_partitioned:
        raise ServerError("42809", f'ALTER action SET LOGGED cannot be performed on relation "{row.name}"')
    if row.persistence == "t":
        raise ServerError("42P16", f'cannot change logged status of table "{row.name}" because it is temporary')
    if row.persistence != "u" or row.kind == "S":
        return
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        other = catalog.relations.get(constraint.references)
        if constraint.kind == "f" and other is not None and other.oid != relation and other.persistence == "u":
            raise ServerError(
                "42P16", f'could not change table "{row.name}" to logged because it references unlogged table'
            )
    _persist(session, relation, "p")


def _persist(session: Session, relation: int, persistence: str) -> None:
    catalog = session.catalog
    if catalog.relations[relation].kind == "p":
        return  # it has no storage to rewrite, which is when the letter changes
    for oid in (relation, *catalog.indexes_of.get(relation)):
        catalog.relations.put(oid, replace(catalog.relations[oid], persistence=persistence))
    _rewritten(session, relation)


def _attach(session: Session, relation: int, command: Node, recurse: bool) -> None:
    child = session.relation(command["def"]["PartitionCmd"]["name"])
    index = session.catalog.indexes.get(relation)
    if index is None:
        attach_partition(session, relation, child.oid, command["def"]["PartitionCmd"].get("bound", {}))
        return
    catalog = session.catalog
    part = catalog.indexes.get(child.oid)
    if part is None:
        raise ServerError("42809", f'"{child.name}" is not an index')
    attach_index(session, index, part, catalog.owner_of_index(index.oid), catalog.owner_of_index(part.oid))
    validate_partitioned(session, index.oid)


def _detach(session: Session, relation: int, command: Node, recurse: bool) -> None:
    detach_partition(session, relation, session.relation(command["def"]["PartitionCmd"]["name"]).oid)


def _inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    add_inherit(session, relation, session.relation(command["def"]["RangeVar"]).oid)


def _no_inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    drop_inherit(session, relation, session.relation(command["def"]["RangeVar"]).oid)


def _cluster_on(session: Session, relation: int, command: Node, recurse: bool) -> None:
    row = session.catalog.relations[relation]
    index = session.relation_in(row.namespace, command["name"])
    if row.seen and index is None:
        raise ServerError("42704", f'index "{command["name"]}" for table "{row.name}" does not exist')
    held = session.catalog.indexes.get(index.oid) if index is not None else None
    if row.seen and (held is None or held.table != relation or held.partial):
        raise ServerError("42809", f'cannot cluster on index "{command["name"]}"')
    if row.kind == "p":
        raise ServerError("0A000", "cannot mark index clustered in partitioned table")


def _enable_rule(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """EnableDisableRule: one that is enabled for replicas alone does nothing in other sessions."""
    catalog = session.catalog
    oid = catalog.other_names.get(("rule", relation, command["name"]))
    if oid is not None:
        enabled = command["subtype"] in ("AT_EnableRule", "AT_EnableAlwaysRule")
        catalog.others.put(oid, replace(catalog.others[oid], enabled=enabled))


def _add_of(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAddOf: the table must have exactly the type's columns, in order."""
    oid = session.type_oid(command["def"]["TypeName"])
    row = session.catalog.relations[relation]
    composite = session.catalog.types.get(oid)
    if oid and (composite is None or not composite.relation):
        raise ServerError("42809", f"type {command['def']['TypeName']['names'][-1]['String']['sval']} is not composite")
    if row.parents:
        raise ServerError("42809", "typed tables cannot inherit")
    if composite is not None and row.seen:
        wanted = session.catalog.relations[composite.relation].live()
        held = row.live()
        same = [column.name for column in held] == [column.name for column in wanted]
        if not same or any(map(difference, held, wanted)):
            raise ServerError("42804", f'table "{row.name}" does not have the columns of its type')
    session.catalog.relations.put(relation, replace(row, of_type=oid))
    if oid:
        session.catalog.depend((RELATION, relation, 0), (TYPE, oid, 0), NORMAL)


def _drop_of(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if not row.of_type and row.seen:
        raise ServerError("42809", f'"{row.name}" is not a typed table')
    catalog.forget_dependencies((RELATION, relation), 0, on=(TYPE, row.of_type))
    catalog.relations.put(relation, replace(row, of_type=0))


def _add_constraint(session: Session, relation: int, command: Node, recurse: bool) -> None:
    add_constraint(session, relation, command["def"]["Constraint"], recurse)


def _validate(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    constraint = catalog.constraint(relation, command["name"])
    if constraint is not None:
        catalog.constraints.put(constraint.oid, replace(constraint, validated=True))
        return
    row = catalog.relations[relation]
    column = column_constrained(row, command["name"])
    if column is not None:
        validate(session, relation, column)
    elif row.seen:
        raise ServerError("42704", f'constraint "{command["name"]}" of relation "{row.name}" does not exist')


def _alter_constraint(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """What counts here of ATExecAlterConstraint: whether a foreign key is enforced (18)."""
    catalog, change = session.catalog, command["def"]["ATAlterConstraint"]
    constraint = catalog.constraint(relation, change["conname"])
    if constraint is not None and "alterEnforceability" in change:
        catalog.constraints.put(constraint.oid, replace(constraint, enforced=change.get("is_enforced", False)))


def _replica_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    set_replica_identity(session, relation, command["def"]["ReplicaIdentityStmt"])


_ACTIONS: dict[str, Subcommand] = {
    "AT_AddColumn": _add_column,
    "AT_AddConstraint": _add_constraint,
    "AT_AddIdentity": _add_identity,
    "AT_AddInherit": _inherit,
    "AT_AddOf": _add_of,
    "AT_AlterColumnType": _alter_type,
    "AT_AlterConstraint": _alter_constraint,
    "AT_AttachPartition": _attach,
    "AT_ChangeOwner": _change_owner,
    "AT_ClusterOn": _cluster_on,
    "AT_ColumnDefault": _set_default,
    "AT_DetachPartition": _detach,
    "AT_DisableRule": _enable_rule,
    "AT_DropColumn": _drop_column,
    "AT_DropConstraint": _drop_constraint,
    "AT_DropExpression": _drop_expression,
    "AT_DropIdentity": _drop_identity,
    "AT_DropInherit": _no_inherit,
    "AT_DropNotNull": _drop_not_null,
    "AT_DropOf": _drop_of,
    "AT_EnableAlwaysRule": _enable_rule,
    "AT_EnableReplicaRule": _enable_rule,
    "AT_EnableRule": _enable_rule,
    "AT_ReplicaIdentity": _replica_identity,
    "AT_SetExpression": _set_expression,
    "AT_SetLogged": _set_logged,
    "AT_SetNotNull": _set_not_null,
    "AT_SetStorage": _set_storage,
    "AT_SetUnLogged": _set_unlogged,
    "AT_ValidateConstraint": _validate,
}
