"""Texts for refused replica identities (PUB305, PUB307)."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate

_INDEX = "choose a unique index over NOT NULL columns that is neither partial, deferrable nor over an expression"

_REPACK = 'REPACK (CONCURRENTLY) cannot rewrite "{relation}": '

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
}
