"""The snapshots hold what the servers hold."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice

import psycopg
import pytest

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.builtins import objects as module
from pubcheck.postgres.builtins.objects import Objects, _file, objects, zones
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from tests.support.servers import MAJORS, Servers

_TYPES = """
    SELECT oid::int, typname, typtype::text, typcategory::text, typispreferred, typarray::int, typelem::int,
           typcollation::int, typrelid::int, typtypmod, typnotnull, typinput::oid::int, typoutput::oid::int,
           format_type(oid, NULL)
    FROM pg_type WHERE oid < 16384 AND typnamespace <> 'pg_toast'::regnamespace
"""
_PROCS = """
    SELECT oid::int, proname, proargtypes::int[], prorettype::int, provolatile::text, proisstrict, prokind::text,
           proretset, provariadic::int, pronargdefaults::int, coalesce(array_to_string(proargmodes, ''), ''),
           coalesce(proargnames, '{}'), coalesce(proallargtypes::int[], proargtypes::int[])
    FROM pg_proc WHERE oid < 16384
"""
_OPERATORS = """
    SELECT oid::int, oprname, oprleft::int, oprright::int, oprresult::int, oprcode::oid::int, oprnegate::int
    FROM pg_operator WHERE oid < 16384
"""
_CASTS = "SELECT castsource::int, casttarget::int, castfunc::int, castcontext::text, castmethod::text FROM pg_cast"


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_every_row_is_the_servers(major: int, servers: Servers) -> None:
    cache = SysCache(Session(Catalog(major), complete=True))
    with psycopg.connect(servers[major].conninfo("template1")) as connection:
        types = connection.execute(_TYPES).fetchall()
        procs = connection.execute(_PROCS).fetchall()
        operators = connection.execute(_OPERATORS).fetchall()
        casts = connection.execute(_CASTS).fetchall()
    for row in types:
        t = cache.type(row[0])
        known = (t.oid, t.name, t.kind, t.category, t.preferred, t.array, t.element, t.collation, t.relation, t.typmod)
        assert (*known, t.not_null, *cache.io_functions(t.oid), cache.format_type(t.oid)) == row
        assert builtins(major).type_named(t.oid) == (cache.catalog.namespaces[t.namespace].name, t.name)
    for row in procs:
        p = cache.proc(row[0])
        flags = (p.volatility, p.strict, p.kind, p.returns_set, p.variadic, p.defaults, "".join(p.modes))
        known_proc = (p.oid, p.name, list(p.arguments), p.returns, *flags, list(p.argument_names))
        assert (*known_proc, list(cache.parameter_types(p))) == row
    for row in operators:
        o = cache.operator(row[0])
        assert (o.oid, o.name, o.left, o.right, o.returns, o.function, cache.negator(o.oid)) == row
    for source, target, *how in casts:
        cast = cache.cast(source, target)
        assert cast is not None
        assert [cast.function, cast.context, cast.method] == how


def test_functions_are_searched_by_name_as_the_index_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [row.name for oid in islice(_file().procs, 0, None, 20) if (row := objects(18).proc(oid)) is not None]
    monkeypatch.setattr(module, "_SEARCHES", sys.maxsize)
    searched = list(map(Objects(18).procs, names))
    monkeypatch.setattr(module, "_SEARCHES", 0)
    assert list(map(Objects(18).procs, names)) == searched


def test_majors_differ_where_the_servers_do() -> None:
    assert [bool(objects(major).procs("any_value")) for major in MAJORS[:4]] == [False, True, True, True]
    assert [objects(major).cast(17, 23) is not None for major in MAJORS[:4]] == [False, False, False, True]
    assert [objects(major).collation_named("unicode") is not None for major in MAJORS[:4]] == [False, True, True, True]


def test_row_types_of_the_servers_own_relations_are_types() -> None:
    row = objects(18).type(builtins(18).type("pg_catalog", "_pg_class"))
    assert row is not None
    assert (row.subscript, row.element, row.category) == ("a", 83, "A")
    columns = objects(18).columns("pg_class")
    assert columns is not None
    assert [column.name for column in columns[:3]] == ["oid", "relname", "relnamespace"]


def test_zones_and_abbreviations() -> None:
    known = zones(17)
    assert "Europe/Berlin" in known.names
    assert known.abbreviations["CEST"] == (7200, 1)
    assert known.abbreviations["MSK"] == "Europe/Moscow"


def test_nothing_is_opened_until_it_is_asked_for() -> None:
    script = (
        "import sys, pubcheck.engine.linter as l, pubcheck.postgres.session\n"
        "print('pubcheck.postgres.builtins.objects' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
