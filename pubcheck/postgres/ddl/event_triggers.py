"""The event triggers of the database (commands/event_trigger.c). ``plpgsql.event_triggers`` fires them."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.ddl.object_address import all_seen, functions_named
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS


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
    if any(one.name == name for one in event_triggers(session)):
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
        _put(session, (*event_triggers(session), trigger))


def alter_event_trigger(session: Session, node: Node) -> None:
    """ALTER EVENT TRIGGER ... ENABLE or DISABLE."""
    _put(
        session,
        tuple(
            EventTrigger(one.name, one.event, one.tags, one.function, node["tgenabled"] not in ("D", "R"))
            if one.name == node["trigname"]
            else one
            for one in event_triggers(session)
        ),
    )


def forget_event_triggers(session: Session, dropped: list[str], *, missing_ok: bool = False) -> None:
    """DROP EVENT TRIGGER. Raises ServerError 42704."""
    known = {one.name for one in event_triggers(session)}
    for name in dropped:
        if name not in known and all_seen(session) and not missing_ok:
            raise ServerError("42704", f'event trigger "{name}" does not exist')
    if known:
        _put(session, tuple(one for one in event_triggers(session) if one.name not in dropped))


def event_triggers(session: Session) -> tuple[EventTrigger, ...]:
    """The event triggers that there are."""
    found: tuple[EventTrigger, ...] = session.catalog.settings.get(EVENT_TRIGGERS, ())
    return found


def _put(session: Session, triggers: tuple[EventTrigger, ...]) -> None:
    session.catalog.settings.put(EVENT_TRIGGERS, triggers)
