"""Texts for refused statements and publication options (PUB101 to PUB126)."""

from __future__ import annotations

from pubcheck.checks.messages import Messages, MessageTemplate
from pubcheck.words import words

MESSAGES: Messages = {
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
