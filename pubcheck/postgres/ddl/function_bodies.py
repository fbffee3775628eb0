"""The body of the function or procedure that a CREATE FUNCTION creates, as its calls need it, and the routines that a
statement calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.postgres import parse_tree
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.ddl.object_address import functions_named
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import literal_at

LANGUAGES = ("plpgsql", "sql")


def routine_of(session: Session, node: Node, text: str, *, changes: bool) -> Routine | None:
    """Return the routine that a CREATE FUNCTION creates; None in another language, or if the body is not a string."""
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
    offset: int = option.get("arg_location", -1)
    return Routine(
        names(node["funcname"])[-1],
        language,
        literal_at(text, offset if offset >= 0 else option.get("location", 0), parts[0]["String"].get("sval", "")),
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


def _type_name(node: Node) -> str:
    if node.get("pct_type"):
        return ""
    name = names(node["names"])[-1]
    return name + ("[]" if "arrayBounds" in node else "")


def calls_routines(session: Session, node: Node) -> bool:
    """Return whether a statement calls a function that may change something, directly or through other functions."""
    routines = session.catalog.routines
    for call in parse_tree.calls(node):
        path = names(call["funcname"])
        if path[0] != "pg_catalog":
            called_routines = [routines[oid] for oid in functions_named(session, path) if oid in routines]
            if any(_changes(session, routine, set()) for routine in called_routines):
                return True
    return False


def _changes(session: Session, routine: Routine, seen: set[str]) -> bool:
    if routine.changes or routine.about:
        return True
    inside = set(_CALLED.findall(routine.body.text.lower())) - seen
    seen |= inside
    routines = session.catalog.routines
    oids = {oid for name in inside for oid in functions_named(session, [name]) if oid in routines}
    return any(_changes(session, routines[oid], seen) for oid in oids)


_CALLED = re.compile(r'(\w+)"?\s*\(')


def called_in(catalog: Catalog, text: str) -> Iterator[Routine]:
    """Return the routines about publications that a text calls."""
    for routine in catalog.routines.values():
        if not routine.about:
            continue
        if re.search(rf'\b{re.escape(routine.name)}"?\s*\(', text, re.IGNORECASE):
            yield routine
