"""The command tags of statements that event triggers fire for (tcop/utility.c: CreateCommandTag)."""

from __future__ import annotations

from pubcheck.postgres.parse import Node

_TAGS = {
    "AlterDefaultPrivilegesStmt": "ALTER DEFAULT PRIVILEGES",
    "AlterDomainStmt": "ALTER DOMAIN",
    "AlterEnumStmt": "ALTER TYPE",
    "AlterExtensionContentsStmt": "ALTER EXTENSION",
    "AlterExtensionStmt": "ALTER EXTENSION",
    "AlterFunctionStmt": "ALTER FUNCTION",
    "AlterOperatorStmt": "ALTER OPERATOR",
    "AlterPublicationStmt": "ALTER PUBLICATION",
    "AlterSeqStmt": "ALTER SEQUENCE",
    "AlterSubscriptionStmt": "ALTER SUBSCRIPTION",
    "AlterTypeStmt": "ALTER TYPE",
    "CommentStmt": "COMMENT",
    "CompositeTypeStmt": "CREATE TYPE",
    "CreateAmStmt": "CREATE ACCESS METHOD",
    "CreateCastStmt": "CREATE CAST",
    "CreateConversionStmt": "CREATE CONVERSION",
    "CreateDomainStmt": "CREATE DOMAIN",
    "CreateEnumStmt": "CREATE TYPE",
    "CreateExtensionStmt": "CREATE EXTENSION",
    "CreateFdwStmt": "CREATE FOREIGN DATA WRAPPER",
    "CreateForeignServerStmt": "CREATE SERVER",
    "CreateForeignTableStmt": "CREATE FOREIGN TABLE",
    "CreateOpClassStmt": "CREATE OPERATOR CLASS",
    "CreateOpFamilyStmt": "CREATE OPERATOR FAMILY",
    "CreatePolicyStmt": "CREATE POLICY",
    "CreatePublicationStmt": "CREATE PUBLICATION",
    "CreateRangeStmt": "CREATE TYPE",
    "CreateSchemaStmt": "CREATE SCHEMA",
    "CreateSeqStmt": "CREATE SEQUENCE",
    "CreateStatsStmt": "CREATE STATISTICS",
    "CreateStmt": "CREATE TABLE",
    "CreateSubscriptionStmt": "CREATE SUBSCRIPTION",
    "CreateTrigStmt": "CREATE TRIGGER",
    "DropOwnedStmt": "DROP OWNED",
    "DropSubscriptionStmt": "DROP SUBSCRIPTION",
    "ImportForeignSchemaStmt": "IMPORT FOREIGN SCHEMA",
    "IndexStmt": "CREATE INDEX",
    "RuleStmt": "CREATE RULE",
    "ViewStmt": "CREATE VIEW",
}
_BY_OBJECT = {
    "AlterObjectDependsStmt": ("ALTER", "objectType"),
    "AlterObjectSchemaStmt": ("ALTER", "objectType"),
    "AlterOwnerStmt": ("ALTER", "objectType"),
    "AlterTableStmt": ("ALTER", "objtype"),
    "DefineStmt": ("CREATE", "kind"),
    "DropStmt": ("DROP", "removeType"),
}
_OBJECTS = {
    "OBJECT_FDW": "FOREIGN DATA WRAPPER",
    "OBJECT_FOREIGN_SERVER": "SERVER",
    "OBJECT_MATVIEW": "MATERIALIZED VIEW",
    "OBJECT_OPCLASS": "OPERATOR CLASS",
    "OBJECT_OPFAMILY": "OPERATOR FAMILY",
    "OBJECT_STATISTIC_EXT": "STATISTICS",
    "OBJECT_TSCONFIGURATION": "TEXT SEARCH CONFIGURATION",
    "OBJECT_TSDICTIONARY": "TEXT SEARCH DICTIONARY",
    "OBJECT_TSPARSER": "TEXT SEARCH PARSER",
    "OBJECT_TSTEMPLATE": "TEXT SEARCH TEMPLATE",
}
_SHARED = frozenset(("DATABASE", "EVENT TRIGGER", "PARAMETER ACL", "ROLE", "TABLESPACE"))
"""Objects of the whole cluster, and event triggers themselves: none fires for them."""


def command_tag(name: str, node: Node) -> str:
    """The tag of a statement whose node is called ``name``; "" of one that event triggers do not fire for."""
    if name in _TAGS:
        return _TAGS[name]
    if name == "CreateFunctionStmt":
        return "CREATE PROCEDURE" if node.get("is_procedure") else "CREATE FUNCTION"
    if name == "CreateTableAsStmt":
        return "CREATE MATERIALIZED VIEW" if node.get("objtype") == "OBJECT_MATVIEW" else "CREATE TABLE AS"
    if name == "SelectStmt":
        return "SELECT INTO" if "intoClause" in node else ""
    if name == "GrantStmt":
        return "GRANT" if node.get("is_grant") else "REVOKE"
    if name == "RenameStmt":
        kind = node["renameType"]
        return _of_object("ALTER", node["relationType"] if kind in _PARTS and "relationType" in node else kind)
    if name in _BY_OBJECT:
        verb, field = _BY_OBJECT[name]
        return _of_object(verb, node.get(field, "OBJECT_TABLE"))
    return ""


_PARTS = ("OBJECT_ATTRIBUTE", "OBJECT_COLUMN", "OBJECT_TABCONSTRAINT")


def _of_object(verb: str, kind: str) -> str:
    noun = _OBJECTS.get(kind) or kind.removeprefix("OBJECT_").replace("_", " ")
    if noun in _PARTS_OF_TABLES:
        noun = "TABLE"
    return "" if noun in _SHARED else f"{verb} {noun}"


_PARTS_OF_TABLES = ("COLUMN", "TABCONSTRAINT")
