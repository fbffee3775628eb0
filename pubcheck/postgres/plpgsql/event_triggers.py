"""Statements that event triggers refuse (commands/event_trigger.c).

The changes that their functions make are not followed. A function that reads only the event and the command tag is run
for each statement. Any other function that may raise an error makes every statement uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pubcheck.postgres.catalog.rows import Namespace, Publication, PublicationNamespace, PublicationRel, Relation
from pubcheck.postgres.command_tags import command_tag
from pubcheck.postgres.ddl.event_triggers import EventTrigger, event_triggers, trigger_named
from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.event_bodies import fire
from pubcheck.postgres.session import Session

KEY = "event-trigger"
_START, _END, _DROP = "ddl_command_start", "ddl_command_end", "sql_drop"
_DROPS = frozenset(("AlterPublicationStmt", "AlterTableStmt", "DropOwnedStmt", "DropStmt"))
_ABOUT = frozenset(("AlterPublicationStmt", "CreatePublicationStmt"))


def refuse_start(session: Session, name: str, node: Node) -> bool:
    """Fire the triggers that run before a statement, whose node is called ``name``: whether one may refuse it.

    Raises ServerError if one certainly does.
    """
    return _fire_all(session, name, node, (_START,))


def refuse_end(session: Session, name: str, node: Node, changes: Iterable[tuple[Any, Any, Any]]) -> bool:
    """Fire the triggers that run after a statement; ``changes`` are its changes, as in the journal."""
    gone = [former for heap, key, former in changes if key not in heap]
    dropped = any(isinstance(row, _REPORTED) or (isinstance(row, Relation) and row.persistence != "t") for row in gone)
    return _fire_all(session, name, node, (_DROP, _END) if name in _DROPS else (_END,), dropped=dropped)


_REPORTED = (Namespace, Publication, PublicationNamespace, PublicationRel)
"""Rows whose deletion a sql_drop trigger always hears of (EventTriggerSupportsObject); of a relation only if it is not
another session's temporary one."""


def _fire_all(session: Session, name: str, node: Node, events: tuple[str, ...], *, dropped: bool = False) -> bool:
    tag = command_tag(name, node)
    if not tag:
        return False
    perhaps = False
    for trigger in sorted(event_triggers(session), key=lambda trigger: trigger.event != _DROP):
        if not trigger.fires(session) or trigger.event not in events or (trigger.tags and tag not in trigger.tags):
            continue
        try:
            _fire(session, trigger, tag)
        except ServerError as error:
            if trigger.event == _DROP and not dropped:
                perhaps = True  # it fires only if something was dropped
                continue
            error.key = KEY if name in _ABOUT or _names_publication(node) else None
            raise
        except Unknowable:
            row = session.catalog.procs.get(trigger.function)
            perhaps = perhaps or row is None or row.raises
    return perhaps


def _names_publication(node: Node) -> bool:
    """Return whether a statement about objects of several kinds is about a publication, or sets a replica identity."""
    kinds = (node.get("removeType"), node.get("renameType"), node.get("objectType"))
    commands = (item.get("AlterTableCmd", {}).get("subtype") for item in node.get("cmds", ()))
    return "OBJECT_PUBLICATION" in kinds or "AT_ReplicaIdentity" in commands


def assume_effects(session: Session, name: str) -> None:
    """Mark as unknown the objects that the function of a new event trigger may change."""
    trigger = trigger_named(session, name)
    if trigger is not None:
        row = session.catalog.procs[trigger.function]
        if row.effect and not _only_asks(session, trigger):
            unfollowed_call(session, row)
            session.restless = session.restless or row.effect == "t"


def _only_asks(session: Session, trigger: EventTrigger) -> bool:
    """Return whether it is known what the function does, which then changes nothing."""
    try:
        _fire(session, trigger, trigger.tags[0] if trigger.tags else "CREATE TABLE")
    except ServerError:
        return True
    except Unknowable:
        return False
    return True


def _fire(session: Session, trigger: EventTrigger, tag: str) -> None:
    """Raises ServerError where the function certainly raises one, Unknowable where nothing is known of it."""
    routine = session.catalog.routines.get(trigger.function)
    if routine is None or routine.language != "plpgsql":
        raise Unknowable("the function of an event trigger")
    fire(session, routine, trigger.event, tag)
