"""CREATE AGGREGATE, OPERATOR, TYPE, COLLATION and TEXT SEARCH, which are a list of attributes (DefineStmt); CREATE CAST
(functioncmds.c: CreateCast), and CREATE OPERATOR CLASS and FAMILY (commands/opclasscmds.c) as far as they define
comparisons.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CAST, COLLATION, FIRST_NORMAL_OID, NORMAL, OPERATOR, OTHER, PROC, TYPE
from pubcheck.postgres.catalog.rows import (
    OPERATOR_CLASSES,
    Cast,
    Collation,
    Operator,
    OperatorClass,
    OtherObject,
    Proc,
    Type,
)
from pubcheck.postgres.ddl.functions import element_of, enter_proc, type_of
from pubcheck.postgres.ddl.new_objects import create_other, creation_name, depend_on_schema
from pubcheck.postgres.ddl.object_address import (
    OTHER_KINDS,
    all_objects_known,
    argument_types,
    find_named,
    find_proc,
    function_with,
    operator_with,
    procs_named,
)
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.ddl.types import DEFAULT_COLLATION, known_type, named_collation
from pubcheck.postgres.ddl.types.create import create_base
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL, INT4, POLYMORPHIC
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


def create_cast(session: Session, node: Node) -> None:
    """CREATE CAST (CreateCast). A cast of unknown types is unknown itself.

    Raises ServerError 42809, 42501, 42P17, 42883, 42710.
    """
    catalog = session.catalog
    source, target = session.type_oid(node["sourcetype"]), session.type_oid(node["targettype"])
    function = find_proc(session, "OBJECT_FUNCTION", node["func"]) if "func" in node else None
    source_type, target_type = known_type(session, source), known_type(session, target)
    if source_type is None or target_type is None:
        return
    for row, which in ((source_type, "source"), (target_type, "target")):
        if row.kind == "p":
            raise ServerError("42809", f"{which} data type {format_type(session, row.oid)} is a pseudo-type")
    if not session.owns(source_type.owner) and not session.owns(target_type.owner):
        message = f"must be owner of type {format_type(session, source)} or type {format_type(session, target)}"
        raise ServerError("42501", message)
    if function is not None:
        _check_cast_function(session, function, source, target)
    elif "func" not in node and not node.get("inout"):
        _check_binary_cast(session, source_type, target_type)
    if source == target and (function is None or len(function.arguments) < 2):
        raise ServerError("42P17", "source data type and target data type are the same")
    if session.syscache.cast(source, target) is not None:
        message = f"cast from type {format_type(session, source)} to type {format_type(session, target)} already exists"
        raise ServerError("42710", message)
    context = {"COERCION_IMPLICIT": "i", "COERCION_ASSIGNMENT": "a"}.get(node.get("context", ""), "e")
    cast = Cast(
        catalog.new_oid(),
        source,
        target,
        function.oid if function else 0,
        context,
        "f" if "func" in node else "i" if node.get("inout") else "b",
    )
    catalog.casts.put(cast.oid, cast)
    depender = (CAST, cast.oid, 0)
    for oid in (source, target):
        catalog.depend(depender, (TYPE, oid, 0), NORMAL)
    if function is not None:
        catalog.depend(depender, (PROC, function.oid, 0), NORMAL)


def _check_cast_function(session: Session, function: Proc, source: int, target: int) -> None:
    """Check a cast's function. Raises ServerError 42P17."""
    arguments = function.arguments
    try:
        if not 1 <= len(arguments) <= 3:
            raise ServerError("42P17", "cast function must take one to three arguments")
        if arguments[0] and not session.syscache.binary_coercible(source, arguments[0]):
            message = "argument of cast function must match or be binary-coercible from source data type"
            raise ServerError("42P17", message)
        for position, (expected, name) in enumerate(((INT4, "integer"), (BOOL, "boolean")), 1):
            if len(arguments) > position and arguments[position] not in (0, expected):
                which = ("second", "third")[position - 1]
                raise ServerError("42P17", f"{which} argument of cast function must be type {name}")
        if function.returns and not session.syscache.binary_coercible(function.returns, target):
            message = "return data type of cast function must match or be binary-coercible to target data type"
            raise ServerError("42P17", message)
    except Unknowable:
        return
    if function.kind != "f":
        raise ServerError("42P17", "cast function must be a normal function")
    if function.returns_set:
        raise ServerError("42P17", "cast function must not return a set")


_LENGTHS = {
    **dict.fromkeys((16, 18), 1),
    21: 2,
    **dict.fromkeys((23, 24, 26, 28, 29, 700, 1082, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191), 4),
    **dict.fromkeys((20, 701, 790, 1083, 1114, 1184, 3220, 5069), 8),
    **dict.fromkeys((19, 27, 600, 601, 603, 628, 718, 774, 829, 1186, 1266, 2950), -1),
}
"""typlen of the built-in types that are passed by value; -1 of others that are not a varlena."""


def _check_binary_cast(session: Session, source: Type, target: Type) -> None:
    """Check a cast WITHOUT FUNCTION. The length of the values of most types is unknown here. Raises ServerError
    42501, 42P17."""
    if not session.superuser():
        raise ServerError("42501", "must be superuser to create a cast WITHOUT FUNCTION")
    for row in (source, target):
        word = {"c": "composite", "r": "range", "m": "range", "e": "enum"}.get(row.kind, "")
        word = "array" if row.subscript == "a" else word
        if word in ("composite", "array", "enum") or (
            word == "range" and session.catalog.major.ranges_not_binary_compatible
        ):
            raise ServerError("42P17", f"{word} data types are not binary-compatible")
    if source.oid < FIRST_NORMAL_OID > target.oid and _LENGTHS.get(source.oid) != _LENGTHS.get(target.oid):
        raise ServerError("42P17", "source and target data types are not physically compatible")
    if "d" in (source.kind, target.kind):
        raise ServerError("42P17", "domain data types must not be marked binary-compatible")


_METHODS = {"btree": "b", "hash": "h", "gin": "gin", "gist": "gist"}
_COMPARISON = 1
"""BTORDER_PROC and HASHSTANDARD_PROC: the support function that values are compared or hashed with."""


def create_family(session: Session, node: Node) -> None:
    """CREATE OPERATOR FAMILY (DefineOpFamily)."""
    namespace, name = creation_name(session, names(node["opfamilyname"]))
    _require_superuser(session, "family")
    _enter(session, "operator family", namespace, name)


def create_class(session: Session, node: Node) -> None:
    """CREATE OPERATOR CLASS (DefineOpClass). Only default classes of some access methods are kept as such."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["opclassname"]))
    _require_superuser(session, "class")
    data_type = session.type_oid(node["datatype"])
    family = 0
    if "opfamilyname" in node:
        parts = names(node["opfamilyname"])
        family = find_named(
            session, parts, lambda schema, word: catalog.other_names.get(("operator family", schema, word))
        )
    operators: list[tuple[int, int, int, int]] = []
    functions: list[tuple[int, int, int]] = []
    used: list[tuple[str, int, int]] = [(TYPE, data_type, 0)]
    for item in node.get("items", ()):
        member = item["CreateOpClassItem"]
        number, name_node = member.get("number", 0), member.get("name", {})
        if member["itemtype"] == 1:
            left, right = (
                argument_types(session, name_node["objargs"]) if "objargs" in name_node else (data_type, data_type)
            )
            operator = operator_with(session, names(name_node["objname"]), left, right)
            if operator is not None:
                operators.append((left, right, number, operator.oid))
                used.append((OPERATOR, operator.oid, 0))
            elif all_objects_known(session) and left and right:
                operands = (
                    format_type(session, left),
                    ".".join(names(name_node["objname"])),
                    format_type(session, right),
                )
                raise ServerError("42883", f"operator does not exist: {' '.join(operands)}")
        elif member["itemtype"] == 2:
            proc = function_with(
                session, names(name_node["objname"]), argument_types(session, name_node.get("objargs", ()))
            )
            if proc is not None:
                used.append((PROC, proc.oid, 0))
                if number == _COMPARISON:
                    functions.append((*_compared(session, member, data_type), proc.oid))
    method = _METHODS.get(node["amname"], "")
    classes: tuple[OperatorClass, ...] = catalog.settings.get(OPERATOR_CLASSES, ())
    default = bool(node.get("isDefault") and method and data_type)
    if default and (
        (method, data_type) in session.syscache.builtin.default_classes
        or any((operator_class.method, operator_class.type) == (method, data_type) for operator_class in classes)
    ):
        shown = format_type(session, data_type)
        raise ServerError("42710", f'could not make operator class "{name}" be default for type {shown}')
    row = _enter(session, "operator class", namespace, name)
    depender = (OTHER, row.oid, 0)
    for target in dict.fromkeys(used):
        catalog.depend(depender, target, NORMAL)
    if family:
        catalog.depend(depender, (OTHER, family, 0), AUTO)
    if default:
        new_class = OperatorClass(row.oid, method, data_type, tuple(operators), tuple(functions))
        catalog.settings.put(OPERATOR_CLASSES, (*classes, new_class))


def _require_superuser(session: Session, kind: str) -> None:
    if not session.superuser():
        raise ServerError("42501", f"must be superuser to create an operator {kind}")


def _compared(session: Session, member: Node, data_type: int) -> tuple[int, int]:
    """The types that a support function is for: as said before its name, else the class's own."""
    if "class_args" not in member:
        return data_type, data_type
    types = argument_types(session, member["class_args"])
    return (types[0], types[-1]) if types else (data_type, data_type)


def _enter(session: Session, kind: str, namespace: int, name: str) -> OtherObject:
    """Add a class or family. Several access methods may have classes of the same name; one of them is enough."""
    catalog = session.catalog
    row = OtherObject(catalog.new_oid(), kind, name, namespace, session.setting("role"))
    if (kind, namespace, name) in catalog.other_names:
        catalog.others.put(row.oid, row)
    else:
        catalog.add(row)
    depend_on_schema(session, (OTHER, row.oid, 0), namespace)
    return row
