"""The queries over the system catalogs for relations, their indexes and constraints (``queries``); and parts that all
queries share: expressions for JSON, and common table expressions."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.postgres.ddl.settings import VALUES
from pubcheck.postgres.versions import Major

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


_UPDATABLE = 1 << 2 | 1 << 4
"""UPDATE and DELETE in the result of pg_relation_is_updatable (nodes/nodes.h: CmdType)."""


def _relation() -> str:
    return object_of(
        "",
        schema="n.nspname",
        name="c.relname",
        oid="c.oid",
        owner="pg_get_userbyid(c.relowner)",
        columns="columns.list",
        persistence=unless("c.relpersistence::text", "'p'"),
        identity=unless("c.relreplident::text", "CASE WHEN c.relkind IN ('r', 'p', 'm') THEN 'd' ELSE 'n' END"),
        partition_key="CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END",
        partition=true_if("c.relispartition"),
        bound="CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END",
        parents="""CASE WHEN c.relispartition OR inh.list IS NOT NULL THEN inh.list END""",
        of_type="oft.ref",
        row_security=true_if("c.relrowsecurity"),
        force_row_security=true_if("c.relforcerowsecurity"),
        owned_by="owned.by",
        identity_of=true_if("owned.identity"),
        extension="x.extname",
        uses="view_uses.list",
        query=f"""CASE WHEN c.relkind = 'v' AND pg_relation_is_updatable(c.oid, false) & {_UPDATABLE} <> 0
            THEN pg_get_viewdef(c.oid) END""",
    ).replace(
        "'kind', ''",
        """'kind', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'f' THEN 'foreign table'
        WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' ELSE 'composite type' END""",
    )


def relations(major: Major) -> str:
    """Return the query for tables, views and sequences with their columns."""
    constraint = "NULL::json"
    joined = ""
    if major.named_not_null:
        constraint = (
            "CASE WHEN nn.oid IS NOT NULL THEN "
            + part_of(
                name="CASE WHEN nn.conname <> r.relname || '_' || a.attname || '_not_null' THEN nn.conname END",
                inherited=unless("nn.coninhcount", "0"),
                local=false_if_not("nn.conislocal"),
                no_inherit=true_if("nn.connoinherit"),
                validated=false_if_not("nn.convalidated"),
            )
            + " END"
        )
        joined = """LEFT JOIN pg_constraint nn ON nn.conrelid = a.attrelid AND nn.contype = 'n'
            AND nn.conkey[1] = a.attnum"""
    column = part_of(
        name="a.attname",
        type="ty.ref",
        typmod=unless("a.atttypmod", "-1"),
        not_null=true_if("a.attnotnull"),
        constraint=constraint,
        identity=unless("a.attidentity::text", "''"),
        generated=unless("a.attgenerated::text", "''"),
        default="pg_get_expr(d.adbin, d.adrelid)",
        collation="CASE WHEN a.attcollation <> ty.typcollation THEN co.ref END",
        storage="CASE WHEN a.attstorage <> ty.typstorage THEN a.attstorage::text END",
        inherited=unless("a.attinhcount", "0"),
        local=false_if_not("a.attislocal"),
        dropped=true_if("a.attisdropped"),
        uses="uses.list",
    )
    relation = _relation()
    return f"""
WITH {TYPES}, {COLLATIONS}, {RELATIONS}, {OWN_FUNCTIONS}, {EXTENSIONS}, {uses("pg_attrdef", "pg_rewrite")},
columns AS (
    SELECT a.attrelid, json_agg({column} ORDER BY a.attnum) AS list
    FROM pg_attribute a JOIN relations r ON r.oid = a.attrelid AND r.relkind IN ('r', 'p', 'f', 'v', 'm', 'c')
    LEFT JOIN types ty ON ty.oid = a.atttypid
    LEFT JOIN collations co ON co.oid = a.attcollation AND a.attcollation <> ty.typcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    {join("uses", "pg_attrdef", "d.oid")}
    {joined}
    WHERE a.attnum > 0 GROUP BY a.attrelid),
inh AS (
    SELECT i.inhrelid, json_agg(r.ref ORDER BY i.inhseqno) AS list
    FROM pg_inherits i JOIN relations r ON r.oid = i.inhparent GROUP BY i.inhrelid),
owned AS (
    SELECT d.objid, json_build_array(r.ref, a.attname) AS by, d.deptype = 'i' AS identity
    FROM pg_depend d JOIN relations s ON s.oid = d.objid AND s.relkind = 'S'
    JOIN relations r ON r.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i'))
SELECT {relation}
FROM pg_class c JOIN relations n ON n.oid = c.oid
LEFT JOIN columns ON columns.attrelid = c.oid
LEFT JOIN inh ON inh.inhrelid = c.oid
LEFT JOIN owned ON owned.objid = c.oid
LEFT JOIN types oft ON oft.oid = c.reloftype AND c.reloftype <> 0
{join("extensions", "pg_class", "c.oid", "x")}
LEFT JOIN pg_rewrite w ON w.ev_class = c.oid AND w.rulename = '_RETURN'
{join("uses", "pg_rewrite", "w.oid", "view_uses")}
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S', 'c')"""


def indexes(major: Major) -> str:
    """Return the query for indexes, with the constraints that they implement."""
    names = """(SELECT json_agg(a.attname ORDER BY k.number) FROM unnest(i.indkey[{}]) WITH ORDINALITY k(attnum, number)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum <> 0)"""
    constraint = (
        "CASE WHEN k.oid IS NOT NULL THEN "
        + part_of(
            oid="k.oid",
            type=unless("k.contype::text", "'u'"),
            deferrable=true_if("k.condeferrable"),
            inherited=unless("k.coninhcount", "0"),
            local=false_if_not("k.conislocal"),
        )
        + " END"
    )
    index = object_of(
        "index",
        schema="r.nspname",
        name="r.relname",
        oid="c.oid",
        owner="pg_get_userbyid(c.relowner)",
        table="t.ref",
        keys=names.format("0:i.indnkeyatts - 1"),
        included=f"CASE WHEN i.indnatts > i.indnkeyatts THEN {names.format('i.indnkeyatts:')} END",
        unique=true_if("i.indisunique"),
        primary=true_if("i.indisprimary"),
        exclusion=true_if("i.indisexclusion"),
        immediate=false_if_not("i.indimmediate"),
        valid=false_if_not("i.indisvalid"),
        identity=true_if("i.indisreplident"),
        nulls_not_distinct=true_if("i.indnullsnotdistinct"),
        method=unless("am.amname::text", "'btree'"),
        parent="parent.ref",
        expressions="pg_get_expr(i.indexprs, i.indrelid)",
        predicate="pg_get_expr(i.indpred, i.indrelid)",
        constraint=constraint,
        extension="x.extname",
        uses="uses.list",
    )
    return f"""
WITH {TYPES}, {RELATIONS}, {OWN_FUNCTIONS}, {EXTENSIONS}, {uses("pg_class")}
SELECT {index} FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN relations r ON r.oid = c.oid
JOIN relations t ON t.oid = i.indrelid JOIN pg_am am ON am.oid = c.relam
LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u', 'x')
LEFT JOIN pg_inherits inh ON inh.inhrelid = c.oid LEFT JOIN relations parent ON parent.oid = inh.inhparent
{join("extensions", "pg_class", "c.oid", "x")}
LEFT JOIN uses ON uses.classid = 'pg_class'::regclass AND uses.objid = c.oid AND i.indexprs IS NOT NULL"""


def _constraint(major: Major) -> str:
    names = """(SELECT json_agg(a.attname ORDER BY part.number) FROM unnest({}) WITH ORDINALITY part(attnum, number)
        JOIN pg_attribute a ON a.attrelid = {} AND a.attnum = part.attnum)"""
    enforced = {"enforced": false_if_not("k.conenforced")} if major.enforcement else {}
    return object_of(
        "constraint",
        name="k.conname",
        oid="k.oid",
        table="r.ref",
        type="k.contype",
        keys=names.format("k.conkey", "k.conrelid"),
        expression="pg_get_expr(k.conbin, k.conrelid)",
        references="f.ref",
        referenced=names.format("k.confkey", "k.confrelid"),
        index="CASE WHEN k.contype = 'f' THEN x.ref END",
        on_delete="CASE WHEN k.contype = 'f' THEN " + unless("k.confdeltype::text", "'a'") + " END",
        on_update="CASE WHEN k.contype = 'f' THEN " + unless("k.confupdtype::text", "'a'") + " END",
        deferrable=true_if("k.condeferrable"),
        inherited=unless("k.coninhcount", "0"),
        local=false_if_not("k.conislocal"),
        no_inherit=true_if("k.connoinherit AND k.contype = 'c'"),
        validated=false_if_not("k.convalidated"),
        uses="CASE WHEN k.contype = 'c' THEN uses.list END",
        parent="CASE WHEN pk.oid IS NOT NULL THEN json_build_array(pr.ref, pk.conname) END",
        **enforced,
    )


def constraints(major: Major) -> str:
    """Return the query for CHECK and foreign key constraints, triggers, rules and policies."""
    constraint = _constraint(major)
    trigger = object_of(
        "trigger",
        name="t.tgname",
        oid="t.oid",
        table="r.ref",
        function="fu.ref",
        uses="uses.list",
        enabled=unless("t.tgenabled::text", "'O'"),
    )
    rule = object_of(
        "rule",
        name="w.rulename",
        oid="w.oid",
        table="r.ref",
        instead="""CASE WHEN w.is_instead AND pg_get_expr(w.ev_qual, w.ev_class) IS NULL
            THEN CASE w.ev_type WHEN '2' THEN 'update' WHEN '4' THEN 'delete' END END""",
        uses="uses.list",
        enabled=unless("w.ev_enabled::text", "'O'"),
    )
    policy = object_of("policy", name="p.polname", oid="p.oid", table="r.ref", uses="uses.list")
    event_trigger = object_of(
        "event trigger",
        name="e.evtname",
        oid="e.oid",
        owner="pg_get_userbyid(e.evtowner)",
        event="e.evtevent",
        function="fu.ref",
        tags="to_json(e.evttags)",
        enabled=unless("e.evtenabled::text", "'O'"),
    )
    used = f"""WHERE p.oid >= {FIRST_NORMAL_OID}
        OR p.oid IN (SELECT tgfoid FROM pg_trigger UNION ALL SELECT evtfoid FROM pg_event_trigger)"""
    return f"""
WITH {TYPES}, {RELATIONS}, {FUNCTIONS.format(where=used)},
{uses("pg_constraint", "pg_trigger", "pg_rewrite", "pg_policy")}
SELECT {constraint} FROM pg_constraint k JOIN relations r ON r.oid = k.conrelid
    LEFT JOIN relations f ON f.oid = k.confrelid LEFT JOIN relations x ON x.oid = k.conindid
    LEFT JOIN pg_constraint pk ON pk.oid = k.conparentid AND k.conparentid <> 0
    LEFT JOIN relations pr ON pr.oid = pk.conrelid
    {join("uses", "pg_constraint", "k.oid")}
    -- Not those that a foreign key to a partitioned table has for each of its partitions.
    WHERE k.contype IN ('c', 'f', 't') AND (pk.oid IS NULL OR pk.conrelid <> k.conrelid)
UNION ALL SELECT {trigger} FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid
    JOIN functions fu ON fu.oid = t.tgfoid {join("uses", "pg_trigger", "t.oid")} WHERE NOT t.tgisinternal
UNION ALL SELECT {rule} FROM pg_rewrite w JOIN relations r ON r.oid = w.ev_class
    {join("uses", "pg_rewrite", "w.oid")} WHERE w.oid >= {FIRST_NORMAL_OID} AND w.ev_type <> '1'
UNION ALL SELECT {policy} FROM pg_policy p JOIN relations r ON r.oid = p.polrelid
    {join("uses", "pg_policy", "p.oid")}
UNION ALL SELECT {event_trigger} FROM pg_event_trigger e JOIN functions fu ON fu.oid = e.evtfoid"""
