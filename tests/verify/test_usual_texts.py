"""Usual texts of common types are read as the input functions read them."""

from __future__ import annotations

import random

import pytest

from pubcheck.postgres import input
from pubcheck.postgres.input import InputContext
from pubcheck.verify import publisher_of
from pubcheck.verify.usual_texts import usual_text

BYTEA, DATE, FLOAT8, NUMERIC, TIMESTAMP, TIMESTAMPTZ, UUID = 17, 1082, 701, 1700, 1114, 1184, 2950
NUMERIC_5_2 = (5 << 16 | 2) + 4
TEXTS = {
    BYTEA: ("\\x", "\\x00ff"),
    DATE: ("2024-02-28", "2024-12-31", "1970-01-01", "9999-11-30"),
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
