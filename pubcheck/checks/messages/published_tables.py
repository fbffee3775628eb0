"""Texts for refusals about published tables: replica identities (PUB305, PUB307), column lists (PUB401 to PUB405,
PUB502) and changes of the table (PUB701 to PUB704, PUB714).
"""

from __future__ import annotations

from pubcheck.checks.messages import MAKE_ROOT, UNEXPLAINED, Messages, MessageTemplate

_INDEX = "choose a unique index over NOT NULL columns that is neither partial, deferrable nor over an expression"

_REPACK = 'REPACK (CONCURRENTLY) cannot rewrite "{relation}": '

_CHANGE_PUBLICATION = (
    "change the publication first ({alter_publication} SET with the whole list); CASCADE would drop the whole table "
    "from it"
)

MESSAGES: Messages = {
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
