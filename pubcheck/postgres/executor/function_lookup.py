"""The functions of pg_proc oids: implementations are found by name and argument types, in a module for each family.

A family's ``FUNCTIONS`` are functions of values that are not NULL (of any, where pg_proc says that the function is not
strict), under the function's name, or its name and argument types where it has several. Its ``MAKERS`` return such a
function for a call: for functions that depend on types or collations.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import Unknowable

if TYPE_CHECKING:
    from pubcheck.postgres.catalog.rows import Proc
    from pubcheck.postgres.executor.values import Context
    from pubcheck.postgres.primnodes import Expr

Function = Callable[..., Any]


class Call(NamedTuple):
    """A call of ``proc`` by ``expr``."""

    context: Context
    expr: Expr
    proc: Proc

    @property
    def collation(self) -> int:
        return self.expr.input_collation


Maker = Callable[[Call], Function]


class Implementation(NamedTuple):
    """``strict``: NULL is given for a constant NULL; ``guarded``: and the function is called without NULLs only.

    What ``function`` does is paid for; who calls ``plain`` pays.
    """

    plain: Function
    function: Function
    strict: bool
    guarded: bool


_FAMILIES = {
    family: frozenset(types.split())
    for family, types in {
        "integers": "int2 int4 int8 oid bool xid cid xid8 pg_lsn money regproc regclass regtype",
        "floats": "float4 float8",
        "numeric": "numeric",
        "text": "text varchar bpchar name char",
        "binary": "bytea bit varbit uuid macaddr macaddr8",
        "datetime": "date time timetz timestamp timestamptz interval",
        "networks": "inet cidr",
        "json": "json jsonb",
        "json_changes": "jsonb",
        "json_building": "any anyelement anyarray record _text json",
        "regexp_functions": "text",
        "formatting": "any anyelement anyarray text",
        "enums": "anyenum",
        "arrays": "anyarray anycompatiblearray anycompatible anyelement any",
        "ranges": "anyrange anymultirange int4range int8range numrange daterange tsrange tstzrange",
    }.items()
}
_AFTERWARDS = ("text", "binary", "hashing", "arrays", "json_building")
"""Families that may have functions of any type."""

_INLINED = frozenset(("date_part(text,date)", "substring(text,text,text)"))
"""Functions in SQL that the planner puts the body of in their place: a part of it may fail though another is NULL."""


def implementation(context: Context, call: Call) -> Implementation:
    """Return the implementation of a function. One that is not implemented raises Unknowable when it is called."""
    proc = call.proc
    if proc.oid >= FIRST_NORMAL_OID:
        raise Unknowable(f"what the function {proc.name} gives")
    names = [context.cache.type(oid).name for oid in proc.arguments]
    signature = f"{proc.name}({','.join(names)})"
    families = [family for name in names for family, types in _FAMILIES.items() if name in types]
    families += [f for f, types in _FAMILIES.items() if context.cache.type(proc.returns).name in types]
    for family in dict.fromkeys((*families, *_AFTERWARDS)):
        module: Any = import_module(f"pubcheck.postgres.executor.{family}")
        functions, makers = (getattr(module, table, {}) for table in ("FUNCTIONS", "MAKERS"))
        for name in (signature, proc.name):
            function = functions.get(name)
            if function is None and name in makers:
                function = _implementation(makers[name], call)
            if function is not None:
                paid = context.budget.bounded(function)
                return Implementation(function, paid, proc.strict, proc.strict and signature not in _INLINED)
    unknown = _unknown(Unknowable(f"what {signature} gives"))
    return Implementation(unknown, unknown, proc.strict, proc.strict and signature not in _INLINED)


def _implementation(maker: Maker, call: Call) -> Function:
    try:
        return maker(call)
    except Unknowable as unknown:
        return _unknown(unknown)


def _unknown(unknown: Unknowable) -> Function:
    def function(*values: Any) -> Any:
        raise unknown.with_traceback(None)

    return function
