"""Relations made from a query: CREATE VIEW (commands/view.c), CREATE TABLE AS, CREATE MATERIALIZED VIEW and SELECT INTO
(commands/createas.c)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.namespace_items import Output as Analysed
from pubcheck.postgres.analysis.parse_state import NOTHING
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, NORMAL, RELATION, TEMPORARY, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation, Shown
from pubcheck.postgres.ddl.assumed_relations import adopt_keys, adopt_members
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.deletion import drop_at_commit
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.query_dependencies import read_query
from pubcheck.postgres.ddl.query_dependencies.references import OutputColumn, Outputs, QueryReading
from pubcheck.postgres.ddl.storage import refuse_parameters, refuse_table_storage
from pubcheck.postgres.ddl.types import UNSEEN_COLLATION, free_row_type_name
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import RECORD, RECORD_ARRAY
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.parse_tree import find, names, walk
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, difference
from pubcheck.words import word_set


def create_view(session: Session, node: Node) -> None:
    """CREATE [OR REPLACE] [TEMP] [RECURSIVE] VIEW (DefineView). A view of unknown columns is kept without columns.

    Raises ServerError 42P07, 42P16, 42809, 42601, 0A000 and what its query gives rise to.
    """
    query, rv = node["query"], node["view"]
    if "intoClause" in _leftmost(query):
        raise ServerError("0A000", "views must not contain SELECT INTO")
    reading = read_query(session, query)
    if reading.modifies:
        raise ServerError("0A000", "views must not contain data-modifying statements in WITH")
    if rv.get("relpersistence") == "u":
        raise ServerError("42601", "views cannot be unlogged because they do not have storage")
    if reading.temporary and rv.get("relpersistence") != "t":
        session.notices.append(f'view "{rv["relname"]}" will be a temporary view')
        rv = {**rv, "relpersistence": "t"}
    if session.complete and any(kind in _CALLING for kind, _ in walk(query)):
        # Loaded only for views that may be refused for what they call.
        from pubcheck.postgres.ddl.views import with_types

        with_types(session, query, reading.columns)
    aliases = names(node.get("aliases", ()))
    columns = _columns(reading.columns, aliases, "CREATE VIEW specifies more column names than columns", table=False)

    if "options" in node:
        refuse_parameters(session, node["options"], "view")
    namespace, persistence = session.creation_target(rv)
    name = rv["relname"]
    existing = session.relation_in(namespace, name)
    if existing is not None and existing.seen and node.get("replace"):
        row = _replaced(session, existing, columns)
    else:
        row = _new(session, rv, namespace, persistence, "v", columns or (), seen=True)
    _depend(session, row, reading)
    session.catalog.define("view", row.oid, node)
    shown = _shown(session, query["SelectStmt"], reading)
    if shown is not None:
        session.catalog.shown.put(row.oid, shown)
    else:
        session.catalog.shown.remove(row.oid)


_CALLING = ("FuncCall", "A_Expr", "TypeCast")
"""The nodes of a query that the server resolves by the types of their arguments."""


_NOT_UPDATABLE = word_set(
    "distinctClause groupClause havingClause larg limitCount limitOffset lockingClause valuesLists withClause"
)
"""The clauses that an automatically updatable view does not have."""


def _shown(session: Session, query: Node, reading: QueryReading) -> Shown | None:
    """Return the relation below a view whose query has the form of an automatically updatable view."""
    entry = query["fromClause"][0].get("RangeVar") if len(query.get("fromClause", ())) == 1 else None
    if entry is None or reading.columns is None or not query.keys().isdisjoint(_NOT_UPDATABLE):
        return None
    table = session.find_relation(entry)
    if table is None or not table.seen or table.kind not in "rpv" or "colnames" in entry.get("alias", ()):
        return None
    plain: list[bool] = []
    for item in query.get("targetList", ()):
        fields = item["ResTarget"]["val"].get("ColumnRef", {}).get("fields", ({},))
        plain += [True] * len(list(table.live())) if "A_Star" in fields[-1] else [fields != ({},)]
    if len(plain) != len(reading.columns):
        return None
    calls = [call for _, call in find(query.get("targetList", ()), "FuncCall")]
    if any(not call.keys() <= _PLAIN_CALL for call in calls):
        return None
    return Shown(
        table.oid,
        tuple(
            column.source[1] if is_plain and column.source is not None and column.source[0] == table.oid else 0
            for column, is_plain in zip(reading.columns, plain, strict=True)
        ),
        only=not entry.get("inh", False),
        conditions="whereClause" in query,
        calls=tuple(tuple(names(call["funcname"])) for call in calls),
    )


_PLAIN_CALL = frozenset(("funcname", "args", "funcformat", "func_variadic", "location"))


def _replaced(session: Session, existing: Relation, columns: tuple[Column, ...] | None) -> Relation:
    """OR REPLACE: the old columns stay, in name, type and order; new ones may follow (checkViewColumns)."""
    if existing.kind != "v":
        raise ServerError("42809", f'"{existing.name}" is not a view')
    if not session.owns(existing.owner):
        raise ServerError("42501", f"must be owner of view {existing.name}")
    if columns is not None:
        if len(columns) < len(existing.columns):
            raise ServerError("42P16", "cannot drop columns from view")
        for old, new in zip(existing.columns, columns, strict=False):
            if old.name != new.name:
                raise ServerError("42P16", f'cannot change name of view column "{old.name}" to "{new.name}"')
            if difference(old, new) == "type":
                raise ServerError("42P16", f'cannot change data type of view column "{old.name}"')
    session.catalog.forget_dependencies((RELATION, existing.oid))
    row = replace(existing, columns=columns or ())
    session.catalog.relations.put(row.oid, row)
    return row


def create_table_as(session: Session, node: Node) -> None:
    """CREATE TABLE AS and CREATE MATERIALIZED VIEW; a relation whose columns cannot be known is unknown.

    Raises ServerError 42P07, 42701, 42601, 0A000 and what its query gives rise to.
    """
    into, query = node["into"], node["query"]
    materialized = node.get("objtype") == "OBJECT_MATVIEW"
    rv = into["rel"]
    query = _prepared(session, query["ExecuteStmt"]["name"]) if "ExecuteStmt" in query else query
    reading = read_query(session, query) if "SelectStmt" in query else QueryReading(None, {}, {})
    if materialized and reading.modifies:
        raise ServerError("0A000", "materialized views must not use data-modifying statements in WITH")
    if materialized and reading.temporary:
        raise ServerError("0A000", "materialized views must not use temporary tables or views")
    if materialized and rv.get("relpersistence") == "u":
        raise ServerError("0A000", "materialized views cannot be unlogged")
    namespace, persistence = session.creation_target(rv, optional=node.get("if_not_exists", False))
    existing = session.relation_in(namespace, rv["relname"])
    if existing is not None and existing.seen and node.get("if_not_exists"):
        session.notices.append(f'relation "{existing.name}" already exists, skipping')
        return
    aliases = names(into.get("colNames", ()))
    outputs = reading.columns
    if query and not (materialized and outputs is not None):
        # Loaded only where a table is made of a query.
        from pubcheck.postgres.ddl.views import with_types

        outputs = with_types(session, query, outputs)
    columns = _columns(outputs, aliases, "too many column names were specified", table=True)
    drop = into.get("onCommit") == "ONCOMMIT_DROP"
    if drop and persistence != "t":
        raise ServerError("42P16", "ON COMMIT can only be used on temporary tables")
    if (
        materialized
        and namespace == TEMPORARY
        and not into.get("skipData")
        and not session.catalog.major.matviews_filled_by_refresh
    ):
        raise ServerError("42501", "cannot create temporary table within security-restricted operation")
    if "options" in into or "accessMethod" in into or "tableSpaceName" in into:
        refuse_table_storage(session, into, "r")
    kind = "m" if materialized else "r"
    row = _new(session, rv, namespace, persistence, kind, columns or (), seen=columns is not None, drop=drop)
    if materialized:
        _depend(session, row, reading)
    if drop and session.transaction is None:
        # The statement is a transaction of its own.
        drop_at_commit(session)


def _prepared(session: Session, name: str) -> Node:
    """The query that was prepared under a name; nothing of one that is not visible. Raises ServerError 26000."""
    text = session.prepared.get(name)
    if text is None:
        if all_objects_known(session):
            raise ServerError("26000", f'prepared statement "{name}" does not exist')
        return {}
    try:
        _, node = parse(text) or ("", {})
    except (SyntaxRefused, TooDeep):
        return {}
    query: Node = node.get("query", {})
    if query and "SelectStmt" not in query:
        raise ServerError("42809", "prepared statement is not a SELECT")
    return query


def explain(session: Session, node: Node) -> None:
    """EXPLAIN ANALYZE runs what it explains, so that CREATE TABLE AS and SELECT INTO make their relation."""
    analyze = [option["DefElem"] for option in node.get("options", ()) if option["DefElem"]["defname"] == "analyze"]
    argument = analyze[-1].get("arg", {}) if analyze else None
    if argument is None or argument.get("String", {}).get("sval", "true").lower() in ("false", "off"):
        return
    if "Integer" in argument and not argument["Integer"].get("ival", 0):
        return
    query = node["query"]
    if "CreateTableAsStmt" in query:
        create_table_as(session, query["CreateTableAsStmt"])
    elif "SelectStmt" in query:
        select_into(session, query["SelectStmt"])


def select_into(session: Session, node: Node) -> bool:
    """SELECT ... INTO table: true if the SELECT is one. The clause is in the leftmost SELECT of a UNION."""
    into = _leftmost({"SelectStmt": node}).get("intoClause")
    if into is None:
        return False
    create_table_as(session, {"query": {"SelectStmt": _without_into(node)}, "into": into})
    return True


def _without_into(query: Node) -> Node:
    if "larg" in query:
        return {**query, "larg": _without_into(query["larg"])}
    return {key: value for key, value in query.items() if key != "intoClause"}


def _leftmost(query: Node) -> Node:
    body: Node = query.get("SelectStmt", {})
    while "larg" in body:
        body = body["larg"]
    return body


def _columns(outputs: Outputs, aliases: list[str], too_many: str, *, table: bool) -> tuple[Column, ...] | None:
    """The outputs of a query as columns, under the names given for the first of them (CheckAttributeNamesTypes)."""
    if outputs is None:
        return None
    if len(aliases) > len(outputs):
        raise ServerError("42601", too_many)
    columns: dict[str, Column] = {}
    for position, output in enumerate(outputs):
        name = aliases[position] if position < len(aliases) else output.name
        if name in columns:
            raise ServerError("42701", f'column "{name}" specified more than once')
        columns[name] = Column(position + 1, name, output.type, collation=output.collation, typmod=output.typmod)
        if output.type in (RECORD, RECORD_ARRAY):
            raise ServerError("42P16", f'column "{name}" has pseudo-type record')
        if table and name in SYSTEM_COLUMNS:
            raise ServerError("42701", f'column name "{name}" conflicts with a system column name')
    return tuple(columns.values())


def _new(
    session: Session,
    rv: Node,
    namespace: int,
    persistence: str,
    kind: str,
    columns: tuple[Column, ...],
    *,
    seen: bool,
    drop: bool = False,
) -> Relation:
    catalog, name = session.catalog, rv["relname"]
    existing = session.relation_in(namespace, name)
    session.free_name(namespace, name)
    free_row_type_name(session, namespace, name)
    location = rv.get("location", 0)
    row = Relation(
        # One that was only referred to becomes the real thing: what refers to it stays.
        catalog.new_oid() if existing is None else existing.oid,
        name,
        namespace,
        kind,
        session.setting("role"),
        columns=columns,
        persistence=persistence,
        identity="n" if kind == "v" else "d",
        seen=seen,
        on_commit_drop=drop,
        place=session.place(location, len(name.encode())),
    )
    if existing is not None:
        row = adopt_keys(session, existing, row)
    catalog.add_relation(row)
    if existing is not None:
        adopt_members(session, existing, row)
    session.mentions.setdefault(row.oid, location)
    for column in columns:
        if column.type >= FIRST_NORMAL_OID:
            catalog.depend((RELATION, row.oid, column.number), (TYPE, column.type, 0), NORMAL)
    return row


def _depend(session: Session, row: Relation, reading: QueryReading) -> None:
    """A view depends on what its query reads, through its rule _RETURN on the server (rewriteDefine.c)."""
    depender = (RELATION, row.oid, 0)
    for oid in reading.relations:
        session.catalog.depend(depender, (RELATION, oid, 0), NORMAL)
    for used in reading.uses:
        session.catalog.depend(depender, used, NORMAL)


_OF_VALUES = frozenset(("22007", "22008", "22P02", "42725", "42803", "42804", "42846", "42883", "42P20"))
"""The errors that types and values can raise. More is known of names when the query is read."""


@contextmanager
def _for_values() -> Iterator[None]:
    try:
        yield
    except ServerError as error:
        if error.sqlstate not in _OF_VALUES:
            raise Unknowable("the query") from None
        raise


def with_types(session: Session, query: Node, columns: Outputs) -> Outputs:
    """Return the columns with the types from the analysis of the whole query, unchanged if they are unknown.

    Raises ServerError if the server certainly refuses the query.
    """
    certain, analysed = False, None
    nested = Nested(parse_state(session, NOTHING))
    if any("SelectStmt" not in body["ctequery"] for _, body in find(query, "CommonTableExpr")):
        return columns  # what changes data is only read here as part of a query
    with only_certain(session) as basis, suppress(RecursionError), _for_values():
        analysed = analyze_query(nested, query)
        certain = basis.certain
    if not certain or analysed is None or nested.outer:
        return columns
    if columns is None:
        if any(output.type in (0, RECORD, RECORD_ARRAY) for output in analysed):
            return None
        return [OutputColumn(output.name, output.type, output.collation, None, output.typmod) for output in analysed]
    if [output.name for output in analysed] != [output.name for output in columns]:
        return columns
    return [
        replace(column, type=output.type, typmod=output.typmod, collation=output.collation)
        if _adds(column, output)
        else column
        for column, output in zip(columns, analysed, strict=True)
    ]


def _adds(column: OutputColumn, output: Analysed) -> bool:
    """Return whether analysis found more of a column than reading did: its type, or the collation of a string."""
    if not column.type:
        return output.type not in (RECORD, RECORD_ARRAY)
    return column.type == output.type and column.collation == UNSEEN_COLLATION
