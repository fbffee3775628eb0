"""The queries over the system catalogs, whose rows are the objects of a snapshot as JSON.

Each catalog is read whole, and the server writes the JSON: a database with thousands of tables takes as many round
trips as an empty one. All of them need no other right than to read the catalogs that everybody may read.
"""

from __future__ import annotations

from pubcheck.live.relation_queries import (
    CHANGING_FUNCTIONS,
    COLLATIONS,
    EXTENSIONS,
    FIRST_NORMAL_OID,
    FUNCTIONS,
    RELATIONS,
    SCHEMAS,
    SETTINGS,
    TYPES,
    USER,
    constraints,
    false_if_not,
    indexes,
    join,
    object_of,
    reference,
    relations,
    true_if,
    types_of,
    unless,
    uses,
)
from pubcheck.postgres.versions import Major


def server(number: int) -> str:
    """Return the query for server and database. Settings are those with which a connection begins."""
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
        WHERE lower(name) IN ({SETTINGS})))::text
FROM pg_database d WHERE d.datname = current_database()"""


def _publication(major: Major) -> str:
    generated = {"generated": unless("p.pubgencols::text", "'n'")} if major.publish_generated_columns else {}
    sequences = {"all_sequences": true_if("p.puballsequences")} if major.publishes_sequences else {}
    return object_of(
        "publication",
        name="p.pubname",
        oid="p.oid",
        owner="pg_get_userbyid(p.pubowner)",
        all_tables=true_if("p.puballtables"),
        insert=false_if_not("p.pubinsert"),
        update=false_if_not("p.pubupdate"),
        delete=false_if_not("p.pubdelete"),
        truncate=false_if_not("p.pubtruncate"),
        via_root=true_if("p.pubviaroot"),
        **generated,
        **sequences,
    )


def _published_table() -> str:
    members = """CASE WHEN r.prattrs IS NOT NULL THEN (SELECT json_agg(a.attname ORDER BY k.number)
        FROM unnest(r.prattrs) WITH ORDINALITY k(attnum, number)
        JOIN pg_attribute a ON a.attrelid = r.prrelid AND a.attnum = k.attnum) END"""
    return object_of(
        "publication table",
        name="p.pubname",
        oid="r.oid",
        table=reference("n.nspname", "c.relname"),
        columns=members,
        filter="pg_get_expr(r.prqual, r.prrelid)",
    )


def _subscription(major: Major) -> str:
    password = {"password_required": false_if_not("s.subpasswordrequired")} if major.subscription_rights else {}
    return object_of(
        "subscription",
        name="s.subname",
        oid="s.oid",
        owner="pg_get_userbyid(s.subowner)",
        publications="s.subpublications",
        enabled=false_if_not("s.subenabled"),
        slot="s.subslotname",
        binary=true_if("s.subbinary"),
        **password,
    )


def _role(major: Major) -> str:
    options = "'inherit', m.inherit_option, 'set', m.set_option," if major.set_role_option else ""
    return object_of(
        "role",
        name="r.rolname",
        oid="r.oid",
        superuser=true_if("r.rolsuper"),
        inherit=false_if_not("r.rolinherit"),
        create_role=true_if("r.rolcreaterole"),
        create_db=true_if("r.rolcreatedb"),
        member_of=f"""(SELECT json_agg(json_build_object('role', pg_get_userbyid(m.roleid), {options}
            'admin', m.admin_option) ORDER BY m.roleid) FROM pg_auth_members m WHERE m.member = r.oid)""",
    )


def names(major: Major) -> str:
    """Return the query for schemas, roles and their settings, extensions, publications and subscriptions."""
    grants = """(SELECT json_agg(json_build_array(
        CASE a.grantee WHEN 0 THEN '' ELSE pg_get_userbyid(a.grantee) END,
        left(a.privilege_type, 1) || CASE WHEN a.is_grantable THEN '*' ELSE '' END)
        ORDER BY a.grantee, a.privilege_type)
        FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a WHERE a.grantee <> n.nspowner)"""
    schema = object_of("schema", name="n.nspname", oid="n.oid", owner="pg_get_userbyid(n.nspowner)", grants=grants)
    role = _role(major)
    setting = object_of(
        "default setting",
        name="c.name",
        role="CASE WHEN s.setrole <> 0 THEN pg_get_userbyid(s.setrole) END",
        database=true_if("s.setdatabase <> 0"),
        value="c.value",
    )
    extension = object_of(
        "extension",
        name="e.extname",
        oid="e.oid",
        owner="pg_get_userbyid(e.extowner)",
        schema="n.nspname",
        version="e.extversion",
    )
    excluded = "r.prexcept" if major.publishes_sequences else "false"
    publication = _publication(major)
    table = _published_table()
    exclusion = object_of(
        "publication exclusion", name="p.pubname", oid="r.oid", table=reference("n.nspname", "c.relname")
    )
    of_schema = object_of("publication schema", name="p.pubname", oid="s.oid", schema="n.nspname")
    subscription = _subscription(major)
    return f"""
SELECT {schema} FROM pg_namespace n WHERE n.nspname {USER}
UNION ALL SELECT {role} FROM pg_roles r WHERE r.oid >= {FIRST_NORMAL_OID} OR r.oid = 10
UNION ALL SELECT {setting} FROM pg_db_role_setting s CROSS JOIN LATERAL (
    SELECT lower(split_part(text, '=', 1)) AS name, substr(text, strpos(text, '=') + 1) AS value
    FROM unnest(s.setconfig) text) c
    WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND c.name IN ('search_path', {SETTINGS})
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


def _type() -> str:
    checks = """(SELECT json_agg(json_build_object('name', k.conname, 'oid', k.oid::int8,
        'expression', pg_get_expr(k.conbin, 0)) ORDER BY k.conname)
        FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')"""
    return object_of(
        "type",
        schema="n.name",
        name="t.typname",
        oid="t.oid",
        owner="pg_get_userbyid(t.typowner)",
        type="CASE WHEN t.typisdefined THEN t.typtype ELSE 'p' END",
        array="arr.typname",
        array_oid=unless("t.typarray::int8", "0"),
        element="element.ref",
        base="coalesce(base.ref, subtype.ref, own.ref)",
        typmod=unless("t.typtypmod", "-1"),
        not_null=true_if("t.typnotnull"),
        labels="(SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid = t.oid)",
        category=unless("t.typcategory::text", "'U'"),
        preferred=true_if("t.typispreferred"),
        collation="co.ref",
        subscript="""CASE t.typsubscript WHEN 0 THEN NULL WHEN 'array_subscript_handler'::regproc THEN 'a'
            WHEN 'raw_array_subscript_handler'::regproc THEN 'f' ELSE 'u' END""",
        multirange="many.ref",
        range_collation="rc.ref",
        checks=checks,
        default="t.typdefault",
        extension="x.extname",
    )


def _function() -> str:
    return object_of(
        "function",
        schema="n.name",
        name="p.proname",
        oid="p.oid",
        owner="pg_get_userbyid(p.proowner)",
        arguments=types_of("p.proargtypes"),
        type=unless("p.prokind::text", "'f'"),
        returns="ty.ref",
        returns_set=true_if("p.proretset"),
        language="l.lanname",
        volatility=unless("p.provolatile::text", "'v'"),
        strict=true_if("p.proisstrict"),
        definer=true_if("p.prosecdef"),
        variadic="(SELECT v.ref FROM types v WHERE v.oid = p.provariadic)",
        defaults=unless("p.pronargdefaults", "0"),
        modes="to_json(p.proargmodes)",
        argument_names="to_json(p.proargnames)",
        parameters=types_of("p.proallargtypes"),
        definition="""CASE WHEN p.oid IN (SELECT oid FROM changing) THEN pg_get_functiondef(p.oid) END""",
        extension="x.extname",
        uses="uses.list",
    )


def _operator() -> str:
    return object_of(
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
        negator=f"({reference('nn.nspname', 'neg.oprname')}) || '(' || coalesce(nl.ref, '') || ',' || nr.ref || ')'",
    )


def _cast() -> str:
    return object_of(
        "cast",
        name="st.ref || ' AS ' || tt.ref",
        oid="c.oid",
        source="st.ref",
        target="tt.ref",
        function="f.ref",
        context=unless("c.castcontext::text", "'e'"),
        method=unless("c.castmethod::text", "'f'"),
    )


def _collation() -> str:
    return object_of(
        "collation",
        schema="n.name",
        name="c.collname",
        oid="c.oid",
        owner="pg_get_userbyid(c.collowner)",
        deterministic=false_if_not("c.collisdeterministic"),
        extension="x.extname",
    )


def _operator_class() -> str:
    return object_of(
        "operator class",
        schema="n.name",
        name="c.opcname",
        oid="c.oid",
        owner="pg_get_userbyid(c.opcowner)",
        extension="x.extname",
        method="left(am.amname::text, 1)",
        type="ty.ref",
        family=f"({reference('fn.nspname', 'f.opfname')})",
        operators=f"""(SELECT json_agg(json_build_array(al.ref, ar.ref, a.amopstrategy,
            ({reference("opn.nspname", "op.oprname")}) || '(' || al.ref || ',' || ar.ref || ')')
            ORDER BY a.amopstrategy, al.ref, ar.ref)
            FROM pg_amop a JOIN types al ON al.oid = a.amoplefttype JOIN types ar ON ar.oid = a.amoprighttype
            JOIN pg_operator op ON op.oid = a.amopopr JOIN pg_namespace opn ON opn.oid = op.oprnamespace
            WHERE a.amopfamily = c.opcfamily AND a.amoppurpose = 's')""",
        functions="""(SELECT json_agg(json_build_array(al.ref, ar.ref, fu.ref) ORDER BY al.ref, ar.ref)
            FROM pg_amproc a JOIN types al ON al.oid = a.amproclefttype JOIN types ar ON ar.oid = a.amprocrighttype
            JOIN functions fu ON fu.oid = a.amproc WHERE a.amprocfamily = c.opcfamily AND a.amprocnum = 1)""",
    )


def types(major: Major) -> str:
    """Return the query for types, functions, operators, casts, collations and operator classes."""
    type_ = _type()
    function = _function()
    operator = _operator()
    cast = _cast()
    collation = _collation()
    class_ = _operator_class()
    used = f"""WHERE p.oid >= {FIRST_NORMAL_OID}
        OR p.oid IN (SELECT oprcode FROM pg_operator WHERE oid >= {FIRST_NORMAL_OID})
        OR p.oid IN (SELECT castfunc FROM pg_cast WHERE oid >= {FIRST_NORMAL_OID})
        OR p.oid IN (SELECT a.amproc FROM pg_amproc a JOIN pg_opclass c ON c.opcfamily = a.amprocfamily
                     WHERE c.oid >= {FIRST_NORMAL_OID} AND a.amprocnum = 1)"""
    own = f"oid >= {FIRST_NORMAL_OID}"
    return f"""
WITH RECURSIVE {SCHEMAS}, {TYPES}, {COLLATIONS}, {RELATIONS}, {FUNCTIONS.format(where=used)}, {EXTENSIONS},
{CHANGING_FUNCTIONS}, {uses("pg_proc")}
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
    {join("extensions", "pg_type", "t.oid", "x")}
    WHERE t.{own} AND (c.oid IS NULL OR c.relkind = 'c') AND NOT (t.typcategory = 'A' AND t.typelem <> 0
        AND EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid))
UNION ALL SELECT {function} FROM pg_proc p JOIN schemas n ON n.oid = p.pronamespace
    JOIN pg_language l ON l.oid = p.prolang JOIN types ty ON ty.oid = p.prorettype
    {join("extensions", "pg_proc", "p.oid", "x")} {join("uses", "pg_proc", "p.oid")} WHERE p.{own}
UNION ALL SELECT {operator} FROM pg_operator o JOIN schemas n ON n.oid = o.oprnamespace
    LEFT JOIN types lt ON lt.oid = o.oprleft LEFT JOIN types rt ON rt.oid = o.oprright
    LEFT JOIN types ty ON ty.oid = o.oprresult LEFT JOIN functions f ON f.oid = o.oprcode
    LEFT JOIN pg_operator neg ON neg.oid = o.oprnegate AND o.oprnegate <> 0
    LEFT JOIN pg_namespace nn ON nn.oid = neg.oprnamespace
    LEFT JOIN types nl ON nl.oid = neg.oprleft LEFT JOIN types nr ON nr.oid = neg.oprright
    {join("extensions", "pg_operator", "o.oid", "x")} WHERE o.{own}
UNION ALL SELECT {cast} FROM pg_cast c JOIN types st ON st.oid = c.castsource JOIN types tt ON tt.oid = c.casttarget
    LEFT JOIN functions f ON f.oid = c.castfunc WHERE c.{own}
UNION ALL SELECT {collation} FROM pg_collation c JOIN schemas n ON n.oid = c.collnamespace
    {join("extensions", "pg_collation", "c.oid", "x")}
    WHERE c.{own} AND c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
UNION ALL SELECT {class_} FROM pg_opclass c JOIN schemas n ON n.oid = c.opcnamespace
    JOIN types ty ON ty.oid = c.opcintype JOIN pg_am am ON am.oid = c.opcmethod
    JOIN pg_opfamily f ON f.oid = c.opcfamily JOIN pg_namespace fn ON fn.oid = f.opfnamespace
    {join("extensions", "pg_opclass", "c.oid", "x")}
    WHERE c.{own} AND c.opcdefault AND am.amname IN ('btree', 'hash', 'gin', 'gist')"""


OBJECTS = (names, types, relations, indexes, constraints)
"""The queries for the objects of a snapshot; each returns one column of JSON."""
