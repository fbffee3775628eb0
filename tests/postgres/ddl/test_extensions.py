"""CREATE, ALTER and DROP EXTENSION: what comes with the server is known, what does not may be anything."""

from __future__ import annotations

import psycopg
import pytest

from pubcheck.postgres.builtins.extensions import contents
from pubcheck.postgres.ddl.extensions import set_schema
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.session.syscache import SysCache
from tests.postgres.ddl.support import cache, fold, outcomes, play, type_oid
from tests.support.servers import MAJORS, Servers


def test_a_contrib_type_is_a_type_of_the_unit() -> None:
    over = cache("CREATE EXTENSION citext; CREATE TABLE t (a citext, b citext[])")
    oid = type_oid(over, "citext")
    assert oid >= 16384
    assert over.type(oid).category == "S"
    assert over.type(over.array_type(oid)).element == oid
    assert over.format_type(over.array_type(oid)) == "citext[]"
    cast = over.cast(oid, 25)
    assert cast is not None
    assert (cast.method, cast.context) == ("b", "i")
    table = over.session.find_unqualified("t")
    assert table is not None
    assert [column.type for column in table.columns] == [oid, over.array_type(oid)]


def test_its_functions_and_operators_are_found_where_it_is_put() -> None:
    over = cache("CREATE SCHEMA x; CREATE EXTENSION hstore SCHEMA x")
    assert over.operators(["->"], False) == SysCache(fold("")).operators(["->"], False)
    [(_, fetch)] = [operator for operator in over.operators(["x", "->"], False) if operator[1].right == 25]
    assert over.proc(fetch.function).name == "fetchval"
    assert over.proc(fetch.function).volatility == "i"
    assert over.operator(next(row.oid for _, row in over.operators(["x", "<>"], False))).negator
    over.session.set("search_path", ("x",))
    assert over.procs(["skeys"])


def test_its_operator_classes_compare_its_values() -> None:
    over = cache("CREATE EXTENSION citext; CREATE EXTENSION seg; CREATE EXTENSION isn")
    citext = over.type_cache(type_oid(over, "citext"))
    assert over.operator(citext.lt).name == "<"
    assert over.proc(citext.cmp).name == "citext_cmp"
    assert citext.hash
    different = next(row for _, row in over.operators(["<>"], False) if row.left == type_oid(over, "citext"))
    family, _ = over.default_class(type_oid(over, "citext"), "b")
    assert over.btree_interpretations(different.oid) == [(family, 6)]
    seg = over.type_cache(type_oid(over, "seg"))
    assert seg.eq
    assert not seg.hash
    isbn, ean = (over.default_class(type_oid(over, name), "b") for name in ("isbn", "ean13"))
    assert isbn[0] == ean[0]


def test_majors_install_different_versions() -> None:
    hashed = []
    for major in MAJORS[:4]:
        over = cache("CREATE EXTENSION ltree", major)
        hashed.append(bool(over.type_cache(type_oid(over, "ltree")).hash))
    assert hashed == [False, False, True, True]


def test_only_extensions_that_are_not_known_leave_names_open() -> None:
    assert cache("CREATE EXTENSION citext; CREATE EXTENSION pg_stat_statements").complete_names
    assert outcomes("CREATE EXTENSION citext; CREATE TABLE t (a nosuch)") == [None, "42704"]
    assert not cache("CREATE EXTENSION postgis").complete_names
    assert outcomes("CREATE EXTENSION postgis; CREATE TABLE t (a geometry)") == [None, None]
    assert not cache("CREATE EXTENSION citext VERSION '1.0'").complete_names
    assert cache("CREATE EXTENSION plperl; CREATE EXTENSION plpgsql").complete_names


def test_another_extension_comes_with_cascade_only() -> None:
    assert outcomes("CREATE EXTENSION earthdistance") == ["42704"]
    assert outcomes("CREATE EXTENSION earthdistance", complete=False) == [None]
    over = cache("CREATE EXTENSION earthdistance CASCADE")
    cube = type_oid(over, "cube")
    assert over.base_type(type_oid(over, "earth"))[0] == cube
    alone = cache("CREATE EXTENSION earthdistance", complete=False)
    with pytest.raises(Unknowable):
        alone.base_type(type_oid(alone, "earth"))


def test_schemas_are_honoured() -> None:
    assert outcomes("CREATE EXTENSION pltcl SCHEMA public") == ["0A000"]
    assert outcomes("CREATE EXTENSION citext SCHEMA nosuch") == ["3F000"]
    assert outcomes("SET search_path = ''; CREATE EXTENSION citext") == [None, "3F000"]
    over = cache("CREATE EXTENSION adminpack", 15)
    assert over.procs(["pg_catalog", "pg_file_write"])


def test_names_that_are_taken() -> None:
    assert outcomes("CREATE TYPE citext AS ENUM (); CREATE EXTENSION citext") == [None, "42710"]
    assert outcomes(
        "CREATE FUNCTION unaccent(text) RETURNS text LANGUAGE sql RETURN ''; CREATE EXTENSION unaccent"
    ) == [None, "42723"]
    assert outcomes("CREATE EXTENSION citext; CREATE EXTENSION citext") == [None, "42710"]
    assert outcomes("CREATE EXTENSION citext; CREATE EXTENSION IF NOT EXISTS citext") == [None, None]


def test_views_are_relations() -> None:
    session = fold("CREATE EXTENSION pg_stat_statements")
    view = session.find_unqualified("pg_stat_statements")
    assert view is not None
    assert view.kind == "v"
    assert view.column("query") is not None
    assert outcomes("CREATE EXTENSION pg_stat_statements; CREATE TABLE pg_stat_statements (a int)") == [None, "42P07"]


def test_members_go_with_their_extension_and_not_before() -> None:
    table = "CREATE EXTENSION citext; CREATE TABLE t (a citext); "
    assert outcomes(table + "DROP EXTENSION citext")[-1] == "2BP01"
    assert outcomes(table + "DROP TYPE citext CASCADE")[-1] == "2BP01"
    session = fold(table + "DROP EXTENSION citext CASCADE")
    relation = session.find_unqualified("t")
    assert relation is not None
    assert relation.live() == ()
    catalog = session.catalog
    assert not catalog.types
    assert not catalog.procs
    assert not catalog.operators
    assert not catalog.casts
    assert outcomes("CREATE EXTENSION hstore; DROP EXTENSION hstore; CREATE EXTENSION hstore") == [None, None, None]
    assert outcomes("CREATE SCHEMA x; CREATE EXTENSION hstore SCHEMA x; DROP SCHEMA x")[-1] == "2BP01"
    assert not fold("CREATE SCHEMA x; CREATE EXTENSION hstore SCHEMA x; DROP SCHEMA x CASCADE").catalog.types


def test_an_extension_that_was_rolled_back_leaves_nothing() -> None:
    over = cache("BEGIN; CREATE EXTENSION citext; ROLLBACK")
    assert not over.catalog.types
    assert not over.catalog.casts
    assert over.default_class(25, "b") == (1994, 25)


_TYPES = """
    SELECT t.typname, t.typcategory::text, t.typispreferred, format_type(t.typelem, NULL),
           format_type(t.typbasetype, NULL)
    FROM pg_type t WHERE t.oid >= 16384 AND t.typtype <> 'p' AND NOT EXISTS (
        SELECT FROM pg_class c WHERE c.relkind = 'v' AND (c.reltype = t.oid OR c.reltype = t.typelem))
"""
_PROCS = """
    SELECT p.proname || '(' || oidvectortypes(p.proargtypes) || ')', p.provolatile::text,
           format_type(p.prorettype, NULL), p.proretset, p.pronargdefaults
    FROM pg_proc p WHERE p.oid >= 16384
"""
_OPERATORS = """
    SELECT o.oprname, coalesce(format_type(nullif(o.oprleft, 0), NULL), ''), format_type(o.oprright, NULL),
           (SELECT p.proname FROM pg_proc p WHERE p.oid = o.oprcode),
           (SELECT n.oprname FROM pg_operator n WHERE n.oid = o.oprnegate)
    FROM pg_operator o WHERE o.oid >= 16384
"""
_CASTS = """
    SELECT format_type(castsource, NULL), format_type(casttarget, NULL), castcontext::text, castmethod::text
    FROM pg_cast WHERE oid >= 16384
"""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize(
    "name", ["citext", "hstore", "ltree", "earthdistance", "pg_trgm", "isn", "pgcrypto", "intarray", "tablefunc"]
)
def test_the_server_makes_the_same(servers: Servers, major: int, name: str) -> None:
    script = f'CREATE EXTENSION "{name}" CASCADE'
    over = cache(script, major)
    catalog = over.catalog

    def written(oid: int) -> str:
        return over.format_type(oid) if oid else "-"

    with servers[major].database() as database, psycopg.connect(servers[major].conninfo(database)) as connection:
        connection.execute(script)
        types, procs, operators, casts = (
            set(connection.execute(query).fetchall()) for query in (_TYPES, _PROCS, _OPERATORS, _CASTS)
        )
    assert {
        (row.name, row.category, row.preferred, written(row.element), written(row.base))
        for row in catalog.types.values()
    } == types
    assert {
        (
            f"{row.name}({', '.join(map(written, row.arguments))})",
            row.volatility,
            written(row.returns),
            row.returns_set,
            row.defaults,
        )
        for row in catalog.procs.values()
    } == procs
    assert {
        (
            row.name,
            over.format_type(row.left) if row.left else "",
            written(row.right),
            over.proc(row.function).name,
            over.operator(row.negator).name if row.negator else None,
        )
        for row in catalog.operators.values()
    } == operators
    assert {
        (written(row.source), written(row.target), row.context, row.method) for row in catalog.casts.values()
    } == casts


def test_every_extension_of_the_snapshot_can_be_made() -> None:
    for major in MAJORS:
        for name in ("btree_gin", "btree_gist", "cube", "dblink", "fuzzystrmatch", "lo", "pg_buffercache", "uuid-ossp"):
            assert contents(major, name) is not None
            assert outcomes(f'CREATE EXTENSION "{name}"', major) == [None]


def test_set_schema_takes_the_members_along() -> None:
    session = fold("CREATE SCHEMA x; CREATE EXTENSION citext; CREATE TABLE t (a citext)")
    set_schema(session, "citext", "public")  # it is there already
    before = session.named_type(["citext"])
    set_schema(session, "citext", "x")
    assert session.named_type(["x", "citext"]) == before
    over = SysCache(session)
    assert over.format_type(before) == "x.citext"
    assert over.format_type(over.array_type(before)) == "x.citext[]"
    assert over.procs(["x", "citext_cmp"])
    assert not over.procs(["citext_cmp"])
    assert play(session, "DROP SCHEMA x; DROP SCHEMA public CASCADE; DROP EXTENSION citext CASCADE") == [
        "2BP01",
        None,
        None,
    ]
    with pytest.raises(ServerError, match="does not support SET SCHEMA"):
        set_schema(fold("CREATE EXTENSION xml2; CREATE SCHEMA x"), "xml2", "x")
