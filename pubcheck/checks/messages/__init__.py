"""The texts for errors of the server, one module per family of rules, by the code of the rule and the error's key."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages import (
    column_lists,
    filter_expressions,
    publication_members,
    published_table_ddl,
    relations,
    replica_identity,
    statements,
    subscriptions,
)
from pubcheck.checks.messages.template import Messages, MessageTemplate

MESSAGES: Messages = {
    **statements.MESSAGES,
    **relations.MESSAGES,
    **publication_members.MESSAGES,
    **filter_expressions.MESSAGES,
    **replica_identity.MESSAGES,
    **column_lists.MESSAGES,
    **published_table_ddl.MESSAGES,
    **subscriptions.MESSAGES,
}
"""The templates by the code of a rule and the key of an error."""


def _by_key() -> Mapping[str, Mapping[str, tuple[MessageTemplate, ...]]]:
    by_key: dict[str, dict[str, tuple[MessageTemplate, ...]]] = {}
    for code, templates in MESSAGES.items():
        for key, template in templates.items():
            by_key.setdefault(key, {})[code] = template if isinstance(template, tuple) else (template,)
    return by_key


BY_KEY = _by_key()
"""The templates by the key of an error and the code of the rule that reports it."""
