"""STORAGE and COMPRESSION of a column (commands/tablecmds.c: GetAttributeStorage, GetAttributeCompression).

Such refusals are not reported; the table is then not created, or stays as it is.
"""

from __future__ import annotations

from pubcheck.postgres import oids
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session

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
