"""The queries over the system catalogs for relations, their indexes and constraints (``queries``)."""

from __future__ import annotations

from pubcheck.live.query_parts import (
    COLLATIONS,
    EXTENSIONS,
    FIRST_NORMAL_OID,
    FUNCTIONS,
    OWN_FUNCTIONS,
    RELATIONS,
    TYPES,
    false_if_not,
    join,
    object_of,
    part_of,
    true_if,
    unless,
    uses,
)
from pubcheck.postgres.versions import Major

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
