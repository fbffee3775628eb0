"""Columns of queries, of items of FROM, of functions and of relations, as far as they can be known.

Follows parser/parse_clause.c (merging of columns), parser/parse_relation.c (aliases, functions in FROM) and
utils/fmgr/funcapi.c.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Proc, Relation
from pubcheck.postgres.ddl.type_modifiers import DEFAULT_COLLATION, UNSEEN_COLLATION, type_collation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BOOL, INT8, RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session
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
