"""Statements that event triggers refuse (commands/event_trigger.c; plpgsql/src/pl_exec.c: plpgsql_exec_event_trigger).

The changes that their functions make are not followed. A function that reads only the event and the command tag is run
for each statement. Any other function that may raise an error makes every statement uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import NOTHING
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Namespace, Publication, PublicationNamespace, PublicationRel, Relation
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.ddl.event_triggers import EventTrigger, command_tag, event_triggers, trigger_named
from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.planner_folding import planned
from pubcheck.postgres.oids import TEXT, UNKNOWN
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.control_flow import CONDITIONS
from pubcheck.postgres.plpgsql.exceptions import message_of
from pubcheck.postgres.plpgsql.parse import program
from pubcheck.postgres.session import Session

_ERROR = 21
_OPTIONS = {1: "message", 2: "detail", 3: "hint"}
"""PLpgSQL_raise_option_type, except for ERRCODE (0)."""
_ROWS = re.compile(r"\s*SELECT\s.*\bFROM\s+pg_event_trigger_(ddl_commands|dropped_objects)\s*\(\s*\)\s*", re.IGNORECASE)
_CALLABLE_IN = {
    "ddl_commands": ("ddl_command_end", "an event trigger function"),
    "dropped_objects": ("sql_drop", "a sql_drop event trigger function"),
}


def fire(session: Session, routine: Routine, event: str, tag: str) -> None:
    """Run the function for one command. Raises ServerError if it certainly raises one, and Unknowable."""
    try:
        parsed = program(routine.header(), routine.body.text, newer=session.catalog.major.newer_grammar)
    except (NotParsed, TooDeep):
        raise Unknowable("what an event trigger does") from None
    if parsed.exceptions is not None or any("default_val" in node for _, node in parsed.variables):
        raise Unknowable("what an event trigger does")
    _Run(session, event, tag).run(parsed.body)


class _Run(Struct):
    session: Session
    event: str
    tag: str

    def run(self, body: list[Node]) -> bool:
        """Return whether the statements reach a RETURN."""
        for item in body:
            ((kind, node),) = item.items()
            if kind == "PLpgSQL_stmt_return":
                return True
            if kind == "PLpgSQL_stmt_if":
                if self.run(self._branch(node)):
                    return True
            elif kind == "PLpgSQL_stmt_raise":
                if node.get("elog_level", _ERROR) >= _ERROR:
                    raise self._error(node)
            elif kind == "PLpgSQL_stmt_fors":
                self._rows(node)
            else:
                raise Unknowable("what an event trigger does")
        return False

    def _branch(self, node: Node) -> list[Node]:
        branches = [(node["cond"], node.get("then_body", []))]
        for item in node.get("elsif_list", ()):
            elsif = item["PLpgSQL_if_elsif"]
            branches.append((elsif["cond"], elsif.get("stmts", [])))
        for condition, body in branches:
            if self._value(condition, boolean=True) is True:
                return list(body)
        return list(node.get("else_body", ()))

    def _rows(self, node: Node) -> None:
        """Check a loop over the objects that the command changed. They are unknown; the loop may only report them."""
        match = _ROWS.fullmatch(node["query"]["PLpgSQL_expr"]["query"])
        if match is None:
            raise Unknowable("what an event trigger does")
        event, where = _CALLABLE_IN[match[1].lower()]
        if self.event != event:
            message = f"pg_event_trigger_{match[1].lower()}() can only be called in {where}"
            raise ServerError("39P03", message)
        for item in node.get("body", ()):
            if item.get("PLpgSQL_stmt_raise", {}).get("elog_level", _ERROR) >= _ERROR:
                raise Unknowable("what an event trigger does")

    def _error(self, node: Node) -> ServerError:
        if not (node.keys() & {"condname", "message", "options"}):
            return ServerError("0Z002", "RAISE without parameters cannot be used outside an exception handler")
        sqlstate: Any = CONDITIONS.get(node["condname"], node["condname"]) if "condname" in node else "P0001"
        options: dict[str, Any] = {}
        if "message" in node:
            options["message"] = message_of(node["message"], [self._value(param) for param in node.get("params", ())])
        for item in node.get("options", ()):
            option = item["PLpgSQL_raise_option"]
            kind, value = option.get("opt_type", 0), self._value(option["expr"])
            if kind == 0:
                sqlstate = CONDITIONS.get(value, value)
            elif kind in _OPTIONS:
                options[_OPTIONS[kind]] = value
        message = options.get("message", node.get("condname", sqlstate))
        return ServerError(sqlstate, message, detail=options.get("detail"), hint=options.get("hint"))

    def _value(self, expression: Node, *, boolean: bool = False) -> Any:
        """The value of an expression over TG_TAG and TG_EVENT, a text unless it is ``boolean``. Raises Unknowable."""
        try:
            _, query = parse(f"SELECT {expression['PLpgSQL_expr']['query']}") or ("", {})
        except (SyntaxRefused, TooDeep):
            raise Unknowable("a value in the function of an event trigger") from None
        tree = self._filled(query["targetList"][0]["ResTarget"]["val"])
        p = parse_state(self.session, NOTHING)
        expr = transform(p, tree)
        if boolean:
            expr = coerce_to_boolean(p, expr, "IF")
        assign_collations(p, expr)
        left = planned(p, expr)
        if left.node != "Const" or not (boolean or left.type in (TEXT, UNKNOWN)):
            raise Unknowable("a value in the function of an event trigger")
        return left.value

    def _filled(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self._filled(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if "ColumnRef" in tree:
            fields = tree["ColumnRef"]["fields"]
            name = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
            if name not in ("tg_tag", "tg_event"):
                raise Unknowable("a variable in the function of an event trigger")
            return _text(self.tag if name == "tg_tag" else self.event)
        return {key: self._filled(value) for key, value in tree.items()}


def _text(value: str) -> Node:
    names = [{"String": {"sval": "pg_catalog"}}, {"String": {"sval": "text"}}]
    return {"TypeCast": {"arg": {"A_Const": {"sval": {"sval": value}}}, "typeName": {"names": names, "typemod": -1}}}


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
