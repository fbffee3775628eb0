"""Storage: the parameters in WITH (...) and SET (...) of relations and columns (access/common/reloptions.c), STORAGE
and COMPRESSION of a column (commands/tablecmds.c: GetAttributeStorage, GetAttributeCompression), access methods and
tablespaces, which USING and TABLESPACE name (commands/amcmds.c, tablespace.c).

Such refusals are not reported; the relation is then not created, or stays as it is. Which tablespaces exist is not
known: they are the cluster's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.postgres import oids
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.new_objects import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import truth, value_text
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import ascii_lower

if TYPE_CHECKING:
    from pubcheck.postgres.ddl.index_keys import IndexSpec


class _Parameter(Struct, frozen=True):
    """A storage parameter: true or false, if it has neither bounds nor ``words``. ``since``: the first major."""

    low: float | None = None
    high: float = (1 << 31) - 1
    whole: bool = True
    words: tuple[str, ...] = ()
    since: int = 0


def _share(high: float = 100, since: int = 0, low: float = 0) -> _Parameter:
    return _Parameter(low, high, whole=False, since=since)


_SWITCH = _Parameter()
_FULL = {"fillfactor": _Parameter(10, 100)}
_AGE = _Parameter(0, 1_000_000_000)
_TABLE_AGE = _Parameter(0, 2_000_000_000)
_TOAST = {
    "autovacuum_enabled": _SWITCH,
    "autovacuum_freeze_max_age": _Parameter(100_000, 2_000_000_000),
    "autovacuum_freeze_min_age": _AGE,
    "autovacuum_freeze_table_age": _TABLE_AGE,
    "autovacuum_multixact_freeze_max_age": _Parameter(10_000, 2_000_000_000),
    "autovacuum_multixact_freeze_min_age": _AGE,
    "autovacuum_multixact_freeze_table_age": _TABLE_AGE,
    "autovacuum_vacuum_cost_delay": _share(),
    "autovacuum_vacuum_cost_limit": _Parameter(1, 10_000),
    "autovacuum_vacuum_insert_scale_factor": _share(),
    "autovacuum_vacuum_insert_threshold": _Parameter(-1),
    "autovacuum_vacuum_max_threshold": _Parameter(-1, since=18),
    "autovacuum_vacuum_scale_factor": _share(),
    "autovacuum_vacuum_threshold": _Parameter(0),
    "log_autovacuum_min_duration": _Parameter(-1),
    "vacuum_index_cleanup": _Parameter(words=("auto", "on", "off", "true", "false", "yes", "no", "1", "0")),
    "vacuum_max_eager_freeze_failure_rate": _share(1, since=18),
    "vacuum_truncate": _SWITCH,
}
_TABLE = {
    **_TOAST,
    **_FULL,
    "autovacuum_analyze_scale_factor": _share(),
    "autovacuum_analyze_threshold": _Parameter(0),
    "parallel_workers": _Parameter(0, 1024),
    "toast_tuple_target": _Parameter(128, 8160),
    "user_catalog_table": _SWITCH,
}
_PARAMETERS = {
    "table": _TABLE,
    "toast": _TOAST,
    "view": {
        "check_option": _Parameter(words=("local", "cascaded")),
        "security_barrier": _SWITCH,
        "security_invoker": _SWITCH,
    },
    "partitioned": {},
    "attribute": {name: _share(float("inf"), low=-1) for name in ("n_distinct", "n_distinct_inherited")},
    "brin": {"autosummarize": _SWITCH, "pages_per_range": _Parameter(1, 131_072)},
    "btree": {**_FULL, "deduplicate_items": _SWITCH, "vacuum_cleanup_index_scale_factor": _share(1e10)},
    "gin": {"fastupdate": _SWITCH, "gin_pending_list_limit": _Parameter(64)},
    "gist": {**_FULL, "buffering": _Parameter(words=("auto", "on", "off"))},
    "hash": _FULL,
    "spgist": _FULL,
}
"""The storage parameters by the kind of relation; those of an index by its access method."""
_INDEX_METHODS = frozenset(("brin", "btree", "gin", "gist", "hash", "spgist"))


def refuse_parameters(session: Session, nodes: Iterable[Node], kind: str, *, new: bool = True) -> None:
    """Raise ServerError for parameters that certainly do not belong to ``kind``, a key of the table above.

    Nothing is reported for other kinds, or for namespaces except toast: extensions have their own. The toast parameters
    of a table that is not ``new`` are checked only if it has a toast table.
    """
    parameters_of_kind = _PARAMETERS.get(kind)
    if parameters_of_kind is None:
        return
    parameters = list(_parameters(session, nodes, kind, new))
    if len(parameters) > len({name for name, _ in parameters}):
        raise ServerError("22023", "parameter specified more than once")
    if parameters and kind == "partitioned" and session.catalog.major.refuses_partitioned_storage:
        hint = "Specify storage parameters for its leaf partitions instead."
        raise ServerError("42809", "cannot specify storage parameters for a partitioned table", hint=hint)
    for (space, name), value in parameters:
        parameter = (_TOAST if space else parameters_of_kind).get(name)
        if parameter is None or not session.catalog.major.includes(parameter.since):
            raise ServerError("22023", f'unrecognized parameter "{name}"')
        if not _takes(parameter, value):
            raise ServerError("22023", f'invalid value for option "{name}": {value}')


def _parameters(session: Session, nodes: Iterable[Node], kind: str, new: bool) -> Iterator[tuple[tuple[str, str], str]]:
    """((namespace, name), value) of the parameters to look at (transformRelOptions)."""
    for item in nodes:
        element = item["DefElem"]
        space, name = element.get("defnamespace", ""), element["defname"]
        if name == "oids" and not space and new and kind in ("table", "partitioned"):
            if truth(element.get("arg")) is not False:
                raise ServerError("0A000", "tables declared WITH OIDS are not supported")
        elif space not in ("", "toast") or (space and kind != "table"):
            if all_objects_known(session):
                raise ServerError("22023", f'unrecognized parameter namespace "{space}"')
        elif new or not space:
            yield (space, name), value_text(element["arg"]) if "arg" in element else "true"


_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+)\s*")
_YES_OR_NO = re.compile(r"t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|y(?:es?)?|no?|on|off?|[01]", re.IGNORECASE)


def _takes(parameter: _Parameter, value: str) -> bool:
    """Return whether a value is one of a parameter's (parse_one_reloption)."""
    if parameter.words:
        return ascii_lower(value) in parameter.words
    if parameter.low is None:
        return _YES_OR_NO.fullmatch(value.strip()) is not None
    match = _NUMBER.fullmatch(value)
    if match is None:
        return False
    number = float(int(match[1], 16)) if match[1][:2].lower() == "0x" else float(match[1])
    return parameter.low <= (round(number) if parameter.whole and abs(number) < 1e15 else number) <= parameter.high


_PLAIN = oids.named(
    "BOOL BOX CHAR CID CIRCLE DATE FLOAT4 FLOAT8 INT2 INT2VECTOR INT4 INT8 INTERVAL LINE LSEG MACADDR MACADDR8 "
    "MONEY NAME OID OID8 OIDVECTOR PG_LSN POINT REGDATABASE REGPROC REGROLE TID TIME TIMESTAMP TIMESTAMPTZ TIMETZ UUID "
    "XID XID8"
)
"""Types most columns have that are never stored elsewhere; there are more."""


def storage_of(session: Session, written: str, oid: int) -> str:
    """Return the value of STORAGE in lower case; "" for DEFAULT, the type's. Raises ServerError 22023, 0A000."""
    word = written.lower()
    if word not in ("plain", "external", "extended", "main", "default"):
        raise ServerError("22023", f'invalid storage type "{written}"')
    if word not in ("plain", "default") and _is_plain(session, oid):
        raise ServerError("0A000", f"column data type {session.syscache.format_type(oid)} can only have storage PLAIN")
    return word if word != "default" else ""


def refuse_compression(session: Session, written: str, oid: int) -> None:
    """Raise ServerError 22023, 0A000. Whether a server has lz4 depends on its build."""
    if written == "default":
        return
    if _is_plain(session, oid):
        raise ServerError("0A000", f"column data type {session.syscache.format_type(oid)} does not support compression")
    if written not in ("pglz", "lz4"):
        raise ServerError("22023", f'invalid compression method "{written}"')


def _is_plain(session: Session, oid: int) -> bool:
    """Return whether a type certainly has typstorage p(lain)."""
    if oid in _PLAIN or not oid:
        return oid in _PLAIN
    base, enum = 0, False
    with only_certain(session):
        base = session.syscache.base_type(oid)[0]
        enum = session.syscache.type(base).kind == "e"
    return base in _PLAIN or enum


METHOD = "access method"
"""Other.kind, as getObjectDescription says it."""
_OF_TABLES = "heap"


def create_method(session: Session, node: Node) -> None:
    """CREATE ACCESS METHOD. Raises ServerError 42501, 42710."""
    name = node["amname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create access method "{name}"')
    if name in (_OF_TABLES, *_INDEX_METHODS):
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
    if method not in _INDEX_METHODS and method != "rtree":
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
        if requested and spec.method in _INDEX_METHODS and spec.method not in _SUPPORTING[feature]:
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
    if name in _INDEX_METHODS:
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
