"""What filters can be made of: types, functions, operators and casts as one server's pg_catalog has them.

Types go by the name that SQL gives them, so that those a script makes need no oid to stand beside the built-in ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import psycopg
from msgspec import Struct


class Type(Struct, frozen=True):
    """A type by its SQL name. ``kind`` is typtype, ``element`` a true array's, ``subtype`` a range's (a multirange's
    range), ``base`` a domain's; "" where there is none. ``typmod``: takes modifiers.
    """

    name: str
    kind: str
    category: str = "U"
    element: str = ""
    array: str = ""
    subtype: str = ""
    base: str = ""
    collatable: bool = False
    typmod: bool = False
    fields: tuple[tuple[str, str], ...] = ()


class Proc(Struct, frozen=True):
    """A function by its name as SQL writes it. ``kind`` f, a, w or p; ``inputs`` are the names of the arguments."""

    oid: int
    name: str
    schema: str
    arguments: tuple[str, ...]
    result: str
    kind: str = "f"
    returns_set: bool = False
    volatility: str = "i"
    variadic: str = ""
    defaults: int = 0
    inputs: tuple[str, ...] = ()


class Operator(Struct, frozen=True):
    """An operator; ``left`` is "" for a prefix operator."""

    oid: int
    name: str
    schema: str
    left: str
    right: str
    result: str
    volatility: str = "i"


class Cast(Struct, frozen=True):
    source: str
    target: str
    context: str
    method: str
    volatility: str = "i"


_TYPE_NAME = "CASE {0} WHEN 1042 THEN 'bpchar' ELSE format_type({0}, NULL) END"


def _name(oid: str) -> str:
    return _TYPE_NAME.format(oid)


_TYPES = f"""
    SELECT {_name("t.oid")}, t.typtype::text, t.typcategory::text,
           CASE WHEN t.typcategory = 'A' AND t.typsubscript = 'pg_catalog.array_subscript_handler'::regproc
                THEN {_name("t.typelem")} ELSE '' END,
           CASE WHEN t.typarray <> 0 THEN {_name("t.typarray")} ELSE '' END,
           coalesce((SELECT {_name("r.rngsubtype")} FROM pg_range r WHERE r.rngtypid = t.oid),
                    (SELECT {_name("r.rngtypid")} FROM pg_range r WHERE r.rngmultitypid = t.oid), ''),
           CASE WHEN t.typbasetype <> 0 THEN {_name("t.typbasetype")} ELSE '' END,
           t.typcollation <> 0, t.typmodin <> 0,
           CASE t.typtype
                WHEN 'e' THEN (SELECT array_agg(ARRAY[enumlabel, ''] ORDER BY enumsortorder) FROM pg_enum
                               WHERE enumtypid = t.oid)
                WHEN 'c' THEN (SELECT array_agg(ARRAY[quote_ident(attname), {_name("atttypid")}] ORDER BY attnum)
                               FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped)
           END
    FROM pg_type t WHERE {{}} ORDER BY t.oid
"""
_PROCS = f"""
    SELECT p.oid::int, quote_ident(p.proname), quote_ident(n.nspname),
           ARRAY(SELECT {_name("a")} FROM unnest(p.proargtypes) WITH ORDINALITY u(a, n) ORDER BY n),
           {_name("p.prorettype")}, p.prokind::text, p.proretset, p.provolatile::text,
           CASE WHEN p.provariadic <> 0 THEN {_name("p.provariadic")} ELSE '' END, p.pronargdefaults::int,
           coalesce((SELECT array_agg(coalesce(quote_ident(nullif(name, '')), '') ORDER BY n)
                     FROM unnest(p.proargnames, p.proargmodes) WITH ORDINALITY u(name, mode, n)
                     WHERE coalesce(mode, 'i') IN ('i', 'b', 'v')), '{{{{}}}}')
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {{}} ORDER BY p.oid
"""
_OPERATORS = f"""
    SELECT o.oid::int, o.oprname::text, quote_ident(n.nspname),
           CASE WHEN o.oprleft <> 0 THEN {_name("o.oprleft")} ELSE '' END, {_name("o.oprright")},
           {_name("o.oprresult")}, p.provolatile::text
    FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode JOIN pg_namespace n ON n.oid = o.oprnamespace
    WHERE {{}} ORDER BY o.oid
"""
_CASTS = f"""
    SELECT {_name("c.castsource")}, {_name("c.casttarget")}, c.castcontext::text, c.castmethod::text,
           coalesce((SELECT provolatile FROM pg_proc WHERE oid = c.castfunc), 'i')::text
    FROM pg_cast c WHERE {{}} ORDER BY c.castsource, c.casttarget
"""
_COLLATIONS = """
    SELECT quote_ident(collname) FROM pg_collation
    WHERE collencoding IN (-1, 6) AND collnamespace = 'pg_catalog'::regnamespace ORDER BY 1
"""
_FIRST_NORMAL_OID = 16384


class Objects(Struct, frozen=True):
    """A harvest of one connection's catalogs, named as its search path has them."""

    types: dict[str, Type]
    procs: list[Proc]
    operators: list[Operator]
    casts: list[Cast]


def harvest(conn: psycopg.Connection[Any], *, made: bool) -> Objects:
    """What initdb made, or what was made since."""
    where = f"{{}}.oid {'>=' if made else '<'} {_FIRST_NORMAL_OID}"

    def rows(query: str, alias: str, also: str = "") -> list[tuple[Any, ...]]:
        text: Any = query.format(where.format(alias) + also)
        return conn.execute(text).fetchall()

    # Of the catalogs' own row types two are enough.
    some = "" if made else " AND (t.typtype <> 'c' OR t.typname IN ('pg_am', 'pg_cast'))"
    types = {row[0]: Type(*(*row[:9], tuple((a, b) for a, b in row[9] or ()))) for row in rows(_TYPES, "t", some)}
    if not made:
        types = {name: type_ for name, type_ in types.items() if not type_.element or type_.element in types}
    procs = [Proc(*(*row[:3], tuple(row[3]), *row[4:10], tuple(row[10]))) for row in rows(_PROCS, "p")]
    operators = [Operator(*row) for row in rows(_OPERATORS, "o")]
    return Objects(types, procs, operators, [Cast(*row) for row in rows(_CASTS, "c")])


class Catalog:
    """The objects that initdb made, with those that can be used in an expression found out by asking."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self.major = conn.info.server_version // 10000
        conn.execute("SET search_path = pg_catalog")
        self.objects = harvest(conn, made=False)
        self.types = self.objects.types
        self.casts = self.objects.casts
        self.collations: list[str] = [row[0] for row in conn.execute(_COLLATIONS).fetchall()]
        self.makeable = {name for name, type_ in self.types.items() if type_.kind != "p" or _is_makeable(conn, name)}
        self.makeable.add("anyenum")  # of an enum that a script makes; built-in ones there are none
        conn.execute("RESET search_path")
        procs = [p for p in self.objects.procs if self.makeable.issuperset(p.arguments)]
        self.functions = [p for p in procs if p.kind == "f" and not p.returns_set]
        """Those that a filter can call: neither sets nor aggregates, and an expression of each argument's type exists.
        """
        self.others = [p for p in procs if p.kind != "f" or p.returns_set]
        self.operators = [
            o for o in self.objects.operators if self.makeable.issuperset(filter(None, (o.left, o.right)))
        ]
        self.index = Index(self.functions, self.operators, self.casts)


class Index:
    """Functions, operators and casts by what they give, and operators by what stands on their left."""

    def __init__(
        self, functions: Iterable[Proc] = (), operators: Iterable[Operator] = (), casts: Iterable[Cast] = ()
    ) -> None:
        self.functions: defaultdict[str, list[Proc]] = defaultdict(list)
        self.operators: defaultdict[str, list[Operator]] = defaultdict(list)
        self.casts: defaultdict[str, list[Cast]] = defaultdict(list)
        self.tests: defaultdict[str, list[Operator]] = defaultdict(list)
        """Operators that give a boolean, by the type of their left operand."""
        for proc in functions:
            self.functions[proc.result].append(proc)
        for operator in operators:
            self.operators[operator.result].append(operator)
            if operator.result == "boolean" and operator.left:
                self.tests[operator.left].append(operator)
        for cast in casts:
            self.casts[cast.target].append(cast)


def _is_makeable(conn: psycopg.Connection[Any], name: str) -> bool:
    """Whether NULL can be cast to a pseudo-type."""
    if name == '"any"':
        return True
    try:
        conn.execute(f"SELECT NULL::{name} IS NULL")
    except psycopg.Error:
        return False
    return True
