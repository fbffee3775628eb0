"""CREATE AGGREGATE, OPERATOR, TYPE, COLLATION, TEXT SEARCH: statements that are a list of attributes (DefineStmt)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import COLLATION, NORMAL, OPERATOR, PROC, TYPE
from pubcheck.postgres.catalog.rows import Collation, Operator, Proc
from pubcheck.postgres.ddl.functions import element_of, enter_proc, type_of
from pubcheck.postgres.ddl.new_objects import create_other, creation_name, depend_on_schema
from pubcheck.postgres.ddl.object_address import OTHER_KINDS, function_with, operator_with, procs_named
from pubcheck.postgres.ddl.types import DEFAULT_COLLATION, named_collation
from pubcheck.postgres.ddl.types.create import create_base
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BOOL, POLYMORPHIC
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import is_true, names, value_text
from pubcheck.postgres.session import Session


def define(session: Session, node: Node) -> None:
    """Run one CREATE statement by its kind."""
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
        # A text search object: a name that can be dropped again.
        namespace, name = creation_name(session, names(node["defnames"]))
        create_other(session, OTHER_KINDS[kind], name, namespace)


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


def _supporting(session: Session, option: Node | None, arguments: tuple[int, ...]) -> Proc | None:
    """A function of an aggregate: that of these arguments, or the only one of its name that takes as many."""
    parts = _name(option)
    if not parts:
        return None
    rows = [row for row in procs_named(session, parts) if len(row.arguments) == len(arguments)]
    exact = [row for row in rows if row.arguments == arguments]
    return exact[0] if exact else rows[0] if len(rows) == 1 else None


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
    step = _supporting(session, transition, (state_type, *arguments))
    extra = arguments if is_true(options, "finalfunc_extra") else ()
    final = _supporting(session, options.get("finalfunc"), (state_type, *extra))
    if "finalfunc" in options:
        returns = final.returns if final is not None and final.returns not in POLYMORPHIC else 0
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
    depender = (PROC, row.oid, 0)
    for oid in {*arguments, returns, state_type}:
        catalog.depend(depender, (TYPE, oid, 0), NORMAL)
    for function in (step, final):
        if function is not None:
            catalog.depend(depender, (PROC, function.oid, 0), NORMAL)


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
    existing = None
    if (left or prefix) and right:
        rows = [catalog.operators[oid] for oid in catalog.operator_names.get((namespace, name))]
        existing = next((row for row in rows if (row.left, row.right) == (left, right)), None)
    parts = _name(procedure)
    function = function_with(session, parts, (right,) if prefix else (left, right))
    if existing is not None and not existing.shell:
        raise ServerError("42723", f"operator {name} already exists")
    if existing is not None and not session.owns(existing.owner):
        raise ServerError("42501", f"must be owner of operator {name}")
    row = Operator(
        catalog.new_oid() if existing is None else existing.oid,
        name,
        namespace,
        session.setting("role"),
        left,
        right,
        function.oid if function is not None else 0,
        tuple(parts),
        function.returns if function is not None else 0,
    )
    commutator, negator = _name(options.get("commutator")), _name(options.get("negator"))
    if prefix and commutator:
        raise ServerError("42P13", "only binary operators can have commutators")
    if negator and row.returns not in (0, BOOL):
        raise ServerError("42P13", "only boolean operators can have negators")
    if commutator:
        _other_operator(session, commutator, row, (right, left))
    if negator:
        negator_oid = _other_operator(session, negator, row, (left, right))
        if negator_oid is None:
            raise ServerError("42P13", "operator cannot be its own negator")
        if negator_oid:
            row = replace(row, negator=negator_oid)
            negated = catalog.operators.get(negator_oid)
            if negated is not None and not negated.negator:
                catalog.operators.put(negator_oid, replace(negated, negator=row.oid))
    catalog.forget_dependencies((OPERATOR, row.oid))
    catalog.add(row)
    depender = (OPERATOR, row.oid, 0)
    depend_on_schema(session, depender, namespace)
    for oid in {left, right}:
        catalog.depend(depender, (TYPE, oid, 0), NORMAL)
    if function is not None:
        catalog.depend(depender, (PROC, function.oid, 0), NORMAL)
        catalog.depend(depender, (TYPE, function.returns, 0), NORMAL)


def _other_operator(session: Session, parts: list[str], row: Operator, operands: tuple[int, int]) -> int | None:
    """The commutator or negator of an operator, made as a shell where there is none; None if it is the operator itself.

    0 where operands are not visible. Raises ServerError 42501 (get_other_operator).
    """
    left, right = operands
    if not right or (row.left and not left):
        return 0
    operator = operator_with(session, parts, left, right)
    if operator is not None and operator.oid != row.oid:
        if not session.owns(operator.owner):
            raise ServerError("42501", f"must be owner of operator {'.'.join(parts)}")
        return operator.oid
    namespace, name = creation_name(session, parts)
    if (namespace, name, left, right) == (row.namespace, row.name, row.left, row.right):
        return None
    catalog = session.catalog
    shell = Operator(catalog.new_oid(), name, namespace, session.setting("role"), left, right)
    catalog.add(shell)
    depend_on_schema(session, (OPERATOR, shell.oid, 0), namespace)
    for oid in {left, right}:
        catalog.depend((OPERATOR, shell.oid, 0), (TYPE, oid, 0), NORMAL)
    return shell.oid


def create_collation(session: Session, node: Node) -> None:
    """CREATE COLLATION, also FROM another (DefineCollation)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    if (namespace, name) in catalog.collation_names:
        if node.get("if_not_exists"):
            session.notices.append(f'collation "{name}" already exists, skipping')
            return
        raise ServerError("42710", 'collation "{name}" already exists', name=name)
    options = _options(node)
    deterministic = not ("deterministic" in options and not is_true(options, "deterministic"))
    if "from" in options:
        chosen = named_collation(session, _name(options["from"]))
        if chosen == DEFAULT_COLLATION:
            raise ServerError("42P17", 'collation "default" cannot be copied')
        # Of what a build brings along, all are deterministic.
        copied = catalog.collations.get(chosen)
        deterministic = copied is None or copied.deterministic
    elif not deterministic and value_text(options.get("provider")).lower() != "icu":
        raise ServerError("0A000", "nondeterministic collations not supported with this provider")
    row = Collation(catalog.new_oid(), name, namespace, session.setting("role"), deterministic)
    catalog.add(row)
    depend_on_schema(session, (COLLATION, row.oid, 0), namespace)
