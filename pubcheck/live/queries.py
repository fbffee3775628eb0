"""The queries over the system catalogs, whose rows are the objects of a snapshot as JSON.

Each catalog is read whole, and the server writes the JSON: a database with thousands of tables takes as many round
trips as an empty one. All of them need no other right than to read the catalogs that everybody may read.
"""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.postgres.ddl.settings import VALUES
from pubcheck.postgres.versions import Major

FIRST_NORMAL_OID = 16384


def _quoted(name: str) -> str:
    text = f"{name}::text"
    return f"""CASE WHEN {name} ~ '^[a-z_][a-z0-9_]*$' THEN {text} ELSE '"' || replace({text}, '"', '""') || '"' END"""


def _reference(schema: str, name: str) -> str:
    """Return the expression for a reference (``document.reference``)."""
    return f"CASE WHEN {schema} = 'pg_catalog' THEN '' ELSE ({_quoted(schema)}) || '.' END || ({_quoted(name)})"


def _object(kind: str, **fields: str) -> str:
    """Return the expression for an object, whose fields are NULL where they have their usual value."""
    return f"json_strip_nulls(json_build_object('kind', '{kind}', {_pairs(fields)}))::text"


def _part(**fields: str) -> str:
    return f"json_build_object({_pairs(fields)})"


def _pairs(fields: Mapping[str, str]) -> str:
    # An oid becomes a string in JSON unless it is a number first.
    return ", ".join(f"'{name}', {value}{'::int8' * name.endswith('oid')}" for name, value in fields.items())


def _unless(value: str, usual: str) -> str:
    return f"nullif({value}, {usual})"


def _if(condition: str) -> str:
    return f"CASE WHEN {condition} THEN true END"


def _if_not(condition: str) -> str:
    return f"CASE WHEN NOT {condition} THEN false END"


_USER = "NOT LIKE 'pg\\_toast%' AND n.nspname NOT LIKE 'pg\\_temp\\_%'"
_SCHEMAS = f"""schemas AS MATERIALIZED (
    SELECT oid, nspname AS name FROM pg_namespace n WHERE n.nspname {_USER})"""
_TYPES = f"""types AS MATERIALIZED (
    SELECT t.oid, {_reference("n.nspname", "t.typname")} AS ref, t.typcollation, t.typstorage
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace)"""
_COLLATIONS = f"""collations AS MATERIALIZED (
    SELECT c.oid, {_reference("n.nspname", "c.collname")} AS ref
    FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace)"""
_RELATIONS = f"""relations AS MATERIALIZED (
    SELECT c.oid, c.relname, c.relkind, {_reference("n.nspname", "c.relname")} AS ref, n.nspname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid >= {FIRST_NORMAL_OID} AND n.nspname {_USER} AND c.relpersistence <> 't')"""
_FUNCTIONS = f"""functions AS MATERIALIZED (
    SELECT p.oid, {_reference("n.nspname", "p.proname")} || '(' || coalesce((
        SELECT string_agg(ty.ref, ',' ORDER BY a.number)
        FROM unnest(p.proargtypes) WITH ORDINALITY a(type, number) JOIN types ty ON ty.oid = a.type), '') || ')' AS ref
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace {{where}})"""

_CHANGING = r"publication|\y(create|alter|drop|rename|execute|import|call|do|search_path)\y"
"""The words of a body that may change catalogs (``postgres.ddl.functions``)."""
_CHANGING_FUNCTIONS = f"""readable AS MATERIALIZED (
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
_OWN_FUNCTIONS = _FUNCTIONS.format(where=f"WHERE p.oid >= {FIRST_NORMAL_OID}")
_EXTENSIONS = """extensions AS MATERIALIZED (
    SELECT d.classid, d.objid, e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass)"""
_USES = f"""uses AS MATERIALIZED (
    SELECT d.classid, d.objid, json_agg(DISTINCT used.name ORDER BY used.name) AS list
    FROM pg_depend d
    LEFT JOIN relations r ON d.refclassid = 'pg_class'::regclass AND r.oid = d.refobjid
    LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
    LEFT JOIN functions f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
    CROSS JOIN LATERAL (SELECT coalesce(r.ref || coalesce('.' || {_quoted("a.attname")}, ''), f.ref) AS name) used
    WHERE d.deptype = 'n' AND d.refobjid >= {FIRST_NORMAL_OID} AND used.name IS NOT NULL
        AND d.classid IN ({{classes}})
    GROUP BY d.classid, d.objid)"""


def _uses(*catalogs: str) -> str:
    """Return the CTE of what objects of these catalogs use. It needs those of relations and of functions."""
    return _USES.format(classes=", ".join(f"'{catalog}'::regclass" for catalog in catalogs))


def _join(cte: str, catalog: str, oid: str, alias: str = "") -> str:
    alias = alias or cte
    return f"LEFT JOIN {cte} {alias} ON {alias}.classid = '{catalog}'::regclass AND {alias}.objid = {oid}"


_SETTINGS = ", ".join(f"'{name}'" for name in VALUES)


def server(number: int) -> str:
    """Return the query for the server and the database. Settings are those that a connection begins with, and not those
    of the reading transaction."""
    return f"""
SELECT json_build_object(
    'postgres', {number}, 'version', current_setting('server_version'), 'database', d.datname,
    'database_owner', pg_get_userbyid(d.datdba),
    'creators', coalesce((SELECT json_agg(CASE a.grantee WHEN 0 THEN '' ELSE pg_get_userbyid(a.grantee) END
        ORDER BY a.grantee) FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
        WHERE a.privilege_type = 'CREATE' AND a.grantee <> d.datdba), '[]'),
    'encoding', pg_encoding_to_char(d.encoding),
    'collate', d.datcollate, 'ctype', d.datctype, 'wal_level', current_setting('wal_level'),
    'collations', coalesce((SELECT json_agg(DISTINCT c.collname ORDER BY c.collname) FROM pg_collation c
        WHERE c.collnamespace = 'pg_catalog'::regnamespace AND c.collencoding IN (-1, d.encoding)), '[]'),
    'search_path', (SELECT reset_val FROM pg_settings WHERE name = 'search_path'),
    'user_schema', coalesce((SELECT nspname FROM pg_namespace WHERE nspname = current_user), ''),
    'settings', (SELECT json_object_agg(lower(name), reset_val ORDER BY lower(name)) FROM pg_settings
        WHERE lower(name) IN ({_SETTINGS})))::text
FROM pg_database d WHERE d.datname = current_database()"""


def names(major: Major) -> str:
    """Return the query for schemas, roles and their settings, extensions, publications and subscriptions."""
    options = "'inherit', m.inherit_option, 'set', m.set_option," if major.set_role_option else ""
    grants = """(SELECT json_agg(json_build_array(
        CASE a.grantee WHEN 0 THEN '' ELSE pg_get_userbyid(a.grantee) END,
        left(a.privilege_type, 1) || CASE WHEN a.is_grantable THEN '*' ELSE '' END)
        ORDER BY a.grantee, a.privilege_type)
        FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a WHERE a.grantee <> n.nspowner)"""
    schema = _object("schema", name="n.nspname", oid="n.oid", owner="pg_get_userbyid(n.nspowner)", grants=grants)
    role = _object(
        "role",
        name="r.rolname",
        oid="r.oid",
        superuser=_if("r.rolsuper"),
        inherit=_if_not("r.rolinherit"),
        create_role=_if("r.rolcreaterole"),
        create_db=_if("r.rolcreatedb"),
        member_of=f"""(SELECT json_agg(json_build_object('role', pg_get_userbyid(m.roleid), {options}
            'admin', m.admin_option) ORDER BY m.roleid) FROM pg_auth_members m WHERE m.member = r.oid)""",
    )
    setting = _object(
        "default setting",
        name="c.name",
        role="CASE WHEN s.setrole <> 0 THEN pg_get_userbyid(s.setrole) END",
        database=_if("s.setdatabase <> 0"),
        value="c.value",
    )
    extension = _object(
        "extension",
        name="e.extname",
        oid="e.oid",
        owner="pg_get_userbyid(e.extowner)",
        schema="n.nspname",
        version="e.extversion",
    )
    generated = {"generated": _unless("p.pubgencols::text", "'n'")} if major.publish_generated_columns else {}
    sequences = {"all_sequences": _if("p.puballsequences")} if major.publishes_sequences else {}
    excluded = "r.prexcept" if major.publishes_sequences else "false"
    publication = _object(
        "publication",
        name="p.pubname",
        oid="p.oid",
        owner="pg_get_userbyid(p.pubowner)",
        all_tables=_if("p.puballtables"),
        insert=_if_not("p.pubinsert"),
        update=_if_not("p.pubupdate"),
        delete=_if_not("p.pubdelete"),
        truncate=_if_not("p.pubtruncate"),
        via_root=_if("p.pubviaroot"),
        **generated,
        **sequences,
    )
    members = """CASE WHEN r.prattrs IS NOT NULL THEN (SELECT json_agg(a.attname ORDER BY k.number)
        FROM unnest(r.prattrs) WITH ORDINALITY k(attnum, number)
        JOIN pg_attribute a ON a.attrelid = r.prrelid AND a.attnum = k.attnum) END"""
    table = _object(
        "publication table",
        name="p.pubname",
        oid="r.oid",
        table=_reference("n.nspname", "c.relname"),
        columns=members,
        filter="pg_get_expr(r.prqual, r.prrelid)",
    )
    exclusion = _object(
        "publication exclusion", name="p.pubname", oid="r.oid", table=_reference("n.nspname", "c.relname")
    )
    of_schema = _object("publication schema", name="p.pubname", oid="s.oid", schema="n.nspname")
    password = {"password_required": _if_not("s.subpasswordrequired")} if major.subscription_rights else {}
    subscription = _object(
        "subscription",
        name="s.subname",
        oid="s.oid",
        owner="pg_get_userbyid(s.subowner)",
        publications="s.subpublications",
        enabled=_if_not("s.subenabled"),
        slot="s.subslotname",
        binary=_if("s.subbinary"),
        **password,
    )
    return f"""
SELECT {schema} FROM pg_namespace n WHERE n.nspname {_USER}
UNION ALL SELECT {role} FROM pg_roles r WHERE r.oid >= {FIRST_NORMAL_OID} OR r.oid = 10
UNION ALL SELECT {setting} FROM pg_db_role_setting s CROSS JOIN LATERAL (
    SELECT lower(split_part(text, '=', 1)) AS name, substr(text, strpos(text, '=') + 1) AS value
    FROM unnest(s.setconfig) text) c
    WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND c.name IN ('search_path', {_SETTINGS})
UNION ALL SELECT {extension} FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.oid >= {FIRST_NORMAL_OID}
UNION ALL SELECT {publication} FROM pg_publication p
UNION ALL SELECT {table} FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT {excluded}
UNION ALL SELECT {exclusion} FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {excluded}
UNION ALL SELECT {of_schema} FROM pg_publication_namespace s JOIN pg_publication p ON p.oid = s.pnpubid
    JOIN pg_namespace n ON n.oid = s.pnnspid
UNION ALL SELECT {subscription} FROM pg_subscription s
    WHERE s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def types(major: Major) -> str:
    """Return the query for types, functions, operators, casts, collations and operator classes."""
    checks = """(SELECT json_agg(json_build_object('name', k.conname, 'oid', k.oid::int8,
        'expression', pg_get_expr(k.conbin, 0)) ORDER BY k.conname)
        FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')"""
    type_ = _object(
        "type",
        schema="n.name",
        name="t.typname",
        oid="t.oid",
        owner="pg_get_userbyid(t.typowner)",
        type="CASE WHEN t.typisdefined THEN t.typtype ELSE 'p' END",
        array="arr.typname",
        array_oid=_unless("t.typarray::int8", "0"),
        element="element.ref",
        base="coalesce(base.ref, subtype.ref, own.ref)",
        typmod=_unless("t.typtypmod", "-1"),
        not_null=_if("t.typnotnull"),
        labels="(SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid = t.oid)",
        category=_unless("t.typcategory::text", "'U'"),
        preferred=_if("t.typispreferred"),
        collation="co.ref",
        subscript="""CASE t.typsubscript WHEN 0 THEN NULL WHEN 'array_subscript_handler'::regproc THEN 'a'
            WHEN 'raw_array_subscript_handler'::regproc THEN 'f' ELSE 'u' END""",
        multirange="many.ref",
        range_collation="rc.ref",
        checks=checks,
        default="t.typdefault",
        extension="x.extname",
    )
    function = _object(
        "function",
        schema="n.name",
        name="p.proname",
        oid="p.oid",
        owner="pg_get_userbyid(p.proowner)",
        arguments=_types_of("p.proargtypes"),
        type=_unless("p.prokind::text", "'f'"),
        returns="ty.ref",
        returns_set=_if("p.proretset"),
        language="l.lanname",
        volatility=_unless("p.provolatile::text", "'v'"),
        strict=_if("p.proisstrict"),
        definer=_if("p.prosecdef"),
        variadic="(SELECT v.ref FROM types v WHERE v.oid = p.provariadic)",
        defaults=_unless("p.pronargdefaults", "0"),
        modes="to_json(p.proargmodes)",
        argument_names="to_json(p.proargnames)",
        parameters=_types_of("p.proallargtypes"),
        definition="""CASE WHEN p.oid IN (SELECT oid FROM changing) THEN pg_get_functiondef(p.oid) END""",
        extension="x.extname",
        uses="uses.list",
    )
    operator = _object(
        "operator",
        schema="n.name",
        name="o.oprname",
        oid="o.oid",
        owner="pg_get_userbyid(o.oprowner)",
        left="lt.ref",
        right="rt.ref",
        returns="ty.ref",
        function="f.ref",
        extension="x.extname",
        negator=f"({_reference('nn.nspname', 'neg.oprname')}) || '(' || coalesce(nl.ref, '') || ',' || nr.ref || ')'",
    )
    cast = _object(
        "cast",
        name="st.ref || ' AS ' || tt.ref",
        oid="c.oid",
        source="st.ref",
        target="tt.ref",
        function="f.ref",
        context=_unless("c.castcontext::text", "'e'"),
        method=_unless("c.castmethod::text", "'f'"),
    )
    collation = _object(
        "collation",
        schema="n.name",
        name="c.collname",
        oid="c.oid",
        owner="pg_get_userbyid(c.collowner)",
        deterministic=_if_not("c.collisdeterministic"),
        extension="x.extname",
    )
    class_ = _object(
        "operator class",
        schema="n.name",
        name="c.opcname",
        oid="c.oid",
        owner="pg_get_userbyid(c.opcowner)",
        extension="x.extname",
        method="left(am.amname::text, 1)",
        type="ty.ref",
        family=f"({_reference('fn.nspname', 'f.opfname')})",
        operators=f"""(SELECT json_agg(json_build_array(al.ref, ar.ref, a.amopstrategy,
            ({_reference("opn.nspname", "op.oprname")}) || '(' || al.ref || ',' || ar.ref || ')')
            ORDER BY a.amopstrategy, al.ref, ar.ref)
            FROM pg_amop a JOIN types al ON al.oid = a.amoplefttype JOIN types ar ON ar.oid = a.amoprighttype
            JOIN pg_operator op ON op.oid = a.amopopr JOIN pg_namespace opn ON opn.oid = op.oprnamespace
            WHERE a.amopfamily = c.opcfamily AND a.amoppurpose = 's')""",
        functions="""(SELECT json_agg(json_build_array(al.ref, ar.ref, fu.ref) ORDER BY al.ref, ar.ref)
            FROM pg_amproc a JOIN types al ON al.oid = a.amproclefttype JOIN types ar ON ar.oid = a.amprocrighttype
            JOIN functions fu ON fu.oid = a.amproc WHERE a.amprocfamily = c.opcfamily AND a.amprocnum = 1)""",
    )
    used = f"""WHERE p.oid >= {FIRST_NORMAL_OID}
        OR p.oid IN (SELECT oprcode FROM pg_operator WHERE oid >= {FIRST_NORMAL_OID})
        OR p.oid IN (SELECT castfunc FROM pg_cast WHERE oid >= {FIRST_NORMAL_OID})
        OR p.oid IN (SELECT a.amproc FROM pg_amproc a JOIN pg_opclass c ON c.opcfamily = a.amprocfamily
                     WHERE c.oid >= {FIRST_NORMAL_OID} AND a.amprocnum = 1)"""
    own = f"oid >= {FIRST_NORMAL_OID}"
    return f"""
WITH RECURSIVE {_SCHEMAS}, {_TYPES}, {_COLLATIONS}, {_RELATIONS}, {_FUNCTIONS.format(where=used)}, {_EXTENSIONS},
{_CHANGING_FUNCTIONS}, {_uses("pg_proc")}
SELECT {type_} FROM pg_type t JOIN schemas n ON n.oid = t.typnamespace
    LEFT JOIN pg_class c ON c.oid = t.typrelid
    LEFT JOIN pg_type arr ON arr.oid = t.typarray
    LEFT JOIN types element ON element.oid = t.typelem AND t.typelem <> 0
    LEFT JOIN types base ON base.oid = t.typbasetype AND t.typbasetype <> 0
    LEFT JOIN pg_range g ON g.rngtypid = t.oid
    LEFT JOIN types subtype ON subtype.oid = g.rngsubtype
    LEFT JOIN types many ON many.oid = g.rngmultitypid
    LEFT JOIN pg_range mg ON mg.rngmultitypid = t.oid
    LEFT JOIN types own ON own.oid = mg.rngtypid
    LEFT JOIN collations rc ON rc.oid = g.rngcollation
    LEFT JOIN collations co ON co.oid = t.typcollation
    {_join("extensions", "pg_type", "t.oid", "x")}
    WHERE t.{own} AND (c.oid IS NULL OR c.relkind = 'c') AND NOT (t.typcategory = 'A' AND t.typelem <> 0
        AND EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid))
UNION ALL SELECT {function} FROM pg_proc p JOIN schemas n ON n.oid = p.pronamespace
    JOIN pg_language l ON l.oid = p.prolang JOIN types ty ON ty.oid = p.prorettype
    {_join("extensions", "pg_proc", "p.oid", "x")} {_join("uses", "pg_proc", "p.oid")} WHERE p.{own}
UNION ALL SELECT {operator} FROM pg_operator o JOIN schemas n ON n.oid = o.oprnamespace
    LEFT JOIN types lt ON lt.oid = o.oprleft LEFT JOIN types rt ON rt.oid = o.oprright
    LEFT JOIN types ty ON ty.oid = o.oprresult LEFT JOIN functions f ON f.oid = o.oprcode
    LEFT JOIN pg_operator neg ON neg.oid = o.oprnegate AND o.oprnegate <> 0
    LEFT JOIN pg_namespace nn ON nn.oid = neg.oprnamespace
    LEFT JOIN types nl ON nl.oid = neg.oprleft LEFT JOIN types nr ON nr.oid = neg.oprright
    {_join("extensions", "pg_operator", "o.oid", "x")} WHERE o.{own}
UNION ALL SELECT {cast} FROM pg_cast c JOIN types st ON st.oid = c.castsource JOIN types tt ON tt.oid = c.casttarget
    LEFT JOIN functions f ON f.oid = c.castfunc WHERE c.{own}
UNION ALL SELECT {collation} FROM pg_collation c JOIN schemas n ON n.oid = c.collnamespace
    {_join("extensions", "pg_collation", "c.oid", "x")}
    WHERE c.{own} AND c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
UNION ALL SELECT {class_} FROM pg_opclass c JOIN schemas n ON n.oid = c.opcnamespace
    JOIN types ty ON ty.oid = c.opcintype JOIN pg_am am ON am.oid = c.opcmethod
    JOIN pg_opfamily f ON f.oid = c.opcfamily JOIN pg_namespace fn ON fn.oid = f.opfnamespace
    {_join("extensions", "pg_opclass", "c.oid", "x")}
    WHERE c.{own} AND c.opcdefault AND am.amname IN ('btree', 'hash', 'gin', 'gist')"""


def _types_of(array: str) -> str:
    return f"""(SELECT json_agg(ty.ref ORDER BY k.number) FROM unnest({array}) WITH ORDINALITY k(type, number)
        JOIN types ty ON ty.oid = k.type)"""


_UPDATABLE = 1 << 2 | 1 << 4
"""UPDATE and DELETE in the result of pg_relation_is_updatable (nodes/nodes.h: CmdType)."""


def relations(major: Major) -> str:
    """Return the query for tables, views and sequences with their columns."""
    constraint = "NULL::json"
    joined = ""
    if major.named_not_null:
        constraint = (
            "CASE WHEN nn.oid IS NOT NULL THEN "
            + _part(
                name="CASE WHEN nn.conname <> r.relname || '_' || a.attname || '_not_null' THEN nn.conname END",
                inherited=_unless("nn.coninhcount", "0"),
                local=_if_not("nn.conislocal"),
                no_inherit=_if("nn.connoinherit"),
                validated=_if_not("nn.convalidated"),
            )
            + " END"
        )
        joined = """LEFT JOIN pg_constraint nn ON nn.conrelid = a.attrelid AND nn.contype = 'n'
            AND nn.conkey[1] = a.attnum"""
    column = _part(
        name="a.attname",
        type="ty.ref",
        typmod=_unless("a.atttypmod", "-1"),
        not_null=_if("a.attnotnull"),
        constraint=constraint,
        identity=_unless("a.attidentity::text", "''"),
        generated=_unless("a.attgenerated::text", "''"),
        default="pg_get_expr(d.adbin, d.adrelid)",
        collation="CASE WHEN a.attcollation <> ty.typcollation THEN co.ref END",
        storage="CASE WHEN a.attstorage <> ty.typstorage THEN a.attstorage::text END",
        inherited=_unless("a.attinhcount", "0"),
        local=_if_not("a.attislocal"),
        dropped=_if("a.attisdropped"),
        uses="uses.list",
    )
    relation = _object(
        "",
        schema="n.nspname",
        name="c.relname",
        oid="c.oid",
        owner="pg_get_userbyid(c.relowner)",
        columns="columns.list",
        persistence=_unless("c.relpersistence::text", "'p'"),
        identity=_unless("c.relreplident::text", "CASE WHEN c.relkind IN ('r', 'p', 'm') THEN 'd' ELSE 'n' END"),
        partition_key="CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END",
        partition=_if("c.relispartition"),
        bound="CASE WHEN c.relispartition THEN pg_get_expr(c.relpartbound, c.oid) END",
        parents="""CASE WHEN c.relispartition OR inh.list IS NOT NULL THEN inh.list END""",
        of_type="oft.ref",
        row_security=_if("c.relrowsecurity"),
        force_row_security=_if("c.relforcerowsecurity"),
        owned_by="owned.by",
        identity_of=_if("owned.identity"),
        extension="x.extname",
        uses="view_uses.list",
        query=f"""CASE WHEN c.relkind = 'v' AND pg_relation_is_updatable(c.oid, false) & {_UPDATABLE} <> 0
            THEN pg_get_viewdef(c.oid) END""",
    ).replace(
        "'kind', ''",
        """'kind', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'f' THEN 'foreign table'
        WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' ELSE 'composite type' END""",
    )
    return f"""
WITH {_TYPES}, {_COLLATIONS}, {_RELATIONS}, {_OWN_FUNCTIONS}, {_EXTENSIONS}, {_uses("pg_attrdef", "pg_rewrite")},
columns AS (
    SELECT a.attrelid, json_agg({column} ORDER BY a.attnum) AS list
    FROM pg_attribute a JOIN relations r ON r.oid = a.attrelid AND r.relkind IN ('r', 'p', 'f', 'v', 'm', 'c')
    LEFT JOIN types ty ON ty.oid = a.atttypid
    LEFT JOIN collations co ON co.oid = a.attcollation AND a.attcollation <> ty.typcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    {_join("uses", "pg_attrdef", "d.oid")}
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
{_join("extensions", "pg_class", "c.oid", "x")}
LEFT JOIN pg_rewrite w ON w.ev_class = c.oid AND w.rulename = '_RETURN'
{_join("uses", "pg_rewrite", "w.oid", "view_uses")}
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S', 'c')"""


def indexes(major: Major) -> str:
    """Return the query for indexes, with the constraints that they implement."""
    names = """(SELECT json_agg(a.attname ORDER BY k.number) FROM unnest(i.indkey[{}]) WITH ORDINALITY k(attnum, number)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum <> 0)"""
    constraint = (
        "CASE WHEN k.oid IS NOT NULL THEN "
        + _part(
            oid="k.oid",
            type=_unless("k.contype::text", "'u'"),
            deferrable=_if("k.condeferrable"),
            inherited=_unless("k.coninhcount", "0"),
            local=_if_not("k.conislocal"),
        )
        + " END"
    )
    index = _object(
        "index",
        schema="r.nspname",
        name="r.relname",
        oid="c.oid",
        owner="pg_get_userbyid(c.relowner)",
        table="t.ref",
        keys=names.format("0:i.indnkeyatts - 1"),
        included=f"CASE WHEN i.indnatts > i.indnkeyatts THEN {names.format('i.indnkeyatts:')} END",
        unique=_if("i.indisunique"),
        primary=_if("i.indisprimary"),
        exclusion=_if("i.indisexclusion"),
        immediate=_if_not("i.indimmediate"),
        valid=_if_not("i.indisvalid"),
        identity=_if("i.indisreplident"),
        nulls_not_distinct=_if("i.indnullsnotdistinct"),
        method=_unless("am.amname::text", "'btree'"),
        parent="parent.ref",
        expressions="pg_get_expr(i.indexprs, i.indrelid)",
        predicate="pg_get_expr(i.indpred, i.indrelid)",
        constraint=constraint,
        extension="x.extname",
        uses="uses.list",
    )
    return f"""
WITH {_TYPES}, {_RELATIONS}, {_OWN_FUNCTIONS}, {_EXTENSIONS}, {_uses("pg_class")}
SELECT {index} FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN relations r ON r.oid = c.oid
JOIN relations t ON t.oid = i.indrelid JOIN pg_am am ON am.oid = c.relam
LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u', 'x')
LEFT JOIN pg_inherits inh ON inh.inhrelid = c.oid LEFT JOIN relations parent ON parent.oid = inh.inhparent
{_join("extensions", "pg_class", "c.oid", "x")}
LEFT JOIN uses ON uses.classid = 'pg_class'::regclass AND uses.objid = c.oid AND i.indexprs IS NOT NULL"""


def constraints(major: Major) -> str:
    """Return the query for CHECK and foreign key constraints, triggers, rules and policies."""
    names = """(SELECT json_agg(a.attname ORDER BY part.number) FROM unnest({}) WITH ORDINALITY part(attnum, number)
        JOIN pg_attribute a ON a.attrelid = {} AND a.attnum = part.attnum)"""
    enforced = {"enforced": _if_not("k.conenforced")} if major.enforcement else {}
    constraint = _object(
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
        on_delete="CASE WHEN k.contype = 'f' THEN " + _unless("k.confdeltype::text", "'a'") + " END",
        on_update="CASE WHEN k.contype = 'f' THEN " + _unless("k.confupdtype::text", "'a'") + " END",
        deferrable=_if("k.condeferrable"),
        inherited=_unless("k.coninhcount", "0"),
        local=_if_not("k.conislocal"),
        no_inherit=_if("k.connoinherit AND k.contype = 'c'"),
        validated=_if_not("k.convalidated"),
        uses="CASE WHEN k.contype = 'c' THEN uses.list END",
        parent="CASE WHEN pk.oid IS NOT NULL THEN json_build_array(pr.ref, pk.conname) END",
        **enforced,
    )
    trigger = _object(
        "trigger",
        name="t.tgname",
        oid="t.oid",
        table="r.ref",
        function="fu.ref",
        uses="uses.list",
        enabled=_unless("t.tgenabled::text", "'O'"),
    )
    rule = _object(
        "rule",
        name="w.rulename",
        oid="w.oid",
        table="r.ref",
        instead="""CASE WHEN w.is_instead AND pg_get_expr(w.ev_qual, w.ev_class) IS NULL
            THEN CASE w.ev_type WHEN '2' THEN 'update' WHEN '4' THEN 'delete' END END""",
        uses="uses.list",
        enabled=_unless("w.ev_enabled::text", "'O'"),
    )
    policy = _object("policy", name="p.polname", oid="p.oid", table="r.ref", uses="uses.list")
    event_trigger = _object(
        "event trigger",
        name="e.evtname",
        oid="e.oid",
        owner="pg_get_userbyid(e.evtowner)",
        event="e.evtevent",
        function="fu.ref",
        tags="to_json(e.evttags)",
        enabled=_unless("e.evtenabled::text", "'O'"),
    )
    used = f"""WHERE p.oid >= {FIRST_NORMAL_OID}
        OR p.oid IN (SELECT tgfoid FROM pg_trigger UNION ALL SELECT evtfoid FROM pg_event_trigger)"""
    return f"""
WITH {_TYPES}, {_RELATIONS}, {_FUNCTIONS.format(where=used)},
{_uses("pg_constraint", "pg_trigger", "pg_rewrite", "pg_policy")}
SELECT {constraint} FROM pg_constraint k JOIN relations r ON r.oid = k.conrelid
    LEFT JOIN relations f ON f.oid = k.confrelid LEFT JOIN relations x ON x.oid = k.conindid
    LEFT JOIN pg_constraint pk ON pk.oid = k.conparentid AND k.conparentid <> 0
    LEFT JOIN relations pr ON pr.oid = pk.conrelid
    {_join("uses", "pg_constraint", "k.oid")}
    -- Not those that a foreign key to a partitioned table has for each of its partitions.
    WHERE k.contype IN ('c', 'f', 't') AND (pk.oid IS NULL OR pk.conrelid <> k.conrelid)
UNION ALL SELECT {trigger} FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid
    JOIN functions fu ON fu.oid = t.tgfoid {_join("uses", "pg_trigger", "t.oid")} WHERE NOT t.tgisinternal
UNION ALL SELECT {rule} FROM pg_rewrite w JOIN relations r ON r.oid = w.ev_class
    {_join("uses", "pg_rewrite", "w.oid")} WHERE w.oid >= {FIRST_NORMAL_OID} AND w.ev_type <> '1'
UNION ALL SELECT {policy} FROM pg_policy p JOIN relations r ON r.oid = p.polrelid
    {_join("uses", "pg_policy", "p.oid")}
UNION ALL SELECT {event_trigger} FROM pg_event_trigger e JOIN functions fu ON fu.oid = e.evtfoid"""


OBJECTS = (names, types, relations, indexes, constraints)
"""The queries for the objects of a snapshot; each returns one column of JSON."""
