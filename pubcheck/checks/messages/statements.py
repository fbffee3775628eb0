"""Refused statements and options, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "syntax-error": (MessageTemplate(r".*", "PostgreSQL cannot read this statement: {message}"),),
    "bad-object-list": (
        MessageTemplate(
            r".*",
            "the list does not say whether its names are tables or schemas",
            "write TABLE or TABLES IN SCHEMA before the first name",
        ),
    ),
    "continuation-kind": (
        MessageTemplate(
            r"invalid schema name",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, whose name has no dot",
            "write TABLE before it if it is a table",
        ),
        MessageTemplate(
            r"WHERE clause not allowed for schema",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, which takes no row filter",
            "write TABLE before it if it is a table; a schema's tables are filtered one by one",
        ),
        MessageTemplate(
            r"column specification not allowed for schema",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, which takes no column list",
            "write TABLE before it if it is a table; a column list cannot stand beside a schema at all",
        ),
        MessageTemplate(
            r"invalid table name",
            "CURRENT_SCHEMA follows a table, so it is read as a table",
            "write TABLES IN SCHEMA before it",
        ),
    ),
    "publication-exists": (
        MessageTemplate(
            r'publication "(?P<name>.*)" already exists',
            'there is a publication "{name}" already',
            "take another name, or DROP PUBLICATION {name:sql} first, or change it with ALTER PUBLICATION {name:sql}",
        ),
    ),
    "publication-undefined": (
        MessageTemplate(
            r'publication "(?P<name>.*)" does not exist',
            'there is no publication "{name}"',
            "check the spelling (names without quotes are folded to lower case) and the order of the statements",
        ),
    ),
    # Options.
    "option-unknown": (
        MessageTemplate(
            r'unrecognized publication parameter: "(?P<option>publish_generated_columns)"',
            'publications have no option "{option}" before PostgreSQL 18',
            "leave it out: generated columns are not sent there and are computed by the subscriber's own table",
        ),
        MessageTemplate(
            r'unrecognized publication parameter: "(?P<option>insert|update|delete|truncate)"',
            '"{option}" is read as an option of its own, because the list of operations has no quotes',
            "write the list as one text: publish = 'insert, update'",
        ),
        MessageTemplate(
            r'unrecognized publication parameter: "(?P<option>copy_data|create_slot|enabled|slot_name|connect|streaming'
            r'|binary|two_phase|disable_on_error|origin|failover|synchronous_commit|password_required|run_as_owner)"',
            '"{option}" is an option of subscriptions, not of publications',
            "move it to CREATE SUBSCRIPTION",
        ),
        MessageTemplate(
            r'unrecognized publication parameter: "(?P<option>.*)"',
            'publications have no option "{option}"',
            "the options are publish, publish_via_partition_root and, from PostgreSQL 18, publish_generated_columns",
        ),
    ),
    "option-twice": (MessageTemplate(r".*", "an option is given twice", "keep one of the two"),),
    "publish-list-syntax": (
        MessageTemplate(
            r".*",
            "the value of publish is not a list of operations",
            "separate the operations by single commas: publish = 'insert, update, delete, truncate'",
        ),
    ),
    "publish-value": (
        MessageTemplate(
            r'unrecognized value for publication option "publish": "(?P<value>.*)"',
            'publish has no operation "{value}"',
            "the operations are insert, update, delete and truncate; leave the option out to publish all of them",
        ),
    ),
    "publish-no-value": (
        MessageTemplate(
            r".*", "publish has no value", "name the operations, or leave the option out to publish all of them"
        ),
    ),
    "viaroot-boolean": (
        MessageTemplate(
            r"(?P<option>.*) requires a Boolean value",
            "{option} is neither true nor false",
            "write true, false, on, off, 1 or 0; unlike elsewhere, yes, no, t, f and '1' are not understood",
        ),
    ),
    "generated-option-value": (
        MessageTemplate(
            r'.*"publish_generated_columns": "(?P<value>true|on|1|s)"\n.*',
            'publish_generated_columns is neither none nor stored, but "{value}"',
            "write publish_generated_columns = stored",
        ),
        MessageTemplate(
            r'.*"publish_generated_columns": "(?P<value>.*)"\n.*',
            'publish_generated_columns is neither none nor stored, but "{value}"',
            "write stored to publish stored generated columns, or none; virtual ones cannot be published",
        ),
    ),
}
