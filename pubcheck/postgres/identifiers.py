"""Names and texts as SQL writes them."""

from __future__ import annotations

import re

from pubcheck.lexing.keywords import RESERVED
from pubcheck.postgres.catalog import PUBLIC
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH


def identifier(name: str) -> str:
    """A name as it must be written in SQL: quoted where it needs quotes."""
    if re.fullmatch(r"[a-z_][a-z0-9_$]*", name) and f" {name} " not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """``schema.table`` as SQL writes it."""
    return ".".join(identifier(part) for part in name.split(".", 1))


def table_name(session: Session, relation: Relation) -> str:
    """A relation as SQL that a person runs must write it: found by whoever runs it, with the files' search_path or not.

    Without the schema where that is public, unless the files set another search_path or pg_catalog may have the name.
    """
    name = identifier(relation.name)
    plain = relation.namespace == PUBLIC and not relation.name.startswith("pg_")
    if plain and session.setting("search_path") == DEFAULT_PATH:
        return name
    return f"{identifier(session.catalog.namespaces[relation.namespace].name)}.{name}"


def quote_literal(text: str) -> str:
    """A text as a string of SQL, where backslashes stand for themselves (standard_conforming_strings)."""
    return "'" + text.replace("'", "''") + "'"
