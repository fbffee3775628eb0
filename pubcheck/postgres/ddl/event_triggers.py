"""Event triggers (commands/event_trigger.c): which there are, and which statements they refuse.

What their functions change is not followed. A function that asks for the event and the command tag alone is run for
each statement; of any other one that may raise an error it is only known that a statement is perhaps refused.
"""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.command_tags import command_tag
from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.ddl.object_address import all_seen, functions_named
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS

RULE = "event-trigger-refuses"
_START, _END, _DROP = "ddl_command_start", "ddl_command_end", "sql_drop"
_DROPS = frozenset(("AlterPublicationStmt", "AlterTableStmt", "DropOwnedStmt", "DropStmt"))
_ABOUT = frozenset(("AlterPublicationStmt", "CreatePublicationStmt"))


class EventTrigger(Struct, frozen=True):
    """An event trigger: for statements with one of ``tags``, or all where it names none."""

    name: str
    event: str
    tags: tuple[str, ...]
    function: int
    enabled: bool = True


def create_event_trigger(session: Session, node: Node) -> None:
    """CREATE EVENT TRIGGER. Raises ServerError 42501, 42710."""
    name = node["trigname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create event trigger "{name}"')
    if any(one.name == name for one in _triggers(session)):
        raise ServerError("42710", f'event trigger "{name}" already exists')
    tags = [
        word["String"]["sval"].upper()
        for item in node.get("whenclause", ())
        for word in item["DefElem"].get("arg", {}).get("List", {}).get("items", ())
    ]
    functions = functions_named(session, names(node["funcname"]))
    if not functions and all_seen(session):
        raise ServerError("42883", f"function {'.'.join(names(node['funcname']))}() does not exist")
    for oid in functions[:1]:
        trigger = EventTrigger(name, node["eventname"], tuple(tags), oid)
        _put(session, (*_triggers(session), trigger))
        row = session.catalog.procs[oid]
        if row.effect and not _only_asks(session, trigger):
            unfollowed_call(session, row)
            session.restless = session.restless or row.effect == "t"


def _only_asks(session: Session, trigger: EventTrigger) -> bool:
    """Whether it is known what the function does, which then changes nothing."""
    try:
        _fire(session, trigger, trigger.tags[0] if trigger.tags else "CREATE TABLE")
    except ServerError:
        return True
    except Unknowable:
        return False
    return True


def alter_event_trigger(session: Session, node: Node) -> None:
    """ALTER EVENT TRIGGER ... ENABLE or DISABLE."""
    _put(
        session,
        tuple(
            EventTrigger(one.name, one.event, one.tags, one.function, node["tgenabled"] not in ("D", "R"))
            if one.name == node["trigname"]
            else one
            for one in _triggers(session)
        ),
    )


def forget_event_triggers(session: Session, dropped: list[str], *, missing_ok: bool = False) -> None:
    """DROP EVENT TRIGGER. Raises ServerError 42704."""
    known = {one.name for one in _triggers(session)}
    for name in dropped:
        if name not in known and all_seen(session) and not missing_ok:
            raise ServerError("42704", f'event trigger "{name}" does not exist')
    if known:
        _put(session, tuple(one for one in _triggers(session) if one.name not in dropped))


def refuse_start(session: Session, name: str, node: Node) -> bool:
    """Fire the triggers that come before a statement, whose node is called ``name``: whether one perhaps refuses it.

    Raises ServerError where one certainly does.
    """
    return _fire_all(session, name, node, (_START,))


def refuse_end(session: Session, name: str, node: Node) -> bool:
    """The same of those that come after it."""
    return _fire_all(session, name, node, (_DROP, _END) if name in _DROPS else (_END,))


def _fire_all(session: Session, name: str, node: Node, events: tuple[str, ...]) -> bool:
    tag = command_tag(name, node)
    if not tag:
        return False
    perhaps = False
    for one in sorted(_triggers(session), key=lambda one: (one.event != _DROP, one.name)):
        if not one.enabled or one.event not in events or (one.tags and tag not in one.tags):
            continue
        try:
            _fire(session, one, tag)
        except ServerError as error:
            if one.event == _DROP:
                perhaps = True  # it fires only if something was dropped
                continue
            error.rule = RULE if name in _ABOUT or _names_publication(node) else None
            raise
        except Unknowable:
            row = session.catalog.procs.get(one.function)
            perhaps = perhaps or row is None or row.raises
    return perhaps


def _names_publication(node: Node) -> bool:
    """Whether a statement about objects of several kinds is about a publication, or sets a replica identity."""
    kinds = (node.get("removeType"), node.get("renameType"), node.get("objectType"))
    commands = (item.get("AlterTableCmd", {}).get("subtype") for item in node.get("cmds", ()))
    return "OBJECT_PUBLICATION" in kinds or "AT_ReplicaIdentity" in commands


def _fire(session: Session, trigger: EventTrigger, tag: str) -> None:
    """Raises ServerError where the function certainly raises one, Unknowable where nothing is known of it."""
    from pubcheck.postgres.plpgsql.event_bodies import fire
    from pubcheck.postgres.plpgsql.routines import Routine

    routine = session.catalog.routines.get(trigger.function)
    if not isinstance(routine, Routine) or routine.language != "plpgsql":
        raise Unknowable("the function of an event trigger")
    fire(session, routine, trigger.event, tag)


def _triggers(session: Session) -> tuple[EventTrigger, ...]:
    found: tuple[EventTrigger, ...] = session.catalog.settings.get(EVENT_TRIGGERS, ())
    return found


def _put(session: Session, triggers: tuple[EventTrigger, ...]) -> None:
    session.catalog.settings.put(EVENT_TRIGGERS, triggers)
