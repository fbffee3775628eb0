"""Values of expressions, as guards, loops and EXECUTE use them. An expression that is not followed is UNKNOWN."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from pubcheck.postgres.budget import Budget, room
from pubcheck.postgres.catalog import NAMESPACE, PG_CATALOG
from pubcheck.postgres.ddl.object_descriptions import relation_name
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.parse_tree import names, value_function_name
from pubcheck.postgres.plpgsql.functions import FUNCTIONS, MATCHERS, OPERATORS
from pubcheck.postgres.plpgsql.values import (
    MISSING,
    UNKNOWN,
    Failed,
    Relid,
    Rows,
    Scope,
    Value,
    array,
    coerce,
    has_unknown,
    is_number,
    size_of,
    sql_and,
    sql_equal,
    sql_less,
    sql_not,
    sql_or,
    text,
)
from pubcheck.postgres.session import Session

_PLAIN_NAME: Final = re.compile("[a-z_][a-z0-9_]*")
"""A name that is written without quotes."""


_DEPTH = 60
"""The depth of nesting at which an expression is given up."""


class Evaluator:
    """Evaluates expressions for a session.

    ``variable`` returns the value of a (qualified) variable, or MISSING, and ``run_query`` the rows of a sub-select.
    """

    def __init__(
        self,
        session: Session,
        variable: Callable[[tuple[str, ...]], Value],
        budget: Budget,
        run_query: Callable[[Evaluator, Node, Scope | None], Rows],
    ) -> None:
        self.session = session
        self.run_query = run_query
        self.variable = variable
        self.caller: Callable[[Node, Scope | None], Value] | None = None
        """Run the function of a call, in a lone expression or in one that is ``projecting`` the rows of a query."""
        self.projecting = False
        self.unsure = 0
        """The number of enclosing expressions that may not be evaluated."""
        self._depth = 0
        self.budget = budget
        """The budget of all evaluations of a block."""

    def of_text(self, sql: str) -> Value:
        """Return the value of an expression in a text. Raises Failed."""
        node = expression(sql)
        return UNKNOWN if node is None else self.value(node)

    def value(self, node: Node, scope: Scope | None = None) -> Value:
        """Return the value of an expression's node. Raises Failed."""
        if self._depth >= _DEPTH:
            return UNKNOWN
        self._depth += 1
        try:
            self.budget.spend()
            for kind, body in node.items():
                evaluate = _NODES.get(kind)
                value = UNKNOWN if evaluate is None else evaluate(self, body, scope)
                return value if kind in _EXISTING_VALUES else self._paid(value)
            return UNKNOWN
        except Failed:
            raise
        except (ServerError, Unknowable, re.error, OverflowError, ValueError):
            return UNKNOWN
        finally:
            self._depth -= 1

    def _paid(self, value: Value) -> Value:
        """A value that was made, unless it is too large."""
        if isinstance(value, str | list | tuple | dict):
            size = size_of(value)
            self.budget.spend(size)
            room(size)
        return value

    # Names.

    def _column(self, node: Node, scope: Scope | None) -> Value:
        fields = node["fields"]
        if not all("String" in field for field in fields):
            return UNKNOWN
        parts = tuple(names(fields))
        value = self._in_scope(parts, scope)
        mine = self.variable(parts)
        if value is MISSING:
            return UNKNOWN if mine is MISSING else mine
        # "column reference is ambiguous": the server refuses to choose.
        return value if mine is MISSING else UNKNOWN

    def _in_scope(self, parts: tuple[str, ...], scope: Scope | None) -> Value:
        while scope is not None:
            value: Value = MISSING
            for alias, (columns, row) in scope.tables.items():
                if len(parts) == 1:
                    if columns is None:
                        return UNKNOWN
                    if parts[0] in columns:
                        if value is not MISSING:
                            return UNKNOWN
                        value = row.get(parts[0], UNKNOWN)
                elif parts[-2] == alias:
                    return row.get(parts[-1], UNKNOWN)
            if value is not MISSING:
                return value
            scope = scope.outer
        return MISSING

    def _parameter(self, node: Node, scope: Scope | None) -> Value:
        value = self.variable((f"${node.get('number', 0)}",))
        return UNKNOWN if value is MISSING else value

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
        digits = node.get("fval", {}).get("fval", "")
        return int(digits) if re.fullmatch(r"\d{1,40}", digits) else UNKNOWN

    def _cast(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        type_name = node["typeName"]
        type_label = names(type_name["names"])[-1]
        if type_label == "regnamespace":
            schema = self.regnamespace(value)
            if schema is None and value is not None:
                raise Failed("3F000", f'schema "{value}" does not exist')
            return schema
        if type_label == "regclass":
            relation = self.regclass(value)
            if relation is UNKNOWN and isinstance(value, str) and self.session.certainly_none(value):
                raise Failed("42P01", f'relation "{value}" does not exist')
            return relation
        if (
            type_label in _WHOLE
            and "arrayBounds" not in type_name
            and isinstance(value, str)
            and not re.search(r"\d", value)
        ):
            raise Failed("22P02", f'invalid input syntax for type {_WHOLE[type_label]}: "{value}"')
        if type_name.get("typmods") and type_label not in ("bpchar",):
            type_label += "(n)"
        return coerce(value, type_label + ("[]" if "arrayBounds" in type_name else ""))

    def regclass(self, value: Value) -> Value:
        """Return a value as a regclass."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self._relid(value)
        if not isinstance(value, str):
            return value if isinstance(value, Relid) or value is None else UNKNOWN
        row = self.session.regclass(value)
        if row is None and not self.session.certainly_none(value):
            row = self.session.supposed(value)
        return UNKNOWN if row is None else self._relid(row.oid)

    def regnamespace(self, value: Value) -> Value:
        """Return a value as a regnamespace; None for a name if the schema certainly does not exist."""
        catalog = self.session.catalog
        if isinstance(value, int) and not isinstance(value, bool):
            row = catalog.namespaces.get(value)
            is_plain = row is not None and row.seen and _PLAIN_NAME.fullmatch(row.name)
            return Relid(value, row.name) if row is not None and is_plain else UNKNOWN
        if not isinstance(value, str):
            return value if isinstance(value, Relid) or value is None else UNKNOWN
        if not _PLAIN_NAME.fullmatch(value):
            return UNKNOWN
        oid = catalog.namespace_names.get(value)
        if oid is not None:
            return Relid(oid, value) if catalog.namespaces[oid].seen else UNKNOWN
        return None if self.session.is_closed(NAMESPACE, 0, value) else UNKNOWN

    def _relid(self, oid: int) -> Value:
        row = self.session.catalog.relations.get(oid)
        return Relid(oid, relation_name(self.session, row)) if row is not None else UNKNOWN

    def to_regclass(self, name: Value) -> Value:
        """Return the relation of a name; NULL if it certainly does not exist."""
        if not isinstance(name, str):
            return name if name is None else UNKNOWN
        row = self.session.regclass(name)
        if row is not None:
            return self._relid(row.oid) if row.seen else UNKNOWN
        return None if self.session.certainly_none(name) else UNKNOWN

    def _array(self, node: Node, scope: Scope | None) -> Value:
        return [self.value(item, scope) for item in node.get("elements", ())]

    def _row(self, node: Node, scope: Scope | None) -> Value:
        return tuple(self.value(item, scope) for item in node.get("args", ()))

    def _subscripted(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        for step in node["indirection"]:
            if "A_Indices" in step and not step["A_Indices"].get("is_slice"):
                subscript = self.value(step["A_Indices"]["uidx"], scope)
                items = array(value)
                if not isinstance(items, list) or not isinstance(subscript, int):
                    return UNKNOWN
                value = items[subscript - 1] if 1 <= subscript <= len(items) else None
            elif "A_Indices" in step:
                items, sides = array(value), step["A_Indices"]
                bounds = [self.value(sides[side], scope) for side in ("lidx", "uidx") if side in sides]
                if not isinstance(items, list) or not all(map(is_number, bounds)) or len(bounds) < 2:
                    return UNKNOWN
                value = items[max(bounds[0], 1) - 1 : max(bounds[1], 0)]
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
            result = self._equals_any(left, [self.value(item, scope) for item in right_node["List"]["items"]])
            return result if name == "=" else sql_not(result)
        if kind in ("AEXPR_BETWEEN", "AEXPR_NOT_BETWEEN"):
            low, high = (self.value(item, scope) for item in right_node["List"]["items"])
            left = self.value(node["lexpr"], scope)
            result = sql_and(sql_not(sql_less(left, low)), sql_not(sql_less(high, left)))
            return result if kind == "AEXPR_BETWEEN" else sql_not(result)
        left = self.value(node["lexpr"], scope) if "lexpr" in node else MISSING
        right = self.value(right_node, scope)
        if kind in ("AEXPR_OP_ANY", "AEXPR_OP_ALL"):
            items = array(right)
            if not isinstance(items, list):
                return items if items is None else UNKNOWN
            if kind == "AEXPR_OP_ANY" and name == "=":
                return self._equals_any(left, items)
            return sql_not(self._equals_any(left, items)) if kind == "AEXPR_OP_ALL" and name == "<>" else UNKNOWN
        if kind in ("AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"):
            if has_unknown(left, right):
                return UNKNOWN
            equal = left is None and right is None if left is None or right is None else sql_equal(left, right)
            return equal if kind == "AEXPR_NOT_DISTINCT" else sql_not(equal)
        if kind == "AEXPR_NULLIF":
            equal = sql_equal(left, right)
            return UNKNOWN if equal is UNKNOWN else None if equal is True else left
        if left is MISSING:
            return -right if name == "-" and is_number(right) else UNKNOWN
        if name in MATCHERS:
            left, right = text(left), text(right)
            if left is None or right is None:
                return None
            return UNKNOWN if has_unknown(left, right) else MATCHERS[name](self.budget, left, right)
        return OPERATORS[name](left, right) if name in OPERATORS else UNKNOWN

    @staticmethod
    def _equals_any(left: Value, items: list[Value]) -> Value:
        result: Value = False
        for item in items:
            result = sql_or(result, sql_equal(left, item))
        return result

    def _boolean(self, node: Node, scope: Scope | None) -> Value:
        if node["boolop"] == "NOT_EXPR":
            return sql_not(coerce(self.value(node["args"][0], scope), "boolean"))
        joined, result = (sql_and, True) if node["boolop"] == "AND_EXPR" else (sql_or, False)
        decided, unsure = not result, self.unsure
        constants = (item["A_Const"]["boolval"] for item in node["args"] if "boolval" in item.get("A_Const", ()))
        if any(constant.get("boolval", False) is decided for constant in constants):
            return decided  # the planner leaves out the rest
        try:
            for item in node["args"]:
                result = joined(result, coerce(self.value(item, scope), "boolean"))
                if result is decided:
                    break
                self.unsure += result is UNKNOWN
            return result
        finally:
            self.unsure = unsure

    def _null_test(self, node: Node, scope: Scope | None) -> Value:
        value = self.value(node["arg"], scope)
        if value is UNKNOWN or isinstance(value, dict | tuple):
            return UNKNOWN
        return (value is None) == (node["nulltesttype"] == "IS_NULL")

    def _truth_test(self, node: Node, scope: Scope | None) -> Value:
        value = coerce(self.value(node["arg"], scope), "boolean")
        if value is UNKNOWN:
            return UNKNOWN
        expected = {"TRUE": True, "FALSE": False, "UNKNOWN": None}[node["booltesttype"].rpartition("_")[2]]
        return (value is expected) == ("NOT" not in node["booltesttype"])

    def _coalesce(self, node: Node, scope: Scope | None) -> Value:
        for item in node["args"]:
            value = self.value(item, scope)
            if value is not None:
                return value
        return None

    def _case(self, node: Node, scope: Scope | None) -> Value:
        subject = self.value(node["arg"], scope) if "arg" in node else MISSING
        for item in node["args"]:
            branch = item["CaseWhen"]
            test = self.value(branch["expr"], scope)
            truth = coerce(test, "boolean") if subject is MISSING else sql_equal(subject, test)
            if truth is UNKNOWN:
                return UNKNOWN
            if truth is True:
                return self.value(branch["result"], scope)
        return self.value(node["defresult"], scope) if "defresult" in node else None

    def _collate(self, node: Node, scope: Scope | None) -> Value:
        return self.value(node["arg"], scope)

    def _sql_value(self, node: Node, scope: Scope | None) -> Value:
        name, session = value_function_name(node["op"]), self.session
        if name in ("CURRENT_USER", "CURRENT_ROLE", "USER"):
            return session.role.name if session.complete else UNKNOWN
        if name == "CURRENT_CATALOG":
            return session.catalog.database if session.catalog.database_known else UNKNOWN
        return self.current_schema() if name == "CURRENT_SCHEMA" else UNKNOWN

    def current_schema(self) -> Value:
        session = self.session
        oid = session.visible_namespace()
        return UNKNOWN if session.blind else session.catalog.namespaces[oid].name if oid else None

    # Queries and functions.

    def _sublink(self, node: Node, scope: Scope | None) -> Value:
        kind = node["subLinkType"]
        rows = self.run_query(self, node["subselect"]["SelectStmt"], scope)
        if kind == "EXISTS_SUBLINK":
            return rows.exists()
        if kind == "EXPR_SUBLINK":
            return rows.scalar()
        if kind == "ARRAY_SUBLINK":
            return rows.column() if rows.known else UNKNOWN
        if kind != "ANY_SUBLINK" or ("operName" in node and names(node["operName"])[-1] != "="):
            return UNKNOWN
        left = self.value(node["testexpr"], scope)
        truth: Value = False
        for values, sure in rows.rows:
            equal = sql_equal(left, values if isinstance(left, tuple) else values[0])
            truth = sql_or(truth, equal if sure else sql_and(UNKNOWN, equal))
        return sql_or(truth, UNKNOWN) if rows.open else truth

    def _function(self, node: Node, scope: Scope | None) -> Value:
        path = names(node["funcname"])
        function = FUNCTIONS.get(path[-1]) if len(path) == 1 or path[0] == "pg_catalog" else None
        if function is not None and len(path) == 1 and self._is_hidden(path[0]):
            function = None
        if function is None and self.caller is not None and (scope is None or self.projecting):
            return self.caller(node, scope)
        if function is None or node.get("func_variadic") or node.get("agg_star"):
            return UNKNOWN
        arguments = [self.value(item, scope) for item in node.get("args", ())]
        try:
            return function(self, *arguments)
        except (TypeError, ValueError):
            return UNKNOWN

    def _is_hidden(self, name: str) -> bool:
        """Return whether another function of that name precedes the server's in the search path."""
        catalog = self.session.catalog
        before = itertools.takewhile(lambda namespace: namespace != PG_CATALOG, self.session.path)
        return bool(catalog.procs) and any(catalog.proc_names.get((namespace, name)) for namespace in before)


_SHORT = 10_000
"""Characters of a text that is kept with what it was read as."""


def expression(sql: str) -> Node | None:
    """Return the node of an expression in a text; None if the text is not exactly one expression."""
    return (_expression if len(sql) <= _SHORT else _expression.__wrapped__)(sql)


@lru_cache(maxsize=512)
def _expression(sql: str) -> Node | None:
    statement = query("SELECT " + sql)
    if statement is None or "targetList" not in statement:
        return None
    if set(statement) - {"targetList", "limitOption", "op"} or len(statement["targetList"]) != 1:
        # "count(*) FROM t", which PL/pgSQL takes for an expression too.
        return {"SubLink": {"subLinkType": "EXPR_SUBLINK", "subselect": {"SelectStmt": statement}}}
    value: Node | None = statement["targetList"][0]["ResTarget"].get("val")
    return value


def query(sql: str) -> Node | None:
    """Return the SelectStmt of a text; None for any other statement."""
    return (_query if len(sql) <= _SHORT else _query.__wrapped__)(sql)


@lru_cache(maxsize=512)
def _query(sql: str) -> Node | None:
    try:
        statement = parse(sql)
    except (SyntaxRefused, TooDeep):
        return None
    return statement[1] if statement is not None and statement[0] == "SelectStmt" else None


_WHOLE = {"int2": "smallint", "int4": "integer", "int8": "bigint"}
_EXISTING_VALUES = frozenset(("A_Const", "ColumnRef", "ParamRef"))
"""The nodes that read an existing value."""
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
