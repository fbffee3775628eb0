"""Extensions (commands/extension.c). What their scripts make is not visible: a missing name may be theirs."""

from __future__ import annotations

from pubcheck.postgres.catalog import EXTENSION, NAMESPACE, NORMAL, OTHER, RELATION
from pubcheck.postgres.catalog.rows import Other
from pubcheck.postgres.ddl.lookup import RELATION_KINDS, find_object, list_items, range_var, strings
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

# Extensions of contrib/ that make no relation and no schema, as the servers of 15 to 18 show (pg_depend).
_WITHOUT_RELATIONS = frozenset(
    [
        "adminpack",
        "amcheck",
        "autoinc",
        "bloom",
        "btree_gin",
        "btree_gist",
        "citext",
        "cube",
        "dblink",
        "dict_int",
        "dict_xsyn",
        "earthdistance",
        "file_fdw",
        "fuzzystrmatch",
        "hstore",
        "insert_username",
        "intagg",
        "intarray",
        "isn",
        "lo",
        "ltree",
        "moddatetime",
        "old_snapshot",
        "pageinspect",
        "pg_freespacemap",
        "pg_logicalinspect",
        "pg_prewarm",
        "pg_surgery",
        "pg_trgm",
        "pg_visibility",
        "pg_walinspect",
        "pgcrypto",
        "pgrowlocks",
        "pgstattuple",
        "plpgsql",
        "pltcl",
        "pltclu",
        "postgres_fdw",
        "refint",
        "seg",
        "sslinfo",
        "tablefunc",
        "tcn",
        "tsm_system_rows",
        "tsm_system_time",
        "unaccent",
        "uuid-ossp",
        "xml2",
    ]
)


def create_extension(session: Session, node: Node) -> None:
    """CREATE EXTENSION (CreateExtension)."""
    catalog = session.catalog
    name = node["extname"]
    if ("extension", 0, name) in catalog.other_names:
        if node.get("if_not_exists"):
            session.notices.append(f'extension "{name}" already exists, skipping')
            return
        raise ServerError("42710", f'extension "{name}" already exists')
    row = Other(catalog.new_oid(), "extension", name, 0, session.setting("role"))
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node.get("options", ())}
    schema = options.get("schema", {}).get("String", {}).get("sval")
    namespace = session.namespace(schema).oid if schema else session.visible_namespace()
    catalog.add_other(row)
    session.set("extensions", True)
    if name not in _WITHOUT_RELATIONS:
        session.set("extension relations", True)
    if namespace and namespace != catalog.namespace_names.get("pg_catalog"):
        catalog.depend((OTHER, row.oid, 0), (NAMESPACE, namespace, 0), NORMAL)


def alter_contents(session: Session, node: Node) -> None:
    """ALTER EXTENSION ... ADD and DROP of a member (ExecAlterExtensionContentsStmt)."""
    catalog = session.catalog
    extension = catalog.other_names.get(("extension", 0, node["extname"]))
    if extension is None:
        return
    kind, given = node.get("objtype", ""), node.get("object", {})
    if kind in RELATION_KINDS:
        row = session.find_relation(range_var(strings(list_items(given)) or [""]))
        found = (RELATION, row.oid, 0) if row is not None else None
    else:
        found = find_object(session, kind, given, missing_ok=True)
    if found is None:
        return
    key = (OTHER, extension)
    members = [entry for on, entry in catalog.dependencies.get(found[:2]) if on == key and entry[2] == EXTENSION]
    if node.get("action", 1) > 0:
        if members:
            raise ServerError("55000", f'object is already a member of extension "{node["extname"]}"')
        catalog.depend(found, (*key, 0), EXTENSION)
        return
    for entry in members:
        catalog.dependencies.remove(found[:2], (key, entry))
        catalog.dependents.remove(key, entry)
