"""Access methods and tablespaces: what USING and TABLESPACE may say (commands/amcmds.c, tablespace.c).

Such refusals are not reported; the relation is then not created. Which tablespaces exist is not known: they are
the cluster's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.ddl.new_objects import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.storage import INDEX_METHODS, refuse_parameters
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

if TYPE_CHECKING:
    from pubcheck.postgres.ddl.index_keys import IndexSpec

METHOD = "access method"
"""Other.kind, as getObjectDescription says it."""
_OF_TABLES = "heap"


def create_method(session: Session, node: Node) -> None:
    """CREATE ACCESS METHOD. Raises ServerError 42501, 42710."""
    name = node["amname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create access method "{name}"')
    if name in (_OF_TABLES, *INDEX_METHODS):
        raise ServerError("42710", '{kind} "{name}" already exists', kind=METHOD, name=name)
    create_other(session, METHOD, name)


def refuse_table_storage(session: Session, node: Node, kind: str) -> None:
    """Raise ServerError for a USING or TABLESPACE that a CREATE TABLE or INTO clause certainly cannot have."""
    refuse_tablespace(node.get("tablespacename") or node.get("tableSpaceName"))
    refuse_parameters(session, node.get("options", ()), "partitioned" if kind == "p" else "table")
    if "accessMethod" in node:
        refuse_table_method(session, node["accessMethod"], partitioned=kind == "p")


def refuse_index_storage(session: Session, node: Node, method: str) -> None:
    """Raise ServerError for a USING or TABLESPACE that an IndexStmt, or a key's constraint, cannot have."""
    refuse_tablespace(node.get("tableSpace") or node.get("indexspace"))
    if method == _OF_TABLES:
        raise ServerError("55000", f'access method "{method}" is not of type INDEX')
    if method not in INDEX_METHODS and method != "rtree":
        _refuse_missing(session, method)
    refuse_parameters(session, node.get("options", ()), method)


def refuse_unsupported(spec: IndexSpec) -> None:
    """Raise ServerError 0A000 for features that an access method lacks (DefineIndex, ComputeIndexAttrs)."""
    orders = [element.get("ordering") for element in spec.elements]
    nulls = [element.get("nulls_ordering") for element in spec.elements]
    for feature, description, requested in (
        ("UNIQUE", "unique indexes", spec.unique),
        ("INCLUDE", "included columns", bool(spec.included)),
        ("several", "multicolumn indexes", len(spec.elements) > 1),
        ("EXCLUDE", "exclusion constraints", spec.exclusion and not spec.without_overlaps),
        ("order", "ASC/DESC options", any(option not in (None, "SORTBY_DEFAULT") for option in orders)),
        ("order", "NULLS FIRST/LAST options", any(option not in (None, "SORTBY_NULLS_DEFAULT") for option in nulls)),
    ):
        if requested and spec.method in INDEX_METHODS and spec.method not in _SUPPORTING[feature]:
            raise ServerError("0A000", f'access method "{spec.method}" does not support {description}')


_SUPPORTING = {
    "UNIQUE": ("btree",),
    "INCLUDE": ("btree", "gist", "spgist"),
    "several": ("btree", "gist", "gin", "brin"),
    "EXCLUDE": ("btree", "hash", "gist", "spgist"),
    "order": ("btree",),
}
"""The access methods of initdb's that support what (IndexAmRoutine)."""


def refuse_table_method(session: Session, name: str, *, partitioned: bool = False) -> None:
    """Raise ServerError if this certainly is not an access method of tables (get_table_am_oid)."""
    if partitioned and not session.catalog.major.partitioned_access_methods:
        raise ServerError("0A000", "specifying a table access method is not supported on a partitioned table")
    if name in INDEX_METHODS:
        raise ServerError("55000", f'access method "{name}" is not of type TABLE')
    if name != _OF_TABLES:
        _refuse_missing(session, name)


def _refuse_missing(session: Session, name: str) -> None:
    """Extensions have access methods, and are where tables are often stored otherwise."""
    if (METHOD, 0, name) not in session.catalog.other_names:
        if all_objects_known(session):
            raise ServerError("42704", f'access method "{name}" does not exist')
        session.assume(f'access method "{name}", which these files do not create')


def refuse_tablespace(name: str | None) -> None:
    """Raise ServerError 22023 for the tablespace of shared relations (DefineRelation)."""
    if name == "pg_global":
        raise ServerError("22023", "only shared relations can be placed in pg_global tablespace")
