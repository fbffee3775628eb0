"""Statements over rows: one module for each kind of statement, named in one table."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.statement_scope import run_changes
from pubcheck.simulate.executor.utility import define
from pubcheck.simulate.not_followed import NotFollowed

Handler = Callable[["Backend", Node], "Result"]

_HOMES = {
    "CallStmt": "routines:call_procedure",
    "CheckPointStmt": "definitions:nothing",
    "ConstraintsSetStmt": "settings:set_constraints",
    "CopyStmt": "copy_from:copy",
    "DeallocateStmt": "prepared_statements:deallocate",
    "DiscardStmt": "definitions:discard",
    "DoStmt": "procedural:do",
    "ExecuteStmt": "prepared_statements:execute",
    "ExplainStmt": "definitions:explain",
    "ListenStmt": "definitions:nothing",
    "LockStmt": "definitions:lock",
    "LoadStmt": "definitions:nothing",
    "NotifyStmt": "definitions:nothing",
    "PrepareStmt": "prepared_statements:prepare",
    "ReindexStmt": "definitions:reindex",
    "SelectStmt": "utility:select",
    "TruncateStmt": "definitions:truncate",
    "UnlistenStmt": "definitions:nothing",
    "VacuumStmt": "definitions:vacuum",
    "VariableSetStmt": "settings:set_variable",
    "VariableShowStmt": "definitions:nothing",
    "WaitStmt": "definitions:nothing",
}
_DEFINITIONS = frozenset(
    (
        "AlterCollationStmt", "AlterDefaultPrivilegesStmt", "AlterDomainStmt", "AlterEnumStmt", "AlterFunctionStmt",
        "AlterObjectDependsStmt", "AlterObjectSchemaStmt", "AlterOperatorStmt", "AlterOwnerStmt",
        "AlterPublicationStmt", "AlterRoleStmt", "AlterSeqStmt", "AlterTableStmt", "AlterTypeStmt", "ClusterStmt",
        "CommentStmt", "CompositeTypeStmt", "CreateAmStmt", "CreateCastStmt", "CreateConversionStmt",
        "CreateDomainStmt", "CreateEnumStmt", "CreateExtensionStmt", "CreateFdwStmt", "CreateForeignServerStmt",
        "CreateForeignTableStmt", "CreateFunctionStmt", "CreateOpClassStmt", "CreateOpFamilyStmt",
        "CreatePolicyStmt", "CreatePublicationStmt", "CreateRangeStmt", "CreateRoleStmt", "CreateSchemaStmt",
        "CreateSeqStmt", "CreateStatsStmt", "CreateStmt", "CreateTableAsStmt", "CreateTrigStmt",
        "CreateUserMappingStmt", "AlterUserMappingStmt", "DropUserMappingStmt", "AlterStatsStmt", "DefineStmt",
        "DropOwnedStmt", "DropRoleStmt", "DropStmt", "GrantRoleStmt", "GrantStmt", "IndexStmt", "ReassignOwnedStmt",
        "RefreshMatViewStmt", "RenameStmt", "RepackStmt", "RuleStmt", "ViewStmt",
    )
)  # fmt: skip
"""Statements that change the catalog and of rows only what this package follows. It is a closed list: a statement of
any other kind is not followed."""
_STATEMENTS: Deferred[str, Handler] = Deferred(__name__, _HOMES)
_CHANGES = frozenset(("DeleteStmt", "InsertStmt", "MergeStmt", "UpdateStmt"))


def run_statement(session: Backend, name: str, node: Node, data: str | None) -> Result:
    """Run a statement of any kind but those that control transactions."""
    if name in _CHANGES:
        return run_changes(session, name, node)
    if name == "CopyStmt":
        node = {**node, "data": data}
    if name in _HOMES:
        return _STATEMENTS[name](session, node)
    if name not in _DEFINITIONS:
        raise NotFollowed(f"the effect of {' '.join(session.text.split()[:2]).upper()}")
    return define(session, name, node)
