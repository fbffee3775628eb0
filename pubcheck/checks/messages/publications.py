"""Texts for refusals about publications: their members, missing privileges, and published tables."""

from __future__ import annotations

from pubcheck.checks.messages import MAKE_ROOT, UNEXPLAINED, Messages, MessageTemplate

# Refused changes of a publication's members, and missing privileges (PUB130 to PUB136).

MEMBERS: Messages = {
    "PUB130": {
        "table-already-member": MessageTemplate(
            '"{relation}" is in publication "{publication}" already',
            'remove "{relation}" from the statement; to change its row filter or column list, use ALTER PUBLICATION '
            "{publication:sql} SET with the whole list, or DROP TABLE and ADD TABLE in one transaction",
        ),
        "schema-already-member": MessageTemplate(
            'schema "{schema}" is in publication "{publication}" already', 'remove "{schema}" from the list'
        ),
    },
    "PUB131": {
        "table-not-member": MessageTemplate(
            '"{relation}" is not itself in {the_publication}, so it cannot be dropped from it',
            'remove "{relation}" from the list; a table that is published through its schema or its partitioned table '
            "cannot be dropped by itself, and a child that was created after its parent was added is not a member "
            "(write ONLY before the parent)",
        ),
        "schema-not-member": MessageTemplate(
            'schema "{schema}" is not in {the_publication}, so it cannot be dropped from it',
            'remove "{schema}" from the list; drop single tables of a schema with DROP TABLE',
        ),
    },
    "PUB132": {
        "drop-with-column-list": MessageTemplate(
            "DROP removes a table from {the_publication} completely, so it takes no column list",
            "write the table's name alone; to change the list, use SET, or DROP and ADD in one transaction",
        ),
        "drop-with-filter": MessageTemplate(
            "DROP removes a table from {the_publication} completely, so it takes no row filter",
            "write the table's name alone; to change the filter, use SET, or DROP and ADD in one transaction",
        ),
    },
    "PUB133": {
        "all-tables-fixed": MessageTemplate(
            'publication "{publication}" is FOR {scope}: its list cannot be changed',
            "DROP PUBLICATION {publication:sql} and create it again with a list (subscribers must then refresh)",
        ),
        "set-all-of-list": MessageTemplate(
            'publication "{publication}" has a list of tables or schemas, so it cannot become FOR ALL {kind}',
            "DROP its tables and schemas from it first, or DROP PUBLICATION {publication:sql} and create it again",
        ),
    },
    "PUB134": {
        "create-in-database": MessageTemplate(
            'the current role may not create in database "{database}"',
            "GRANT CREATE ON DATABASE {database:sql} to it",
        ),
        "publication-owner": MessageTemplate(
            'the current role does not own publication "{publication}"',
            "run this as its owner, or ALTER PUBLICATION {publication:sql} OWNER TO that role",
        ),
        "relation-owner": MessageTemplate(
            'the current role does not own the {kind} "{relation}"', "run this as the owner, or as a superuser"
        ),
        "all-tables-of-superuser": MessageTemplate(
            "only a superuser may create a publication FOR ALL TABLES or ALL SEQUENCES",
            "run this as a superuser, or list the tables instead: their owner may publish them",
        ),
        "set-all-of-superuser": MessageTemplate(
            "only a superuser may use SET ALL {kind}, also for a publication that is FOR ALL {kind} already",
            "run this as a superuser",
        ),
        "schemas-of-superuser": MessageTemplate(
            "only a superuser may publish a schema",
            "run this as a superuser, or list the tables instead: their owner may publish them",
        ),
        "owner-not-superuser": MessageTemplate(
            'publication "{publication}" is FOR ALL TABLES or FOR TABLES IN SCHEMA, so its owner must be a superuser',
            "choose a superuser as the owner, or run this as a superuser",
        ),
        "no-role": MessageTemplate('there is no role "{role}"', "CREATE ROLE first; PUBLIC is not a role"),
        "set-role": MessageTemplate(
            'the current role may not make "{role}" an owner: it cannot SET ROLE to it',
            "GRANT {role:sql} to it, or run this as a superuser",
        ),
        "permission": UNEXPLAINED,
    },
    "PUB136": {
        "read-only-transaction": MessageTemplate(
            "the transaction is read-only, and {command} is refused in it",
            "run it outside the transaction, or SET default_transaction_read_only = off before it",
        ),
    },
}


# Texts for refusals about published tables: replica identities (PUB305, PUB307), column lists (PUB401 to PUB405,
# PUB502) and changes of the table (PUB701 to PUB704, PUB714).

_INDEX = "choose a unique index over NOT NULL columns that is neither partial, deferrable nor over an expression"

_REPACK = 'REPACK (CONCURRENTLY) cannot rewrite "{relation}": '

_CHANGE_PUBLICATION = (
    "change the publication first ({alter_publication} SET with the whole list); CASCADE would drop the whole table "
    "from it"
)

TABLES: Messages = {
    "PUB307": {
        "repack-identity": MessageTemplate(
            _REPACK + "its replica identity is {identity}, and it finds the rows that change meanwhile by an index",
            "choose a unique index, {alter_table} REPLICA IDENTITY USING INDEX, or REPACK without CONCURRENTLY",
        ),
        "repack-without-index": MessageTemplate(
            _REPACK + "it has no primary key and no index as its replica identity",
            "add a primary key, or choose a unique index with {alter_table} REPLICA IDENTITY USING INDEX; or REPACK "
            "without CONCURRENTLY",
        ),
        "repack-deferrable": MessageTemplate(
            _REPACK + "its primary key is deferrable",
            "choose another unique index with {alter_table} REPLICA IDENTITY USING INDEX, or REPACK without "
            "CONCURRENTLY",
        ),
        "repack-partitioned": MessageTemplate(_REPACK + "it is partitioned", "REPACK its partitions one by one"),
        "repack-not-permanent": MessageTemplate(
            _REPACK + "changes of temporary and unlogged tables are not logged", "REPACK it without CONCURRENTLY"
        ),
    },
    "PUB305": {
        "no-identity-index": MessageTemplate(
            'table "{relation}" has no index "{index}"',
            "create the index before this statement, and write its name without a schema",
        ),
        "identity-index-elsewhere": MessageTemplate(
            '"{index}" is an index of another table than "{relation}"', "name an index of this table"
        ),
        "identity-not-an-index": MessageTemplate('"{index}" is not an index', "name a unique index of the table"),
        "identity-index-not-unique": MessageTemplate(
            'index "{index}" is not unique, so it does not identify rows', _INDEX
        ),
        "identity-index-deferrable": MessageTemplate(
            'index "{index}" is deferrable: it can contain duplicate keys until the transaction ends',
            "make its constraint NOT DEFERRABLE (drop it and add it again), or choose another unique index",
        ),
        "identity-index-expression": MessageTemplate(
            'index "{index}" contains an expression, so it does not identify rows by columns', _INDEX
        ),
        "identity-index-partial": MessageTemplate(
            'index "{index}" is partial, so it does not identify every row', _INDEX
        ),
        "identity-index-not-valid": MessageTemplate(
            'the NOT NULL constraint of column "{column}" is NOT VALID, so index "{index}" may not identify every row',
            "{alter_table} VALIDATE CONSTRAINT {constraint:sql} first",
        ),
        "identity-index-nullable": MessageTemplate(
            'column "{column}" of index "{index}" may be NULL, so the index does not identify every row',
            "{alter_table} ALTER COLUMN {column:sql} SET NOT NULL first",
        ),
        "column-of-identity": MessageTemplate(
            'column "{column}" is in the index that is the replica identity, so it must stay NOT NULL',
            "choose another replica identity first",
        ),
        "kind-without-identity": MessageTemplate(
            '"{relation}" is {kind}, and only tables have a replica identity', "name the table whose rows are changed"
        ),
        "identity-of-system-catalog": MessageTemplate(
            '"{relation}" is a system table, whose replica identity cannot be changed',
            "leave the statement out: system tables are never published; write the schema before a table of your own "
            "that has this name",
        ),
        "index-on-system-column": UNEXPLAINED,
        "identity": UNEXPLAINED,
    },
    "PUB401": {
        "no-listed-column": MessageTemplate(
            'the column list names "{column}", which "{relation}" does not have',
            "check the spelling; a parent's list can name the parent's columns only",
        ),
    },
    "PUB402": {
        "system-column-listed": MessageTemplate(
            'the column list names "{column}", a system column', 'remove "{column}" from the list'
        ),
        "system-column-kept": MessageTemplate(
            "the column list of {table} names a system column (this major answers with an internal error)",
            "remove the system column from the list",
        ),
    },
    "PUB403": {
        "column-listed-twice": MessageTemplate('the column list names "{column}" twice', "keep one of the two"),
    },
    "PUB404": {
        "virtual-column-listed": MessageTemplate(
            'the column list names "{column}", a virtual generated column, which is not stored and cannot be published',
            'remove "{column}" from the list and let the subscriber generate it, or make the column STORED',
        ),
        "generated-column-listed": MessageTemplate(
            'the column list names "{column}", a generated column, which is not published before PostgreSQL 18',
            'remove "{column}" from the list and let the subscriber generate it',
        ),
    },
    "PUB405": {
        "column-list-with-schema": MessageTemplate(
            'publication "{publication}" cannot contain both a column list ("{relation}") and TABLES IN SCHEMA',
            "publish the tables with column lists in a publication of their own; a subscription can name both",
        ),
        "schema-with-column-list": MessageTemplate(
            'a table of publication "{publication}" has a column list, so no schema can be added',
            "publish the schema in a publication of its own; a subscription can name both",
        ),
    },
    "PUB502": {
        "column-list-on-partitioned-root": MessageTemplate(
            '"{relation}" is partitioned and publication "{publication}" publishes its partitions as themselves, so '
            "its column list would never be used",
            f"publish through the root, {MAKE_ROOT}, or give the partitions lists one by one",
        ),
    },
    "PUB701": {
        "column-in-publication": MessageTemplate(
            'column "{column}" is used by {the_publication}, in a row filter or a column list', _CHANGE_PUBLICATION
        ),
        "object-in-publication": MessageTemplate(
            "{the_publication} depends on the dropped object through a row filter or a column list of {table}",
            _CHANGE_PUBLICATION,
        ),
    },
    "PUB702": {
        "type-of-column-in-publication": MessageTemplate(
            'the type of column "{column}" cannot be changed: {the_publication} uses it in a row filter or a column '
            "list",
            "in one transaction drop {table} from the publication, change the type, and add it again",
        ),
        "type-of-column-in-expression": UNEXPLAINED,
    },
    "PUB703": {
        "set-unlogged-of-member": MessageTemplate(
            'table "{relation}" is in {the_publication}, so it must stay logged',
            "take it out of every publication first: {alter_publication} DROP TABLE {table_sql}",
        ),
        "set-unlogged-of-partitioned": MessageTemplate(
            'a partitioned table ("{relation}") cannot be made unlogged',
            "change its partitions one by one; changes of an unlogged partition are not published, even if its root is",
        ),
    },
    "PUB704": {
        "set-expression-in-publication": MessageTemplate(
            'the expression of "{column}" cannot be changed while "{relation}" is in a publication',
            "in one transaction drop the table from its publications, change the expression, and add it again",
        ),
    },
    "PUB714": {
        "attach-excluded": MessageTemplate(
            'table "{relation}" cannot become a partition: EXCEPT of {publications} names it',
            "take it out of EXCEPT first: {alter_publication} SET ALL TABLES with the other tables; as a partition it "
            "is left out only if EXCEPT names its partitioned table",
        ),
    },
}
