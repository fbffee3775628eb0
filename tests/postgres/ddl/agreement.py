"""Scripts played on a server and here: the same refusals in the same words, and the same catalog afterwards."""

from __future__ import annotations

from typing import Any

import psycopg
from msgspec import Struct
from pglast.parser import split

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import parse
from pubcheck.postgres.session import Session
from tests.support.servers import ROLES, Server, decoded, execute

DATABASE = "the_database"
"""Stands for the database's name in a script."""


class Told(Struct, frozen=True):
    """What was said to one statement; ``key`` is ours alone."""

    text: str
    sqlstate: str | None = None
    message: str | None = None
    detail: str | None = None
    hint: str | None = None
    notices: tuple[str, ...] = ()
    key: str | None = None


def play(session: Session, script: str) -> list[Told]:
    """Apply each statement; a refused one leaves no trace."""
    told = []
    for number, text in enumerate(split(script)):
        parsed = parse(text)
        assert parsed is not None
        session.begin_statement(0, number, text)
        mark = session.catalog.journal.mark()
        try:
            apply(session, *parsed)
        except ServerError as error:
            session.catalog.journal.undo(mark)
            session.forget_path()
            told.append(Told(text, error.sqlstate, error.message, error.detail, error.hint, key=error.key))
        else:
            told.append(Told(text, notices=tuple(session.notices)))
    return told


def fold(script: str, major: int = 18, *, complete: bool = True) -> tuple[Session, list[Told]]:
    session = Session(Catalog(major, DATABASE), complete=complete)
    return session, play(session, script)


def last(script: str, major: int = 18, *, complete: bool = True) -> Told:
    """What is said to the last statement of a script."""
    return fold(script, major, complete=complete)[1][-1]


_QUERIES = {
    "relations": """
        SELECT n.nspname, c.relname, c.relkind, c.relreplident, r.rolname,
               CASE WHEN c.relkind IN ('r', 'p', 'c', 'f') THEN
                 (SELECT string_agg(attname || CASE WHEN attnotnull THEN '!' ELSE '' END
                                            || CASE WHEN atthasdef THEN '=' ELSE '' END, ',' ORDER BY attnum)
                  FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) END
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
        WHERE c.oid >= 16384 AND n.nspname !~ '^pg_'
    """,
    "constraints": """
        SELECT conrelid::regclass, conname, contype FROM pg_constraint
        WHERE oid >= 16384 AND contype <> 'n' AND conrelid <> 0
    """,
    "columns": """
        SELECT attrelid::regclass, attname, format_type(atttypid, NULL), atttypmod,
               (SELECT collname FROM pg_collation WHERE oid = attcollation)
        FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
        WHERE c.oid >= 16384 AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'c', 'f', 'v', 'm')
    """,
    "types": """
        SELECT n.nspname, t.typname, t.typtype, t.typnotnull,
               array_to_string(array(SELECT enumlabel FROM pg_enum WHERE enumtypid = t.oid
                                     ORDER BY enumsortorder), ','),
               t.typcategory, t.typispreferred, (SELECT collname FROM pg_collation WHERE oid = t.typcollation),
               t.typsubscript, format_type(nullif(t.typelem, 0), NULL), t.typtypmod,
               format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype
                             WHEN 'r' THEN (SELECT rngsubtype FROM pg_range WHERE rngtypid = t.oid)
                             WHEN 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = t.oid) END, NULL),
               format_type((SELECT rngmultitypid FROM pg_range WHERE rngtypid = t.oid), NULL),
               (SELECT collname FROM pg_range r JOIN pg_collation c ON c.oid = rngcollation WHERE rngtypid = t.oid)
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        LEFT JOIN pg_type e ON e.typarray = t.oid
        LEFT JOIN pg_class c ON c.oid IN (t.typrelid, e.typrelid) AND c.relkind <> 'c'
        WHERE t.oid >= 16384 AND n.nspname !~ '^pg_' AND c.oid IS NULL
    """,
    "functions": """
        SELECT n.nspname, proname, prokind, provolatile, proisstrict, proretset, pronargdefaults,
               array_to_string(array(SELECT format_type(a, NULL) FROM unnest(proargtypes) WITH ORDINALITY u (a, at)
                                     ORDER BY at), ','),
               format_type(prorettype, NULL), format_type(nullif(provariadic, 0), NULL),
               array_to_string(array(SELECT format_type(a, NULL) FROM unnest(proallargtypes) WITH ORDINALITY u (a, at)
                                     ORDER BY at), ',')
        FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE p.oid >= 16384
    """,
    "built-in functions": "SELECT oid, provolatile, proisstrict FROM pg_proc WHERE oid < 16384",
    "schemas": "SELECT nspname FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_' OR nspname = 'public'",
    "publications": "SELECT pubname, rolname FROM pg_publication p JOIN pg_roles r ON r.oid = p.pubowner",
    "members": """
        SELECT pubname, prrelid::regclass, prattrs::text
        FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    """,
    "published schemas": """
        SELECT pubname, pnnspid::regnamespace
        FROM pg_publication_namespace r JOIN pg_publication p ON p.oid = r.pnpubid
    """,
    "operators": """
        SELECT oprnamespace::regnamespace, oprname, format_type(nullif(oprleft, 0), NULL), format_type(oprright, NULL),
               (SELECT nspname || '.' || proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
                WHERE p.oid = oprcode),
               format_type(nullif(oprresult, 0), NULL), (SELECT n.oprname FROM pg_operator n WHERE n.oid = o.oprnegate)
        FROM pg_operator o WHERE oid >= 16384
    """,
    "collations": """
        SELECT collnamespace::regnamespace, collname, collisdeterministic FROM pg_collation WHERE oid >= 16384
    """,
    "casts": """
        SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod,
               (SELECT proname FROM pg_proc WHERE oid = castfunc)
        FROM pg_cast WHERE oid >= 16384
    """,
    "triggers": "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE NOT tgisinternal",
    "policies": "SELECT polrelid::regclass, polname FROM pg_policy",
}


_PARTIAL = ("columns", "built-in functions")
"""Kinds of which only what is known here is compared."""
_HANDLERS = {"a": "array_subscript_handler", "f": "raw_array_subscript_handler", "j": "jsonb_subscript_handler"}


def snapshot(session: Session) -> dict[str, set[tuple[str | None, ...]]]:
    """The catalog as ``_QUERIES`` show a server's, search_path being empty."""
    session.set("search_path", ())
    catalog = session.catalog

    def schema(oid: int) -> str:
        return catalog.namespaces[oid].name

    def relation(oid: int) -> str:
        return f"{schema(catalog.relations[oid].namespace)}.{catalog.relations[oid].name}"

    def type_name(oid: int) -> str | None:
        return format_type(session, oid) if oid else None

    def collation(oid: int) -> str | None:
        return session.syscache.collation(oid).name if oid > 0 else None

    def function(oid: int) -> str | None:
        if not oid:
            return None
        row = session.syscache.proc(oid)
        return f"{schema(row.namespace)}.{row.name}"

    def of_table(row: Type) -> bool:
        item = catalog.types.get(row.element, row) if row.name.startswith("_") else row
        return bool(item.relation) and catalog.relations[item.relation].kind != "c"

    rows: dict[str, list[tuple[Any, ...]]] = {
        "relations": [
            (
                schema(row.namespace),
                row.name,
                row.kind,
                row.identity,
                catalog.roles[row.owner].name,
                ",".join(column.name + "!" * column.not_null + "=" * column.has_default for column in row.columns)
                or None
                if row.kind in "rpcf"
                else None,
            )
            for row in catalog.relations.values()
            if row.oid >= FIRST_NORMAL_OID
        ],
        "constraints": [
            (relation(row.relation), row.name, row.kind) for row in catalog.constraints.values() if row.kind != "n"
        ],
        "types": [
            (
                schema(row.namespace),
                row.name,
                row.kind,
                row.not_null,
                ",".join(row.labels),
                row.category if row.kind != "p" else "P",
                row.preferred,
                collation(row.collation),
                _HANDLERS.get(row.subscript, "-"),
                type_name(row.element),
                row.typmod,
                type_name(row.base),
                type_name(row.multirange),
                collation(row.bounds),
            )
            for row in catalog.types.values()
            if not of_table(row)
        ],
        "functions": [
            (
                schema(row.namespace),
                row.name,
                row.kind,
                row.volatility,
                row.strict,
                row.returns_set,
                row.defaults,
                ",".join(type_name(argument) or "-" for argument in row.arguments),
                type_name(row.returns),
                type_name(row.variadic),
                ",".join(type_name(parameter) or "-" for parameter in row.parameters),
            )
            for row in catalog.procs.values()
            if row.oid >= FIRST_NORMAL_OID
        ],
        "built-in functions": [
            (row.oid, row.volatility, row.strict) for row in catalog.procs.values() if row.oid < FIRST_NORMAL_OID
        ],
        "columns": [
            (relation(row.oid), column.name, type_name(column.type), column.typmod, collation(column.collation))
            for row in catalog.relations.values()
            for column in row.live()
            if row.oid >= FIRST_NORMAL_OID and row.kind in "rpcfvm" and column.type and column.collation >= 0
        ],
        "schemas": [
            (row.name,) for row in catalog.namespaces.values() if row.oid >= FIRST_NORMAL_OID or row.name == "public"
        ],
        "publications": [(row.name, catalog.roles[row.owner].name) for row in catalog.publications.values()],
        "members": [
            (
                catalog.publications[row.publication].name,
                relation(row.relation),
                " ".join(map(str, row.columns)) if row.columns else None,
            )
            for row in catalog.publication_rels.values()
        ],
        "published schemas": [
            (catalog.publications[row.publication].name, schema(row.namespace))
            for row in catalog.publication_namespaces.values()
        ],
        "operators": [
            (
                schema(row.namespace),
                row.name,
                type_name(row.left),
                type_name(row.right),
                function(row.function),
                type_name(row.returns),
                catalog.operators[row.negator].name if row.negator in catalog.operators else None,
            )
            for row in catalog.operators.values()
        ],
        "collations": [(schema(row.namespace), row.name, row.deterministic) for row in catalog.collations.values()],
        "casts": [
            (
                type_name(row.source),
                type_name(row.target),
                row.context,
                row.method,
                session.syscache.proc(row.function).name if row.function else None,
            )
            for row in catalog.casts.values()
        ],
        "triggers": [(relation(row.namespace), row.name) for row in catalog.others.values() if row.kind == "trigger"],
        "policies": [(relation(row.namespace), row.name) for row in catalog.others.values() if row.kind == "policy"],
    }
    return {name: {tuple(map(_text, row)) for row in group} for name, group in rows.items()}


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "t" if value else "f"
    return None if value is None else str(value)


def ask(server: Server, script: str) -> tuple[list[Told], dict[str, set[tuple[str | None, ...]]]]:
    """The server's answers in a database of its own, and its catalog afterwards; roles of ROLES may be used."""
    with server.database(DATABASE) as name, server.connect(name) as conn:
        told = []
        for text in split(script):
            answer = execute(conn, text)
            notices = tuple(
                notice.removeprefix("NOTICE: ") for notice in answer.notices if notice.startswith("NOTICE: ")
            )
            told.append(Told(text, answer.sqlstate, answer.message, answer.detail, answer.hint, notices))
        conn.execute("RESET ROLE")
        conn.execute("SET search_path = ''")
        catalogs = {}
        for kind, query in _QUERIES.items():
            # As the text that the output functions make.
            columns = psycopg.ClientCursor(conn)
            rows = columns.execute(f"SELECT x.* FROM ({query}) AS x").pgresult
            assert rows is not None
            catalogs[kind] = {
                tuple(decoded(rows.get_value(number, column)) for column in range(rows.nfields))
                for number in range(rows.ntuples)
            }
        for role in ROLES:
            conn.execute(f"DROP OWNED BY {role}")
            conn.execute(f"REVOKE {', '.join(other for other in ROLES if other != role)} FROM {role}")
        return told, catalogs


def assert_agrees(server: Server, script: str) -> None:
    """Every statement gives the same SQLSTATE; what is judged, or is 2BP01, and cascades' notices, the same words."""
    theirs, their_catalog = ask(server, script)
    session = Session(Catalog(server.major, DATABASE), complete=True)
    play(session, ";".join(f"CREATE ROLE {role}" for role in ROLES))
    differing = []
    for mine, their in zip(play(session, script), theirs, strict=True):
        same = mine.sqlstate == their.sqlstate
        if mine.key is not None or their.sqlstate == "2BP01":
            same = same and (mine.message, mine.detail, mine.hint) == (their.message, their.detail, their.hint)
        if any("cascades to" in notice for notice in their.notices + mine.notices):
            same = same and mine.notices == their.notices
        if not same:
            differing.append(f"{their.text.strip()}\n  server: {their}\n  ours:   {mine}")
    our_catalog = snapshot(session)
    for kind, rows in their_catalog.items():
        if kind in _PARTIAL:
            rows = rows & our_catalog[kind]
        if rows != our_catalog[kind]:
            only = f"only on the server {rows - our_catalog[kind]}, only here {our_catalog[kind] - rows}"
            differing.append(f"{kind}: {only}")
    assert not differing, f"PostgreSQL {server.major}\n" + "\n".join(differing)
