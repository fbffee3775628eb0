"""The columns of the system catalogs and views that can be read (``catalogs``)."""

from __future__ import annotations

_COLUMNS: dict[str, str] = {
    "columns": (
        "table_catalog table_schema table_name column_name ordinal_position column_default is_nullable data_type "
        "character_maximum_length character_octet_length numeric_precision numeric_precision_radix numeric_scale "
        "datetime_precision interval_type interval_precision character_set_catalog character_set_schema "
        "character_set_name collation_catalog collation_schema collation_name domain_catalog domain_schema "
        "domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality "
        "dtd_identifier is_self_referencing is_identity identity_generation identity_start identity_increment "
        "identity_maximum identity_minimum identity_cycle is_generated generation_expression is_updatable"
    ),
    "pg_attribute": (
        "attrelid attname atttypid attlen attnum atttypmod attndims attbyval attalign attstorage attcompression "
        "attnotnull atthasdef atthasmissing attidentity attgenerated attisdropped attislocal attinhcount "
        "attcollation attstattarget attacl attoptions attfdwoptions attmissingval"
    ),
    "pg_authid": (
        "oid rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolbypassrls "
        "rolconnlimit rolpassword rolvaliduntil"
    ),
    "pg_class": (
        "oid relname relnamespace reltype reloftype relowner relam relfilenode reltablespace relpages reltuples "
        "relallvisible relallfrozen reltoastrelid relhasindex relisshared relpersistence relkind relnatts "
        "relchecks relhasrules relhastriggers relhassubclass relrowsecurity relforcerowsecurity relispopulated "
        "relreplident relispartition relrewrite relfrozenxid relminmxid relacl reloptions relpartbound"
    ),
    "pg_constraint": (
        "oid conname connamespace contype condeferrable condeferred conenforced convalidated conrelid contypid "
        "conindid conparentid confrelid confupdtype confdeltype confmatchtype conislocal coninhcount connoinherit "
        "conperiod conkey confkey conpfeqop conppeqop conffeqop confdelsetcols conexclop conbin"
    ),
    "pg_database": (
        "oid datname datdba encoding datlocprovider datistemplate datallowconn dathasloginevt datconnlimit "
        "datfrozenxid datminmxid dattablespace datcollate datctype datlocale daticurules datcollversion datacl"
    ),
    "pg_enum": ("oid enumtypid enumsortorder enumlabel"),
    "pg_extension": ("oid extname extowner extnamespace extrelocatable extversion extconfig extcondition"),
    "pg_index": (
        "indexrelid indrelid indnatts indnkeyatts indisunique indnullsnotdistinct indisprimary indisexclusion "
        "indimmediate indisclustered indisvalid indcheckxmin indisready indislive indisreplident indkey "
        "indcollation indclass indoption indexprs indpred"
    ),
    "pg_indexes": ("schemaname tablename indexname tablespace indexdef"),
    "pg_inherits": ("inhrelid inhparent inhseqno inhdetachpending"),
    "pg_matviews": ("schemaname matviewname matviewowner tablespace hasindexes ispopulated definition"),
    "pg_namespace": ("oid nspname nspowner nspacl"),
    "pg_policies": ("schemaname tablename policyname permissive roles cmd qual with_check"),
    "pg_policy": ("oid polname polrelid polcmd polpermissive polroles polqual polwithcheck"),
    "pg_proc": (
        "oid proname pronamespace proowner prolang procost prorows provariadic prosupport prokind prosecdef "
        "proleakproof proisstrict proretset provolatile proparallel pronargs pronargdefaults prorettype "
        "proargtypes proallargtypes proargmodes proargnames proargdefaults protrftypes prosrc probin prosqlbody "
        "proconfig proacl"
    ),
    "pg_publication": (
        "oid pubname pubowner puballtables puballsequences pubinsert pubupdate pubdelete pubtruncate pubviaroot "
        "pubgencols"
    ),
    "pg_publication_namespace": ("oid pnpubid pnnspid"),
    "pg_publication_rel": ("oid prpubid prrelid prexcept prqual prattrs"),
    "pg_publication_sequences": ("pubname schemaname sequencename"),
    "pg_publication_tables": ("pubname schemaname tablename attnames rowfilter"),
    "pg_roles": (
        "rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolconnlimit "
        "rolpassword rolvaliduntil rolbypassrls rolconfig oid"
    ),
    "pg_sequences": (
        "schemaname sequencename sequenceowner data_type start_value min_value max_value increment_by cycle "
        "cache_size last_value"
    ),
    "pg_subscription": (
        "oid subdbid subskiplsn subname subowner subenabled subbinary substream subtwophasestate subdisableonerr "
        "subpasswordrequired subrunasowner subfailover subconninfo subslotname subsynccommit subpublications "
        "suborigin"
    ),
    "pg_tables": ("schemaname tablename tableowner tablespace hasindexes hasrules hastriggers rowsecurity"),
    "pg_trigger": (
        "oid tgrelid tgparentid tgname tgfoid tgtype tgenabled tgisinternal tgconstrrelid tgconstrindid "
        "tgconstraint tgdeferrable tginitdeferred tgnargs tgattr tgargs tgqual tgoldtable tgnewtable"
    ),
    "pg_type": (
        "oid typname typnamespace typowner typlen typbyval typtype typcategory typispreferred typisdefined "
        "typdelim typrelid typsubscript typelem typarray typinput typoutput typreceive typsend typmodin typmodout "
        "typanalyze typalign typstorage typnotnull typbasetype typtypmod typndims typcollation typdefaultbin "
        "typdefault typacl"
    ),
    "pg_user": ("usename usesysid usecreatedb usesuper userepl usebypassrls passwd valuntil useconfig"),
    "pg_views": ("schemaname viewname viewowner definition"),
    "schemata": (
        "catalog_name schema_name schema_owner default_character_set_catalog default_character_set_schema "
        "default_character_set_name sql_path"
    ),
    "table_constraints": (
        "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name "
        "constraint_type is_deferrable initially_deferred enforced nulls_distinct"
    ),
    "tables": (
        "table_catalog table_schema table_name table_type self_referencing_column_name reference_generation "
        "user_defined_type_catalog user_defined_type_schema user_defined_type_name is_insertable_into is_typed "
        "commit_action"
    ),
}
"""The columns of these catalogs and views, as 18 has them: of what a name in a query may mean nothing is left out."""

_INFORMATION_SCHEMA = ("columns", "schemata", "table_constraints", "tables")


def columns(schema: str, name: str) -> tuple[str, ...] | None:
    """Return the columns of a system catalog or view that can be read, None for any other relation."""
    if name not in _COLUMNS or (schema == "information_schema") != (name in _INFORMATION_SCHEMA):
        return None
    return tuple(_COLUMNS[name].split())
