"""The parts of the queries over the system catalogs: expressions for JSON, and common table expressions."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.postgres.ddl.settings import VALUES

FIRST_NORMAL_OID = 16384


def quoted(name: str) -> str:
    text = f"{name}::text"
    return f"""CASE WHEN {name} ~ '^[a-z_][a-z0-9_]*$' THEN {text} ELSE '"' || replace({text}, '"', '""') || '"' END"""


def reference(schema: str, name: str) -> str:
    """Return the expression for a reference (``document.reference``)."""
    return f"CASE WHEN {schema} = 'pg_catalog' THEN '' ELSE ({quoted(schema)}) || '.' END || ({quoted(name)})"


def object_of(kind: str, **fields: str) -> str:
    """Return the expression for an object, whose fields are NULL where they have their usual value."""
    return f"json_strip_nulls(json_build_object('kind', '{kind}', {_pairs(fields)}))::text"


def part_of(**fields: str) -> str:
    return f"json_build_object({_pairs(fields)})"


def _pairs(fields: Mapping[str, str]) -> str:
    # An oid becomes a string in JSON unless it is a number first.
    return ", ".join(f"'{name}', {value}{'::int8' * name.endswith('oid')}" for name, value in fields.items())


def unless(value: str, usual: str) -> str:
    return f"nullif({value}, {usual})"


def true_if(condition: str) -> str:
    return f"CASE WHEN {condition} THEN true END"


def false_if_not(condition: str) -> str:
    return f"CASE WHEN NOT {condition} THEN false END"


USER = "NOT LIKE 'pg\\_toast%' AND n.nspname NOT LIKE 'pg\\_temp\\_%'"
SCHEMAS = f"""schemas AS MATERIALIZED (
    SELECT oid, nspname AS name FROM pg_namespace n WHERE n.nspname {USER})"""
TYPES = f"""types AS MATERIALIZED (
    SELECT t.oid, {reference("n.nspname", "t.typname")} AS ref, t.typcollation, t.typstorage
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace)"""
COLLATIONS = f"""collations AS MATERIALIZED (
    SELECT c.oid, {reference("n.nspname", "c.collname")} AS ref
    FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace)"""
RELATIONS = f"""relations AS MATERIALIZED (
    SELECT c.oid, c.relname, c.relkind, {reference("n.nspname", "c.relname")} AS ref, n.nspname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid >= {FIRST_NORMAL_OID} AND n.nspname {USER} AND c.relpersistence <> 't')"""
FUNCTIONS = f"""functions AS MATERIALIZED (
    SELECT p.oid, {reference("n.nspname", "p.proname")} || '(' || coalesce((
        SELECT string_agg(ty.ref, ',' ORDER BY a.number)
        FROM unnest(p.proargtypes) WITH ORDINALITY a(type, number) JOIN types ty ON ty.oid = a.type), '') || ')' AS ref
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace {{where}})"""

_CHANGING = r"publication|\y(create|alter|drop|rename|execute|import|call|do|search_path)\y"
"""The words of a body that may change catalogs (``postgres.ddl.functions``)."""
CHANGING_FUNCTIONS = f"""readable AS MATERIALIZED (
    SELECT p.oid, p.proname::text AS name, p.prosrc, p.prorettype = 'event_trigger'::regtype AS of_event
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.oid >= {FIRST_NORMAL_OID} AND l.lanname IN ('plpgsql', 'sql') AND p.prosqlbody IS NULL
        AND p.prokind IN ('f', 'p') AND NOT EXISTS (SELECT FROM pg_depend d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')),
calls AS MATERIALIZED (
    SELECT DISTINCT p.oid, p.name, lower(called[1]) AS called
    FROM readable p, regexp_matches(p.prosrc, '([a-z_][a-z0-9_]*)\\s*\\(', 'gi') called),
changing AS (
    SELECT p.oid, p.name FROM readable p WHERE p.of_event OR p.prosrc ~* '{_CHANGING}'
    UNION SELECT calls.oid, calls.name FROM calls JOIN changing ON changing.name = calls.called)"""
"""The functions whose body may change catalogs, also by calling another one of them."""
OWN_FUNCTIONS = FUNCTIONS.format(where=f"WHERE p.oid >= {FIRST_NORMAL_OID}")
EXTENSIONS = """extensions AS MATERIALIZED (
    SELECT d.classid, d.objid, e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass)"""
_USES = f"""uses AS MATERIALIZED (
    SELECT d.classid, d.objid, json_agg(DISTINCT used.name ORDER BY used.name) AS list
    FROM pg_depend d
    LEFT JOIN relations r ON d.refclassid = 'pg_class'::regclass AND r.oid = d.refobjid
    LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
    LEFT JOIN functions f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
    CROSS JOIN LATERAL (SELECT coalesce(r.ref || coalesce('.' || {quoted("a.attname")}, ''), f.ref) AS name) used
    WHERE d.deptype = 'n' AND d.refobjid >= {FIRST_NORMAL_OID} AND used.name IS NOT NULL
        AND d.classid IN ({{classes}})
    GROUP BY d.classid, d.objid)"""


def uses(*catalogs: str) -> str:
    """Return the CTE of what objects of these catalogs use. It needs those of relations and of functions."""
    return _USES.format(classes=", ".join(f"'{catalog}'::regclass" for catalog in catalogs))


def join(cte: str, catalog: str, oid: str, alias: str = "") -> str:
    alias = alias or cte
    return f"LEFT JOIN {cte} {alias} ON {alias}.classid = '{catalog}'::regclass AND {alias}.objid = {oid}"


SETTINGS = ", ".join(f"'{name}'" for name in VALUES)


def types_of(array: str) -> str:
    return f"""(SELECT json_agg(ty.ref ORDER BY k.number) FROM unnest({array}) WITH ORDINALITY k(type, number)
        JOIN types ty ON ty.oid = k.type)"""
