"""CREATE AGGREGATE, OPERATOR, TYPE, COLLATION, TEXT SEARCH: statements that are a list of attributes (DefineStmt)."""

from __future__ import annotations

from pubcheck.postgres.catalog import COLLATION, NORMAL, OPERATOR, OTHER, PROC, TYPE
from pubcheck.postgres.catalog.rows import Collation, Operator, Other, Proc
from pubcheck.postgres.ddl.functions import element_of, enter_proc, type_of
from pubcheck.postgres.ddl.lookup import OTHER_KINDS
from pubcheck.postgres.ddl.types import create_base, creation_name, depend_on_schema, functions_named
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, names


def define(session: Session, node: Node) -> None:
    """One CREATE by its kind."""
    kind = node["kind"]
    if kind == "OBJECT_AGGREGATE":
        create_aggregate(session, node)
    elif kind == "OBJECT_OPERATOR":
        create_operator(session, node)
    elif kind == "OBJECT_TYPE":
        create_base(session, node)
    elif kind == "OBJECT_COLLATION":
        create_collation(session, node)
    elif kind in OTHER_KINDS:
        create_other(session, node, OTHER_KINDS[kind])


def _options(node: Node) -> dict[str, Node]:
    return {item["DefElem"]["defname"].lower(): item["DefElem"].get("arg", {}) for item in node.get("definition", ())}


def _type(session: Session, option: Node | None) -> int:
    return type_of(session, option["TypeName"]) if option is not None and "TypeName" in option else 0


def _name(option: Node | None) -> list[str]:
    """A function's name, which the grammar takes for a type's."""
    if option is None:
        return []
    if "TypeName" in option:
        return names(option["TypeName"]["names"])
    if "List" in option:
        return [item["String"]["sval"] for item in option["List"].get("items", ()) if "String" in item]
    return [option["String"]["sval"]] if "String" in option else []


def _function(session: Session, option: Node | None, arguments: tuple[int, ...] | None) -> Proc | None:
    """The unit's function of that name and these arguments, or the only one of that name; else None."""
    parts = _name(option)
    if not parts:
        return None
    rows = [session.catalog.procs[oid] for oid in functions_named(session, parts)]
    exact = [row for row in rows if row.arguments == arguments]
    if exact:
        return exact[0]
    return rows[0] if len(rows) == 1 else None


def create_aggregate(session: Session, node: Node) -> None:
    """CREATE AGGREGATE (DefineAggregate, AggregateCreate)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    options = _options(node)
    transition = options.get("sfunc", options.get("sfunc1"))
    state = options.get("stype", options.get("stype1"))
    if state is None:
        raise ServerError("42P13", "aggregate stype must be specified")
    if transition is None:
        raise ServerError("42P13", "aggregate sfunc must be specified")
    modes, arguments, parameter_names, variadic = [], [], [], 0
    if node.get("oldstyle"):
        base = options.get("basetype")
        if base is None:
            raise ServerError("42P13", "aggregate input type must be specified")
        if [part.lower() for part in _name(base)] != ["any"]:
            arguments.append(_type(session, base))
            modes.append("i")
            parameter_names.append("")
    else:
        listed = node["args"][0].get("List", {}).get("items", ()) if node.get("args") else ()
        for item in listed:
            parameter = item["FunctionParameter"]
            oid = type_of(session, parameter["argType"])
            arguments.append(oid)
            parameter_names.append(parameter.get("name", ""))
            modes.append("v" if parameter.get("mode") == "FUNC_PARAM_VARIADIC" else "i")
            if modes[-1] == "v":
                variadic = element_of(session, oid)
    state_type = _type(session, state)
    step = _function(session, transition, (state_type, *arguments))
    final = _function(session, options.get("finalfunc"), (state_type,))
    if "finalfunc" in options:
        returns = final.returns if final is not None else 0
    else:
        returns = state_type
    row = Proc(
        catalog.new_oid(),
        name,
        namespace,
        session.setting("role"),
        "a",
        tuple(arguments),
        returns,
        volatility="i",
        variadic=variadic,
        modes=tuple(modes),
        argument_names=tuple(parameter_names),
    )
    row = enter_proc(session, row, replace_existing=node.get("replace", False))
    this = (PROC, row.oid, 0)
    for oid in {*arguments, returns, state_type}:
        catalog.depend(this, (TYPE, oid, 0), NORMAL)
    for function in (step, final):
        if function is not None:
            catalog.depend(this, (PROC, function.oid, 0), NORMAL)


def create_operator(session: Session, node: Node) -> None:
    """CREATE OPERATOR (DefineOperator, OperatorCreate)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    options = _options(node)
    left, right = _type(session, options.get("leftarg")), _type(session, options.get("rightarg"))
    procedure = options.get("function", options.get("procedure"))
    if procedure is None:
        raise ServerError("42P13", "operator function must be specified")
    if "leftarg" not in options and "rightarg" not in options:
        raise ServerError("42P13", "operator argument types must be specified")
    if "rightarg" not in options:
        raise ServerError("42P13", "operator right argument type must be specified")
    prefix = "leftarg" not in options
    if (left or prefix) and right:
        for oid in catalog.operator_names.get((namespace, name)):
            known = catalog.operators[oid]
            if (known.left, known.right) == (left, right):
                raise ServerError("42723", f"operator {name} already exists")
    function = _function(session, procedure, (right,) if prefix else (left, right))
    row = Operator(
        catalog.new_oid(),
        name,
        namespace,
        session.setting("role"),
        left,
        right,
        function.oid if function is not None else 0,
        tuple(_name(procedure)),
    )
    catalog.add_operator(row)
    this = (OPERATOR, row.oid, 0)
    depend_on_schema(session, this, namespace)
    for oid in {left, right}:
        catalog.depend(this, (TYPE, oid, 0), NORMAL)
    if function is not None:
        catalog.depend(this, (PROC, function.oid, 0), NORMAL)
        catalog.depend(this, (TYPE, function.returns, 0), NORMAL)


def create_collation(session: Session, node: Node) -> None:
    """CREATE COLLATION, also FROM another (DefineCollation)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    if (namespace, name) in catalog.collation_names:
        if node.get("if_not_exists"):
            session.notices.append(f'collation "{name}" already exists, skipping')
            return
        raise ServerError("42710", f'collation "{name}" already exists')
    row = Collation(catalog.new_oid(), name, namespace, session.setting("role"))
    catalog.add_collation(row)
    depend_on_schema(session, (COLLATION, row.oid, 0), namespace)


def create_other(session: Session, node: Node, kind: str) -> None:
    """A text search object: a name that can be dropped again."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    if (kind, namespace, name) in catalog.other_names:
        raise ServerError("42710", f'{kind} "{name}" already exists')
    row = Other(catalog.new_oid(), kind, name, namespace, session.setting("role"))
    catalog.add_other(row)
    depend_on_schema(session, (OTHER, row.oid, 0), namespace)


