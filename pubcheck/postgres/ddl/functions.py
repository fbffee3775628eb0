"""CREATE FUNCTION, PROCEDURE and CAST (commands/functioncmds.c, catalog/pg_proc.c)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, NORMAL, PG_CATALOG, PROC, RELATION, TYPE, Object
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.catalog.tables import NOT_FOLLOWED
from pubcheck.postgres.ddl.function_bodies import routine_of
from pubcheck.postgres.ddl.new_objects import creation_name, depend_on_schema
from pubcheck.postgres.ddl.object_address import find_proc, functions_named, procs_named
from pubcheck.postgres.ddl.query_dependencies import CHANGING, columns_of_change, query_of_change, read_query
from pubcheck.postgres.ddl.types import make_shell
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import EVENT_TRIGGER, RECORD, VOID
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import calls, find, names, parts, range_var
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import HEALING, taking

_MODES = {
    "FUNC_PARAM_IN": "i",
    "FUNC_PARAM_DEFAULT": "i",
    "FUNC_PARAM_OUT": "o",
    "FUNC_PARAM_INOUT": "b",
    "FUNC_PARAM_VARIADIC": "v",
    "FUNC_PARAM_TABLE": "t",
}
_POLYMORPHIC = {2276: 2276, 2277: 2283, 5078: 5077}
"""VARIADIC "any", anyarray, anycompatiblearray -> the type of one element."""


def type_of(session: Session, node: Node, *, shells: bool = False) -> int:
    """Return a TypeName's oid; with %TYPE, that of the column; 0 if it is unknown."""
    if not node.get("pct_type"):
        return session.type_oid(node, shells=shells)
    parts = names(node["names"])
    row = session.find_relation(range_var(parts[:-1])) if len(parts) > 1 else None
    column = row.column(parts[-1]) if row is not None else None
    return column.type if column is not None else 0


def element_of(session: Session, oid: int) -> int:
    """Return the element type of an array type, or 0 (get_element_type; pseudo-types as
    interpret_function_parameter_list).
    """
    if oid in _POLYMORPHIC:
        return _POLYMORPHIC[oid]
    if oid >= FIRST_NORMAL_OID:
        row = session.catalog.types.get(oid)
        return row.element if row is not None and row.subscript == "a" else 0
    builtin = builtins(session.catalog.major.number)
    type_name = builtin.type_named(oid)
    return builtin.type(type_name[0], type_name[1][1:]) if type_name is not None and type_name[1].startswith("_") else 0


def create_function(session: Session, node: Node) -> None:
    """CREATE [OR REPLACE] FUNCTION or PROCEDURE (CreateFunction)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["funcname"]))
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node.get("options", ())}
    procedure = node.get("is_procedure", False)

    modes, parameter_names, types, inputs, outputs = [], [], [], [], []
    variadic, defaults = 0, 0
    for item in node.get("parameters", ()):
        parameter = item["FunctionParameter"]
        mode = _MODES[parameter.get("mode", "FUNC_PARAM_DEFAULT")]
        oid = type_of(session, parameter["argType"], shells=True)
        modes.append(mode)
        parameter_names.append(parameter.get("name", ""))
        types.append(oid)
        if "v" in modes[:-1] and (mode in "ibv" or procedure):
            which = "last input" if mode in "iv" else "last"
            raise ServerError("42P13", f"VARIADIC parameter must be the {which} parameter")
        if mode in "ibv":
            inputs.append(oid)
            if "defexpr" in parameter:
                defaults += 1
            elif defaults and mode != "v":
                raise ServerError("42P13", "input parameters after one with a default value must also have defaults")
        elif "defexpr" in parameter:
            raise ServerError("42P13", "only input parameters can have default values")
        elif defaults and procedure:
            message = "procedure OUT parameters cannot appear after one with a default value"
            raise ServerError("42P13", message)
        if mode in "obt":
            outputs.append(oid)
        if mode == "v":
            variadic = element_of(session, oid)
            if oid and not variadic and (oid < FIRST_NORMAL_OID or oid in catalog.types):
                raise ServerError("42P13", "VARIADIC parameter must be an array")
    named = [parameter_name for parameter_name in parameter_names if parameter_name]
    if len(set(named)) < len(named) and "t" not in modes and "o" not in modes:
        raise ServerError("42P13", "parameter name used more than once")

    returns, returns_set = _result(session, node, options, outputs, procedure)
    _refuse_shells(session, _language(options), [*types, returns])
    row = Proc(
        catalog.new_oid(),
        name,
        namespace,
        session.setting("role"),
        "p" if procedure else "w" if _flag(options, "window") else "f",
        tuple(inputs),
        returns,
        volatility=_volatility(options),
        variadic=variadic,
        defaults=defaults,
        returns_set=returns_set,
        strict=_flag(options, "strict"),
        modes=tuple(modes),
        argument_names=tuple(parameter_names),
        parameters=tuple(types) if outputs or "v" in modes else (),
        effect=_effect(session, options),
        definer=_flag(options, "security"),
        inlined=_language(options) in ("", "sql"),
    )
    if returns == EVENT_TRIGGER:
        row = replace(row, raises=_raises(options))
    row = enter_proc(session, row, replace_existing=node.get("replace", False))
    _keep_body(session, node, row, options)
    catalog.define("function", row.oid, node)
    depender = (PROC, row.oid, 0)
    for oid in {*types, returns}:
        catalog.depend(depender, (TYPE, oid, 0), NORMAL)
    if "sql_body" in node:
        _refuse_utilities(session, node["sql_body"])
        for relation in relations_named(session, node["sql_body"]):
            catalog.depend(depender, (RELATION, relation, 0), NORMAL)
        for used in _uses_of_body(session, node["sql_body"], row.name):
            catalog.depend(depender, used, NORMAL)


def _uses_of_body(session: Session, body: Node, name: str) -> Iterator[Object]:
    """Yield the columns and functions that the statements of a body name, as far as they are known."""
    for kind, statement in _statements_of_body(body):
        if kind in CHANGING:
            target = session.find_relation(statement["relation"])
            for column in columns_of_change(kind, statement, target) if target is not None else ():
                found = target.column(column) if target is not None else None
                if target is not None and found is not None:
                    yield RELATION, target.oid, found.number
        query = query_of_change(kind, statement)
        if query is not None:
            with contextlib.suppress(ServerError):
                yield from read_query(session, query, name).uses


def _statements_of_body(body: Node) -> Iterator[tuple[str, Node]]:
    """Yield the statements of a body that is not a string: RETURN as a SELECT."""
    for part in body["List"]["items"] if "List" in body else [body]:
        for statement in part["List"].get("items", ()) if "List" in part else [part]:
            ((kind, node),) = statement.items()
            if kind == "ReturnStmt":
                yield "SelectStmt", {"targetList": [{"ResTarget": {"val": node["returnval"]}}]}
            else:
                yield kind, node


def _keep_body(session: Session, node: Node, row: Proc, options: dict[str, Any]) -> None:
    """Keeps the body of a function for its calls."""
    routine = None
    if "as" in options:
        routine = routine_of(session, node, session.text.decode(errors="surrogatepass"), changes=bool(row.effect))
    routines = session.catalog.routines
    if routine is not None:
        routines.put(row.oid, routine)
    elif routines:
        routines.remove(row.oid)


def _result(
    session: Session, node: Node, options: dict[str, Any], outputs: list[int], procedure: bool
) -> tuple[int, bool]:
    """(prorettype, proretset)."""
    if procedure:
        return (RECORD if outputs else VOID), False
    result = outputs[0] if len(outputs) == 1 else RECORD if outputs else 0
    type_name = node.get("returnType")
    if type_name is None:
        if not outputs:
            raise ServerError("42P13", "function result type must be specified")
        return result, False
    try:
        oid = type_of(session, type_name, shells=True)
    except ServerError:
        # compute_return_type: a function in C may come before its type.
        if _language(options) not in ("c", "internal"):
            raise
        oid = make_shell(session, *creation_name(session, names(type_name["names"]))).oid
    if len(outputs) == 1 and oid and outputs[0] and oid != outputs[0]:
        raise ServerError("42P13", "function result type must match OUT parameter because of OUT parameters")
    return oid, type_name.get("setof", False)


def _refuse_shells(session: Session, language: str, types: Iterable[int]) -> None:
    """Functions in C alone may take or return a shell. Raises ServerError 42P13."""
    if language in ("c", "internal"):
        return
    for oid in types:
        row = session.catalog.types.get(oid)
        if row is not None and row.shell:
            raise ServerError("42P13", f"function cannot accept or return shell type {row.name}")


_UTILITIES = {"CreatePublicationStmt": "CREATE PUBLICATION", "AlterPublicationStmt": "ALTER PUBLICATION"}


def _refuse_utilities(session: Session, body: Any) -> None:
    """A body of standard SQL holds no statement about publications (interpret_AS_clause). Raises ServerError 0A000."""
    for kind, statement in find(body, *_UTILITIES, "DropStmt"):
        if kind == "DropStmt" and statement.get("removeType") != "OBJECT_PUBLICATION":
            continue
        message = f"{_UTILITIES.get(kind, 'DROP PUBLICATION')} is not yet supported in unquoted SQL function body"
        name = statement.get("pubname", "publication")
        raise ServerError("0A000", message, key="syntax-error", culprit=session.find_name(name))


def _flag(options: dict[str, Any], name: str) -> bool:
    return bool(options.get(name, {}).get("Boolean", {}).get("boolval", False))


def _language(options: dict[str, Any]) -> str:
    """Return the language of LANGUAGE; without it a body that is not a string is SQL."""
    language: str = options.get("language", {}).get("String", {}).get("sval", "")
    return language.lower()


def _volatility(options: dict[str, Any]) -> str:
    volatility: str = options.get("volatility", {}).get("String", {}).get("sval", "volatile")
    return volatility[:1]


_CHANGING = re.compile(r"\b(?:create|alter|drop|rename|execute|import|call|do|search_path)\b", re.IGNORECASE)
"""A function's body that changes catalogs or the search path contains one of these words."""
_CALLED = re.compile(r"\b(?:([a-z_]\w*)\s*\.\s*)?([a-z_]\w*)\s*\(", re.IGNORECASE)


def _effect(session: Session, options: dict[str, Any]) -> str:
    """Proc.effect of a function of that body, as far as text tells; a body of standard SQL holds no DDL."""
    parts = options.get("as", {}).get("List", {}).get("items", ())
    if _language(options) in ("c", "internal") or not parts:
        return ""
    body = parts[0]["String"].get("sval", "")
    if _CHANGING.search(body):
        return "t" if taking(body) else "i" if HEALING.search(body) else "c"
    procs = session.catalog.procs
    called = {
        procs[oid].effect
        for schema, name in {(schema.lower(), name.lower()) for schema, name in _CALLED.findall(body)}
        for oid in functions_named(session, [schema, name] if schema else [name])
    }
    return max(called, default="")


def _raises(options: dict[str, Any]) -> bool:
    """Return whether a function of that body may raise an error of its own."""
    parts = options.get("as", {}).get("List", {}).get("items", ())
    return bool(parts) and _RAISES.search(parts[0]["String"].get("sval", "")) is not None


_RAISES = re.compile(r"\braise\b(?!\s+(?:debug|info|log|notice|warning)\b)", re.IGNORECASE)


def run_called_functions(session: Session, tree: Any) -> None:
    """Note the functions that a statement calls: their effects, and those of unknown functions, are not followed."""
    catalog = session.catalog
    for call in calls(tree):
        parts = names(call["funcname"])
        candidates = [catalog.procs[oid] for oid in functions_named(session, parts)]
        for row in candidates:
            if row.effect and row.volatility == "v":
                unfollowed_call(session, row)
        if not candidates and not _is_known(session, parts):
            session.blind = True
            _doubt_named(session, call)
            if _speaks_of_publications(session, call):
                session.note_unknown_effect(None)


def unfollowed_call(session: Session, row: Proc) -> None:
    """Note that a function runs that is not followed."""
    routine = session.catalog.routines.get(row.oid)
    session.blind = True
    session.healed = session.healed or row.effect in ("i", "t")
    session.joined = session.joined or row.effect == "t" or bool(routine and routine.about)
    if row.effect == "t":
        session.doubt_publications()


def _speaks_of_publications(session: Session, call: Node) -> bool:
    """Return whether the name of a function that is not seen, or an argument, names publications."""
    mentioned = names(call["funcname"])
    mentioned += [body["sval"].get("sval", "") for _, body in find(call.get("args", []), "A_Const") if "sval" in body]
    publications = session.catalog.publication_names
    return any("publication" in name.lower() or name in publications for name in mentioned)


def _doubt_named(session: Session, call: Node) -> None:
    """Assume that an unknown function may change the relations that its arguments name.

    So work the functions of extensions: a hypertable's time column becomes NOT NULL, a geometry column is added.
    """
    for _, constant in find(call.get("args", []), "A_Const"):
        row = session.regclass(constant["sval"].get("sval", "")) if "sval" in constant else None
        if row is not None and row.seen:
            session.catalog.relations.put(row.oid, replace(row, seen=False))
            session.catalog.reasons.assume_row(row.oid, NOT_FOLLOWED)


def _is_known(session: Session, parts: list[str]) -> bool:
    """Return whether a function of that name is built in, or there certainly is none."""
    if parts[0] == "pg_catalog" and len(parts) == 2:
        return True
    cache = session.syscache
    return cache.complete_names or any(True for _ in cache.builtin.procs(parts[-1]))


def enter_proc(session: Session, row: Proc, *, replace_existing: bool) -> Proc:
    """Add a function, or replace the one with these arguments (ProcedureCreate).

    Raises ServerError 42723, 42809, 42P13, 42501. If the type of an argument is unknown, two functions may differ in
    it.
    """
    catalog = session.catalog
    if row.namespace == PG_CATALOG:
        candidates = procs_named(session, ["pg_catalog", row.name])
    else:
        candidates = [catalog.procs[oid] for oid in catalog.proc_names.get((row.namespace, row.name))]
    for existing in candidates:
        oid = existing.oid
        if existing.arguments != row.arguments or (0 in row.arguments and not replace_existing):
            continue
        if not replace_existing:
            raise ServerError("42723", 'function "{name}" already exists with same argument types', name=row.name)
        if not session.owns(existing.owner):
            raise ServerError("42501", f"must be owner of function {row.name}")
        if existing.kind != row.kind:
            raise ServerError("42809", "cannot change routine kind")
        if (
            existing.returns and row.returns and existing.returns != row.returns
        ) or existing.returns_set != row.returns_set:
            raise ServerError("42P13", "cannot change return type of existing function")
        if row.defaults < existing.defaults:
            raise ServerError("42P13", "cannot remove parameter defaults from existing function")
        row = replace(row, oid=oid, owner=existing.owner)
        catalog.forget_dependencies((PROC, oid))
        catalog.procs.put(oid, row)
        break
    else:
        catalog.add(row)
    depend_on_schema(session, (PROC, row.oid, 0), row.namespace)
    return row


def relations_named(session: Session, tree: Any) -> list[int]:
    """Return the relations that statements inside another one name, without the names of WITH queries."""
    oids: dict[int, None] = {}
    trees = list(parts(tree))
    with_queries = {body["ctename"] for _, body in find(trees, "CommonTableExpr")}
    for kind, body in find(trees, "RangeVar", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"):
        rv = body if kind == "RangeVar" else body.get("relation", {})
        if "relname" not in rv or ("schemaname" not in rv and rv["relname"] in with_queries):
            continue
        row = session.find_relation(rv)
        if row is not None:
            oids[row.oid] = None
    return list(oids)


def alter_function(session: Session, node: Node) -> None:
    """ALTER FUNCTION ... IMMUTABLE, STRICT, SECURITY DEFINER and their like (AlterFunction)."""
    catalog = session.catalog
    row = find_proc(session, node.get("objtype", "OBJECT_FUNCTION"), node["func"])
    if row is None:
        return
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of function {row.name}")
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node.get("actions", ())}
    if "volatility" in options:
        row = replace(row, volatility=_volatility(options))
    if "strict" in options:
        row = replace(row, strict=_flag(options, "strict"))
    if "security" in options:
        row = replace(row, definer=_flag(options, "security"))
    catalog.procs.put(row.oid, row)
    routine = catalog.routines.get(row.oid)
    clauses = [item["DefElem"]["arg"] for item in node.get("actions", ()) if item["DefElem"]["defname"] == "set"]
    if routine is not None and clauses:
        settings = routine.settings
        for clause in clauses:
            settings = _updated(settings, clause["VariableSetStmt"])
        catalog.routines.put(row.oid, replace(routine, settings=settings))


def _updated(settings: tuple[Node, ...], clause: Node) -> tuple[Node, ...]:
    """A function's SET clauses after another one, or a RESET (update_proconfig_value)."""
    if clause["kind"] == "VAR_RESET_ALL":
        return ()
    remaining = tuple(node for node in settings if node["name"] != clause["name"])
    return remaining if clause["kind"] in ("VAR_RESET", "VAR_SET_DEFAULT") else (*remaining, clause)
