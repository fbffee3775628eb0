"""Type modifiers against what servers answer (recorded from 15-18, which agree)."""

from __future__ import annotations

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input.typmods import typmod_of
from pubcheck.postgres.oids import display
from pubcheck.postgres.parse import parse
from tests.postgres.input.fakes import Cache

ACCEPTED = {
    "varchar(3)": "(3)",
    "varchar(10485760)": "(10485760)",
    "char": "(1)",
    "char(4)": "(4)",
    "bit(3)": "(3)",
    "varbit(83886080)": "(83886080)",
    "bit varying(5)": "(5)",
    "numeric(5)": "(5,0)",
    "numeric(5, 2)": "(5,2)",
    "numeric(2, -3)": "(2,-3)",
    "numeric(3, 5)": "(3,5)",
    "time(3)": "(3) without time zone",
    "time(9)": "(6) without time zone",
    "time(0) with time zone": "(0) with time zone",
    "timestamp(2)": "(2) without time zone",
    "timestamptz(2)": "(2) with time zone",
    "interval": "",
    "interval(3)": "(3)",
    "interval year": " year",
    "interval year to month": " year to month",
    "interval day to second(4)": " day to second(4)",
    "interval second(0)": " second(0)",
    "interval hour to minute": " hour to minute",
    "interval(9)": "(6)",
    "text": "",
}
"""Type name -> what format_type writes of its typmod."""

REFUSED = {
    "varchar(0)": ("22023", "length for type varchar must be at least 1"),
    "varchar(10485761)": ("22023", "length for type varchar cannot exceed 10485760"),
    "bpchar(-1)": ("22023", "length for type char must be at least 1"),
    "bpchar(1, 2)": ("22023", "invalid type modifier"),
    "bpchar(x)": ("22P02", 'invalid input syntax for type integer: "x"'),
    "bpchar('1.5')": ("22P02", 'invalid input syntax for type integer: "1.5"'),
    "bpchar(1.5)": ("22P02", 'invalid input syntax for type integer: "1.5"'),
    "bpchar(9999999999)": ("22003", 'value "9999999999" is out of range for type integer'),
    "bpchar(1 + 1)": ("42601", "type modifiers must be simple constants or identifiers"),
    "bpchar(a.b)": ("42601", "type modifiers must be simple constants or identifiers"),
    "bpchar(NULL)": ("42601", "type modifiers must be simple constants or identifiers"),
    "bit(0)": ("22023", "length for type bit must be at least 1"),
    "bit varying(83886081)": ("22023", "length for type varbit cannot exceed 83886080"),
    "varbit(1, 2)": ("22023", "invalid type modifier"),
    "numeric(0)": ("22023", "NUMERIC precision 0 must be between 1 and 1000"),
    "numeric(2000)": ("22023", "NUMERIC precision 2000 must be between 1 and 1000"),
    "numeric(5, 1001)": ("22023", "NUMERIC scale 1001 must be between -1000 and 1000"),
    "numeric(1, 2, 3)": ("22023", "invalid NUMERIC type modifier"),
    "timestamptz(-1)": ("22023", "TIMESTAMP(-1) WITH TIME ZONE precision must not be negative"),
    "timetz(-1)": ("22023", "TIME(-1) WITH TIME ZONE precision must not be negative"),
    "pg_catalog.interval(5)": ("22023", "invalid INTERVAL type modifier"),
    "text(3)": ("42601", 'type modifier is not allowed for type "text"'),
    "int4(3)": ("42601", 'type modifier is not allowed for type "int4"'),
    "mood(1)": ("42601", 'type modifier is not allowed for type "mood"'),
    "short(1)": ("42601", 'type modifier is not allowed for type "short"'),
    "text(3)[]": ("42601", 'type modifier is not allowed for type "text[]"'),
}


OIDS = {
    "varchar": 1043, "bpchar": 1042, "bit": 1560, "varbit": 1562, "numeric": 1700, "time": 1083, "timetz": 1266,
    "timestamp": 1114, "timestamptz": 1184, "interval": 1186, "text": 25, "int4": 23, "mood": 16400, "short": 16402,
}  # fmt: skip


def _typmod(name: str) -> tuple[int, int]:
    statement = parse(f"SELECT NULL::{name}")
    assert statement is not None
    node = statement[1]["targetList"][0]["ResTarget"]["val"]["TypeCast"]["typeName"]
    oid = OIDS[node["names"][-1]["String"]["sval"]]
    type_oid = 1009 if "arrayBounds" in node else oid
    return oid, typmod_of(Cache(18), type_oid, node.get("typmods", []), 12)


@pytest.mark.parametrize("name", list(ACCEPTED))
def test_typmods_are_made_and_written_as_the_server_does(name: str) -> None:
    assert display(*_typmod(name)) == ACCEPTED[name]


@pytest.mark.parametrize("name", list(REFUSED))
def test_typmods_are_refused_as_the_server_does(name: str) -> None:
    with pytest.raises(ServerError) as caught:
        _typmod(name)
    assert (caught.value.sqlstate, caught.value.message) == REFUSED[name]
    assert caught.value.location == 12
