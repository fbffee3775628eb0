"""Event triggers (commands/event_trigger.c): what their functions do after later statements is not followed.

Those whose function may raise an error are kept by name: a statement that they fire for is perhaps refused.
"""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.ddl.lookup import functions_named
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS
from pubcheck.postgres.tree import names


class Guard(Struct, frozen=True):
    """An event trigger that may refuse statements: those of one of ``tags``, or all where it names none."""

    name: str
    event: str
    tags: tuple[str, ...]
    enabled: bool = True


_DROPS = frozenset(("AlterPublicationStmt", "AlterTableStmt", "DropOwnedStmt", "DropStmt"))
_SILENT = frozenset(
    (
        "AlterDatabaseSetStmt",
        "AlterEventTrigStmt",
        "AlterRoleSetStmt",
        "AlterRoleStmt",
        "CallStmt",
        "Connect",
        "CreateEventTrigStmt",
        "CreateRoleStmt",
        "CreatedbStmt",
        "DiscardStmt",
        "DoStmt",
        "DropRoleStmt",
        "GrantRoleStmt",
        "SelectStmt",
        "TransactionStmt",
        "UpdateStmt",
        "VariableSetStmt",
    )
)
"""Statements that event triggers do not fire for (tcop/cmdtaglist.h)."""


def create_event_trigger(session: Session, node: Node) -> None:
    """CREATE EVENT TRIGGER."""
    for oid in functions_named(session, names(node["funcname"])):
        row = session.catalog.procs[oid]
        if row.effect:
            unfollowed_call(session, row)
            session.restless = session.restless or row.effect == "t"
        if row.raises:
            tags = [
                word["String"]["sval"]
                for item in node.get("whenclause", ())
                for word in item["DefElem"].get("arg", {}).get("List", {}).get("items", ())
            ]
            _put(session, (*_guards(session), Guard(node["trigname"], node["eventname"], tuple(tags))))


def alter_event_trigger(session: Session, node: Node) -> None:
    """ALTER EVENT TRIGGER ... ENABLE or DISABLE."""
    kept = [one for one in _guards(session) if one.name != node["trigname"]]
    changed = [
        Guard(one.name, one.event, one.tags, node["tgenabled"] not in ("D", "R"))
        for one in _guards(session)
        if one.name == node["trigname"]
    ]
    if changed:
        _put(session, (*kept, *changed))


def forget_event_triggers(session: Session, dropped: list[str]) -> None:
    """DROP EVENT TRIGGER."""
    if _guards(session):
        _put(session, tuple(one for one in _guards(session) if one.name not in dropped))


def guarded(session: Session, name: str, node: Node) -> bool:
    """Whether an event trigger perhaps refuses the statement at hand, whose node is called ``name``."""
    if name in _SILENT or node.get("removeType") == "OBJECT_EVENT_TRIGGER":
        return False
    text = session.text.decode(errors="replace").upper()
    return any(
        one.enabled
        and (one.event not in ("sql_drop", "table_rewrite", "login") or (one.event == "sql_drop" and name in _DROPS))
        and (not one.tags or any(all(word in text for word in tag.upper().split()) for tag in one.tags))
        for one in _guards(session)
    )


def _guards(session: Session) -> tuple[Guard, ...]:
    found: tuple[Guard, ...] = session.catalog.settings.get(EVENT_TRIGGERS, ())
    return found


def _put(session: Session, guards: tuple[Guard, ...]) -> None:
    session.catalog.settings.put(EVENT_TRIGGERS, guards)
