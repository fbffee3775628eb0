"""The columns of a query and the objects that it reads, for views, CREATE TABLE AS, rules and bodies of functions.

Follows parser/analyze.c (transformSelectStmt and its set operations and VALUES), parse_clause.c (FROM), parse_cte.c,
parse_relation.c (look-up of columns, the star) and parse_target.c (names of columns). Types are known only where they
are written: those of plain columns, casts and constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.comparisons import MOST_ENTRIES
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, TYPE
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.query_dependencies.references import (
    NamespaceItem,
    OutputColumn,
    Outputs,
    QueryReading,
    References,
    Scope,
    apply_aliases,
    columns_of,
    common_output,
    field_of,
    result_columns,
)
from pubcheck.postgres.ddl.types import (
    DEFAULT_COLLATION,
    UNSEEN_COLLATION,
    collation_of,
    named_collation,
    type_collation,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BOOL, INT4, INT8, NUMERIC, RECORD, RECORD_ARRAY, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import figure_name, find, names, parts
from pubcheck.postgres.session import Session

_JSON_FUNCTIONS = {"JSON_EXISTS_OP": "json_exists", "JSON_QUERY_OP": "json_query", "JSON_VALUE_OP": "json_value"}


def read_query(
    session: Session, query: Node, function: str | None = None, rule_of: Relation | None = None
) -> QueryReading:
    """Return the columns and dependencies of a SELECT.

    In the body of a ``function`` a name that is not a column may be a parameter. In an action of a rule (``rule_of``
    this relation) OLD and NEW are rows of the relation.

    Raises ServerError if a relation, a type or a column that it needs certainly does not exist.
    """
    reader = _QueryReader(session)
    around = [] if function is None else [NamespaceItem(function, None)]
    if rule_of is not None:
        columns = columns_of(rule_of)
        around += [NamespaceItem(name, columns, 0, rule_of.oid, rule_of.kind != "v", True) for name in ("old", "new")]
    try:
        columns = reader.select(query, Scope({}, [around] if around else []))
    except RecursionError:
        # Sub-selects nested to the edge of what can be decoded: what they read is what they name.
        columns = None
        for _, rv in find(list(parts(query)), "RangeVar"):
            row = session.find_relation(rv)
            if row is not None:
                reader.reading.relations[row.oid] = None
    reader.reading.columns = columns
    return reader.reading


class _QueryReader(References):
    """Reads the statements, FROM clauses and expressions of a query."""

    # Statements.

    def select(self, node: Node, scope: Scope) -> Outputs:
        """transformStmt for the SELECT's node: {"SelectStmt": ...}, or a data-modifying statement's."""
        ((kind, body),) = node.items()
        if kind != "SelectStmt":
            return self._modifying(body, scope)
        return self._select(body, scope)

    def _select(self, body: Node, scope: Scope) -> Outputs:
        if "withClause" in body:
            scope = self._with(body["withClause"], scope)
        if body.get("op", "SETOP_NONE") != "SETOP_NONE":
            return self._set_operation(body, scope)
        if "valuesLists" in body:
            rows = [row["List"].get("items", []) for row in body["valuesLists"]]
            self._expressions(rows, scope)
            return [OutputColumn(f"column{number}") for number in range(1, len(rows[0]) + 1)]
        items: list[NamespaceItem] = []
        star: Outputs = []
        scope = scope.within(items)
        for entry in body.get("fromClause", ()):
            columns, visible = self._from(entry, scope)
            star = None if star is None or columns is None else star + columns
            items += visible
        outputs: Outputs = []
        for target in body.get("targetList", ()):
            target_columns = self._target(target["ResTarget"], star, scope)
            outputs = None if outputs is None or target_columns is None else outputs + target_columns
            if outputs is not None and len(outputs) > MOST_ENTRIES:
                raise ServerError("54011", f"target lists can have at most {MOST_ENTRIES} entries")
        for clause in ("whereClause", "groupClause", "havingClause", "windowClause", "limitOffset", "limitCount"):
            if clause in body:
                self._expressions(body[clause], scope, tolerant=clause == "groupClause")
        for clause in ("sortClause", "distinctClause"):
            if clause in body:
                self._sorted(body[clause], outputs, scope)
        return outputs

    def _set_operation(self, body: Node, scope: Scope) -> Outputs:
        """UNION and its like: names of the leftmost, types where all agree. Chains lean left and may be long."""
        arms: list[Node] = []
        while body.get("op", "SETOP_NONE") != "SETOP_NONE" and (not arms or "withClause" not in body):
            arms.append(body["rarg"])
            body = body["larg"]
        outputs = self._select(body, scope)
        for arm in reversed(arms):
            right_outputs = self._select(arm, scope)
            if outputs is None:
                continue
            if right_outputs is None:
                outputs = [OutputColumn(left.name) for left in outputs]
                continue
            if len(outputs) != len(right_outputs):
                raise ServerError("42601", "each set operation query must have the same number of columns")
            outputs = [common_output(left, right) for left, right in zip(outputs, right_outputs, strict=True)]
        return outputs

    def _modifying(self, body: Node, scope: Scope) -> Outputs:
        """Read INSERT, UPDATE, DELETE or MERGE inside a WITH. RETURNING has known columns only for plain names."""
        self.reading.modifies = True
        row = self._relation(body["relation"]) if "relation" in body else None
        returning = body.get("returningClause", {}).get("exprs", ())
        if row is None or "fromClause" in body or "usingClause" in body or "sourceRelation" in body:
            return None
        item = self._item_of(row, body["relation"])
        outputs: Outputs = []
        for target in returning:
            columns = self._target(target["ResTarget"], item.columns, scope.within([item]))
            outputs = None if outputs is None or columns is None else outputs + columns
        return outputs

    def _with(self, clause: Node, scope: Scope) -> Scope:
        visible = Scope(dict(scope.ctes), scope.levels)
        recursive = clause.get("recursive", False)
        parts = [item["CommonTableExpr"] for item in clause["ctes"]]
        if recursive:
            # Any of them may be named by any other; forward references stay unknown.
            visible.ctes.update((part["ctename"], None) for part in parts)
        for part in parts:
            name, aliases = part["ctename"], names(part.get("aliascolnames", ()))
            query = part["ctequery"]
            body = query.get("SelectStmt", {})
            if recursive and body.get("op") == "SETOP_UNION":
                # The non-recursive arm settles names (and types) for the arm that refers to them.
                inner = self._with(body["withClause"], visible) if "withClause" in body else visible
                visible.ctes[name] = inner.ctes[name] = apply_aliases(self._select(body["larg"], inner), aliases)
                self._select(body["rarg"], inner)
            else:
                visible.ctes[name] = apply_aliases(self.select(query, visible), aliases)
            columns = visible.ctes[name]
            if columns is not None:
                extra = []
                if "search_clause" in part:
                    search = part["search_clause"]
                    kind = RECORD if search.get("search_breadth_first") else RECORD_ARRAY
                    extra.append(OutputColumn(search["search_seq_column"], kind))
                if "cycle_clause" in part:
                    cycle = part["cycle_clause"]
                    extra += [
                        OutputColumn(cycle["cycle_mark_column"]),
                        OutputColumn(cycle["cycle_path_column"], RECORD_ARRAY),
                    ]
                visible.ctes[name] = columns + extra
        return visible

    # FROM.

    def _from(self, entry: Node, scope: Scope) -> tuple[Outputs, list[NamespaceItem]]:
        """(what the star gives, what can be named) of one item of FROM."""
        ((kind, body),) = entry.items()
        if kind == "JoinExpr":
            return self._join(body, scope)
        item = self._entry(kind, body, scope)
        return item.columns, [item]

    def _entry(self, kind: str, body: Node, scope: Scope) -> NamespaceItem:
        if kind == "RangeTableSample":
            self._expressions(body.get("args"), scope)
            return self._entry("RangeVar", body["relation"]["RangeVar"], scope)
        alias = body.get("alias", {})
        aliases = names(alias.get("colnames", ()))
        if kind == "RangeVar":
            if "schemaname" not in body and body["relname"] in scope.ctes:
                return NamespaceItem(
                    alias.get("aliasname", body["relname"]), apply_aliases(scope.ctes[body["relname"]], aliases)
                )
            return self._item_of(self._relation(body), body)
        if kind == "RangeSubselect":
            return NamespaceItem(
                alias.get("aliasname", ""), apply_aliases(self.select(body["subquery"], scope), aliases)
            )
        if kind == "RangeFunction":
            return self._function(body, alias, aliases, scope)
        if kind == "RangeTableFunc":
            self._expressions([body.get("docexpr"), body.get("rowexpr")], scope)
            parts = [part["RangeTableFuncCol"] for part in body.get("columns", ())]
            return NamespaceItem(
                alias.get("aliasname", "xmltable"),
                apply_aliases([self._defined(part, part["colname"], INT4) for part in parts], aliases),
            )
        if kind == "JsonTable":
            self._expressions([body.get("context_item"), body.get("passing")], scope)
            return NamespaceItem(alias.get("aliasname", "json_table"), apply_aliases(self._json_columns(body), aliases))
        if kind == "GraphTable":
            self._relation(body["graph"])
        return NamespaceItem(alias.get("aliasname", ""), None)

    def _json_columns(self, body: Node) -> list[OutputColumn]:
        """Columns of one level first, those of its NESTED paths after them (parse_jsontable.c)."""
        columns: list[OutputColumn] = []
        levels = [body]
        while levels:
            parts = [part["JsonTableColumn"] for part in levels.pop().get("columns", ())]
            plain = [part for part in parts if part["coltype"] != "JTC_NESTED"]
            columns += [self._defined(part, part["name"], INT4) for part in plain]
            levels += [part for part in reversed(parts) if part["coltype"] == "JTC_NESTED"]
        return columns

    def _defined(self, part: Node, name: str, otherwise: int = 0) -> OutputColumn:
        """A column that a column definition describes."""
        if "typeName" not in part:
            return OutputColumn(name, otherwise)
        oid, typmod = self._type(part["typeName"])
        return OutputColumn(name, oid, collation_of(self.session, part.get("collClause"), oid), None, typmod)

    def _join(self, body: Node, scope: Scope) -> tuple[Outputs, list[NamespaceItem]]:
        left, left_items = self._from(body["larg"], scope)
        right, right_items = self._from(body["rarg"], scope.within(left_items))
        visible = left_items + right_items
        columns: Outputs = None
        merged: list[OutputColumn] = []
        if left is not None and right is not None:
            if body.get("isNatural"):
                right_names = {column.name for column in right}
                using = [column.name for column in left if column.name in right_names]
            else:
                using = names(body.get("usingClause", ()))
            for name in using:
                left_column = next((column for column in left if column.name == name), None)
                right_column = next((column for column in right if column.name == name), None)
                if left_column is None or right_column is None:
                    message = 'column "{column}" specified in USING clause does not exist'
                    raise ServerError("42703", message, column=name)
                for column in (left_column, right_column):
                    self._use(column)
                whole = common_output(left_column, right_column)
                source = left_column.source if whole.type and body.get("jointype") != "JOIN_FULL" else None
                merged.append(replace(whole, source=source))
            left_rest = [column for column in left if column.name not in using]
            columns = merged + left_rest + [column for column in right if column.name not in using]
        if "quals" in body:
            self._expressions(body["quals"], scope.within(visible))
        if "alias" in body:
            columns = apply_aliases(columns, names(body["alias"].get("colnames", ())))
            return columns, [NamespaceItem(body["alias"]["aliasname"], columns)]
        if "join_using_alias" in body:
            visible = [
                *visible,
                NamespaceItem(body["join_using_alias"]["aliasname"], None if columns is None else merged),
            ]
        return columns, visible

    def _function(self, body: Node, alias: Node, aliases: list[str], scope: Scope) -> NamespaceItem:
        """Functions in FROM (addRangeTableEntryForFunction)."""
        columns: Outputs = []
        first = ""
        several = len(body["functions"]) > 1
        for function in body["functions"]:
            call, *definitions = function["List"]["items"]
            self._expressions(call, scope)
            name = figure_name(call)[0]
            first = first or name
            outputs: Outputs
            if definitions and definitions[0]:
                outputs = self._definitions(definitions[0]["List"]["items"])
            elif "coldeflist" in body:
                outputs = self._definitions(body["coldeflist"])
            else:
                outputs = result_columns(self.session, call, name if several else alias.get("aliasname", name))
            columns = None if columns is None or outputs is None else columns + outputs
        if columns is not None and body.get("ordinality"):
            columns.append(OutputColumn("ordinality", INT8))
        return NamespaceItem(alias.get("aliasname", first), apply_aliases(columns, aliases))

    def _definitions(self, items: list[Node]) -> Outputs:
        return [self._defined(item["ColumnDef"], item["ColumnDef"]["colname"]) for item in items]

    # The select list.

    def _target(self, target: Node, star: Outputs, scope: Scope) -> Outputs:
        """One item of a select list, or of RETURNING, as columns (transformTargetList)."""
        value = target["val"]
        ((kind, body),) = value.items()
        if kind == "ColumnRef" and "A_Star" in body["fields"][-1]:
            columns = star if len(body["fields"]) == 1 else self._star(names(body["fields"][:-1]), scope)
            for column in columns or ():
                self._use(column)
            return columns
        if kind == "A_Indirection" and "A_Star" in body["indirection"][-1]:
            self._expressions(value, scope)
            return self._fields(body, scope)
        name = target.get("name") or _name_of(kind, body, value)
        if kind == "ColumnRef":
            output = self._column(body, scope)
            return [OutputColumn(name) if output is None else replace(output, name=name)]
        if kind == "SubLink" and body["subLinkType"] == "EXPR_SUBLINK":
            inner = self.select(body["subselect"], scope)
            # FigureColname looks at the written target; a star gives its first column no name here.
            return [replace(inner[0], name=name, source=None) if inner and len(inner) == 1 else OutputColumn(name)]
        self._expressions(value, scope)
        return [replace(self._written(value, scope), name=name)]

    def _fields(self, body: Node, scope: Scope) -> Outputs:
        """``(expression).*``: the columns of a function's composite result, of a whole row or of a composite column."""
        argument = body["arg"]
        if len(body["indirection"]) > 1:
            return None
        if "FuncCall" in argument:
            return result_columns(self.session, argument, "")
        if "ColumnRef" not in argument:
            return None
        column = self._column(argument["ColumnRef"], scope)
        if column is None or column.source is None:
            path = names(argument["ColumnRef"]["fields"])
            item = self._item(path, scope)
            return item.columns if item is not None and item.columns is not None else None
        row = self.session.catalog.types.get(column.type)
        relation = self.session.catalog.relations.get(row.relation) if row is not None and row.kind == "c" else None
        return None if relation is None else [field_of(column) for column in relation.live()]

    def _written(self, value: Node, scope: Scope) -> OutputColumn:
        """Type, modifiers and collation of an expression, as far as they are written down; without a name."""
        casts: list[Node] = []
        while "TypeCast" in value or "CollateClause" in value:
            casts.append(value)
            ((_, body),) = value.items()
            value = body["arg"]
        ((kind, body),) = value.items()
        column = self._column(body, scope) if kind == "ColumnRef" and casts else None
        literal = kind == "A_Const" and ("sval" in body or "isnull" in body)
        output = column or OutputColumn("", self._written_type(kind, body))
        if output.type == TEXT and column is None:
            output = replace(output, collation=DEFAULT_COLLATION)
        for cast in reversed(casts):
            if "CollateClause" in cast:
                chosen = named_collation(self.session, names(cast["CollateClause"]["collname"]))
                output = replace(output, collation=chosen)
                continue
            oid, typmod = self._type(cast["TypeCast"]["typeName"])
            collation = type_collation(self.session, oid)
            if collation and not literal:
                # What is collatable below gives its own; a domain says it itself.
                domain = oid >= FIRST_NORMAL_OID and collation != DEFAULT_COLLATION
                below = output.collation if output.type else UNSEEN_COLLATION
                collation = collation if domain or not below else below
            output, literal = OutputColumn("", oid, collation, None, typmod), False
        return output

    def _written_type(self, kind: str, body: Node) -> int:
        if kind == "RowExpr":
            return RECORD
        if kind in ("NullTest", "BooleanTest", "BoolExpr"):
            return BOOL
        if kind == "A_Const":
            if "ival" in body:
                return INT4
            if "boolval" in body:
                return BOOL
            if "sval" in body or body.get("isnull"):
                return TEXT  # resolveTargetListUnknowns
            if "fval" in body:
                digits = body["fval"].get("fval", "").lstrip("0")
                # Digits that an int4 cannot hold reach the lexer as a float (make_const tries int8 first).
                return INT8 if digits.isdigit() and len(digits) < 20 and int(digits) < 1 << 63 else NUMERIC
        return 0

    # Expressions.

    def _sorted(self, clauses: list[Node], outputs: Outputs, scope: Scope) -> None:
        """ORDER BY and DISTINCT ON: a bare name is an output column's name first (findTargetlistEntrySQL92)."""
        results = {output.name for output in outputs or ()}
        for clause in clauses:
            expression = clause.get("SortBy", {}).get("node", clause)
            fields = expression.get("ColumnRef", {}).get("fields", ())
            bare = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
            if bare is not None and (outputs is None or bare in results):
                continue
            self._expressions(expression, scope)

    def _expressions(self, tree: Any, scope: Scope, *, tolerant: bool = False) -> None:
        """Note what expressions use. ``tolerant``: a name may be one of the select list's (GROUP BY)."""
        stack = [tree]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                stack += item
                continue
            if not isinstance(item, dict):
                continue
            for key, value in item.items():
                if key == "ColumnRef":
                    self._column(value, scope, tolerant=tolerant)
                elif key == "SelectStmt":
                    self._select(value, scope)
                elif key == "TypeCast":
                    self._note(TYPE, self.session.type_oid(value["typeName"]))
                    stack.append(value.get("arg"))
                elif key == "FuncCall":
                    self._called(value)
                    stack.append({part: below for part, below in value.items() if part != "funcname"})
                elif isinstance(value, (dict, list)):
                    stack.append(value)


def _name_of(kind: str, body: Node, value: Node) -> str:
    """FigureColname."""
    if kind == "JsonFuncExpr":
        return _JSON_FUNCTIONS.get(body["op"], "?column?")
    if kind == "XmlExpr":
        # IS DOCUMENT is the one operator among them.
        return "?column?" if body["op"] == "IS_DOCUMENT" else body["op"].removeprefix("IS_").lower()
    return figure_name(value)[0] or "?column?"


CHANGING = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt"))


def columns_of_change(kind: str, body: Node, target: Relation) -> list[str]:
    """Return the columns of the changed table that a command names, or fills by their order."""
    targets: Sequence[Node] = body.get("cols") or body.get("targetList") or ()
    columns = [item["ResTarget"]["name"] for item in targets]
    if kind == "InsertStmt":
        return columns or [column.name for column in target.live()[: width_of_query(body.get("selectStmt"))]]
    if "fromClause" in body or "usingClause" in body:
        return columns
    known = (target.name, body["relation"].get("alias", {}).get("aliasname"))
    for _, reference in find([body.get("whereClause"), body.get("targetList")], "ColumnRef"):
        fields = [field["String"]["sval"] for field in reference["fields"] if "String" in field]
        if len(fields) == len(reference["fields"]) and (len(fields) == 1 or fields[0] in known):
            columns.append(fields[-1])
    return columns


def query_of_change(kind: str, statement: Node) -> Node | None:
    """Return a SELECT that reads what a statement does."""
    if kind == "InsertStmt":
        query: Node = statement.get("selectStmt", {}).get("SelectStmt", {})
        clause = {key: statement[key] for key in ("withClause",) if key in statement}
        if not query:
            return None
        return {"SelectStmt": query | clause} if "withClause" not in query else {"SelectStmt": query}
    if kind not in CHANGING:
        return {kind: statement} if kind == "SelectStmt" else None
    sources = (*statement.get("fromClause", ()), *statement.get("usingClause", ()))
    select = {
        "targetList": [{"ResTarget": {"val": item["ResTarget"]["val"]}} for item in statement.get("targetList", ())],
        "fromClause": [{"RangeVar": statement["relation"]}, *sources],
    }
    return {"SelectStmt": select | {key: statement[key] for key in ("whereClause", "withClause") if key in statement}}


def width_of_query(query: Node | None) -> int:
    """Return the number of columns of an INSERT's query, 0 where a star hides it."""
    body = query["SelectStmt"] if query is not None else {}
    if "valuesLists" in body:
        return len(body["valuesLists"][0]["List"].get("items", ()))
    return 0 if any(True for _ in find(body.get("targetList"), "A_Star")) else len(body.get("targetList", ()))
