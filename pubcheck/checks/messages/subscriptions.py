"""Texts for refused statements about subscriptions (PUB140, PUB810)."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate

MESSAGES: Messages = {
    "PUB140": {
        "subscription-exists": MessageTemplate(
            'there is a subscription "{subscription}" already',
            "give this one another name, ALTER the other one, or drop it first",
        ),
        "no-subscription": MessageTemplate(
            'there is no subscription "{subscription}" any more', "create it before this statement"
        ),
        "subscription-option": (
            MessageTemplate(
                '"{option}" is an option of publications, not of subscriptions',
                "set it on the publisher, with ALTER PUBLICATION ... SET",
                where={"option": ("publish", "publish_via_partition_root", "publish_generated_columns")},
            ),
            MessageTemplate(
                'this statement does not take the option "{option}"',
                "connect, create_slot and (before 18) two_phase are for CREATE SUBSCRIPTION alone, enabled is changed "
                "with ENABLE and DISABLE, refresh goes with SET, ADD and DROP PUBLICATION, copy_data with these and "
                "REFRESH",
                where={"option": ("enabled", "connect", "create_slot", "copy_data", "two_phase", "refresh")},
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
        "exclusive-options": MessageTemplate(
            "{one} and {other} cannot be combined",
            "leave the second out: without a connection or a slot it is false, or must be",
        ),
        "option-without-slot": MessageTemplate(
            "without a slot a subscription must be created with {option}", "add it; connect = false sets it, too"
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
            'subscription "{subscription}" has no publication "{publication}"', "leave it out"
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
            "leave it out; SET PUBLICATION takes the whole list",
        ),
    },
}
