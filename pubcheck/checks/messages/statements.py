"""Texts for refused statements: options of publications, relations and schemas, and subscriptions."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate
from pubcheck.words import words

# Refused statements and publication options (PUB101 to PUB126).

STATEMENTS: Messages = {
    "PUB101": {"syntax-error": MessageTemplate("PostgreSQL cannot parse this statement: {message}")},
    "PUB105": {
        "publication-exists": MessageTemplate(
            'there is a publication "{publication}" already',
            "choose another name, or DROP PUBLICATION {publication:sql} first, or change it with ALTER PUBLICATION "
            "{publication:sql}",
        ),
    },
    "PUB106": {
        "no-publication": MessageTemplate(
            'there is no publication "{publication}"',
            "check the spelling (names without quotes are folded to lower case) and the order of the statements",
        ),
    },
    "PUB120": {
        "publication-option": (
            MessageTemplate(
                'publications have no option "{option}" before PostgreSQL 18',
                "leave it out: generated columns are not published there and are computed by the subscriber's own "
                "table",
                where={"option": ("publish_generated_columns",)},
            ),
            MessageTemplate(
                '"{option}" is read as a separate option, because the list of operations has no quotes',
                "write the list as one string: publish = 'insert, update'",
                where={"option": ("insert", "update", "delete", "truncate")},
            ),
            MessageTemplate(
                '"{option}" is an option of subscriptions, not of publications',
                "move it to CREATE SUBSCRIPTION",
                where={
                    "option": words("""
                        copy_data create_slot enabled slot_name connect streaming binary two_phase disable_on_error
                        origin failover synchronous_commit password_required run_as_owner
                    """)
                },
            ),
            MessageTemplate(
                'publications have no option "{option}"',
                "the options are publish, publish_via_partition_root and, from PostgreSQL 18, "
                "publish_generated_columns",
            ),
        ),
    },
    "PUB121": {"publication-option-twice": MessageTemplate("an option is given twice", "keep one of the two")},
    "PUB122": {
        "publish-list": MessageTemplate(
            "the value of publish is not a list of operations",
            "separate the operations by single commas: publish = 'insert, update, delete, truncate'",
        ),
    },
    "PUB123": {
        "publish-value": MessageTemplate(
            'publish has no operation "{value}"',
            "the operations are insert, update, delete and truncate; leave the option out to publish all of them",
        ),
    },
    "PUB124": {
        "publish-without-value": MessageTemplate(
            "publish has no value", "name the operations, or leave the option out to publish all of them"
        ),
    },
    "PUB125": {
        "publication-option-not-boolean": MessageTemplate(
            "{option} is neither true nor false",
            "write true, false, on, off, 1 or 0; unlike elsewhere, yes, no, t, f and '1' are not understood",
        ),
    },
    "PUB126": {
        "publish-generated-columns": (
            MessageTemplate(
                'publish_generated_columns is neither none nor stored, but "{value}"',
                "write publish_generated_columns = stored",
                where={"value": ("true", "on", "1", "s")},
            ),
            MessageTemplate(
                'publish_generated_columns is neither none nor stored, but "{value}"',
                "write stored to publish stored generated columns, or none; virtual ones cannot be published",
            ),
        ),
    },
    "PUB139": {
        "event-trigger": MessageTemplate(
            "an event trigger refuses this statement: {message}",
            "meet the condition of the trigger's function, or disable the trigger first: ALTER EVENT TRIGGER ... "
            "DISABLE",
        ),
    },
}


# Texts for refused relations and schemas (PUB107 to PUB115).

_QUALIFY = "check the spelling and the schema, and that the object is created before this statement"

RELATIONS: Messages = {
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


# Texts for refused statements about subscriptions (PUB140, PUB810).

_NOT_TAKEN = 'this statement does not take the option "{option}"'
_CANNOT_BE_COMBINED = "{one} and {other} cannot be combined"

SUBSCRIPTIONS: Messages = {
    "PUB140": {
        "subscription-exists": MessageTemplate(
            'there is a subscription "{subscription}" already',
            "give this one another name, ALTER the other one, or drop it first",
        ),
        "no-subscription": MessageTemplate(
            'there is no subscription "{subscription}"', "create it before this statement"
        ),
        "subscription-option": (
            MessageTemplate(
                '"{option}" is an option of publications, not of subscriptions',
                "set it on the publisher, with ALTER PUBLICATION ... SET",
                where={"option": ("publish", "publish_via_partition_root", "publish_generated_columns")},
            ),
            MessageTemplate(
                _NOT_TAKEN, "only CREATE SUBSCRIPTION takes it", where={"option": ("connect", "create_slot")}
            ),
            MessageTemplate(
                _NOT_TAKEN,
                "CREATE SUBSCRIPTION takes it, and from PostgreSQL 18 on ALTER SUBSCRIPTION ... SET (...)",
                where={"option": ("two_phase",)},
            ),
            MessageTemplate(_NOT_TAKEN, "use ALTER SUBSCRIPTION ... ENABLE or DISABLE", where={"option": ("enabled",)}),
            MessageTemplate(_NOT_TAKEN, "only SET, ADD and DROP PUBLICATION take it", where={"option": ("refresh",)}),
            MessageTemplate(
                _NOT_TAKEN,
                "CREATE SUBSCRIPTION takes it, and SET, ADD, DROP and REFRESH PUBLICATION",
                where={"option": ("copy_data",)},
            ),
            MessageTemplate(
                'this PostgreSQL has no option "{option}" for this statement',
                "origin, password_required and run_as_owner came with 16, failover with 17",
            ),
        ),
        "subscription-option-not-boolean": (
            MessageTemplate(
                "streaming takes true, false or (from 16 on) parallel",
                "write streaming = on, off or parallel",
                where={"option": ("streaming",)},
            ),
            MessageTemplate("{option} takes true or false only", "write {option} = true or {option} = false"),
        ),
        "exclusive-options": (
            MessageTemplate(
                _CANNOT_BE_COMBINED,
                "remove {other}: with connect = false the option is off by default",
                where={"one": ("connect = false",)},
            ),
            MessageTemplate(_CANNOT_BE_COMBINED, "{other} needs a slot: set the option to false"),
        ),
        "option-without-slot": MessageTemplate(
            "without a slot a subscription must be created with {option}",
            "add {option}, or use connect = false, which implies it",
        ),
        "in-transaction": MessageTemplate(
            "{what} cannot run inside a transaction",
            "run it outside: slots and copies cannot be rolled back; inside, use create_slot = false with CREATE "
            "SUBSCRIPTION, refresh = false with SET PUBLICATION",
        ),
        "in-function": MessageTemplate(
            "{what} does not run in a function or a DO block",
            "run it as a statement of its own, outside of a transaction",
        ),
        "refresh-of-disabled": MessageTemplate(
            "the subscription is disabled, and is not refreshed then",
            "ALTER SUBSCRIPTION ... ENABLE first; or change its publications WITH (refresh = false)",
        ),
        "enable-without-slot": MessageTemplate(
            "the subscription has no slot to read from", "ALTER SUBSCRIPTION ... SET (slot_name = ...) first"
        ),
        "option-of-enabled": MessageTemplate(
            "{option} is changed only while the subscription is disabled",
            "ALTER SUBSCRIPTION ... DISABLE before, and ENABLE after",
        ),
        "publication-not-subscribed": MessageTemplate(
            'subscription "{subscription}" has no publication "{publication}"', 'remove "{publication}" from the list'
        ),
        "last-publication": MessageTemplate(
            "a subscription keeps at least one publication",
            "SET PUBLICATION with the ones that replace them, or DROP SUBSCRIPTION",
        ),
        "connection-string": MessageTemplate(
            "this is not a valid connection string: {what}",
            "write keyword = value pairs, values with spaces in single quotes, or a URI that begins with postgresql://",
        ),
        "subscription": UNEXPLAINED,
    },
    "PUB810": {
        "publication-named-twice": MessageTemplate(
            'publication "{publication}" is named twice in one subscription', "name it once"
        ),
        "publication-already-subscribed": MessageTemplate(
            'subscription "{subscription}" has publication "{publication}" already',
            'remove "{publication}" from the list; SET PUBLICATION takes the whole list',
        ),
    },
}
