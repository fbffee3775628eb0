"""SELECT over the system catalogs, constant lists and functions that return sets, as far as the rows are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from pubcheck.postgres.budget import joined
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts, figure_name, names, uncast, walk
from pubcheck.postgres.plpgsql import catalogs
from pubcheck.postgres.plpgsql.catalogs.relations import Row
from pubcheck.postgres.plpgsql.evaluate import Evaluator
from pubcheck.postgres.plpgsql.functions import set_returning
from pubcheck.postgres.plpgsql.values import (
    LIMIT,
    MISSING,
    UNKNOWN,
    UNKNOWN_ROWS,
    Relid,
    Rows,
    Scope,
    SeenRow,
    Value,
    array,
    coerce,
    distinct_rows,
    has_unknown,
    hashable,
    sortable,
    sql_and,
)


class _FromItem(Struct):
    """An item of FROM: its alias, its columns (None: unknown) and its node.

    ``left``: it is on the nullable side of an outer join, with the condition ``on``. ``catalog`` is the name of the
    system catalog that it reads, if any.
    """

    alias: str
    columns: tuple[str, ...] | None
    node: Node
    catalog: str = ""
    left: bool = False
    on: Node | None = None


class _Condition(Struct):
    """A condition of WHERE that AND combines with others, and the aliases that it needs; None for all."""

    node: Node
    needs: frozenset[str] | None


def run(evaluator: Evaluator, node: Node, outer: Scope | None = None) -> Rows:
    """Return the rows of a SelectStmt."""
    try:
        return _Query(evaluator, node, outer).result()
    except Unknowable:
        return UNKNOWN_ROWS


_PLAIN = frozenset(
    (
        "targetList", "fromClause", "whereClause", "limitCount", "limitOption", "op", "sortClause", "distinctClause",
        "valuesLists", "all", "larg", "rarg",
    )
)  # fmt: skip
_AGGREGATES = frozenset(("count", "max", "min", "array_agg", "string_agg", "bool_or", "bool_and", "sum"))


class _Query:
    def __init__(self, evaluator: Evaluator, node: Node, outer: Scope | None) -> None:
        self.evaluator, self.node, self.outer = evaluator, node, outer
        self.open = False
        self.of_catalogs = False
        """Whether all texts are names of a catalog, whose collation is C."""
        self.steps = 0

    def result(self) -> Rows:
        node = self.node
        if set(node) - _PLAIN:
            return UNKNOWN_ROWS
        if "valuesLists" in node:
            rows = [
                tuple(self.evaluator.value(item, self.outer) for item in source["List"]["items"])
                for source in node["valuesLists"]
            ]
            return Rows(
                tuple(f"column{number}" for number in range(1, len(rows[0]) + 1)), [(row, True) for row in rows]
            )
        if "larg" in node:
            return self._union()
        items: list[_FromItem] = []
        conditions: list[Node] = []
        for source in node.get("fromClause", ()):
            if not self._flatten(source, items, conditions):
                return UNKNOWN_ROWS
        if "whereClause" in node:
            conditions.append(node["whereClause"])
        self.of_catalogs = bool(items) and all(item.catalog for item in items)
        needed = [_Condition(source, self._needs(source, items)) for source in conjuncts(*conditions)]
        candidates: list[tuple[tuple[Value, ...], Value, tuple[Value, ...]]] = []
        targets = [target["ResTarget"] for target in node.get("targetList", ())]
        aggregated = any(
            kind == "FuncCall" and names(call["funcname"])[-1] in _AGGREGATES
            for kind, call in walk([target.get("val") for target in targets])
        )
        columns = tuple(self._names(targets, items))
        scopes: list[tuple[Scope, Value]] = []
        for scope, sure in self._joined({}, items, needed, True):
            self._step()
            scopes.append((scope, sure))
        if aggregated:
            return self._aggregates(columns, targets, scopes)
        for scope, sure in scopes:
            for values in self._projected(targets, scope, items):
                keys = [self._key(key["SortBy"]["node"], scope, columns, values) for key in node.get("sortClause", ())]
                candidates.append((values, sure, tuple(keys)))
        return self._finished(columns, candidates)

    def _key(self, node: Node, scope: Scope, columns: tuple[str, ...], values: tuple[Value, ...]) -> Value:
        """Return the sort key: a column of the result by number or name, or an expression
        (findTargetlistEntrySQL92)."""
        number = node.get("A_Const", {}).get("ival", {}).get("ival")
        if number is not None:
            return values[number - 1] if 0 < number <= len(values) else UNKNOWN
        fields = node.get("ColumnRef", {}).get("fields", ())
        if len(fields) == 1 and "String" in fields[0] and columns.count(fields[0]["String"]["sval"]) == 1:
            return values[columns.index(fields[0]["String"]["sval"])]
        return self.evaluator.value(node, scope)

    def _ordered(self, key: tuple[Value, ...]) -> bool:
        """Return whether the order of such keys is known: of names in catalogs, whose collation is C, it is."""
        return sortable(key) or (self.of_catalogs and all(type(value) is str for value in key))

    def _step(self) -> None:
        self.steps += 1
        self.evaluator.budget.spend()
        if self.steps > LIMIT * 20:
            raise Unknowable("a query of so many rows")

    def _union(self) -> Rows:
        node = self.node
        if "sortClause" in node or "limitCount" in node:
            return UNKNOWN_ROWS
        left, right = (run(self.evaluator, node[side], self.outer) for side in ("larg", "rarg"))
        if node.get("op") != "SETOP_UNION":
            return self._common(left, right, node["op"] == "SETOP_INTERSECT")
        rows: list[SeenRow] | None = left.rows + right.rows
        if not node.get("all"):
            rows = distinct_rows(left.rows + right.rows)
        return Rows(left.columns, rows, left.open or right.open) if rows is not None else UNKNOWN_ROWS

    def _common(self, left: Rows, right: Rows, both_of_them: bool) -> Rows:
        """INTERSECT and EXCEPT."""
        if self.node.get("all") or not (left.known and right.known):
            return UNKNOWN_ROWS
        mine, theirs = distinct_rows(left.rows), distinct_rows(right.rows)
        if mine is None or theirs is None:
            return UNKNOWN_ROWS
        right_rows = {hashable(row) for row, _ in theirs}
        rows = [row for row, _ in mine if (hashable(row) in right_rows) is both_of_them]
        # In which order several come nobody knows.
        return Rows(left.columns, [(row, len(rows) == 1) for row in rows])

    # FROM.

    def _flatten(self, node: Node, items: list[_FromItem], conditions: list[Node]) -> bool:
        """Take in something of FROM; False for what is not followed."""
        for kind, body in node.items():
            if kind == "RangeVar":
                items.append(self._table(body))
                return True
            if kind in ("RangeFunction", "RangeSubselect"):
                item = self._derived(kind, body)
                if item is None:
                    return False
                items.append(item)
                return True
            if kind == "JoinExpr" and "usingClause" not in body and not body.get("isNatural") and "alias" not in body:
                if not self._flatten(body["larg"], items, conditions):
                    return False
                count = len(items)
                if body.get("jointype", "JOIN_INNER") == "JOIN_INNER":
                    if "quals" in body:
                        conditions.append(body["quals"])
                    return self._flatten(body["rarg"], items, conditions)
                if body["jointype"] != "JOIN_LEFT" or not self._flatten(body["rarg"], items, conditions):
                    return False
                if len(items) != count + 1:
                    return False
                items[count].left, items[count].on = True, body.get("quals")
                return True
        return False

    def _table(self, node: Node) -> _FromItem:
        schema, name = node.get("schemaname"), node["relname"]
        alias = node.get("alias", {}).get("aliasname", name)
        session = self.evaluator.session
        if schema is None:
            row = session.find_unqualified(name) if not name.startswith("pg_") else None
            schema = "pg_catalog" if row is None else ""
        columns = None if "colnames" in node.get("alias", {}) else catalogs.columns(session, schema, name)
        return _FromItem(alias, columns, node, name if columns is not None else "")

    def _derived(self, kind: str, body: Node) -> _FromItem | None:
        alias = body.get("alias", {})
        renamed = tuple(names(alias.get("colnames", ())))
        if kind == "RangeFunction":
            if body.get("ordinality") or body.get("is_rowsfrom") or len(body["functions"]) != 1:
                return None
            call = body["functions"][0]["List"]["items"][0]
            if "FuncCall" not in call:
                return None
            name = alias.get("aliasname", names(call["FuncCall"]["funcname"])[-1])
            return _FromItem(name, renamed or (name,), body)
        return _FromItem(alias.get("aliasname", "?"), renamed or None, body)

    def _needs(self, node: Node, items: list[_FromItem]) -> frozenset[str] | None:
        """The aliases that an expression reads; None if they are unknown."""
        aliases: set[str] = set()
        for kind, body in walk(node):
            if kind == "SubLink":
                return None
            if kind == "ColumnRef":
                parts = [field["String"]["sval"] for field in body["fields"] if "String" in field]
                if len(parts) > 1:
                    aliases.update(item.alias for item in items if item.alias == parts[-2])
                    continue
                for item in items:
                    if item.columns is None or parts[0] in item.columns:
                        aliases.add(item.alias)
        return frozenset(aliases)

    def _joined(
        self, tables: dict[str, Any], items: list[_FromItem], conditions: list[_Condition], sure: Value
    ) -> Iterator[tuple[Scope, Value]]:
        """Every combination of rows that the conditions do not exclude, with what is known of their truth."""
        scope = Scope(tables, self.outer)
        left: list[_Condition] = []
        for condition in conditions:
            if items and (condition.needs is None or not condition.needs <= tables.keys()):
                left.append(condition)
                continue
            truth = coerce(self.evaluator.value(condition.node, scope), "boolean")
            if truth is False or truth is None:
                return
            sure = sql_and(sure, truth)
        if not items:
            yield scope, sure
            return
        item, rows, closed = self._next(scope, items, left)
        self.open = self.open or not closed
        remaining = [other_item for other_item in items if other_item is not item]
        matched = False
        for row, present in rows:
            self._step()
            joined_tables = {**tables, item.alias: (item.columns or tuple(row), row)}
            truth = True if present else UNKNOWN
            if item.on is not None:
                on = coerce(self.evaluator.value(item.on, Scope(joined_tables, self.outer)), "boolean")
                if on is False or on is None:
                    continue
                truth = sql_and(truth, on)
            matched = matched or truth is True
            yield from self._joined(joined_tables, remaining, left, sql_and(sure, truth))
        if item.left and not matched:
            empty: dict[str, Value] = dict.fromkeys(item.columns or ())
            certain = closed and not rows
            joined_tables = {**tables, item.alias: (item.columns, empty)}
            yield from self._joined(joined_tables, remaining, left, sure if certain else sql_and(sure, UNKNOWN))

    def _next(
        self, scope: Scope, items: list[_FromItem], conditions: list[_Condition]
    ) -> tuple[_FromItem, list[tuple[Row, bool]], bool]:
        """Choose what to join next: the smallest catalog whose rows are all known; else the first item."""
        best: tuple[_FromItem, list[tuple[Row, bool]], bool] | None = None
        for item in items:
            if not item.catalog or item.left:
                if best is None:
                    best = (item, *self._read(item, scope, conditions))
                break
            rows, closed = self._read(item, scope, conditions)
            if best is None or (closed, -len(rows)) > (best[2], -len(best[1])):
                best = (item, rows, closed)
        assert best is not None
        return best

    def _read(self, item: _FromItem, scope: Scope, conditions: list[_Condition]) -> tuple[list[tuple[Row, bool]], bool]:
        if item.catalog:
            wanted_values = self._values_by_column(item, scope, conditions)
            scan = catalogs.scan(self.evaluator.session, item.catalog, wanted_values)
            return list(catalogs.matching(scan.rows, wanted_values)), scan.closed
        body = item.node
        if "functions" in body:
            call = body["functions"][0]["List"]["items"][0]["FuncCall"]
            values = set_returning(self.evaluator, call, scope)
            if values is None or len(item.columns or ()) != 1:
                return [], False
            return [({item.columns[0]: value}, True) for value in values], True  # type: ignore[index]
        if "subquery" in body:
            rows = run(self.evaluator, body["subquery"]["SelectStmt"], scope if body.get("lateral") else self.outer)
            columns = item.columns or rows.columns
            if len(columns) < len(rows.columns):
                columns = columns + rows.columns[len(columns) :]
            item.columns = columns
            return [(dict(zip(columns, values, strict=False)), sure) for values, sure in rows.rows], not rows.open
        return [], False

    def _values_by_column(
        self, item: _FromItem, scope: Scope, conditions: list[_Condition]
    ) -> dict[str, tuple[Value, ...]]:
        """Return the values that equalities require of an item's columns, as far as the other sides are known."""
        values_by_column: dict[str, tuple[Value, ...]] = {}
        for node in (*(condition.node for condition in conditions), *conjuncts(item.on)):
            body = node.get("A_Expr")
            if body is None or names(body["name"])[-1] != "=" or body["kind"] not in _EQUALITIES:
                continue
            sides = [(body["lexpr"], body["rexpr"])]
            if body["kind"] == "AEXPR_OP":
                sides.append((body["rexpr"], body["lexpr"]))
            for column_side, operand in sides:
                column = self._column_of(item, column_side, scope)
                if column is None or column in values_by_column:
                    continue
                if body["kind"] == "AEXPR_IN":
                    values = [self.evaluator.value(operand_item, scope) for operand_item in operand["List"]["items"]]
                else:
                    value = self.evaluator.value(operand, scope)
                    values = array(value) if body["kind"] == "AEXPR_OP_ANY" else [value]
                if (
                    isinstance(values, list)
                    and not has_unknown(values)
                    and all(operand_item is not None for operand_item in values)
                ):
                    values_by_column[column] = tuple(
                        operand_item.oid if isinstance(operand_item, Relid) else operand_item for operand_item in values
                    )
        return values_by_column

    def _column_of(self, item: _FromItem, node: Node, scope: Scope) -> str | None:
        while "TypeCast" in node:
            # A name cast to text says the same.
            type_label = names(node["TypeCast"]["typeName"]["names"])[-1]
            if type_label not in ("text", "name", "varchar"):
                return None
            node = node["TypeCast"]["arg"]
        fields = node.get("ColumnRef", {}).get("fields", ())
        parts = tuple(field["String"]["sval"] for field in fields if "String" in field)
        if not parts or len(parts) != len(fields) or item.columns is None or parts[-1] not in item.columns:
            return None
        if len(parts) > 1:
            return parts[-1] if parts[-2] == item.alias else None
        if self.evaluator.variable(parts) is not MISSING:
            return None
        return parts[0] if not any(parts[0] in (columns or ()) for columns, _ in scope.tables.values()) else None

    # The select list.

    def _names(self, targets: list[Node], items: list[_FromItem]) -> Iterator[str]:
        for target in targets:
            node = target.get("val", {})
            fields = node.get("ColumnRef", {}).get("fields", ())
            if "name" in target:
                yield target["name"]
            elif fields and "A_Star" in fields[-1]:
                for item in items:
                    yield from item.columns or ()
            else:
                yield figure_name(node)[0] or "?column?"

    def _projected(self, targets: list[Node], scope: Scope, items: list[_FromItem]) -> Iterator[tuple[Value, ...]]:
        values: list[Value] = []
        expanded: tuple[int, list[Value]] | None = None
        for target in targets:
            node = target.get("val", {})
            fields = node.get("ColumnRef", {}).get("fields", ())
            if fields and "A_Star" in fields[-1]:
                for item in items:
                    columns, row = scope.tables[item.alias]
                    values += [row.get(column, UNKNOWN) for column in columns or ()]
                continue
            call = node.get("FuncCall")
            if call is not None and names(call["funcname"])[-1] in ("unnest", "generate_series"):
                several = set_returning(self.evaluator, call, scope)
                if several is None or expanded is not None:
                    self.open = True
                    return
                expanded = (len(values), several)
                values.append(None)
                continue
            values.append(self.evaluator.value(node, scope))
        if expanded is None:
            yield tuple(values)
            return
        position, several = expanded
        for value in several:
            yield (*values[:position], value, *values[position + 1 :])

    def _finished(
        self, columns: tuple[str, ...], candidates: list[tuple[tuple[Value, ...], Value, tuple[Value, ...]]]
    ) -> Rows:
        """Return the rows sorted, without duplicates and cut to the limit, as far as that can be known."""
        node = self.node
        keys = node.get("sortClause", ())
        if keys and len(candidates) > 1:
            plain = all(key["SortBy"].get("sortby_dir", "SORTBY_DEFAULT") != "SORTBY_USING" for key in keys)
            if not (plain and all(self._ordered(candidate[2]) for candidate in candidates)):
                keys = ()
            else:
                for position in range(len(keys) - 1, -1, -1):
                    down = keys[position]["SortBy"].get("sortby_dir") == "SORTBY_DESC"
                    candidates.sort(key=_key(position), reverse=down)
        rows: list[tuple[tuple[Value, ...], bool]] = [(values, sure is True) for values, sure, _ in candidates]
        if "distinctClause" in node:
            distinct = distinct_rows(rows) if not any(node["distinctClause"]) else None
            if distinct is None:
                return Rows(columns, [], open=True)
            rows = distinct
        if "limitCount" in node:
            limit = self.evaluator.value(node["limitCount"])
            if not isinstance(limit, int):
                return Rows(columns, rows, open=True)
            if len(rows) > limit:
                # Which ones are kept is known only where all of them are, in an order that is said.
                if self.open or not all(sure for _, sure in rows) or not keys:
                    return Rows(columns, [((UNKNOWN,) * len(columns), sure) for _, sure in rows[:limit]], self.open)
                rows = rows[:limit]
            elif limit == 1 and rows and rows[0][1]:
                # Only one row is returned; another one might precede it.
                return Rows(columns, rows if not self.open else [((UNKNOWN,) * len(rows[0][0]), True)])
        return Rows(columns, rows, self.open)

    def _aggregates(self, columns: tuple[str, ...], targets: list[Node], scopes: list[tuple[Scope, Value]]) -> Rows:
        """Return one row of aggregates; unknown if a row is unknown or may be missing."""
        all_known = not self.open and all(sure is True for _, sure in scopes)
        values: list[Value] = []
        for target in targets:
            node = uncast(target.get("val", {}))
            call = node.get("FuncCall")
            values.append(self._aggregate(call, [scope for scope, _ in scopes]) if all_known and call else UNKNOWN)
            if call is None and all_known:
                values[-1] = self._over_aggregate(node, [scope for scope, _ in scopes])
        if not all_known and len(targets) == 1 and any(sure is True for _, sure in scopes):
            # At least so many: enough for "count(*) > 0".
            values = [self._at_least(targets[0].get("val", {}))]
        return Rows(columns, [(tuple(values), True)])

    def _at_least(self, node: Node) -> Value:
        body = node.get("A_Expr")
        if body is not None and "FuncCall" in body.get("lexpr", {}) and "A_Const" in body.get("rexpr", {}):
            call = body["lexpr"]["FuncCall"]
            limit = self.evaluator.value(body["rexpr"])
            if names(call["funcname"])[-1] == "count" and call.get("agg_star"):
                sign = names(body["name"])[-1]
                if (sign, limit) in ((">", 0), (">=", 1), ("<>", 0)):
                    return True
                if (sign, limit) in (("=", 0), ("<", 1)):
                    return False
        return UNKNOWN

    def _over_aggregate(self, node: Node, scopes: list[Scope]) -> Value:
        """``count(*) > 0`` and its like."""
        body = node.get("A_Expr")
        if body is None or body["kind"] != "AEXPR_OP" or "lexpr" not in body or "FuncCall" not in body["lexpr"]:
            return UNKNOWN
        value = self._aggregate(body["lexpr"]["FuncCall"], scopes)
        if not isinstance(value, int):
            return UNKNOWN
        constant: Node = {"A_Const": {"ival": {"ival": value}}}
        return self.evaluator.value({"A_Expr": {**body, "lexpr": constant}}, self.outer)

    def _aggregate(self, call: Node, scopes: list[Scope]) -> Value:
        name = names(call["funcname"])[-1]
        if "agg_filter" in call or "over" in call or call.get("agg_distinct"):
            return UNKNOWN
        if name == "count" and call.get("agg_star"):
            return len(scopes)
        arguments = call.get("args", ())
        if not arguments:
            return UNKNOWN
        values = [self.evaluator.value(arguments[0], scope) for scope in scopes]
        if "agg_order" in call:
            order = [key["SortBy"] for key in call["agg_order"]]
            keys = [tuple(self.evaluator.value(key["node"], scope) for key in order) for scope in scopes]
            if not all(map(self._ordered, keys)) or any("DESC" in key.get("sortby_dir", "") for key in order):
                return UNKNOWN
            values = [value for _, value in sorted(zip(keys, values, strict=True), key=lambda pair: pair[0])]
        if has_unknown(*values):
            return UNKNOWN
        if name == "count":
            return sum(value is not None for value in values)
        if name == "array_agg":
            return values or None
        if name == "string_agg" and len(arguments) == 2:
            separator = self.evaluator.value(arguments[1], self.outer)
            texts = [value for value in values if value is not None]
            if isinstance(separator, str) and all(isinstance(value, str) for value in texts):
                return joined(separator, texts) if texts else None
            return UNKNOWN
        not_null = [value for value in values if value is not None]
        if not not_null:
            return None
        if name in ("bool_or", "bool_and") and all(isinstance(value, bool) for value in not_null):
            return any(not_null) if name == "bool_or" else all(not_null)
        if name in ("max", "min") and (len(not_null) == 1 or all(isinstance(value, int) for value in not_null)):
            return max(not_null) if name == "max" else min(not_null)
        return UNKNOWN


_EQUALITIES = ("AEXPR_OP", "AEXPR_IN", "AEXPR_OP_ANY")


def _key(position: int) -> Callable[[tuple[Any, Any, tuple[Value, ...]]], Any]:
    return lambda row: row[2][position]
