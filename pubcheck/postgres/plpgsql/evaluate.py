"""Values of expressions: what of SQL guards, loops and EXECUTE are made of. What is not followed is UNKNOWN."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from pubcheck.postgres.ddl.descriptions import quote, relation_name
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.plpgsql.values import (
    UNKNOWN,
    Relid,
    Value,
    array,
    both,
    coerced,
    either,
    equal,
    less,
    negated,
    text,
    unknown,
)
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import names


class Failed(ServerError):
    """The server raises this where it evaluates the expression."""


MISSING: Final = object()
"""What a look-up says of a name that is no variable."""

_DEPTH = 60
"""How deeply an expression may be nested before it is given up."""


class Scope(Struct):
    """The rows that are at hand in a query: by alias, the columns (None where they are not known) and the row."""

    tables: dict[str, tuple[tuple[str, ...] | None, Mapping[str, Value]]]
    outer: Scope | None = None


class Evaluator:
    """Works out expressions for a session; ``variable`` gives the value of a (qualified) variable, or MISSING."""

    def __init__(self, session: Session, variable: Callable[[tuple[str, ...]], Value]) -> None:
        self.session = session
        self.variable = variable
        self.caller: Callable[[Node, Scope | None], Value] | None = None
        """Runs the function of a call, where an expression stands alone or is ``projecting`` the rows of a query."""
        self.projecting = False
        self._depth = 0

    def of_text(self, sql: str) -> Value:
        """The value of an expression by its text. Raises Failed."""
        node = expression(sql)
        return UNKNOWN if node is None else self.value(node)

    def value(self, node: Node, scope: Scope | None = None) -> Value:
        """The value of an expression's node. Raises Failed."""
        if self._depth >= _DEPTH:
            return UNKNOWN
        self._depth += 1
        try:
            for kind, body in node.items():
                found = _NODES.get(kind)
                return UNKNOWN if found is None else found(self, body, scope)
            return UNKNOWN
        except Failed:
            raise
        except (ServerError, Unknowable, re.error, OverflowError):
            return UNKNOWN
        finally:
            self._depth -= 1

    # Names.

    def _column(self, node: Node, scope: Scope | None) -> Value:
        fields = node["fields"]
        if not all("String" in field for field in fields):
            return UNKNOWN
        parts = tuple(names(fields))
        found = self._in_scope(parts, scope)
        mine = self.variable(parts)
        if found is MISSING:
            return UNKNOWN if mine is MISSING else mine
        # "column reference is ambiguous": the server refuses to choose.
        return found if mine is MISSING else UNKNOWN

    def _in_scope(self, parts: tuple[str, ...], scope: Scope | None) -> Value:
        while scope is not None:
            found: Value = MISSING
            for alias, (columns, row) in scope.tables.items():
                if len(parts) == 1:
                    if columns is None:
                        return UNKNOWN
                    if parts[0] in columns:
                        if found is not MISSING:
                            return UNKNOWN
                        found = row.get(parts[0], UNKNOWN)
                elif parts[-2] == alias:
                    return row.get(parts[-1], UNKNOWN)
            if found is not MISSING:
                return found
            scope = scope.outer
        return MISSING

    def _parameter(self, node: Node, scope: Scope | None) -> Value:
        found = self.variable((f"${node.get('number', 0)}",))
        return UNKNOWN if found is MISSING else found

    # Constants, casts, constructors.

    def _constant(self, node: Node, scope: Scope | None) -> Value:
        if node.get("isnull"):
            return None
        if "ival" in node:
            return node["ival"].get("ival", 0)
        if "sval" in node:
            return node["sval"].get("sval", "")
        if "boolval" in node:
            return node["boolval"].get("boolval", False)
        said = node.get("fval", {}).get("fval", "")
        return int(said) if re.fullmatch(r"\d+", said) else UNKNOWN

    def _cast(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        type_name = node["typeName"]
        said = names(type_name["names"])[-1]
        if said in ("regclass", "regnamespace"):
            if said == "regnamespace":
                return UNKNOWN
            found = self.regclass(value)
            if found is UNKNOWN and isinstance(value, str) and self.session.certainly_none(value):
                raise Failed("42P01", f'relation "{value}" does not exist')
            return found
        if said in _WHOLE and "arrayBounds" not in type_name and isinstance(value, str) and not re.search(r"\d", value):
            raise Failed("22P02", f'invalid input syntax for type {_WHOLE[said]}: "{value}"')
        if type_name.get("typmods") and said not in ("bpchar",):
            said += "(n)"
        return coerced(value, said + ("[]" if "arrayBounds" in type_name else ""))

    def regclass(self, value: Value) -> Value:
        """A value as a regclass."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self._relid(value)
        if not isinstance(value, str):
            return value if isinstance(value, Relid) or value is None else UNKNOWN
        row = self.session.regclass(value)
        if row is None and not self.session.certainly_none(value):
            row = self.session.supposed(value)
        return UNKNOWN if row is None else self._relid(row.oid)

    def _relid(self, oid: int) -> Value:
        row = self.session.catalog.relations.get(oid)
        return Relid(oid, relation_name(self.session, row)) if row is not None else UNKNOWN

    def to_regclass(self, said: Value) -> Value:
        """The relation of a name; NULL where there certainly is none."""
        if not isinstance(said, str):
            return said if said is None else UNKNOWN
        row = self.session.regclass(said)
        if row is not None:
            return self._relid(row.oid) if row.seen else UNKNOWN
        return None if self.session.certainly_none(said) else UNKNOWN

    def _array(self, node: Node, scope: Scope | None) -> Value:
        return [self.value(item, scope) for item in node.get("elements", ())]

    def _row(self, node: Node, scope: Scope | None) -> Value:
        return tuple(self.value(item, scope) for item in node.get("args", ()))

    def _subscripted(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        for step in node["indirection"]:
            if "A_Indices" in step and not step["A_Indices"].get("is_slice"):
                at = self.value(step["A_Indices"]["uidx"], scope)
                items = array(value)
                if not isinstance(items, list) or not isinstance(at, int):
                    return UNKNOWN
                value = items[at - 1] if 1 <= at <= len(items) else None
            elif "String" in step and isinstance(value, dict):
                value = value.get(step["String"]["sval"], UNKNOWN)
            else:
                return UNKNOWN
        return value

    # Operators.

    def _operator(self, node: Node, scope: Scope | None) -> Value:
        kind, name = node["kind"], names(node["name"])[-1]
        right_node = node.get("rexpr", {})
        if kind == "AEXPR_IN":
            left = self.value(node["lexpr"], scope)
            found = self._any(left, [self.value(item, scope) for item in right_node["List"]["items"]])
            return found if name == "=" else negated(found)
        if kind in ("AEXPR_BETWEEN", "AEXPR_NOT_BETWEEN"):
            low, high = (self.value(item, scope) for item in right_node["List"]["items"])
            left = self.value(node["lexpr"], scope)
            found = both(negated(less(left, low)), negated(less(high, left)))
            return found if kind == "AEXPR_BETWEEN" else negated(found)
        left = self.value(node["lexpr"], scope) if "lexpr" in node else MISSING
        right = self.value(right_node, scope)
        if kind in ("AEXPR_OP_ANY", "AEXPR_OP_ALL"):
            items = array(right)
            if not isinstance(items, list):
                return items if items is None else UNKNOWN
            if kind == "AEXPR_OP_ANY" and name == "=":
                return self._any(left, items)
            return negated(self._any(left, items)) if kind == "AEXPR_OP_ALL" and name == "<>" else UNKNOWN
        if kind in ("AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"):
            if unknown(left, right):
                return UNKNOWN
            same = left is None and right is None if left is None or right is None else equal(left, right)
            return same if kind == "AEXPR_NOT_DISTINCT" else negated(same)
        if kind == "AEXPR_NULLIF":
            same = equal(left, right)
            return UNKNOWN if same is UNKNOWN else None if same is True else left
        if left is MISSING:
            return -right if name == "-" and _is_number(right) else UNKNOWN
        return _OPERATORS[name](left, right) if name in _OPERATORS else UNKNOWN

    @staticmethod
    def _any(left: Value, items: list[Value]) -> Value:
        found: Value = False
        for item in items:
            found = either(found, equal(left, item))
        return found

    def _boolean(self, node: Node, scope: Scope | None) -> Value:
        values = [self.value(item, scope) for item in node["args"]]
        values = [coerced(value, "boolean") for value in values]
        if node["boolop"] == "NOT_EXPR":
            return negated(values[0])
        joined, found = (both, True) if node["boolop"] == "AND_EXPR" else (either, False)
        for value in values:
            found = joined(found, value)
        return found

    def _null_test(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        if value is UNKNOWN or isinstance(value, dict | tuple):
            return UNKNOWN
        return (value is None) == (node["nulltesttype"] == "IS_NULL")

    def _truth_test(self, node: Node, scope: Scope | None) -> Value:
        value = coerced(self.value(node["arg"], scope), "boolean")
        if value is UNKNOWN:
            return UNKNOWN
        wanted = {"TRUE": True, "FALSE": False, "UNKNOWN": None}[node["booltesttype"].rpartition("_")[2]]
        return (value is wanted) == ("NOT" not in node["booltesttype"])

    def _coalesce(self, node: Node, scope: Scope | None) -> Value:
        for item in node["args"]:
            value = self.value(item, scope)
            if value is not None:
                return value
        return None

    def _case(self, node: Node, scope: Scope | None) -> Value:
        subject = self.value(node["arg"], scope) if "arg" in node else MISSING
        for item in node["args"]:
            when = item["CaseWhen"]
            test = self.value(when["expr"], scope)
            truth = coerced(test, "boolean") if subject is MISSING else equal(subject, test)
            if truth is UNKNOWN:
                return UNKNOWN
            if truth is True:
                return self.value(when["result"], scope)
        return self.value(node["defresult"], scope) if "defresult" in node else None

    def _collate(self, node: Node, scope: Scope | None) -> Value:
        return self.value(node["arg"], scope)

    def _sql_value(self, node: Node, scope: Scope | None) -> Value:
        kind, session = node["op"], self.session
        if kind in ("SVFOP_CURRENT_USER", "SVFOP_CURRENT_ROLE", "SVFOP_USER"):
            return session.role.name if session.complete else UNKNOWN
        if kind == "SVFOP_CURRENT_CATALOG":
            return session.catalog.database if session.catalog.database_known else UNKNOWN
        return self._current_schema() if kind == "SVFOP_CURRENT_SCHEMA" else UNKNOWN

    def _current_schema(self) -> Value:
        session = self.session
        oid = session.visible_namespace()
        return UNKNOWN if session.blind else session.catalog.namespaces[oid].name if oid else None

    # Queries and functions.

    def _sublink(self, node: Node, scope: Scope | None) -> Value:
        from pubcheck.postgres.plpgsql.queries import run

        kind = node["subLinkType"]
        found = run(self, node["subselect"]["SelectStmt"], scope)
        if kind == "EXISTS_SUBLINK":
            return found.exists()
        if kind == "EXPR_SUBLINK":
            return found.scalar()
        if kind == "ARRAY_SUBLINK":
            return found.column() if found.known else UNKNOWN
        if kind != "ANY_SUBLINK" or ("operName" in node and names(node["operName"])[-1] != "="):
            return UNKNOWN
        left = self.value(node["testexpr"], scope)
        truth: Value = False
        for values, sure in found.rows:
            same = equal(left, values if isinstance(left, tuple) else values[0])
            truth = either(truth, same if sure else both(UNKNOWN, same))
        return either(truth, UNKNOWN) if found.open else truth

    def _function(self, node: Node, scope: Scope | None) -> Value:
        path = names(node["funcname"])
        found = _FUNCTIONS.get(path[-1]) if len(path) == 1 or path[0] == "pg_catalog" else None
        if found is None and self.caller is not None and (scope is None or self.projecting):
            return self.caller(node, scope)
        if found is None or node.get("func_variadic") or node.get("agg_star"):
            return UNKNOWN
        arguments = [self.value(item, scope) for item in node.get("args", ())]
        try:
            return found(self, *arguments)
        except (TypeError, ValueError):
            return UNKNOWN


@lru_cache(maxsize=512)
def expression(sql: str) -> Node | None:
    """The node of an expression by its text; None where it is none, or is not all that the text says."""
    statement = query("SELECT " + sql)
    if statement is None or set(statement) - {"targetList", "limitOption", "op"} or len(statement["targetList"]) != 1:
        # "count(*) FROM t", which PL/pgSQL takes for an expression too.
        if statement is None:
            return None
        return {"SubLink": {"subLinkType": "EXPR_SUBLINK", "subselect": {"SelectStmt": statement}}}
    value: Node | None = statement["targetList"][0]["ResTarget"].get("val")
    return value


@lru_cache(maxsize=512)
def query(sql: str) -> Node | None:
    """The SelectStmt of a text; None where it is no such statement."""
    try:
        found = parse(sql)
    except (SyntaxRefused, TooDeep):
        return None
    return found[1] if found is not None and found[0] == "SelectStmt" else None


def _is_number(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _concatenated(left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None if not isinstance(left, list) and not isinstance(right, list) else left if right is None else right
    if isinstance(left, list) or isinstance(right, list):
        one, other = _items(left), _items(right)
        return one + other if isinstance(one, list) and isinstance(other, list) else UNKNOWN
    one, other = text(left), text(right)
    return one + other if isinstance(one, str) and isinstance(other, str) else UNKNOWN


def _items(value: Value) -> Value:
    """What one side of a concatenation of arrays adds: an array, or one element."""
    return array(value) if isinstance(value, list) or (isinstance(value, str) and value[:1] == "{") else [value]


_WHOLE = {"int2": "smallint", "int4": "integer", "int8": "bigint"}


def _divided(left: Value, right: Value) -> Value:
    """What is left of the quotient is cut off, as C does. Raises Failed 22012."""
    left, right = coerced(left, "bigint"), coerced(right, "bigint")
    if left is None or right is None:
        return None
    if right == 0 and right is not False:
        raise Failed("22012", "division by zero")
    if not (_is_number(left) and _is_number(right)):
        return UNKNOWN
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _arithmetic(apply: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    def work(left: Value, right: Value) -> Value:
        left, right = coerced(left, "bigint"), coerced(right, "bigint")
        if left is None or right is None:
            return None
        return apply(left, right) if _is_number(left) and _is_number(right) else UNKNOWN

    return work


def _like(folding: bool, negative: bool) -> Callable[[Value, Value], Value]:
    def work(left: Value, right: Value) -> Value:
        left, right = text(left), text(right)
        if left is None or right is None:
            return None
        if unknown(left, right):
            return UNKNOWN
        from pubcheck.postgres.evaluation.patterns import like_match

        if folding:
            if not (left.isascii() and right.isascii()):
                return UNKNOWN
            left, right = left.lower(), right.lower()
        found = like_match(right)(left) is not None
        return found != negative

    return work


def _matches(folding: bool, negative: bool) -> Callable[[Value, Value], Value]:
    def work(left: Value, right: Value) -> Value:
        left, right = text(left), text(right)
        if left is None or right is None:
            return None
        if unknown(left, right):
            return UNKNOWN
        from pubcheck.postgres.evaluation.patterns import search

        return search(right, folding, left) != negative

    return work


_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "=": equal,
    "<>": lambda left, right: negated(equal(left, right)),
    "<": less,
    ">": lambda left, right: less(right, left),
    "<=": lambda left, right: negated(less(right, left)),
    ">=": lambda left, right: negated(less(left, right)),
    "||": _concatenated,
    "+": _arithmetic(int.__add__),
    "-": _arithmetic(int.__sub__),
    "*": _arithmetic(int.__mul__),
    "/": _divided,
    "~~": _like(False, False),
    "!~~": _like(False, True),
    "~~*": _like(True, False),
    "!~~*": _like(True, True),
    "~": _matches(False, False),
    "!~": _matches(False, True),
    "~*": _matches(True, False),
    "!~*": _matches(True, True),
}

_NODES: dict[str, Callable[[Evaluator, Node, Scope | None], Value]] = {
    "A_ArrayExpr": Evaluator._array,
    "A_Const": Evaluator._constant,
    "A_Expr": Evaluator._operator,
    "A_Indirection": Evaluator._subscripted,
    "BoolExpr": Evaluator._boolean,
    "BooleanTest": Evaluator._truth_test,
    "CaseExpr": Evaluator._case,
    "CoalesceExpr": Evaluator._coalesce,
    "CollateClause": Evaluator._collate,
    "ColumnRef": Evaluator._column,
    "FuncCall": Evaluator._function,
    "NullTest": Evaluator._null_test,
    "ParamRef": Evaluator._parameter,
    "RowExpr": Evaluator._row,
    "SQLValueFunction": Evaluator._sql_value,
    "SubLink": Evaluator._sublink,
    "TypeCast": Evaluator._cast,
}


# --- Functions ----------------------------------------------------------------------------------------------------

_FORMAT = re.compile(r"%(?:%|(?:(\d+)\$)?(-?)(\*(?:\d+\$)?|\d+)?([sIL]))")


def literal(value: str) -> str:
    """quote_literal."""
    quoted = "'" + value.replace("'", "''").replace("\\", "\\\\") + "'"
    return "E" + quoted if "\\" in value else quoted


def _format(self: Evaluator, template: Value, *arguments: Value) -> Value:
    """format() (utils/adt/varlena.c: text_format). Raises Failed 22023, 22004."""
    template = text(template)
    if template is None or template is UNKNOWN:
        return template
    pieces: list[str] = []
    at, next_one = 0, 0
    for match in _FORMAT.finditer(template):
        between = template[at : match.start()]
        if "%" in between:
            raise _no_specifier(between)
        if (match[3] or "").startswith("*"):
            return UNKNOWN
        pieces.append(between)
        at = match.end()
        if match[0] == "%%":
            pieces.append("%")
            continue
        number = int(match[1]) - 1 if match[1] else next_one
        next_one = number + 1
        if not 0 <= number < len(arguments):
            raise Failed("22023", "too few arguments for format()")
        said = text(arguments[number], cast=False)
        if said is UNKNOWN:
            return UNKNOWN
        if match[4] == "I":
            if said is None:
                raise Failed("22004", "null values cannot be formatted as an SQL identifier")
            said = quote(self.session, said)
        elif match[4] == "L":
            said = "NULL" if said is None else literal(said)
        said = said or ""
        width = int(match[3] or 0)
        pieces.append(said.ljust(width) if match[2] else said.rjust(width))
    rest = template[at:]
    if "%" in rest:
        raise _no_specifier(rest)
    return "".join([*pieces, rest])


def _no_specifier(said: str) -> Failed:
    letter = re.match(r"[\d$*-]*(.?)", said[said.index("%") + 1 :], re.DOTALL)
    hint = 'For a single "%" use "%%".'
    if letter is None or not letter[1]:
        return Failed("22023", "unterminated format() type specifier", hint=hint)
    return Failed("22023", f'unrecognized format() type specifier "{letter[1]}"', hint=hint)


def _texts(function: Callable[..., Value]) -> Callable[..., Value]:
    """A strict function of texts."""

    def call(self: Evaluator, *arguments: Value) -> Value:
        if any(argument is None for argument in arguments):
            return None
        said = [text(argument) for argument in arguments]
        return UNKNOWN if unknown(*said) else function(*said)

    return call


def _folded(function: Callable[[str], str]) -> Callable[..., Value]:
    return _texts(lambda said: function(said) if said.isascii() else UNKNOWN)


def _concat(self: Evaluator, *arguments: Value) -> Value:
    said = [text(argument, cast=False) for argument in arguments if argument is not None]
    return UNKNOWN if unknown(*said) else "".join(said)


def _concat_ws(self: Evaluator, separator: Value, *arguments: Value) -> Value:
    said = [text(argument, cast=False) for argument in arguments if argument is not None]
    if separator is None or unknown(separator, *said):
        return separator if separator is None else UNKNOWN
    return str(text(separator)).join(said)


def _array_length(self: Evaluator, items: Value, dimension: Value = 1) -> Value:
    items = array(items)
    if not isinstance(items, list) or dimension != 1:
        return items if items is None else UNKNOWN
    return len(items) or None


def _array_upper(self: Evaluator, items: Value, dimension: Value) -> Value:
    return _array_length(self, items, dimension)


def _cardinality(self: Evaluator, items: Value) -> Value:
    items = array(items)
    return len(items) if isinstance(items, list) else items if items is None else UNKNOWN


def _array_to_string(self: Evaluator, items: Value, separator: Value, null: Value = None) -> Value:
    items = array(items)
    if items is None or separator is None:
        return None
    if unknown(items, separator) or null is not None:
        return UNKNOWN
    return str(separator).join(str(text(item, cast=False)) for item in items if item is not None)


def _string_to_array(self: Evaluator, said: Value, separator: Value) -> Value:
    if said is None or separator is None or unknown(said, separator):
        return None if said is None else UNKNOWN
    return [] if said == "" else [said] if separator == "" else said.split(separator)


def _append(self: Evaluator, items: Value, item: Value) -> Value:
    known = [] if items is None else array(items)
    return [*known, item] if isinstance(known, list) else UNKNOWN


def _remove(self: Evaluator, items: Value, item: Value) -> Value:
    known = array(items)
    if not isinstance(known, list) or unknown(known, item):
        return UNKNOWN
    return [one for one in known if one != item]


def _split_part(said: str, separator: str, number: str) -> Value:
    at = int(number)
    parts = said.split(separator) if separator else [said]
    return parts[at - 1] if 0 < at <= len(parts) else "" if at > 0 else UNKNOWN


def _current_setting(self: Evaluator, name: Value, missing_ok: Value = False) -> Value:
    if not isinstance(name, str):
        return UNKNOWN
    name = name.lower()
    number = self.session.catalog.major.number
    if name == "server_version_num":
        return str(number * 10000 + 1)  # which minor it is shows in no comparison with the first of a major
    return UNKNOWN


def _version_of_schema(self: Evaluator) -> Value:
    return self._current_schema()


def _database(self: Evaluator) -> Value:
    catalog = self.session.catalog
    return catalog.database if catalog.database_known else UNKNOWN


def _temporary_schema(self: Evaluator) -> Value:
    from pubcheck.postgres.catalog import TEMPORARY

    return TEMPORARY if TEMPORARY in self.session.catalog.namespaces else 0 if not self.session.blind else UNKNOWN


def _quote_ident(self: Evaluator, name: Value) -> Value:
    said = text(name)
    return quote(self.session, said) if isinstance(said, str) else said


def _quote_nullable(self: Evaluator, value: Value) -> Value:
    said = text(value, cast=False)
    return "NULL" if said is None else literal(said) if isinstance(said, str) else UNKNOWN


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "array_append": _append,
    "array_cat": lambda self, one, other: _concatenated(array(one), array(other)),
    "array_length": _array_length,
    "array_remove": _remove,
    "array_to_string": _array_to_string,
    "array_upper": _array_upper,
    "btrim": _texts(lambda said, *more: said.strip(more[0] if more else " ")),
    "cardinality": _cardinality,
    "concat": _concat,
    "concat_ws": _concat_ws,
    "current_database": _database,
    "current_schema": _version_of_schema,
    "current_setting": _current_setting,
    "format": _format,
    "initcap": lambda self, said: UNKNOWN,
    "left": _texts(lambda said, number: said[: int(number)]),
    "length": _texts(len),
    "lower": _folded(str.lower),
    "ltrim": _texts(lambda said, *more: said.lstrip(more[0] if more else " ")),
    "pg_my_temp_schema": _temporary_schema,
    "quote_ident": _quote_ident,
    "quote_literal": _texts(literal),
    "quote_nullable": _quote_nullable,
    "replace": _texts(lambda said, old, new: said.replace(old, new) if old else said),
    "right": _texts(lambda said, number: said[-int(number) :] if int(number) > 0 else UNKNOWN),
    "rtrim": _texts(lambda said, *more: said.rstrip(more[0] if more else " ")),
    "split_part": _texts(_split_part),
    "string_to_array": _string_to_array,
    "to_regclass": lambda self, said: self.to_regclass(said),
    "upper": _folded(str.upper),
}


def set_returning(self: Evaluator, node: Node, scope: Scope | None) -> list[Value] | None:
    """The rows of a function that returns a set, as values of one column; None where they are not known."""
    name = names(node["funcname"])[-1]
    arguments = [self.value(item, scope) for item in node.get("args", ())]
    if name == "unnest" and len(arguments) == 1:
        items = array(arguments[0])
        return items if isinstance(items, list) else [] if items is None else None
    if name == "generate_series" and len(arguments) in (2, 3) and all(map(_is_number, arguments)):
        first, last, *step = arguments
        by = step[0] if step else 1
        count = (last - first) // by + 1 if by else 0
        return list(range(first, last + (1 if by > 0 else -1), by)) if 0 <= count <= LIMIT else None
    if name in ("string_to_table", "regexp_split_to_table") and len(arguments) == 2:
        if name.startswith("regexp") and re.search(r"[\\^$.|?*+()\[\]{}]", str(arguments[1])):
            return None
        items = _string_to_array(self, *arguments)
        return items if isinstance(items, list) else None
    return None


LIMIT = 10_000
"""Rows of a loop, or rounds of it, that are followed."""


def walk(tree: Any) -> Iterator[tuple[str, Node]]:
    """Every (kind, node) of a tree, those of sub-selects too."""
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
