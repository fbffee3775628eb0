"""The server's refusals in plain words, one module a family."""

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
from pubcheck.checks.messages.template import MessageTemplate

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    **statements.WORDS,
    **relations.WORDS,
    **publication_members.WORDS,
    **filter_expressions.WORDS,
    **replica_identity.WORDS,
    **column_lists.WORDS,
    **published_table_ddl.WORDS,
    **subscriptions.WORDS,
}
"""By rule of the specification, the words for each of its answers; the first that matches is used."""
