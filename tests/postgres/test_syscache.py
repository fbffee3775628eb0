"""Names, types and what compares them, over initdb's objects and the unit's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Cast, Proc
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.session.syscache import NOT_EQUAL, SysCache, TypeCache
from tests.postgres.ddl.support import cache, type_oid


def type_named(over: SysCache, name: str) -> int:
    return type_oid(over, *name.split("."))


# Functions and operators.


def test_functions_carry_the_place_of_their_schema_in_the_path() -> None:
    over = cache(
        "CREATE FUNCTION lower(int) RETURNS int LANGUAGE sql RETURN 1; CREATE SCHEMA s; "
        "CREATE FUNCTION s.lower(point) RETURNS int LANGUAGE sql RETURN 1"
    )
    assert sorted((place, row.arguments) for place, row in over.procs(["lower"])) == [
        (0, (25,)),
        (0, (3831,)),
        (0, (4537,)),
        (1, (23,)),
    ]
    assert [(place, row.arguments) for place, row in over.procs(["s", "lower"])] == [(0, (600,))]
    assert len(over.procs(["pg_catalog", "lower"])) == 3
    over.session.set("search_path", ("s", "pg_catalog"))
    assert sorted({(place, row.namespace) for place, row in over.procs(["lower"])})[1] == (1, 11)


def test_a_built_in_function_that_was_altered_is_as_it_is_now() -> None:
    over = cache()
    for _, row in over.procs(["lower"]):
        over.catalog.procs.put(row.oid, replace(row, volatility="v"))
    assert {row.volatility for _, row in over.procs(["lower"])} == {"v"}
    assert {row.volatility for _, row in over.procs(["pg_catalog", "lower"])} == {"v"}
    assert over.proc(870).volatility == "v"


def test_functions_of_temporary_schemas_are_found_by_their_schema_only() -> None:
    over = cache("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql RETURN 1")
    assert over.procs(["f"]) == []
    assert len(over.procs(["pg_temp", "f"])) == 1


def test_operators_are_prefix_or_binary() -> None:
    over = cache()
    assert {row.left for _, row in over.operators(["-"], True)} == {0}
    assert 0 not in {row.left for _, row in over.operators(["-"], False)}
    assert over.operators(["pg_catalog", "="], False)
    assert over.operators(["public", "="], False) == []


@pytest.mark.parametrize(
    ("names", "sqlstate"), [(["nosuch", "f"], "3F000"), (["a", "b", "c"], "0A000"), (["a", "b", "c", "d"], "42601")]
)
def test_a_schema_that_does_not_exist_is_the_servers_error(names: list[str], sqlstate: str) -> None:
    with pytest.raises(ServerError) as refused:
        cache().procs(names)
    assert refused.value.sqlstate == sqlstate


def test_what_a_schema_holds_that_is_not_visible_is_unknowable() -> None:
    with pytest.raises(Unknowable):
        cache(complete=False).procs(["elsewhere", "f"])


def test_ordered_set_aggregates_are_told_apart() -> None:
    over = cache()
    [(_, disc), *_] = over.procs(["percentile_disc"])
    assert (over.aggregate(disc.oid).kind, over.aggregate(disc.oid).direct) == ("o", 1)
    [(_, rank)] = [(place, row) for place, row in over.procs(["rank"]) if row.kind == "a"]
    assert over.aggregate(rank.oid).kind == "h"
    assert over.aggregate(2147).kind == "n"


# Types.


@pytest.mark.parametrize(
    ("name", "typmod", "written"),
    [
        ("pg_catalog.int4", None, "integer"),
        ("pg_catalog._timestamptz", None, "timestamp with time zone[]"),
        ("pg_catalog.char", None, '"char"'),
        ("pg_catalog._char", None, '"char"[]'),
        ("pg_catalog.bpchar", None, "character"),
        ("pg_catalog.bpchar", -1, "bpchar"),
        ("pg_catalog.bit", -1, '"bit"'),
        ("pg_catalog.int2vector", None, "int2vector"),
        ("pg_catalog.pg_class", None, "pg_class"),
        ("information_schema.sql_identifier", None, "information_schema.sql_identifier"),
        ("public.Mood", None, '"Mood"'),
        ("public.order", None, '"order"'),
        ("s.mood", None, "s.mood"),
        ("s._mood", None, "s.mood[]"),
        ("public.text", None, "public.text"),
        ("public.t", None, "t"),
        ("public.d", None, "d"),
        ("pg_temp.e", None, "e"),
    ],
)
def test_types_are_written_as_format_type_does(name: str, typmod: int | None, written: str) -> None:
    over = cache(
        'CREATE SCHEMA s; CREATE TYPE "Mood" AS ENUM (\'a\'); CREATE TYPE "order" AS ENUM (); '
        "CREATE TYPE s.mood AS ENUM (); CREATE TYPE text AS ENUM (); CREATE TABLE t (a int); CREATE DOMAIN d AS int[]; "
        "CREATE TYPE pg_temp.e AS ENUM ()"
    )
    assert over.format_type(type_named(over, name), typmod) == written


def test_arrays_elements_and_bases() -> None:
    over = cache("CREATE DOMAIN d AS varchar(3); CREATE DOMAIN dd AS d; CREATE TYPE mood AS ENUM ('a')")
    assert over.element_type(1007) == 23
    assert over.element_type(22) == 21
    assert over.element_type(600) == 0
    assert over.element_type(25) == 0
    mood = type_named(over, "mood")
    assert over.element_type(over.array_type(mood)) == mood
    assert over.base_type(type_named(over, "dd"))[0] == 1043
    assert over.base_type(25, 7) == (25, 7)


def test_a_type_that_is_not_visible_is_unknowable() -> None:
    with pytest.raises(Unknowable):
        cache().type(0)


def test_fields_of_composite_types() -> None:
    over = cache("CREATE TABLE t (a int, b text); CREATE TYPE c AS (x point)")
    assert [field.name for field in over.fields(type_named(over, "t"))] == ["a", "b"]
    assert [field.name for field in over.fields(type_named(over, "c"))] == ["x"]
    assert over.fields(23) == ()
    assert over.fields(type_named(over, "pg_catalog.pg_am"))[1].name == "amname"


# Casts and comparisons.


def test_casts_of_the_unit_come_and_go() -> None:
    over = cache("CREATE TYPE mood AS ENUM ('a')")
    mood = type_named(over, "mood")
    assert over.cast(23, 20) is not None
    assert over.cast(mood, 23) is None
    mark = over.catalog.journal.mark()
    over.catalog.casts.put(20000, Cast(20000, mood, 23, 0, "i", "b"))
    assert over.binary_coercible(mood, 23)
    over.catalog.journal.undo(mark)
    assert over.cast(mood, 23) is None


@pytest.mark.parametrize(
    ("sql", "name", "expected"),
    [
        ("", "int4", lambda t: (t.lt, t.eq, t.cmp, t.hash) == (97, 96, 351, 450)),
        ("", "varchar", lambda t: (t.lt, t.eq, t.cmp) == (664, 98, 360)),
        ("", "json", lambda t: t.eq == 0 == t.cmp),
        ("", "_json", lambda t: t.eq == 0 == t.cmp),
        ("", "xid", lambda t: t.eq == 352 and t.cmp == 0),
        ("", "record", lambda t: t.eq == 2988 and t.hash == 0),
        ("", "money", lambda t: t.eq == 900 and t.hash == 0),
        ("CREATE TYPE mood AS ENUM ()", "mood", lambda t: (t.lt, t.eq) == (3518, 3516)),
        ("CREATE DOMAIN d AS varchar", "d", lambda t: t.eq == 98),
        ("CREATE TABLE t (a int, b text)", "t", lambda t: (t.lt, t.eq) == (2990, 2988)),
        ("CREATE TABLE t (a int, b json)", "t", lambda t: (t.lt, t.eq) == (0, 0)),
        ("CREATE TYPE r AS RANGE (subtype = int)", "r", lambda t: t.cmp == 3870 and t.hash == 3902),
        ("CREATE TYPE r AS RANGE (subtype = money)", "r", lambda t: t.eq == 3882 and t.hash == 0),
    ],
)
def test_what_compares_values_of_a_type(sql: str, name: str, expected: Callable[[TypeCache], bool]) -> None:
    over = cache(sql)
    assert expected(over.type_cache(type_named(over, name)))


def test_interpretations_of_operators() -> None:
    over = cache()
    assert (1976, 1) in over.btree_interpretations(97)
    assert (1976, NOT_EQUAL) in over.btree_interpretations(518)
    assert over.btree_interpretations(551) == []
    assert over.opfamily_member(1976, 23, 20, 1) == 37
    assert over.opfamily_member(1976, 23, 25, 1) == 0


def test_the_operator_class_that_compares_values_of_a_type() -> None:
    over = cache("CREATE DOMAIN d AS varchar")
    assert over.default_class(type_named(over, "int4"), "b") == (1976, 23)
    assert over.default_class(type_named(over, "d"), "b") == (1994, 25)
    assert over.default_class(type_named(over, "json"), "b") == (0, 0)


# Collations.


def test_collations_that_every_build_has() -> None:
    assert cache().collation_named(["C"]).oid == 950
    assert cache().collation_named(["pg_catalog", "default"]).oid == 100
    assert cache(major=16).collation_named(["unicode"]).oid == 963
    with pytest.raises(ServerError) as refused:
        cache(major=16).collation_named(["pg_c_utf8"], 12)
    assert refused.value.message == 'collation "pg_c_utf8" for encoding "UTF8" does not exist'
    assert (refused.value.sqlstate, refused.value.location) == ("42704", 12)


@pytest.mark.parametrize("name", ["en_US", "de-x-icu", "C.utf8", "de_DE.utf8", "french", "German_Germany.1252"])
def test_collations_that_some_builds_have_are_noted_as_not_visible(name: str) -> None:
    over = cache()
    assert over.collation_named([name]).oid < 16384
    assert [error.sqlstate for error in over.session.basis.unseen] == ["42704"]
    row = over.collation_named([name], exists=True)
    assert row.oid < 16384
    assert over.collation(row.oid) is row


def test_collations_of_the_unit_and_missing_ones() -> None:
    over = cache('CREATE SCHEMA s; CREATE COLLATION mine FROM "C"; CREATE COLLATION s.other FROM "C"')
    assert over.collation(over.collation_named(["mine"]).oid).name == "mine"
    assert over.collation_named(["s", "other"]).oid >= 16384
    for names in (["other"], ["Missing"], ["s", "en_US"]):
        with pytest.raises(ServerError, match="does not exist"):
            over.collation_named(names)


def test_what_is_missing_is_certainly_missing_only_in_a_complete_unit() -> None:
    assert cache().complete_names
    assert not cache(complete=False).complete_names


def test_functions_are_found_without_a_catalog_of_their_own() -> None:
    over = cache()
    row: Proc = over.procs(["lower"])[0][1]
    assert over.procs(["lower"]) is over.procs(["lower"])
    assert over.parameter_types(row) == (25,)
