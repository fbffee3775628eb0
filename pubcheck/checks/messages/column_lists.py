"""Texts for refused column lists (PUB401 to PUB405, PUB502)."""

from __future__ import annotations

from pubcheck.checks.messages import MAKE_ROOT, Messages, MessageTemplate

MESSAGES: Messages = {
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
}
