"""Refused statements about subscriptions, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "subscription-refused": (
        MessageTemplate(
            r'subscription "(?P<name>.*)" already exists',
            'there is a subscription "{name}" already',
            "give this one another name, ALTER the other one, or drop it first",
        ),
        MessageTemplate(
            r'subscription "(?P<name>.*)" does not exist',
            'there is no subscription "{name}" any more',
            "make it before this statement",
        ),
        MessageTemplate(
            r'unrecognized subscription parameter: "(?P<option>publish|publish_.*)"',
            '"{option}" is an option of publications, not of subscriptions',
            "set it on the publisher, with ALTER PUBLICATION ... SET",
        ),
        MessageTemplate(
            r"unrecognized subscription parameter: "
            r'"(?P<option>enabled|connect|create_slot|copy_data|two_phase|refresh)"',
            'this statement does not take the option "{option}"',
            "connect, create_slot and (before 18) two_phase are for CREATE SUBSCRIPTION alone, enabled is changed with "
            "ENABLE and DISABLE, refresh goes with SET, ADD and DROP PUBLICATION, copy_data with these and REFRESH",
        ),
        MessageTemplate(
            r'unrecognized subscription parameter: "(?P<option>.*)"',
            'this PostgreSQL has no option "{option}" for this statement',
            "origin, password_required and run_as_owner came with 16, failover with 17",
        ),
        MessageTemplate(
            r"(?P<one>.*) and (?P<other>.*) are mutually exclusive options",
            "{one} and {other} do not go together",
            "leave the second out, which without a connection, or a slot, is false anyway or must be",
        ),
        MessageTemplate(
            r"subscription with slot_name = NONE must also set (?P<option>.*)",
            "without a slot a subscription must be made with {option}",
            "add it; connect = false sets it, too",
        ),
        MessageTemplate(
            r"(?P<what>.*) cannot run inside a transaction block",
            "{what} stands in a transaction, and does not run there",
            "run it outside: slots and copies cannot be rolled back; CREATE SUBSCRIPTION may stand there with "
            "create_slot = false, SET PUBLICATION with refresh = false",
        ),
        MessageTemplate(
            r"(?P<what>.*) cannot be executed from a function",
            "{what} does not run in a function or a DO block",
            "run it as a statement of its own, outside of a transaction",
        ),
        MessageTemplate(
            r"ALTER SUBSCRIPTION (?:\.\.\. REFRESH|with refresh) is not allowed for disabled subscriptions",
            "the subscription is disabled, and is not refreshed then",
            "ALTER SUBSCRIPTION ... ENABLE first; or change its publications WITH (refresh = false)",
        ),
        MessageTemplate(
            r"cannot enable subscription that does not have a slot name",
            "the subscription has no slot to read from",
            "ALTER SUBSCRIPTION ... SET (slot_name = ...) first",
        ),
        MessageTemplate(
            r"cannot set (?:option )?\"?(?P<option>\w+).* for enabled subscription",
            "{option} is changed only while the subscription is disabled",
            "ALTER SUBSCRIPTION ... DISABLE before, and ENABLE after",
        ),
        MessageTemplate(
            r'publication "(?P<publication>.*)" is not in subscription "(?P<name>.*)"',
            'subscription "{name}" has no publication "{publication}"',
            "leave it out",
        ),
        MessageTemplate(
            r"cannot drop all the publications from a subscription",
            "a subscription keeps at least one publication",
            "SET PUBLICATION with those that take their place, or DROP SUBSCRIPTION",
        ),
        MessageTemplate(
            r"invalid connection string syntax: (?P<what>.*)\n",
            "this is no connection string: {what}",
            "write keyword = value pairs, values with spaces in single quotes, or a URI that begins with postgresql://",
        ),
    ),
}
