"""What several rules need to know of a table: its name in the SQL that a finding suggests, and the columns whose values
can be stored out of line: an UPDATE that does not change them does not log them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.catalog import PUBLIC
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.oids import BIT, BPCHAR, BYTEA, JSON, JSONB, TEXT, VARBIT, VARCHAR, XML
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH
from pubcheck.postgres.tokens import identifier

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache


def table_name(session: Session, relation: Relation) -> str:
    """A relation as SQL that a person runs must write it: found by whoever runs it, with the files' search_path or not.

    Without the schema where that is public, unless the files set another search_path or pg_catalog may have the name.
    """
    name = identifier(relation.name)
    plain = relation.namespace == PUBLIC and not relation.name.startswith("pg_")
    if plain and session.setting("search_path") == DEFAULT_PATH:
        return name
    return f"{identifier(session.catalog.namespaces[relation.namespace].name)}.{name}"


_THRESHOLD = 2032
"""TOAST_TUPLE_THRESHOLD for pages of 8 kB: what is shorter stays in the row, unless the rest of it is long too."""
_BYTES_A_CHARACTER = 4
"""pg_encoding_max_length of UTF8."""
_TSVECTOR, _PATH, _POLYGON = 3614, 602, 604
_EXTENDED = frozenset((BIT, BPCHAR, BYTEA, JSON, JSONB, TEXT, VARBIT, VARCHAR, XML, _TSVECTOR, _PATH, _POLYGON))
"""Built-in types whose typstorage is x(tended); numeric and inet, which are m(ain), leave the row only at the last."""
_EXTENSIONS = frozenset(("citext", "hstore", "ltree"))
"""Types of extensions that come with the server, likewise."""


def can_be_toasted(cache: SysCache, column: Column) -> bool:
    """Return whether a value of the column alone can be moved out of line; False if that is unknown."""
    if column.storage in ("plain", "main") or not column.type:
        return False
    oid, typmod = cache.base_type(column.type, column.typmod)
    row = cache.type(oid)
    if oid in _EXTENDED:
        return _longest(oid, typmod) > _THRESHOLD
    if row.subscript == "a" or row.kind in ("c", "r", "m"):
        return True
    return row.name in _EXTENSIONS or column.storage in ("external", "extended")


def _longest(oid: int, typmod: int) -> int:
    """The bytes of a column's longest value (type_maximum_size)."""
    if typmod < 0:
        return 1 << 30
    if oid in (VARCHAR, BPCHAR):
        return (typmod - 4) * _BYTES_A_CHARACTER + 4
    return typmod // 8 if oid in (BIT, VARBIT) else 1 << 30
