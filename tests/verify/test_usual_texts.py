"""Usual texts of common types are read as the input functions read them."""

from __future__ import annotations

import contextlib
import random

import pytest

from pubcheck.postgres import input
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.verify import publisher_of
from pubcheck.verify.usual_texts import usual_text, usual_texts

BYTEA, DATE, FLOAT8, NUMERIC, TIMESTAMP, TIMESTAMPTZ, UUID = 17, 1082, 701, 1700, 1114, 1184, 2950
NUMERIC_5_2 = (5 << 16 | 2) + 4
TEXTS = {
    BYTEA: ("\\x", "\\x00ff"),
    DATE: ("2024-02-28", "2024-12-31", "1970-01-01", "9999-11-30", "2024-02-29", "1996-02-29"),
    FLOAT8: ("1", "-1.5", "0.1", "123456789012345.12345678901234567", "-0"),
    NUMERIC: ("1", "-1.50", "0.000", "123456789012345678.123456789012345678"),
    TIMESTAMP: ("2024-01-31 23:59:59", "1999-12-31 00:00:00.5", "1000-04-30 12:30:01.000001"),
    TIMESTAMPTZ: ("2024-01-31 23:59:59+00", "1999-12-31 00:00:00.5-14:59", "2000-06-30 12:30:01.123456+05:30"),
    UUID: ("0189cafe-0000-4000-8000-00000000000f",),
}
REPLACEMENTS = "0123456789.-+: \\xae\u0663"


@pytest.mark.parametrize(
    ("oid", "typmod", "texts"),
    [*((oid, -1, texts) for oid, texts in TEXTS.items()), (NUMERIC, NUMERIC_5_2, ("1.50", "-999.99"))],
)
def test_usual_texts_are_read_as_the_input_function_reads_them(oid: int, typmod: int, texts: tuple[str, ...]) -> None:
    session = publisher_of("CREATE TABLE t (a int)", ()).states[-1].session
    inputs = InputContext(15, session.syscache, lambda name: None)
    usual, choice = usual_text(oid, typmod), random.Random(oid)
    assert usual is not None
    assert all(usual.matches(text) for text in texts)
    for _ in range(3000):
        characters = list(choice.choice(texts))
        for _ in range(choice.randint(0, 2)):
            place = choice.randrange(len(characters))
            characters[place : place + choice.randint(0, 1)] = choice.choice(REPLACEMENTS)
        text = "".join(characters)
        if usual.matches(text):
            value, expected = usual.read(text), input.read(inputs, oid, text, typmod)
            assert (type(value), repr(value)) == (type(expected), repr(expected)), text


SCHEMA = "CREATE TYPE mood AS ENUM ('sad', 'o.k', 'NULL', 'a b'); CREATE TYPE size AS ENUM ('s', 'm');"
OTHERS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "bool": (16, -1, ("t", "f")),
    "int2": (21, -1, ("-12", "9999", "29999", "31999")),
    "int4": (23, -1, ("-1", "999999999", "2099999999")),
    "int8": (20, -1, ("-1", "999999999999999999", "8999999999999999999")),
    "oid": (26, -1, ("1", "999999999")),
    "xid8": (5069, -1, ("7",)),
    "float4": (700, -1, ("1", "-1.5", "1e+20", "1.5e-29", "9.999999e+29", "123456.7")),
    "float8": (701, -1, ("1", "1e+100", "-1.5e-299", "9.5e+299", "1.5e+16")),
    "pg_lsn": (3220, -1, ("0/16B2D48",)),
    "char": (18, -1, ("a", "-")),
    "time": (1083, -1, ("23:59:59.5", "00:00:00")),
    "timetz": (1266, -1, ("23:59:59.5+02", "00:00:00-05:30")),
    "interval": (1186, -1, ("1 year 2 mons -3 days +04:05:06.789", "00:00:00", "-1 days", "1 mon 02:00:00")),
    "timestamptz(3)": (1184, 3, ("2024-01-31 23:59:59.125+00",)),
    "timestamp(0)": (1114, 0, ("2024-01-31 23:59:59",)),
    "inet": (869, -1, ("10.0.0.1", "10.255.0.1/24", "192.168.100.128/31")),
    "cidr": (650, -1, ("10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", "10.1.2.3/32")),
    "macaddr": (829, -1, ("08:00:2b:01:02:03",)),
    "macaddr8": (774, -1, ("08:00:2b:01:02:03:04:05",)),
    "bit(3)": (1560, 3, ("101",)),
    "varbit(3)": (1562, 3, ("101", "")),
    "varbit": (1562, -1, ("101",)),
    "point": (600, -1, ("(1,-2.5)",)),
    "lseg": (601, -1, ("[(1,2),(3,4)]",)),
    "path": (602, -1, ("((1,2),(3,4))", "[(1,2),(3,4),(5,6)]")),
    "box": (603, -1, ("(3,4),(1,2)",)),
    "polygon": (604, -1, ("((1,2),(3,4),(5,6))",)),
    "line": (628, -1, ("{1,2,3}", "{-1.5,0,3}")),
    "circle": (718, -1, ("<(1,2),3>",)),
    "tsvector": (3614, -1, ("'a':1,2A 'b c':3B 'd'", "'x'")),
    "tsquery": (3615, -1, ("'a' & !'b':* | 'c'", "'a' <-> 'b':A")),
    "json": (114, -1, ('{"a": [1, 2.5e10, "x\\u00e9\\n", null, true], "b": {}}', "[]", '"a"', "-0.1")),
    "jsonb": (3802, -1, ('{"a": [1, 2.50, "x\\u0001\\n", null, true], "b": {}}', "1e10", '"\\u0000"', "[1e99999]")),
    "jsonpath": (4072, -1, ('$."a"[*]?(@."b" > 1)."c"', 'strict $[0].*?(@ == "x" || @."y" != null)', "$")),
    "xml": (142, -1, ('<a id="1" b="é"><b>x &amp; y</b><c/></a>', "<x.y><a><b><c>1</c></b></a>2</x.y>")),
    "int4[]": (1007, -1, ("{1,2,NULL}", "{}", "{{1,2},{3,4}}")),
    "numeric(5,2)[]": (1231, NUMERIC_5_2, ("{1.50,NULL}",)),
    "text[]": (1009, -1, ('{a,"b c",NULL,"x\\"y\\\\z",""}', "{{a},{b}}", "{}")),
    "varchar[]": (1015, -1, ("{a,b}",)),
    "timestamptz[]": (1185, -1, ('{"2024-01-31 23:59:59+00",NULL}',)),
    "uuid[]": (2951, -1, ("{0189cafe-0000-4000-8000-00000000000f}",)),
    "jsonb[]": (3807, -1, ('{"{\\"a\\": \\"b\\\\\\\\c\\"}"}', '{"[1, 2]","{\\"a\\": 1}"}')),
    "json[]": (199, -1, ('{"{\\"a\\":\\"b\\\\nc\\"}"}',)),
    "point[]": (1017, -1, ('{"(1,2)","(3,4)"}',)),
}
ANYTHING = "0123456789.-+:/ \\,'\"{}[]()<>&|!*aeEntuxABDN\u0663\xa0\n\t\0"


def damaged_text(text: str, chance: random.Random) -> str:
    characters = list(text)
    for _ in range(chance.choice((0, 1, 1, 2))):
        place = chance.randrange(len(characters) + 1)
        characters[place : place + chance.randint(0, 2)] = chance.choice([
            chance.choice(ANYTHING), "", *chance.choices(characters or [""], k=1), "NULL", "\\u0000", "e99999", "},{",
        ])  # fmt: skip
    return "".join(characters)


def inputs_of_types() -> InputContext:
    session = publisher_of(SCHEMA, ()).states[-1].session
    return InputContext(15, session.syscache, lambda name: None)


@pytest.mark.parametrize(("oid", "typmod", "texts"), OTHERS.values(), ids=OTHERS)
def test_the_input_function_takes_all_usual_texts(oid: int, typmod: int, texts: tuple[str, ...]) -> None:
    inputs, chance, usual = inputs_of_types(), random.Random(oid), 0
    tests = usual_texts(inputs, oid, typmod)
    assert tests is not None
    assert tests.one(texts[0])
    assert tests.all(texts[:1] * 2)
    for _ in range(4000):
        text = damaged_text(chance.choice(texts), chance)
        if tests.one(text):
            usual += 1
            with contextlib.suppress(Unknowable):
                input.read(inputs, oid, text, typmod)
        elif text:
            parts = text.partition(chance.choice(text))
            some = chance.choice(((text, texts[0]), (texts[0], text), (*texts, text), parts, parts[::2]))
            assert all(map(tests.one, some)) or not tests.all(some), some
    assert usual > 400


@pytest.mark.parametrize(
    ("oid", "texts"),
    [
        (3614, ("'a", "b':1")),
        (1009, ('{"a', 'b"}')),
        (1009, ("{a", "b}")),
        (114, ("1,2", "[3", "4]")),
        (114, ('"a', 'b"')),
        (114, ('1,"|",2', "")),
        (114, ('["|"', '"|"]')),
        (3802, ("1", "[", "]")),
        (23, ("1", "")),
        (23, ("1", "\u0663")),
        (1700, ("1", "")),
        (1700, ("1\0002", "3")),
        (4072, ("$", "$\0$")),
        (3807, ('{"1"', '"2"}')),
        (3807, ('{"1}', '{2"}')),
        (3807, ('{"1"}\0{"2"}', '{"1"}')),
        (3807, ('{"1"}\n{"2"}', '{"1"}')),
        (3807, ('{"1"}\n{"2"}', '{"1', '"}')),
        (3807, ('{"1"', ',"2"}', '{"3"}{"4"}')),
        (1007, ("{{1,2},{3}}", "{{1},{2}}")),
        (142, ("<a>", "</a>")),
        (142, ("<a1>x</a2>", "<a1/>")),
    ],
)
def test_texts_that_are_values_only_together_are_not_usual(oid: int, texts: tuple[str, ...]) -> None:
    tests = usual_texts(inputs_of_types(), oid, -1)
    assert tests is not None
    assert not all(map(tests.one, texts))
    assert not tests.all(texts)


def test_the_labels_of_an_enum_are_its_usual_texts() -> None:
    inputs = inputs_of_types()
    types = {row.name: row.oid for row in inputs.cache.catalog.types.values()}
    mood, size = usual_texts(inputs, types["mood"], -1), usual_texts(inputs, types["_size"], -1)
    assert mood is not None
    assert size is not None
    assert mood.all(("sad", "o.k", "NULL", "a b"))
    assert not mood.one("happy")
    assert not mood.all(("sad", "happy"))
    assert size.one("{s,m,NULL}")
    assert not size.one("{s,x}")


def test_a_form_of_arrays_does_not_try_all_combinations() -> None:
    tests = usual_texts(inputs_of_types(), 1009, -1)
    assert tests is not None
    text = "{" + "NULL," * 40 + "x"
    assert not tests.one(text)
    assert not tests.all((text,) * 3)
