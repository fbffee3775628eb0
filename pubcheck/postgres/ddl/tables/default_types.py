"""The type of a default, and whether it clearly fits its column (catalog/heap.c: cookDefault).

If it is not clear, ``ddl.stored_expressions`` analyses the expression.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names, plain_call, uncast, value_function_type
from pubcheck.postgres.session import Session

_TYPES_OF_CALLS = {"now": oids.TIMESTAMPTZ, "nextval": oids.INT8, "gen_random_uuid": oids.UUID}


NO_DEFAULT = -1
"""The type of a default that the server does not keep: a NULL that is of the column's type without a conversion."""


def default_type(session: Session, expression: Node, column: int, typmod: int) -> int:
    """Return the type of a default before its assignment to a column of this type; 0 if it is not clear, and
    ``NO_DEFAULT`` for a NULL that is not kept."""
    ((kind, body),) = expression.items()
    if kind == "A_Const":
        if "sval" in body:
            return column
        if "isnull" in body:
            return _type_of_null(session, column, typmod if column != oids.INTERVAL else -1)
        # A float without a point may be an int8, which is assigned to as much.
        return (
            oids.INT4 if "ival" in body else oids.BOOL if "boolval" in body else oids.NUMERIC if "fval" in body else 0
        )
    if kind == "TypeCast":
        try:
            oid = session.type_oid(body["typeName"])
        except ServerError:
            return 0
        bare_null = "isnull" in body["arg"].get("A_Const", ()) and "typmods" not in body["typeName"]
        return _type_of_null(session, column, typmod) if bare_null and oid == column else oid
    if kind == "FuncCall":
        parts = names(body["funcname"])
        oid = _TYPES_OF_CALLS.get(parts[-1], 0) if len(parts) == 1 or parts[0] == "pg_catalog" else 0
        if not oid or not session.catalog.procs:
            return oid
        # Few schemas have a function of such a name, and what looks them up is large.
        from pubcheck.postgres.ddl.object_address import functions_named

        return 0 if functions_named(session, parts) else oid
    return value_function_type(body["op"]) if kind == "SQLValueFunction" else 0


def _type_of_null(session: Session, column: int, typmod: int) -> int:
    """The type of a NULL of the column's type: it is kept if it is converted to a length, a precision or a domain."""
    if column >= FIRST_NORMAL_OID:
        row = session.catalog.types.get(column)
        if row is None or row.kind == "d":
            return column if row is not None else 0
    return column if typmod >= 0 or not column else NO_DEFAULT


def without_null_default(column: Column) -> Column:
    """Return the column without a default that the server does not keep (AddRelationNewConstraints)."""
    if column.default_type != NO_DEFAULT:
        return column
    return replace(column, has_default=False, default_type=0, tree=None)


def is_simple(expression: Node) -> bool:
    """Return whether a default is a literal, CURRENT_TIMESTAMP and its like or a call without arguments, cast or not.

    Most defaults are, and they use no sequence.
    """
    expression = uncast(expression)
    if "A_Const" in expression or "SQLValueFunction" in expression:
        return True
    call = plain_call(expression)
    return call is not None and "args" not in call


def constant(expression: Node) -> Node | None:
    """Return the literal that a default is, cast or not."""
    return uncast(expression).get("A_Const")


_STRINGS = frozenset((oids.TEXT, oids.BPCHAR, oids.VARCHAR, oids.NAME))

_NUMBERS = frozenset((oids.INT2, oids.INT4, oids.INT8, oids.NUMERIC, oids.FLOAT4, oids.FLOAT8))

_TIMES = frozenset((oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ))

_LITERALS = {
    **dict.fromkeys(_NUMBERS, lazy_compile(r"-?[0-9]{1,4}")),
    oids.BOOL: lazy_compile("true|false|[tf]"),
    **dict.fromkeys((oids.JSON, oids.JSONB), lazy_compile(r"\{\}|\[\]")),
}


def suits(session: Session, column_type: int, expression_type: int, expression: Node, *, simple: bool) -> bool:
    """Return whether a column of type ``column_type`` can clearly have a default of type ``expression_type``, or
    nothing will be reported: for a call without arguments, unless everything that exists is known. The default is a
    literal or a call of constants; ``simple`` is the answer of ``is_simple`` for it.

    So it is with most, and a closer look takes all that reads expressions.
    """
    if not column_type or "isnull" in expression.get("A_Const", ()):
        return True
    if not expression_type:
        return simple and not session.complete
    if (
        expression_type != column_type
        and column_type not in _STRINGS
        and not any({expression_type, column_type} <= alike for alike in (_NUMBERS, _TIMES))
    ):
        return False
    text = (constant(expression) or {}).get("sval")
    if text is None or expression_type in _STRINGS:
        return True
    own = session.catalog.types.get(expression_type)
    if own is not None and own.kind == "e":
        return text["sval"] in own.labels
    pattern = _LITERALS.get(expression_type)
    return pattern is not None and pattern.fullmatch(text["sval"]) is not None
