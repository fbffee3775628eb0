"""ALTER TABLE and its kin for views, sequences and indexes (commands/tablecmds.c).

Subcommands run in the server's passes, not in the order of the text: what is dropped goes first, REPLICA IDENTITY comes
last. This module says which subcommand is allowed for which kind of relation, and in which order they run. The
subcommands themselves are in the other modules of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from pubcheck.postgres.catalog import FIRST_UNPINNED
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.not_null import column_of_constraint
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS, RELKIND_NOUN, not_alterable, object_noun
from pubcheck.postgres.ddl.replica_identity import refuse_kind as refuse_identity
from pubcheck.postgres.errors import NOT_RELATION_OWNER, ServerError
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session

_COMMAND, _SUBTYPE = itemgetter("AlterTableCmd"), itemgetter("subtype")

Subcommand = Callable[[Session, int, Node, bool], None]
"""(session, relation, AlterTableCmd, whether it goes down to children)."""


def alter_table(session: Session, node: Node) -> None:
    """ALTER TABLE | VIEW | SEQUENCE | INDEX | MATERIALIZED VIEW | FOREIGN TABLE | TYPE."""
    if node.get("objtype") == "OBJECT_TYPE":
        # Loaded only for ALTER TYPE.
        from pubcheck.postgres.ddl.types.create import alter_composite

        for table, command in alter_composite(session, node):
            _alter_typed(session, table, command)
        return
    commands = list(map(_COMMAND, node["cmds"]))
    rv = node["relation"]
    reported = "AT_ReplicaIdentity" in map(_SUBTYPE, commands)
    if node.get("missing_ok") and session.find_relation(rv) is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    relation = session.relation(rv, reported=reported, if_exists=node.get("missing_ok", False))
    if not session.owns(relation.owner):
        noun = RELKIND_NOUN.get(relation.kind, "table")
        key = "relation-owner" if reported else None
        raise ServerError("42501", NOT_RELATION_OWNER, key=key, kind=noun, relation=relation.name)
    if relation.oid < FIRST_UNPINNED:
        key = "identity-of-system-catalog" if reported else None
        message = 'permission denied: "{relation}" is a system catalog'
        raise ServerError("42501", message, key=key, relation=relation.name)
    try:
        _refuse_kind(session, relation, node.get("objtype", "OBJECT_TABLE"), commands)
        _run(session, relation.oid, commands, rv.get("inh", False))
    except ServerError as error:
        # What sets the replica identity is refused with all else that the statement says.
        if reported and error.key is None:
            error.key, error.relation = "identity", session.qualified(relation)
        raise


def _alter_typed(session: Session, relation: int, command: Node) -> None:
    """Apply ALTER TYPE ... CASCADE of an attribute to a table OF the type (ATTypedTableRecursion)."""
    _ACTIONS[command["subtype"]](session, relation, {**command, "through_type": True}, True)


def _refuse_kind(session: Session, relation: Relation, objtype: str, commands: list[Node]) -> None:
    """RangeVarCallbackForAlterRelation and ATSimplePermissions: ALTER TABLE alters anything but a composite type."""
    if not relation.seen:
        if any(command["subtype"] == "AT_ReplicaIdentity" for command in commands):
            refuse_identity(session, relation)
        return
    kinds = RELATION_KINDS.get(objtype, "") if objtype != "OBJECT_TABLE" else ""
    if kinds and relation.kind not in kinds:
        raise ServerError("42809", f'"{relation.name}" is not {object_noun(objtype)}')
    if relation.kind == "c":
        raise ServerError("42809", f'"{relation.name}" is a composite type', hint="Use ALTER TYPE instead.")
    for command in commands:
        if command["subtype"] == "AT_ReplicaIdentity":
            refuse_identity(session, relation)
        allowed = _ALLOWED.get(command["subtype"])
        if allowed is not None and relation.kind not in allowed[0]:
            raise not_alterable(allowed[1], relation)


_ALLOWED = {
    "AT_AddColumn": ("rpf", "ADD COLUMN"),
    "AT_ClusterOn": ("rpm", "CLUSTER ON"),
    "AT_DropCluster": ("rpm", "SET WITHOUT CLUSTER"),
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
    "AT_MergePartitions": ("p", "MERGE PARTITIONS"),
    "AT_SplitPartition": ("p", "SPLIT PARTITION"),
}
"""Subcommand -> (relkinds it takes, its name in messages). The refusal of REPLICA IDENTITY is reported."""


def _run(session: Session, relation: int, commands: list[Node], recurse: bool) -> None:
    if len(commands) > 1:
        if [command["subtype"] for command in commands].count("AT_SetTableSpace") > 1:
            raise ServerError("42601", "cannot have multiple SET TABLESPACE subcommands")
        _prepare(session, relation, commands, recurse)
        commands = sorted((command for command in commands if command["subtype"] not in _PERSISTENCE), key=_pass)
        if session.catalog.major.named_not_null:
            _refuse_lost_not_null(session, relation, commands)
    retyped: dict[int, Relation] = {}
    for command in commands:
        subtype = command["subtype"]
        if subtype == "AT_AlterColumnType":
            if not retyped:
                rows = session.catalog.relations
                retyped = {oid: rows[oid] for oid in session.catalog.descendants(relation)}
        elif retyped:
            _retyped(session, retyped)
            retyped = {}
        if subtype in _HOMES:
            if recurse and session.catalog.children.has(relation) and not session.superuser():
                _refuse_foreign_children(session, relation, command)
            _ACTIONS[subtype](session, relation, command, recurse)
    if retyped:
        _retyped(session, retyped)


def _refuse_foreign_children(session: Session, relation: int, command: Node) -> None:
    """Raise ServerError 42501 for a child of another role to which the command goes down (ATSimplePermissions)."""
    if not _goes_down(session, session.catalog.relations[relation], command):
        return
    for oid in session.catalog.descendants(relation)[1:]:
        child = session.catalog.relations[oid]
        if not session.owns(child.owner) and not _keeps_its_own(session, child, command):
            noun = RELKIND_NOUN.get(child.kind, "table")
            raise ServerError("42501", NOT_RELATION_OWNER, kind=noun, relation=child.name)


def _goes_down(session: Session, row: Relation, command: Node) -> bool:
    """Return whether a command changes the children too, by what it says and what the relation is (ATPrepCmd)."""
    subtype, named = command["subtype"], session.catalog.major.named_not_null
    if subtype == "AT_AddConstraint":
        constraint = command["def"]["Constraint"]
        columns = [row.column(name) for name in names(constraint.get("keys", ()))]
        nullable = any(column is not None and not column.not_null for column in columns)
        if constraint["contype"] == "CONSTR_PRIMARY":
            return nullable or (row.kind == "r" and not named)
        if constraint["contype"] == "CONSTR_NOTNULL":
            return nullable and not constraint.get("is_no_inherit")
        return constraint["contype"] == "CONSTR_CHECK" and not constraint.get("is_no_inherit")
    if subtype == "AT_DropConstraint":
        held = session.catalog.constraint(row.oid, command["name"])
        return column_of_constraint(row, command["name"]) is not None or (held is not None and held.kind == "c")
    if subtype == "AT_AddColumn" and command.get("missing_ok"):
        return row.column(command["def"]["ColumnDef"]["colname"]) is None
    column = row.column(command.get("name", ""))
    if subtype == "AT_DropColumn":
        return column is not None
    if subtype == "AT_SetNotNull":
        return column is not None and (not column.not_null or (row.kind == "r" and not named))
    if subtype == "AT_DropNotNull" and named:
        return column is not None and column.not_null
    return subtype in _RECURSING


_RECURSING = frozenset(
    (
        "AT_AddColumn", "AT_AlterColumnType", "AT_ColumnDefault", "AT_DropExpression", "AT_DropNotNull",
        "AT_SetExpression", "AT_SetStatistics", "AT_SetStorage",
    )
)  # fmt: skip


def _keeps_its_own(session: Session, child: Relation, command: Node) -> bool:
    """Return whether a child keeps what is dropped above, which it has of its own or from another parent too."""
    name = command.get("name", "")
    if command["subtype"] == "AT_DropColumn":
        column = child.column(name)
        return column is None or column.inherited > 1 or column.local
    if command["subtype"] != "AT_DropConstraint":
        return False
    held = session.catalog.constraint(child.oid, name)
    return held is not None and (held.inherited > 1 or held.local)


def _prepare(session: Session, relation: int, commands: Sequence[Node], recurse: bool) -> None:
    """Refuse what the server refuses before it runs any command (ATPrepCmd), in the order of the commands. SET LOGGED
    and SET UNLOGGED are done with that."""
    persistence = session.catalog.relations[relation].persistence
    changed = False
    for command in commands:
        subtype = command["subtype"]
        if subtype in _PERSISTENCE:
            if changed:
                raise ServerError("0A000", "cannot change persistence setting twice")
            changed = _PERSISTENCE[subtype] != persistence
            _ACTIONS[subtype](session, relation, command, recurse)
        elif subtype == "AT_AlterColumnType":
            # Loaded only where a column gets another type.
            from pubcheck.postgres.ddl.alter_table.column_types import prepare_type

            prepare_type(session, relation, command, recurse)


_PERSISTENCE = {"AT_SetLogged": "p", "AT_SetUnLogged": "u"}


def _retyped(session: Session, former: dict[int, Relation]) -> None:
    """ATPostAlterTypeParse, once all columns have their new types; ``former`` are the relations before that."""
    # Loaded only where a column gets another type.
    from pubcheck.postgres.ddl.alter_table.column_types import rebuild_dependents

    rebuild_dependents(session, former)


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
        held = column_of_constraint(row, command["name"]) if command["subtype"] == "AT_DropConstraint" else None
        if held is not None:
            lost.add(held.name)
    for name in sorted(keys & lost):
        column = row.column(name)
        if column is not None and column.not_null:
            raise ServerError("42P16", f'primary key column "{name}" is not marked NOT NULL')


def _pass(command: Node) -> int:
    subtype = command["subtype"]
    if subtype == "AT_ColumnDefault" and "def" not in command:
        return 0
    if subtype == "AT_AddConstraint":
        return _PASSES.get(command["def"]["Constraint"]["contype"], 6)
    return _PASSES.get(subtype, 7)


_PASSES = {
    "AT_SetAccessMethod": -1,
    "AT_DropColumn": 0,
    "AT_DropConstraint": 0,
    "AT_DropIdentity": 0,
    "AT_DropNotNull": 0,
    "AT_DropExpression": 0,
    "AT_AlterColumnType": 1,
    "AT_AddColumn": 2,
    "AT_SetExpression": 3,
    "AT_SetNotNull": 4,
    "CONSTR_NOTNULL": 4,
    "CONSTR_PRIMARY": 5,
    "CONSTR_UNIQUE": 5,
    "CONSTR_EXCLUSION": 5,
    "AT_AddIdentity": 6,
    "AT_ColumnDefault": 6,
}
"""AlterTablePass by subcommand or kind of constraint; other constraints come with what adds identity, and all else
last. What is refused before any pass, while commands are prepared, comes first (ATPrepCmd)."""


_HOMES = {
    "AT_AddColumn": "columns:add_column",
    "AT_AddConstraint": "constraints:add",
    "AT_AddIdentity": "columns:add_identity",
    "AT_AddInherit": "inheritance:inherit",
    "AT_AddOf": "inheritance:add_of",
    "AT_AlterColumnType": "column_types:alter_type",
    "AT_AlterConstraint": "constraints:alter",
    "AT_AttachPartition": "inheritance:attach",
    "AT_ChangeOwner": "relation_options:change_owner",
    "AT_ClusterOn": "relation_options:cluster_on",
    "AT_ColumnDefault": "columns:set_default",
    "AT_DetachPartition": "inheritance:detach",
    "AT_DisableRowSecurity": "relation_options:row_security",
    "AT_DisableRule": "relation_options:enable_rule",
    "AT_DisableTrig": "relation_options:enable_trigger",
    "AT_DropCluster": "relation_options:cluster_on",
    "AT_DropColumn": "columns:drop_column",
    "AT_DropConstraint": "constraints:drop",
    "AT_DropExpression": "columns:drop_expression",
    "AT_DropIdentity": "columns:drop_identity",
    "AT_DropInherit": "inheritance:no_inherit",
    "AT_DropNotNull": "constraints:drop_not_null",
    "AT_DropOf": "inheritance:drop_of",
    "AT_EnableAlwaysRule": "relation_options:enable_rule",
    "AT_EnableReplicaRule": "relation_options:enable_rule",
    "AT_EnableAlwaysTrig": "relation_options:enable_trigger",
    "AT_EnableRowSecurity": "relation_options:row_security",
    "AT_EnableReplicaTrig": "relation_options:enable_trigger",
    "AT_EnableRule": "relation_options:enable_rule",
    "AT_EnableTrig": "relation_options:enable_trigger",
    "AT_ForceRowSecurity": "relation_options:force_row_security",
    "AT_NoForceRowSecurity": "relation_options:force_row_security",
    "AT_MergePartitions": "inheritance:merge",
    "AT_SplitPartition": "inheritance:split",
    "AT_ReplicaIdentity": "relation_options:replica_identity",
    "AT_ResetOptions": "relation_options:reset_options",
    "AT_SetExpression": "columns:set_expression",
    "AT_SetIdentity": "columns:set_identity",
    "AT_SetLogged": "relation_options:set_logged",
    "AT_SetNotNull": "constraints:set_not_null",
    "AT_SetAccessMethod": "relation_options:set_access_method",
    "AT_SetOptions": "relation_options:set_options",
    "AT_SetRelOptions": "relation_options:set_parameters",
    "AT_SetCompression": "columns:set_compression",
    "AT_SetStatistics": "columns:set_statistics",
    "AT_SetStorage": "columns:set_storage",
    "AT_SetTableSpace": "relation_options:set_tablespace",
    "AT_SetUnLogged": "relation_options:set_unlogged",
    "AT_ValidateConstraint": "constraints:validate",
}
_ACTIONS: Deferred[str, Subcommand] = Deferred(__name__, _HOMES)
