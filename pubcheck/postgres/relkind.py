"""Kinds of relations in the server's words (catalog/objectaddress.c, utils/error: errdetail_relkind_not_supported)."""

from __future__ import annotations

RELKIND_PLURAL = {
    "r": "tables",
    "p": "partitioned tables",
    "v": "views",
    "m": "materialized views",
    "i": "indexes",
    "I": "partitioned indexes",
    "S": "sequences",
    "t": "TOAST tables",
    "c": "composite types",
    "f": "foreign tables",
    "g": "property graphs",
}

RELKIND_NOUN = {
    "r": "table",
    "p": "table",
    "t": "table",
    "v": "view",
    "m": "materialized view",
    "i": "index",
    "I": "index",
    "S": "sequence",
    "c": "type",
    "f": "foreign table",
    "g": "property graph",
}
"""The object type by which aclcheck_error names a relation (get_relkind_objtype)."""


RELKIND_SINGULAR = {
    "r": "a table",
    "p": "a partitioned table",
    "v": "a view",
    "m": "a materialized view",
    "i": "an index",
    "I": "a partitioned index",
    "S": "a sequence",
    "t": "a TOAST table",
    "c": "a composite type",
    "f": "a foreign table",
    "g": "a property graph",
}


def not_supported_for(kind: str) -> str:
    """The DETAIL of an operation that a kind of relation does not take."""
    return f"This operation is not supported for {RELKIND_PLURAL[kind]}."


RELATION_KINDS = {
    "OBJECT_TABLE": "rp",
    "OBJECT_VIEW": "v",
    "OBJECT_MATVIEW": "m",
    "OBJECT_INDEX": "iI",
    "OBJECT_SEQUENCE": "S",
    "OBJECT_FOREIGN_TABLE": "f",
    "OBJECT_PROPGRAPH": "g",
}
"""The kind of object that a statement names -> the relkinds it means."""


def object_noun(kind: str) -> str:
    """Return the noun, with its article, for the relations that a kind of object means."""
    return RELKIND_SINGULAR[RELATION_KINDS[kind][0]]
