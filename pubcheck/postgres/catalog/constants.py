"""The oids that every server has, and the classes of objects in dependencies."""

from __future__ import annotations

FIRST_NORMAL_OID = 16384
"""FirstNormalObjectId (access/transam.h): objects created by initdb have lower oids."""
FIRST_UNPINNED = 12000
"""FirstUnpinnedObjectId: a relation below is a system catalog, and nothing below can be dropped."""
FIRST_GENERATED = 10000
"""FirstGenbkiObjectId: from here on initdb's oids differ between majors (those of information_schema among them)."""

PG_CATALOG, PG_TOAST, PUBLIC, INFORMATION_SCHEMA = 11, 99, 2200, 12000
TEMPORARY = 16000
"""The session's own temporary schema; its real number differs from session to session."""

SUPERUSER = 10
DATABASE_OWNER = 6171
"""BOOTSTRAP_SUPERUSERID and pg_database_owner, who owns the schema public."""

# Classes of objects in dependencies; one letter each.
RELATION, TYPE, PROC, OPERATOR, CAST, COLLATION, CONSTRAINT = "r", "t", "f", "o", "k", "l", "c"
NAMESPACE, PUBLICATION, PUBLICATION_REL, PUBLICATION_NAMESPACE, DEFAULT, OTHER, ROLE = "n", "p", "m", "s", "d", "x", "u"
PUBLICATION_EXCLUSION = "e"

NORMAL, AUTO, INTERNAL, PARTITION, EXTENSION = "n", "a", "i", "P", "e"
"""pg_depend.deptype."""

Object = tuple[str, int, int]
"""(class, oid, column number or 0): pg_depend's classid, objid, objsubid."""
