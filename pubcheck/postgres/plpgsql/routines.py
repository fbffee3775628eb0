"""Functions and procedures whose bodies can be run: what CREATE FUNCTION says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from pubcheck.postgres import parse_tree
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.ddl.object_address import functions_named
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.plpgsql.source_text import Text, literal_at
from pubcheck.postgres.session import Session

LANGUAGES = ("plpgsql", "sql")


class Routine(Struct, frozen=True):
    """A function or procedure. ``source`` and ``statement`` number the CREATE FUNCTION; ``about``: its body speaks of
    publications, ``changes``: it may change something besides.

    ``inputs`` are the names and types of the input arguments, ``defaults`` the (position, expression) of those that
    have one; ``settings`` its SET clauses. ``outputs`` are the names and types of OUT arguments, ``results`` the names
    of those and of INOUT ones.
    """

    name: str
    language: str
    body: Text
    source: int
    statement: int
    about: bool
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    defaults: tuple[tuple[int, Node], ...] = ()
    returns: str = "void"
    returns_set: bool = False
    procedure: bool = False
    settings: tuple[Node, ...] = ()
    changes: bool = False

    def header(self) -> str:
        """What a CREATE FUNCTION says before AS, with arguments and result of types that any parser knows."""
        if self.returns in ("trigger", "event_trigger"):
            return f"CREATE FUNCTION f() RETURNS {self.returns} LANGUAGE plpgsql AS"
        arguments = [f"{_quoted(name)} {_plain(type_name)}".strip() for name, type_name in self.inputs]
        arguments += [f"OUT {_quoted(name)} {_plain(type_name)}" for name, type_name in self.outputs if name]
        kind = "PROCEDURE" if self.procedure else "FUNCTION"
        returns = ""
        if not self.procedure:
            several = len(self.outputs) > 1
            of_one = _plain(self.outputs[0][1]) if self.outputs and self.outputs[0][0] else "text"
            said = "record" if several else of_one if self.outputs or self.returns != "void" else "void"
            returns = f" RETURNS {'SETOF ' if self.returns_set else ''}{said}"
        return f"CREATE {kind} f({', '.join(arguments)}){returns} LANGUAGE plpgsql AS"

    def last_statement(self) -> str:
        """The last statement of a body in SQL."""
        parts = [part for part in self.body.text.split(";") if part.strip()]
        return parts[-1] if parts else ""

    def enter(self, session: Session, owner: int = 0) -> dict[str, Any]:
        """Does what the SET clauses say, and gives back the settings as they were. ``owner``: it is run as that role
        (SECURITY DEFINER), 0 for as who calls it."""
        if not self.settings and not owner:
            return {}
        from pubcheck.postgres.ddl.settings import set_variable

        before = dict(session.catalog.settings)
        if owner:
            session.set("role", owner)
        for node in self.settings:
            try:
                set_variable(session, {**node, "is_local": False})
            except ServerError:
                session.blind = True
        return before

    def leave(self, session: Session, before: dict[str, Any]) -> None:
        """Sets back what ``enter`` set."""
        settings = session.catalog.settings
        for name in ("role", *(node["name"].lower() for node in self.settings)) if before else ():
            for key in (name, f"session {name}"):
                if key in before:
                    settings.put(key, before[key])
                elif key in settings:
                    settings.remove(key)
        if before:
            session.forget_path()


_TYPES = re.compile(r"(text|int[248]?|bool|name|varchar|regclass|_text|_name|_varchar|_int[248]|jsonb?)(\[\])?")


def _plain(type_name: str) -> str:
    return type_name if _TYPES.fullmatch(type_name) else "text[]" if type_name.endswith("[]") else "text"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name else ""


def routine(session: Session, node: Node, text: str, *, changes: bool) -> Routine | None:
    """The routine that a CREATE FUNCTION makes; None in another language, or where the body is no text."""
    options: dict[str, Node] = {}
    settings: list[Node] = []
    for item in node.get("options", ()):
        option = item["DefElem"]
        options[option["defname"]] = option
        if option["defname"] == "set":
            settings.append(option["arg"]["VariableSetStmt"])
    language = options.get("language", {}).get("arg", {}).get("String", {}).get("sval", "").lower()
    parts = options.get("as", {}).get("arg", {}).get("List", {}).get("items", ())
    if language not in LANGUAGES or len(parts) != 1:
        return None
    inputs: list[tuple[str, str]] = []
    outputs: list[tuple[str, str]] = []
    results: list[str] = []
    defaults: list[tuple[int, Node]] = []
    for item in node.get("parameters", ()):
        parameter = item["FunctionParameter"]
        mode = parameter.get("mode", "FUNC_PARAM_DEFAULT")
        if mode in ("FUNC_PARAM_OUT", "FUNC_PARAM_TABLE", "FUNC_PARAM_INOUT"):
            results.append(parameter.get("name", ""))
        if mode in ("FUNC_PARAM_OUT", "FUNC_PARAM_TABLE"):
            outputs.append((parameter.get("name", ""), _type_name(parameter["argType"])))
            continue
        if "defexpr" in parameter:
            defaults.append((len(inputs), parameter["defexpr"]))
        inputs.append((parameter.get("name", ""), _type_name(parameter["argType"])))
    returned = node.get("returnType", {})
    option = options["as"]
    at: int = option.get("arg_location", -1)
    return Routine(
        names(node["funcname"])[-1],
        language,
        literal_at(text, at if at >= 0 else option.get("location", 0), parts[0]["String"].get("sval", "")),
        session.source,
        session.statement,
        _PUBLICATION.search(parts[0]["String"].get("sval", "")) is not None,
        tuple(inputs),
        tuple(outputs),
        tuple(results),
        tuple(defaults),
        _type_name(returned) if returned else "void",
        bool(returned.get("setof")),
        node.get("is_procedure", False),
        tuple(settings),
        changes,
    )


_PUBLICATION = re.compile("publication", re.IGNORECASE)


def calls(session: Session, node: Node) -> bool:
    """Whether a statement calls a function that may change something, or one that calls such a one."""
    routines = session.catalog.routines
    for call in parse_tree.calls(node):
        path = names(call["funcname"])
        if path[0] != "pg_catalog":
            found = [routines[oid] for oid in functions_named(session, path) if oid in routines]
            if any(_changes(session, each, set()) for each in found):
                return True
    return False


def _changes(session: Session, found: Routine, seen: set[str]) -> bool:
    if found.changes or found.about:
        return True
    inside = set(_CALLED.findall(found.body.text.lower())) - seen
    seen |= inside
    routines = session.catalog.routines
    others = {oid for name in inside for oid in functions_named(session, [name]) if oid in routines}
    return any(_changes(session, routines[oid], seen) for oid in others)


_CALLED = re.compile(r'(\w+)"?\s*\(')


def called_in(catalog: Catalog, text: str) -> Iterator[Routine]:
    """The routines that speak of publications and whose names stand in a text as those of functions that it calls."""
    for found in catalog.routines.values():
        if not isinstance(found, Routine) or not found.about:
            continue
        if re.search(rf'\b{re.escape(found.name)}"?\s*\(', text, re.IGNORECASE):
            yield found


def _type_name(node: Node) -> str:
    if node.get("pct_type"):
        return ""
    name = names(node["names"])[-1]
    return name + ("[]" if "arrayBounds" in node else "")
