"""The event triggers of the database (commands/event_trigger.c), and the command tags of statements that they fire for
(tcop/utility.c: CreateCommandTag). ``plpgsql.event_triggers`` fires them.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import NORMAL, PROC
from pubcheck.postgres.ddl.new_objects import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known, functions_named
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS

KIND = "event trigger"


class EventTrigger(Struct, frozen=True):
    """An event trigger for statements with one of ``tags``, or for all if it names none.

    ``oid`` is that of its row in ``Catalog.others``; ``enabled`` is pg_event_trigger's evtenabled.
    """

    oid: int
    event: str
    tags: tuple[str, ...]
    function: int
    enabled: str = "O"

    def fires(self, session: Session) -> bool:
        """Return whether it fires in this session (filter_event_trigger)."""
        if session.setting("event_triggers") == "off":
            return False
        ignored = "O" if session.setting("session_replication_role") == "replica" else "R"
        return self.enabled not in ("D", ignored)


def create_event_trigger(session: Session, node: Node) -> None:
    """CREATE EVENT TRIGGER. Raises ServerError 42501, 42710."""
    name = node["trigname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create event trigger "{name}"')
    trigger = create_other(session, KIND, name)
    tags = [
        word["String"]["sval"].upper()
        for item in node.get("whenclause", ())
        for word in item["DefElem"].get("arg", {}).get("List", {}).get("items", ())
    ]
    functions = functions_named(session, names(node["funcname"]))
    if not functions and all_objects_known(session):
        raise ServerError("42883", f"function {'.'.join(names(node['funcname']))}() does not exist")
    for oid in functions[:1]:
        session.catalog.depend(trigger, (PROC, oid, 0), NORMAL)
        _store(session, (*event_triggers(session), EventTrigger(trigger[1], node["eventname"], tuple(tags), oid)))


def alter_event_trigger(session: Session, node: Node) -> None:
    """ALTER EVENT TRIGGER ... ENABLE or DISABLE."""
    changed, enabled = trigger_named(session, node["trigname"]), node["tgenabled"]
    if changed is not None:
        triggers = event_triggers(session)
        _store(
            session, tuple(replace(trigger, enabled=enabled) if trigger is changed else trigger for trigger in triggers)
        )


def require_event_trigger(session: Session, name: str) -> None:
    """Raise ServerError 42704 if there is certainly no event trigger of this name."""
    if (KIND, 0, name) not in session.catalog.other_names and all_objects_known(session):
        raise ServerError("42704", f'event trigger "{name}" does not exist')


def event_triggers(session: Session) -> list[EventTrigger]:
    """Return the event triggers in the order of their names, in which they fire."""
    objects = session.catalog.others
    triggers = [trigger for trigger in session.catalog.settings.get(EVENT_TRIGGERS, ()) if trigger.oid in objects]
    return sorted(triggers, key=lambda trigger: objects[trigger.oid].name)


def trigger_named(session: Session, name: str) -> EventTrigger | None:
    oid = session.catalog.other_names.get((KIND, 0, name))
    return next((trigger for trigger in event_triggers(session) if trigger.oid == oid), None)


def _store(session: Session, triggers: tuple[EventTrigger, ...]) -> None:
    session.catalog.settings.put(EVENT_TRIGGERS, triggers)


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
