"""Columns of queries, of items of FROM, of functions and of relations, as far as they can be known; the names in a
query, relations, columns, types and functions, are resolved, and their use is noted.

Follows parser/parse_clause.c (merging of columns), parser/parse_relation.c (names, aliases, functions in FROM) and
utils/fmgr/funcapi.c.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, PROC, RELATION, TEMPORARY, Object
from pubcheck.postgres.catalog.rows import Column, Proc, Relation
from pubcheck.postgres.ddl.sequences import SEQUENCE_FUNCTIONS, sequence_named
from pubcheck.postgres.ddl.types import DEFAULT_COLLATION, UNSEEN_COLLATION, type_collation, typmod_of
from pubcheck.postgres.errors import NO_COLUMN, ServerError
from pubcheck.postgres.oids import BOOL, INT8, RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find, names
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session
from pubcheck.words import word_set, words

_SEQUENCE = (("last_value", INT8), ("log_cnt", INT8), ("is_called", BOOL))


class OutputColumn(Struct, frozen=True):
    """A column of a query or of an item of FROM; ``source`` is the relation and column number that it plainly is.

    ``collation`` and ``typmod`` are meaningful only if the ``type`` is known.
    """

    name: str
    type: int = 0
    collation: int = 0
    source: tuple[int, int] | None = None
    typmod: int = -1


Outputs = list[OutputColumn] | None
"""Columns in order; None when they cannot be known."""


def columns_of(row: Relation) -> Outputs:
    """Return the columns of a relation, as a query that reads it sees them."""
    if row.kind == "S":
        return [OutputColumn(name, oid) for name, oid in _SEQUENCE]
    # The server's own catalogs, and views whose columns are unknown, are kept without columns.
    if not row.seen or (not row.columns and (row.oid < FIRST_NORMAL_OID or row.kind == "v")):
        return None
    return [
        OutputColumn(column.name, column.type, column.collation, (row.oid, column.number), column.typmod)
        for column in row.columns
        if not column.dropped
    ]


def common_output(left: OutputColumn, right: OutputColumn) -> OutputColumn:
    """Return a column of a set operation, or one that USING merges: of the common type, else of none."""
    if left.type != right.type or not left.type:
        return OutputColumn(left.name)
    typmod = left.typmod if left.typmod == right.typmod else -1
    collation = left.collation
    if collation == DEFAULT_COLLATION:
        collation = right.collation
    elif right.collation not in (collation, DEFAULT_COLLATION):
        collation = UNSEEN_COLLATION
    return OutputColumn(left.name, left.type, collation, None, typmod)


def field_of(column: Column) -> OutputColumn:
    """Return a field of a composite value as a column."""
    return OutputColumn(column.name, column.type, column.collation, None, column.typmod)


def apply_aliases(columns: Outputs, aliases: list[str]) -> Outputs:
    """Return the columns with an alias's column names for the first ones."""
    if columns is None or not aliases:
        return columns
    if len(aliases) > len(columns):
        raise ServerError("42P10", f"table has {len(columns)} columns available but {len(aliases)} columns specified")
    return [
        replace(column, name=aliases[position]) if position < len(aliases) else column
        for position, column in enumerate(columns)
    ]


_SCALARS = word_set(
    "generate_series generate_subscripts json_object_keys jsonb_object_keys jsonb_path_query regexp_matches "
    "regexp_split_to_table string_to_table"
)
"""Built-in functions of one column without a name of its own (TYPEFUNC_SCALAR)."""
_ARRAYS = words("json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text")
_OBJECTS = words("json_each json_each_text jsonb_each jsonb_each_text")
_OUTPUTS = {**dict.fromkeys(_ARRAYS, ("value",)), **dict.fromkeys(_OBJECTS, ("key", "value"))}
"""Built-in functions whose OUT parameters name the columns (pg_proc.dat)."""


def result_columns(session: Session, call: Node, name: str) -> Outputs:
    """Return the columns of a function's result; ``name`` is the name of a scalar's column."""
    if "SQLValueFunction" in call:
        return [OutputColumn(name)]
    if "FuncCall" not in call:
        return None
    function = call["FuncCall"]
    candidates = own_functions(session, names(function["funcname"]))
    if candidates:
        return _result_of(session, candidates[0], name) if len(candidates) == 1 else None
    function_name = function["funcname"][-1]["String"]["sval"]
    if function_name in _OUTPUTS:
        return [OutputColumn(column) for column in _OUTPUTS[function_name]]
    if function_name in _SCALARS:
        return [OutputColumn(name)]
    return None


def _result_of(session: Session, proc: Proc, name: str) -> Outputs:
    parameters = zip(proc.modes, proc.argument_names, proc.parameters, strict=False)
    out = [(column, oid) for mode, column, oid in parameters if mode in "obt"]
    if out:
        if not all(column for column, _ in out):
            return None
        return [OutputColumn(column, oid, type_collation(session, oid)) for column, oid in out]
    if proc.returns >= FIRST_NORMAL_OID:
        row = session.catalog.types.get(proc.returns)
        if row is None or row.kind == "d":
            return None
        if row.kind == "c":
            relation = session.catalog.relations.get(row.relation)
            return None if relation is None else columns_of(relation)
    elif proc.returns in (0, RECORD):
        return None
    # The collation of a single value is that of the arguments.
    return [OutputColumn(name, proc.returns, UNSEEN_COLLATION if type_collation(session, proc.returns) else 0)]


def own_functions(session: Session, name: list[str]) -> list[Proc]:
    """Return the unit's own functions that a name can mean."""
    catalog = session.catalog
    if not catalog.procs:
        return []
    if len(name) > 1:
        namespace = catalog.namespace_names.get(name[-2])
        path: tuple[int, ...] = () if namespace is None else (namespace,)
    else:
        path = session.path
    oids = [oid for namespace in path for oid in catalog.proc_names.get((namespace, name[-1]))]
    return [catalog.procs[oid] for oid in oids if catalog.procs[oid].namespace != PG_CATALOG]


class NamespaceItem(Struct, frozen=True):
    """An entry of FROM, as names in an expression refer to it (ParseNamespaceItem).

    ``qualified``: its columns are named only together with it (p_cols_visible).
    """

    name: str
    columns: Outputs
    namespace: int = 0
    relation: int = 0
    system: bool = False
    qualified: bool = False


class Scope(Struct, frozen=True):
    """What a query may name: the queries of WITH, and the entries of FROM, those of the innermost query first."""

    ctes: dict[str, Outputs]
    levels: list[list[NamespaceItem]]

    def within(self, items: list[NamespaceItem]) -> Scope:
        return Scope(self.ctes, [items, *self.levels])


class QueryReading(Struct):
    """The columns and dependencies of a query. ``modifies``: it has an INSERT, UPDATE, DELETE or MERGE inside."""

    columns: Outputs
    relations: dict[int, None]
    uses: dict[Object, None]
    modifies: bool = False
    temporary: bool = False


class References:
    """The names that a query uses. ``reading`` notes the objects that they resolve to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.reading = QueryReading(None, {}, {})

    def _relation(self, rv: Node) -> Relation:
        row = self.session.relation(rv)
        if row.kind in "iIc":
            raise ServerError("42809", f'cannot open relation "{row.name}"')
        self.reading.relations[row.oid] = None
        self.reading.temporary = self.reading.temporary or row.namespace == TEMPORARY
        return row

    def _columns_of(self, row: Relation) -> Outputs:
        if row.namespace != PG_CATALOG or row.oid >= FIRST_NORMAL_OID:
            return columns_of(row)
        builtin_columns = self.session.syscache.builtin.columns(row.name)
        return None if builtin_columns is None else columns_of(replace(row, columns=builtin_columns))

    def _item_of(self, row: Relation, rv: Node) -> NamespaceItem:
        alias = rv.get("alias", {})
        columns = apply_aliases(self._columns_of(row), names(alias.get("colnames", ())))
        return NamespaceItem(
            alias.get("aliasname", row.name), columns, 0 if alias else row.namespace, row.oid, row.kind not in "vc"
        )

    def _type(self, type_name: Node) -> tuple[int, int]:
        """(type, typmod) of a TypeName."""
        oid = self.session.type_oid(type_name)
        return oid, typmod_of(self.session, type_name, oid) if "typmods" in type_name else -1

    def _item(self, qualified: list[str], scope: Scope) -> NamespaceItem | None:
        name = qualified[-1]
        namespace = self.session.catalog.namespace_names.get(qualified[-2]) if len(qualified) > 1 else None
        for items in scope.levels:
            for item in items:
                if item.name == name and (len(qualified) == 1 or item.namespace == namespace):
                    return item
        return None

    def _missing_item(self, qualified: list[str]) -> None:
        """Nothing in FROM is called so; in RETURNING it may be OLD or NEW."""
        if not self.reading.modifies:
            message = 'missing FROM-clause entry for table "{name}"'
            raise ServerError("42P01", message, name=qualified[-1])

    def _star(self, qualified: list[str], scope: Scope) -> Outputs:
        item = self._item(qualified, scope)
        if item is None:
            self._missing_item(qualified)
            return None
        return item.columns

    def _column(self, reference: Node, scope: Scope, *, tolerant: bool = False) -> OutputColumn | None:
        """Resolve a ColumnRef. Raises ServerError 42703 if all objects are known and none has that name."""
        fields = reference["fields"]
        if "A_Star" in fields[-1]:
            for column in (self._star(names(fields[:-1]), scope) if len(fields) > 1 else None) or ():
                self._use(column)
            return None
        path = names(fields)
        name = path[-1]
        if len(path) > 1:
            item = self._item(path[:-1], scope)
            if item is None:
                self._missing_item(path[:-1])
                return None
            levels = [[item]]
        else:
            levels = [[item for item in items if not item.qualified] for items in scope.levels]
        all_known = True
        for items in levels:
            for item in items:
                if item.columns is None:
                    all_known = False
                    continue
                for column in item.columns:
                    if column.name == name:
                        self._use(column)
                        return column
        system = name in SYSTEM_COLUMNS and any(item.system for items in levels for item in items)
        if not all_known or tolerant or system or self.session.blind or self._callable(name):
            return None
        whole = self._item(path, scope) if len(path) == 1 else None
        if whole is not None:
            return OutputColumn(name, 0 if whole.relation else RECORD)
        raise ServerError("42703", NO_COLUMN, location=reference.get("location"), column=".".join(path))

    def _callable(self, name: str) -> bool:
        """``t.f`` may mean ``f(t)`` (ParseFuncOrColumn)."""
        return bool(own_functions(self.session, [name]))

    def _called(self, call: Node) -> None:
        candidates = own_functions(self.session, names(call["funcname"]))
        if len(candidates) == 1:
            self._note(PROC, candidates[0].oid)
        if call["funcname"][-1]["String"]["sval"] in SEQUENCE_FUNCTIONS:
            for _, constant in find(call.get("args", [])[:1], "A_Const"):
                text = constant.get("sval", {}).get("sval")
                sequence = sequence_named(self.session, text) if text else None
                if sequence is not None:
                    self._note(RELATION, sequence.oid)

    def _use(self, column: OutputColumn) -> None:
        if column.source is not None:
            self.reading.uses[(RELATION, *column.source)] = None

    def _note(self, kind: str, oid: int) -> None:
        if oid >= FIRST_NORMAL_OID:
            self.reading.uses[(kind, oid, 0)] = None
