"""Reading parse trees: walks, which are iterative because trees are as deep as their authors' patience; the values of
options; the functions that the grammar spells without parentheses; the name that an expression gives its column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pubcheck.postgres.oids import DATE, NAME, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ
from pubcheck.postgres.parse import Node
from pubcheck.postgres.tokens import ascii_lower


def find(tree: Any, *kinds: str) -> Iterator[tuple[str, Node]]:
    """Yield every node of these kinds below ``tree``, as (kind, body), in the order of the text.

    Does not descend into sub-selects, unless "SubLink" is among the kinds: their columns are not the outer table's.
    """
    stack: list[Any] = [tree]
    pop, push = stack.pop, stack.append
    while stack:
        item = pop()
        if type(item) is dict:
            # A node is wrapped in a dictionary whose one key is its kind; its fields' names are not kinds.
            for key, value in reversed(item.items()):
                kind = type(value)
                if kind is dict or kind is list:
                    if key in kinds:
                        yield key, value
                    if key not in _CLOSED:
                        push(value)
        elif type(item) is list:
            stack.extend(reversed(item))


def walk(tree: Any) -> Iterator[tuple[str, Node]]:
    """Every (kind, body) below ``tree``, those in sub-selects too, in no order."""
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            for key, value in item.items():
                if isinstance(value, dict):
                    yield key, value
                if isinstance(value, dict | list):
                    stack.append(value)
        elif isinstance(item, list):
            stack.extend(item)


def dictionaries(tree: Any) -> Iterator[Node]:
    """Yield every dictionary below ``tree``, in no order: nodes by their kinds, and bodies."""
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def move_locations(tree: Any, by: int) -> None:
    """Add to every location below ``tree``."""
    for item in dictionaries(tree):
        for key, value in item.items():
            if key.endswith("location") and type(value) is int and value >= 0:
                item[key] = value + by


def parts(tree: Any) -> Iterator[Any]:
    """Yield ``tree`` and the sub-selects below it that ``find`` does not enter, each separately."""
    trees: list[Any] = [tree]
    for part in trees:
        yield part
        trees.extend(body["subselect"] for _, body in find(part, "SubLink") if "subselect" in body)


def calls(tree: Any) -> Iterator[Node]:
    """Every function call below ``tree``, those in sub-selects too."""
    for part in parts(tree):
        for _, call in find(part, "FuncCall", "funccall"):
            yield call


_CLOSED = frozenset(("subselect", "String", "A_Const", "funcname", "typeName"))


def uncast(expression: Node) -> Node:
    """Return the operand of a cast or of nested casts; an expression without a cast is returned as it is."""
    while "TypeCast" in expression:
        expression = expression["TypeCast"]["arg"]
    return expression


def conjuncts(*conditions: Node | None) -> list[Node]:
    """Return the operands of AND in these conditions, in the order of the text; one without AND is an operand."""
    result: list[Node] = []
    stack = [condition for condition in reversed(conditions) if condition]
    while stack:
        condition = stack.pop()
        body = condition.get("BoolExpr")
        if body is not None and body["boolop"] == "AND_EXPR":
            stack.extend(reversed(body["args"]))
        else:
            result.append(condition)
    return result


def plain_call(expression: Node) -> Node | None:
    """The call of a function with nothing but constants, cast or not, as nextval('...'::regclass) is."""
    call: Node | None = expression.get("FuncCall")
    if call is None or not call.keys() <= _PLAIN_CALL:
        return None
    for argument in call.get("args", ()):
        if "A_Const" not in uncast(argument):
            return None
    return call


def calls_in(tree: Any) -> Iterable[Node]:
    """The calls of functions in an expression, or in a list of expressions, in the order of the text."""
    plain = plain_call(tree) if type(tree) is dict else None
    return (plain,) if plain is not None else [call for _, call in find(tree, "FuncCall")]


_PLAIN_CALL = frozenset(("funcname", "args", "funcformat", "location"))


def column_names(tree: Any) -> list[str]:
    """Return the names of the columns that an expression over one table mentions, each once, in order."""
    names: dict[str, None] = {}
    for _, body in find(tree, "ColumnRef"):
        last = body["fields"][-1]
        if "String" in last:
            names[last["String"]["sval"]] = None
    return list(names)


def without_locations(tree: Any) -> Any:
    """A parse tree without the offsets of its nodes, for comparisons."""
    if isinstance(tree, dict):
        return {key: without_locations(value) for key, value in tree.items() if not key.endswith("location")}
    if isinstance(tree, list):
        return [without_locations(value) for value in tree]
    return tree


def names(nodes: Iterable[Node]) -> list[str]:
    """The strings of a qualified name."""
    return [node["String"]["sval"] for node in nodes]


def options(node: Node, key: str = "options") -> dict[str, Node]:
    """A statement's DefElem list by name, the last of a name winning."""
    return {item["DefElem"]["defname"]: item["DefElem"] for item in node.get(key, ())}


def strings(items: Iterable[Node]) -> list[str]:
    """Return the strings among the parts of a name."""
    return [item["String"]["sval"] for item in items if "String" in item]


def list_items(node: Node) -> list[Node]:
    """Return the items of a node that is a List; none for any other."""
    items: list[Node] = node.get("List", {}).get("items", [])
    return items


def range_var(parts: list[str]) -> Node:
    """Return a qualified name as a RangeVar (makeRangeVarFromNameList)."""
    rv: Node = {"relname": parts[-1]}
    if len(parts) > 1:
        rv["schemaname"] = parts[-2]
    if len(parts) > 2:
        rv["catalogname"] = parts[-3]
    return rv


def value_text(arg: Node | None) -> str:
    """A definition's value as text (defGetString); "" of one without."""
    if not arg:
        return ""
    ((kind, body),) = arg.items()
    if kind == "String":
        return str(body.get("sval", ""))
    if kind == "Integer":
        return str(body.get("ival", 0))
    if kind == "Float":
        return str(body["fval"])
    if kind == "Boolean":
        return "true" if body.get("boolval") else "false"
    if kind == "TypeName":
        return _type_name(body)
    if kind == "List":
        return ".".join(item.get("String", {}).get("sval", "*") for item in body.get("items", ()))
    return "*"


def _type_name(body: Node) -> str:
    """TypeNameToString."""
    text = ".".join(part["String"]["sval"] for part in body["names"])
    if body.get("pct_type"):
        text += "%TYPE"
    if "arrayBounds" in body:
        text += "[]"
    return text


def truth(arg: Node | None) -> bool | None:
    """A definition's value as a Boolean: nothing, 0 or 1, or one of four words; None of any other (defGetBoolean)."""
    if not arg:
        return True
    if "Integer" in arg:
        return {0: False, 1: True}.get(arg["Integer"].get("ival", 0))
    return {"true": True, "on": True, "false": False, "off": False}.get(ascii_lower(value_text(arg)))


def is_true(definitions: Mapping[str, Node], name: str) -> bool:
    """Return whether a definition is there and true (defGetBoolean); one without a value is."""
    return name in definitions and truth(definitions[name]) is True


_TYPES = {
    "CURRENT_DATE": DATE,
    "CURRENT_TIME": TIMETZ,
    "CURRENT_TIMESTAMP": TIMESTAMPTZ,
    "LOCALTIME": TIME,
    "LOCALTIMESTAMP": TIMESTAMP,
}


def value_function_name(op: str) -> str:
    """The function that the ``op`` of a SQLValueFunction means, with a precision or without."""
    return op.removeprefix("SVFOP_").removesuffix("_N")


def value_function_type(op: str) -> int:
    """Its type; all but the times are names: of roles, the database, the schema."""
    return _TYPES.get(value_function_name(op), NAME)


def figure_name(node: Node | None) -> tuple[str, int]:
    """(name, strength) of an expression as a column name (parse_target.c: FigureColnameInternal)."""
    if not node:
        return "", 0
    ((kind, body),) = node.items()
    if kind == "ColumnRef":
        names = [field["String"]["sval"] for field in body["fields"] if "String" in field]
        return (names[-1], 2) if names else ("", 0)
    if kind == "A_Indirection":
        names = [part["String"]["sval"] for part in body.get("indirection", ()) if "String" in part]
        return (names[-1], 2) if names else figure_name(body.get("arg"))
    if kind == "FuncCall":
        return body["funcname"][-1]["String"]["sval"], 2
    if kind == "A_Expr" and body.get("kind") == "AEXPR_NULLIF":
        return "nullif", 2
    if kind == "TypeCast":
        name, strength = figure_name(body.get("arg"))
        return (name, strength) if strength > 1 else (body["typeName"]["names"][-1]["String"]["sval"], 1)
    if kind == "CollateClause":
        return figure_name(body.get("arg"))
    if kind == "CaseExpr":
        name, strength = figure_name(body.get("defresult"))
        return (name, strength) if strength > 1 else ("case", 1)
    if kind == "SubLink":
        return _sublink_name(body)
    if kind == "MinMaxExpr":
        return ("greatest" if body["op"] == "IS_GREATEST" else "least"), 2
    if kind == "SQLValueFunction":
        return value_function_name(body["op"]).lower(), 2
    return _FIXED.get(kind, ("", 0))


_FIXED = {
    "A_ArrayExpr": ("array", 2),
    "RowExpr": ("row", 2),
    "CoalesceExpr": ("coalesce", 2),
    "GroupingFunc": ("grouping", 2),
    "XmlSerialize": ("xmlserialize", 2),
    "JsonObjectConstructor": ("json_object", 2),
    "JsonArrayConstructor": ("json_array", 2),
    "JsonArrayQueryConstructor": ("json_array", 2),
    "JsonObjectAgg": ("json_objectagg", 2),
    "JsonArrayAgg": ("json_arrayagg", 2),
    "JsonParseExpr": ("json", 2),
    "JsonScalarExpr": ("json_scalar", 2),
    "JsonSerializeExpr": ("json_serialize", 2),
    "MergeSupportFunc": ("merge_action", 2),
}


def _sublink_name(body: Node) -> tuple[str, int]:
    kind = body.get("subLinkType")
    if kind == "EXISTS_SUBLINK":
        return "exists", 2
    if kind == "ARRAY_SUBLINK":
        return "array", 2
    if kind == "EXPR_SUBLINK":
        targets = body.get("subselect", {}).get("SelectStmt", {}).get("targetList", ())
        if targets:
            target = targets[0].get("ResTarget", {})
            if "name" in target:
                return target["name"], 2
            return figure_name(target.get("val"))
    return "", 0
