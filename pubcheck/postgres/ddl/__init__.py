"""The effect of each utility statement on the catalog: one function per statement, named in one table.

A handler takes the session and the statement's node. It either changes the catalog or raises ServerError (the caller
then undoes its changes), and notes on the session what is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import READ_ONLY

Handler = Callable[[Session, Node], None]

# Node of the parse tree -> module:function.
_TABLE = {
    "AlterCollationStmt": "other_statements:nothing",
    "AlterDatabaseSetStmt": "settings:keep_default",
    "AlterDefaultPrivilegesStmt": "other_statements:nothing",
    "AlterDomainStmt": "types.create:alter_domain",
    "AlterEnumStmt": "types.create:alter_enum",
    "AlterEventTrigStmt": "event_triggers:alter_event_trigger",
    "AlterExtensionContentsStmt": "extensions:alter_contents",
    "AlterExtensionStmt": "other_statements:nothing",
    "AlterFunctionStmt": "functions:alter_function",
    "AlterObjectDependsStmt": "other_statements:nothing",
    "AlterObjectSchemaStmt": "objects.renames:set_schema",
    "AlterOperatorStmt": "other_statements:nothing",
    "AlterOwnerStmt": "objects:change_owner",
    "AlterPropGraphStmt": "other_statements:alter_graph",
    "AlterPublicationStmt": "publications.statements:alter_publication",
    "AlterRoleSetStmt": "settings:keep_default",
    "AlterRoleStmt": "roles:alter_role",
    "AlterSeqStmt": "sequences:alter_sequence",
    "AlterSubscriptionStmt": "subscriptions:alter_subscription",
    "AlterTableMoveAllStmt": "other_statements:nothing",
    "AlterTableStmt": "alter_table:alter_table",
    "AlterTypeStmt": "other_statements:nothing",
    "CallStmt": "other_statements:call",
    "CompositeTypeStmt": "types.create:create_composite",
    "Connect": "settings:connect",  # psql's \\connect, which the grammar does not know
    "CreateAmStmt": "storage:create_method",
    "CreateCastStmt": "define_stmt:create_cast",
    "CreateConversionStmt": "other_statements:nothing",
    "CreateDomainStmt": "types.create:create_domain",
    "CreateEnumStmt": "types.create:create_enum",
    "CommentStmt": "triggers_policies_rules:comment",
    "CreateEventTrigStmt": "event_triggers:create_event_trigger",
    "CreateExtensionStmt": "extensions:create_extension",
    "CreateFdwStmt": "other_statements:create_wrapper",
    "CreateForeignServerStmt": "other_statements:create_server",
    "CreateForeignTableStmt": "other_statements:create_foreign_table",
    "CreateFunctionStmt": "functions:create_function",
    "CreateOpClassStmt": "define_stmt:create_class",
    "CreateOpFamilyStmt": "define_stmt:create_family",
    "CreatePropGraphStmt": "other_statements:create_graph",
    "CreatePublicationStmt": "publications.statements:create_publication",
    "CreateRangeStmt": "types.create:create_range",
    "CreateRoleStmt": "roles:create_role",
    "CreateSchemaStmt": "schemas:create_schema",
    "CreateSeqStmt": "sequences:create_sequence",
    "CreateStmt": "tables:create_table",
    "CreateSubscriptionStmt": "subscriptions:create_subscription",
    "CreateTableAsStmt": "views:create_table_as",
    "CreateTrigStmt": "triggers_policies_rules:create_trigger",
    "CreatePolicyStmt": "triggers_policies_rules:create_policy",
    "CreateStatsStmt": "triggers_policies_rules:create_statistics",
    "CreatedbStmt": "schemas:create_database",
    "DeleteStmt": "other_statements:change",
    "DefineStmt": "define_stmt:define",
    "DiscardStmt": "settings:discard",
    "DoStmt": "other_statements:do_block",
    "DropOwnedStmt": "roles:drop_owned",
    "DropRoleStmt": "roles:drop_role",
    "DropStmt": "objects:drop",
    "DropSubscriptionStmt": "subscriptions:drop_subscription",
    "ExplainStmt": "views:explain",
    "GrantRoleStmt": "roles:grant_role",
    "GrantStmt": "roles:grant",
    "ImportForeignSchemaStmt": "other_statements:unknown_effect",
    "InsertStmt": "other_statements:change",
    "IndexStmt": "indexes:create_index",
    "MergeStmt": "other_statements:change",
    "ReassignOwnedStmt": "roles:reassign_owned",
    "RenameStmt": "objects.renames:rename",
    "RepackStmt": "replica_identity:repack",
    "RuleStmt": "triggers_policies_rules:create_rule",
    "SelectStmt": "settings:select",
    "TruncateStmt": "other_statements:change",
    "TransactionStmt": "settings:transaction",
    "UpdateStmt": "other_statements:change",
    "VariableSetStmt": "settings:set_variable",
    "ViewStmt": "views:create_view",
}

_HANDLERS: Deferred[str, Handler] = Deferred(__name__, _TABLE)


def apply(session: Session, name: str, node: Node) -> None:
    """Change the catalog as the server would, if the statement changes anything that is kept here.

    Raises ServerError; the caller undoes what came before it.
    """
    if name in _TABLE:
        if session.catalog.settings.get(READ_ONLY):
            # Loaded only where a transaction is read-only.
            from pubcheck.postgres.ddl.other_statements import refuse_changes

            refuse_changes(name, node)
        _HANDLERS[name](session, node)
