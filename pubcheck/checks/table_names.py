"""The name of a relation in the SQL that a finding suggests."""

from __future__ import annotations

from pubcheck.postgres.catalog import PUBLIC
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH
from pubcheck.postgres.tokens import identifier


def table_name(session: Session, relation: Relation) -> str:
    """A relation as SQL that a person runs must write it: found by whoever runs it, with the files' search_path or not.

    Without the schema where that is public, unless the files set another search_path or pg_catalog may have the name.
    """
    name = identifier(relation.name)
    plain = relation.namespace == PUBLIC and not relation.name.startswith("pg_")
    if plain and session.setting("search_path") == DEFAULT_PATH:
        return name
    return f"{identifier(session.catalog.namespaces[relation.namespace].name)}.{name}"
