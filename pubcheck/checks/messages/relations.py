"""Texts for refused relations and schemas (PUB107 to PUB115)."""

from __future__ import annotations

from pubcheck.checks.messages import Messages, MessageTemplate

_QUALIFY = "check the spelling and the schema, and that the object is created before this statement"

MESSAGES: Messages = {
    "PUB107": {
        "no-relation": MessageTemplate('there is no table "{relation}"', _QUALIFY),
        "no-schema": MessageTemplate('there is no schema "{schema}"', _QUALIFY),
        "relation-of-other-database": MessageTemplate(
            '"{name}" names a table of another database, and a publication contains only tables of its own database',
            "leave the database out of the name, or create the publication in the other database",
        ),
    },
    "PUB108": {
        "kind-not-publishable": (
            MessageTemplate(
                '"{relation}" is a view, and only tables can be published',
                "publish the tables that the view reads, with a row filter or a column list as in the view",
                where={"kind": ("a view",)},
            ),
            MessageTemplate(
                '"{relation}" is a materialized view, and only tables can be published',
                "publish the tables that it reads and create the materialized view on the subscriber",
                where={"kind": ("a materialized view",)},
            ),
            MessageTemplate(
                '"{relation}" is a foreign table, whose changes this server does not see',
                "publish the table on the server that stores it; if it was included as a child, write ONLY before the "
                "parent",
                where={"kind": ("a foreign table",)},
            ),
            MessageTemplate(
                '"{relation}" is a sequence, and only tables can be published',
                "leave it out, and set the subscriber's sequences yourself before a switch-over",
                where={"kind": ("a sequence",)},
            ),
            MessageTemplate(
                '"{relation}" is {kind}, and only tables can be published',
                "name the table that it belongs to",
            ),
        ),
    },
    "PUB109": {
        "relation-not-openable": MessageTemplate(
            '"{relation}" is {kind}, not a table', "name the table that it belongs to"
        ),
    },
    "PUB110": {
        "temporary-relation": MessageTemplate(
            '"{relation}" is temporary: its changes are not logged, so they cannot be published',
            "publish an ordinary table; if this one was included as a child, write ONLY before the parent",
        ),
        "unlogged-relation": MessageTemplate(
            '"{relation}" is unlogged: its changes are not logged, so they cannot be published',
            "ALTER TABLE {table_sql} SET LOGGED first (rewrites the table), or leave it out; "
            "if it was included as a child, write ONLY before the parent",
        ),
    },
    "PUB111": {
        "system-relation": MessageTemplate(
            '"{relation}" is a system table, and these cannot be published',
            "leave it out; if a table of your own has that name, write its schema before it",
        ),
    },
    "PUB112": {
        "temporary-schema": MessageTemplate(
            '"{schema}" contains temporary tables, which cannot be published', "name a schema of ordinary tables"
        ),
        "system-schema": MessageTemplate(
            '"{schema}" is a system schema, and these cannot be published', "name a schema of your own"
        ),
    },
    "PUB113": {
        "no-current-schema": MessageTemplate(
            "CURRENT_SCHEMA has no value: no schema of search_path exists",
            "write the schema's name, or SET search_path to one that exists before this statement",
        ),
    },
    "PUB115": {
        "except-partition": MessageTemplate(
            "{relation} is a partition, and EXCEPT takes only a whole partitioned table",
            "name its topmost partitioned table, which leaves out all partitions",
        ),
        "except-kind": MessageTemplate(
            "{relation} is {kind}, and EXCEPT takes only tables",
            "leave it out of EXCEPT: FOR ALL TABLES does not publish it; if it was included as a child, write ONLY "
            "before the parent",
        ),
        "except-system-table": MessageTemplate(
            "{relation} is a system table, which FOR ALL TABLES does not publish",
            "leave it out of EXCEPT; if a table of your own has that name, write its schema before it",
        ),
        "except-temporary": MessageTemplate(
            "{relation} is temporary, and FOR ALL TABLES does not publish it",
            "leave it out of EXCEPT; if it hides a table of your own, write the schema of that table before the name",
        ),
        "except-unlogged": MessageTemplate(
            "{relation} is unlogged, and FOR ALL TABLES does not publish it",
            "leave it out of EXCEPT; if it was included as a child, write ONLY before the parent and name the other "
            "children",
        ),
    },
    "PUB114": {
        "conflicting-entries": MessageTemplate(
            'the list names "{relation}" twice (or it and its parent or child), and an entry has a {what}',
            "name each table once (join two filters with OR in one WHERE); a parent includes its children unless "
            "ONLY precedes it",
        ),
    },
}
