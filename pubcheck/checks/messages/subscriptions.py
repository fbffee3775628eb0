"""Texts for refused statements about subscriptions (PUB140, PUB810)."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate

_NOT_TAKEN = 'this statement does not take the option "{option}"'
_CANNOT_BE_COMBINED = "{one} and {other} cannot be combined"

MESSAGES: Messages = {
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
