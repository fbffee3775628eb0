"""Literals that output functions have something to do with: all ranges, odd characters, every shape of a value."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any

from tests.differential.filters import literals
from tests.differential.filters.catalog import Type

Maker = Callable[[Random], str]
_CHARACTERS = "abcXYZ019 _-,;:.'\"\\(){}[]<>/=|&!*@#\t\néß日😀"


def literal(random: Random, types: dict[str, Type], name: str) -> str:
    """A text for a type by its SQL name; a few are refused."""
    if random.random() < 0.2 and name != "public.code":
        return literals.literal_text(random, types, name, 0.05)
    return _made(random, types, name, 0)


def _made(random: Random, types: dict[str, Type], name: str, depth: int) -> str:
    maker = MAKERS.get(name.removeprefix("public."))
    if maker is not None:
        return maker(random)
    kind = types.get(name)
    if kind is None:
        return literals.literal_text(random, types, name)
    if kind.element:
        return _array(random, types, kind.element, depth)
    if kind.kind == "r":
        return _range(random, types, kind.subtype, depth)
    if kind.kind == "m":
        ranges = [_range(random, types, types[kind.subtype].subtype, depth) for _ in range(random.randint(0, 4))]
        return "{" + ",".join(ranges) + "}"
    if kind.kind == "d":
        return _made(random, types, kind.base, depth)
    if kind.kind == "e":
        return random.choice([label for label, _ in kind.fields])
    if kind.kind == "c":
        parts = [
            "" if random.random() < 0.2 else _in_quotes(random, _made(random, types, field, depth + 1))
            for _, field in kind.fields
        ]
        return f"({','.join(parts)})"
    return literals.literal_text(random, types, name)


def _in_quotes(random: Random, text: str) -> str:
    if text and text.isalnum() and text.lower() != "null" and random.random() < 0.8:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _array(random: Random, types: dict[str, Type], element: str, depth: int) -> str:
    mark = ";" if element == "box" else ","
    lengths = [random.randint(1, 3) for _ in range(random.choice((0, 1, 1, 1, 2, 3) if depth == 0 else (0, 1, 2)))]

    def level(rest: list[int]) -> str:
        if not rest:
            if random.random() < 0.15:
                return "NULL"
            return _in_quotes(random, _made(random, types, element, depth + 1))
        return "{" + mark.join(level(rest[1:]) for _ in range(rest[0])) + "}"

    body = level(lengths) if lengths else "{}"
    if lengths and random.random() < 0.3:
        lowers = [random.choice((-3, 0, 1, 1, 7)) for _ in lengths]
        bounds = "".join(f"[{low}:{low + count - 1}]" for low, count in zip(lowers, lengths, strict=True))
        return f"{bounds}={body}"
    return body


def _range(random: Random, types: dict[str, Type], subtype: str, depth: int) -> str:
    if random.random() < 0.08:
        return "empty"
    bounds = [_made(random, types, subtype, depth + 1) for _ in range(2)]
    if random.random() < 0.7:
        bounds.sort(key=_size)
    texts = ["" if random.random() < 0.12 else _in_quotes(random, bound) for bound in bounds]
    return f"{random.choice('[(')}{texts[0]},{texts[1]}{random.choice(')]')}"


def _size(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


# Numbers.


def _integer(bits: int) -> Maker:
    def make(random: Random) -> str:
        return str(random.getrandbits(random.randint(1, bits - 1)) * random.choice((1, 1, -1)))

    return make


def _unsigned(bits: int) -> Maker:
    return lambda random: str(random.getrandbits(random.randint(1, bits)))


def _float8(random: Random) -> str:
    if random.random() < 0.5:
        return repr(struct.unpack("<d", random.randbytes(8))[0])
    return _short_number(random)


def _float4(random: Random) -> str:
    if random.random() < 0.5:
        return repr(struct.unpack("<f", random.randbytes(4))[0])
    return _short_number(random)


def _short_number(random: Random) -> str:
    digits = str(random.randrange(10 ** random.randint(1, 17)))
    return f"{random.choice(('', '-'))}{digits}e{random.randint(-25, 25)}"


def _numeric(random: Random) -> str:
    sign, whole = random.choice(("", "-")), str(random.randrange(10 ** random.randint(1, 40)))
    part = "." + "".join(random.choices("0000123456789", k=random.randint(0, 30))) if random.random() < 0.7 else ""
    power = f"e{random.randint(-60, 60)}" if random.random() < 0.3 else ""
    return random.choice(("NaN", "Infinity", "-Infinity")) if random.random() < 0.03 else sign + whole + part + power


def _money(random: Random) -> str:
    return f"{random.choice(('', '-'))}{random.randrange(10 ** random.randint(1, 16))}.{random.randrange(100):02}"


# Moments.


def _date(random: Random) -> str:
    if random.random() < 0.05:
        return random.choice(("infinity", "-infinity"))
    year = random.choice((random.randint(1, 4713), random.randint(1880, 2060), random.randint(1880, 2060)))
    era = " BC" if random.random() < 0.1 and year < 4713 else ""
    year = random.randint(10000, 290000) if random.random() < 0.05 and not era else year
    return f"{year:04}-{random.randint(1, 12):02}-{random.randint(1, 28):02}{era}"


def _clock(random: Random) -> str:
    second = f":{random.randrange(60):02}" + random.choice(("", f".{random.randrange(1000000):06}", ".5", ".000001"))
    return f"{random.randrange(24):02}:{random.randrange(60):02}{second}" if random.random() < 0.95 else "24:00:00"


def _offset(random: Random) -> str:
    minutes = random.choice(("", ":30", ":59", ":00:01", ":15:15"))
    return f"{random.choice('+-')}{random.randrange(15):02}{minutes}"


def _timestamp(random: Random) -> str:
    date, era, _ = _date(random).partition(" BC")
    return date if date.endswith("infinity") else f"{date} {_clock(random)}{era}"


def _timestamptz(random: Random) -> str:
    date, era, _ = _date(random).partition(" BC")
    return date if date.endswith("infinity") else f"{date} {_clock(random)}{_offset(random)}{era}"


def _interval(random: Random) -> str:
    def number(size: int) -> int:
        return random.choice((0, 0, 1, -1, random.randint(-size, size)))

    if random.random() < 0.03:
        return random.choice(("infinity", "-infinity"))
    seconds = f"{number(10**9)} secs {number(10**6)} microseconds" if random.random() < 0.5 else f"{number(59)} secs"
    parts = f"{number(10000)} years {number(20)} mons {number(10**6)} days {number(10**5)} hours {number(59)} mins"
    return f"{parts} {seconds}"


# Texts.


def _text(random: Random) -> str:
    if random.random() < 0.1:
        return random.choice(("", " ", "NULL", "null", "  two  ", "a\\b", '"', "\\"))
    return "".join(random.choices(_CHARACTERS, k=random.randint(1, 12)))


def _bytea(random: Random) -> str:
    return "\\x" + random.randbytes(random.randint(0, 12)).hex()


def _bits(random: Random) -> str:
    return "".join(random.choices("01", k=random.randint(0, 20)))


def _json_value(random: Random, depth: int) -> Any:
    how = random.randrange(8 if depth < 3 else 5)
    if how == 0:
        return _text(random)
    if how == 1:
        return random.choice((None, True, False))
    if how < 5:
        return random.choice((random.randint(-(10**12), 10**12), random.random(), random.randint(0, 9), 1e20, -0.0))
    if how < 6:
        return [_json_value(random, depth + 1) for _ in range(random.randint(0, 4))]
    return {_text(random): _json_value(random, depth + 1) for _ in range(random.randint(0, 4))}


def _json(random: Random) -> str:
    text = json.dumps(_json_value(random, 0), ensure_ascii=random.random() < 0.5)
    return text.replace(",", " ,\n") if random.random() < 0.2 else text


# Addresses.


def _inet(random: Random) -> str:
    if random.random() < 0.5:
        return ".".join(str(random.randrange(256)) for _ in range(4)) + _prefix(random, 32)
    if random.random() < 0.2:
        return f"::{random.choice(('', 'ffff:'))}{random.choice(('1.2.3.4', '0.0.5.6', '0.0.0.1', '255.255.0.0'))}"
    groups = [random.choice(("0", "0", "0", "1", f"{random.getrandbits(16):x}")) for _ in range(8)]
    return ":".join(groups) + _prefix(random, 128)


def _cidr(random: Random) -> str:
    from ipaddress import ip_network

    address = _inet(random)
    return str(ip_network(address if "/" in address else f"{address}/{random.randint(0, 32)}", strict=False))


def _prefix(random: Random, most: int) -> str:
    return f"/{random.randint(0, most)}" if random.random() < 0.6 else ""


def _mac(size: int) -> Maker:
    return lambda random: random.randbytes(size).hex(":")


# Shapes.


def _coordinate(random: Random) -> str:
    if random.random() < 0.05:
        return random.choice(("NaN", "Infinity", "-Infinity", "-0"))
    return (
        _float8(random) if random.random() < 0.2 else str(random.choice((random.randint(-9, 9), random.random() * 9)))
    )


def _point(random: Random) -> str:
    return f"({_coordinate(random)},{_coordinate(random)})"


def _points(random: Random, count: int) -> str:
    return ",".join(_point(random) for _ in range(count))


def _path(random: Random) -> str:
    points = _points(random, random.randint(1, 4))
    return f"[{points}]" if random.random() < 0.5 else f"({points})"


def _line(random: Random) -> str:
    if random.random() < 0.5:
        return f"{{{_coordinate(random)},{_coordinate(random)},{_coordinate(random)}}}"
    return f"[{_points(random, 2)}]"


# Text search.


def _word(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(("cat", "dog", "fat", "rat", "a", "zoo", "é"))
    return "'" + _text(random).replace("\\", "\\\\").replace("'", "''") + "'"


def _tsvector(random: Random) -> str:
    words = []
    for _ in range(random.randint(0, 6)):
        places = [f"{random.choice((1, 2, 3, 7, 20, 16383, 20000))}{random.choice(('', 'A', 'b', 'C', 'd'))}"
                  for _ in range(random.randint(0, 5))]  # fmt: skip
        words.append(_word(random) + (":" + ",".join(places) if places else ""))
    return " ".join(words)


def _tsquery(random: Random, depth: int = 0) -> str:
    how = random.randrange(7 if depth < 4 else 2)
    if how < 2:
        return _word(random) + random.choice(("", "", ":*", ":A", ":bc", ":*D"))
    if how == 2:
        return f"!{_tsquery(random, depth + 1)}"
    if how == 3:
        return f"({_tsquery(random, depth + 1)})"
    mark = random.choice(("&", "|", "<->", "<2>", "<0>"))
    return f"{_tsquery(random, depth + 1)} {mark} {_tsquery(random, depth + 1)}"


# System types.


def _snapshot(random: Random) -> str:
    low = random.randint(1, 1000)
    running = sorted(random.sample(range(low, low + 50), random.randint(0, 5)))
    return f"{low}:{low + 50}:{','.join(map(str, running))}"


def _choice(*texts: str) -> Maker:
    return lambda random: random.choice(texts)


def _hstore(random: Random) -> str:
    def part() -> str:
        return '"' + _text(random).replace("\\", "\\\\").replace('"', '\\"') + '"'

    pairs = [f"{part()}=>{'NULL' if random.random() < 0.2 else part()}" for _ in range(random.randint(0, 4))]
    return ", ".join(dict.fromkeys(pairs))


def _ltree(random: Random) -> str:
    return ".".join(random.choice(("a", "Top", "b_1", "x9")) for _ in range(random.randint(0, 4)))


def _path_of_json(random: Random, depth: int = 0) -> str:
    """An expression of jsonpath."""
    how = random.randrange(11 if depth < 3 else 3)
    if how == 0:
        return random.choice(("1", "-2.50", "1e3", "0x1f", "true", "null", '"a\\n"', "$v", '$"x y"', ".5"))
    if how < 3:
        return "$" + "".join(_json_accessor(random, depth + 1) for _ in range(random.randint(0, 3)))
    if how < 5:
        mark = random.choice("+-*/%")
        return f"{_path_of_json(random, depth + 1)} {mark} {_path_of_json(random, depth + 1)}"
    if how < 6:
        return random.choice("+-") + _path_of_json(random, depth + 1)
    inner = f"({_path_of_json(random, depth + 1)})"
    return inner + (_json_accessor(random, depth + 1) if how < 9 else "")


def _json_predicate(random: Random, depth: int) -> str:
    how = random.randrange(9 if depth < 3 else 3)
    if how < 3:
        mark = random.choice(("==", "!=", "<>", "<", "<=", ">", ">="))
        return f"{_path_of_json(random, depth + 1)} {mark} {_path_of_json(random, depth + 1)}"
    if how < 5:
        mark = random.choice(("&&", "||"))
        return f"{_json_predicate(random, depth + 1)} {mark} {_json_predicate(random, depth + 1)}"
    return random.choice(
        (
            f"!({_json_predicate(random, depth + 1)})",
            f"({_json_predicate(random, depth + 1)}) is unknown",
            f"exists({_path_of_json(random, depth + 1)})",
            f'{_path_of_json(random, depth + 1)} starts with "a"',
            f'{_path_of_json(random, depth + 1)} like_regex "^a.b" flag "{random.choice(("i", "qi", "sm", ""))}"',
            f"({_json_predicate(random, depth + 1)})",
        )
    )


def _json_accessor(random: Random, depth: int) -> str:
    if random.random() < 0.4:
        return random.choice((".a", '."b c"', ".*", ".type", ".**", ".**{2}", ".**{1 to last}", ".**{last}", ".é"))
    if random.random() < 0.3:
        return f" ? ({_json_predicate(random, depth + 1)})"
    return random.choice(
        (
            "[*]", "[0]", "[1 to 2, last]", f"[{_path_of_json(random, depth + 1)}]", ".size()", ".type()", ".double()",
            ".keyvalue()", '.datetime("YYYY")', ".datetime()", ".decimal(5, -2)", ".time(3)", ".bigint()",
        )
    )  # fmt: skip


def _jsonpath(random: Random) -> str:
    body = _path_of_json(random) if random.random() < 0.6 else _json_predicate(random, 0)
    return random.choice(("", "", "lax ", "strict ")) + body


MAKERS: dict[str, Maker] = {
    "smallint": _integer(16),
    "integer": _integer(32),
    "bigint": _integer(64),
    "oid": _unsigned(32),
    "xid": _unsigned(32),
    "cid": _unsigned(32),
    "xid8": _unsigned(64),
    "real": _float4,
    "double precision": _float8,
    "numeric": _numeric,
    "money": _money,
    "date": _date,
    "time without time zone": _clock,
    "time with time zone": lambda random: _clock(random) + _offset(random),
    "timestamp without time zone": _timestamp,
    "timestamp with time zone": _timestamptz,
    "interval": _interval,
    "text": _text,
    "character varying": _text,
    "bpchar": _text,
    "name": _text,
    '"char"': lambda random: random.choice((_text(random), f"\\{random.randrange(256):03o}")),
    "bytea": _bytea,
    "bit": _bits,
    "bit varying": _bits,
    "json": _json,
    "jsonb": _json,
    "jsonpath": _jsonpath,
    "inet": _inet,
    "cidr": _cidr,
    "macaddr": _mac(6),
    "macaddr8": _mac(8),
    "point": _point,
    "lseg": lambda random: f"[{_points(random, 2)}]",
    "box": lambda random: _points(random, 2),
    "path": _path,
    "polygon": lambda random: f"({_points(random, random.randint(1, 4))})",
    "circle": lambda random: f"<{_point(random)},{abs(random.random() * 9)}>",
    "line": _line,
    "tsvector": _tsvector,
    "tsquery": _tsquery,
    "pg_snapshot": _snapshot,
    "txid_snapshot": _snapshot,
    "tid": lambda random: f"({random.getrandbits(32)},{random.getrandbits(16)})",
    "pg_lsn": lambda random: f"{random.getrandbits(32):X}/{random.getrandbits(32):X}",
    "int2vector": lambda random: " ".join(str(random.randint(-9, 9)) for _ in range(random.randint(0, 4))),
    "oidvector": lambda random: " ".join(str(random.randint(0, 9)) for _ in range(random.randint(0, 4))),
    "regclass": _choice("pg_class", "shop", 'app."Big Table"', "pg_toast.pg_toast_1255", "0", "4294967295",
                        "information_schema.tables", "pg_type_oid_index", "app.nosuch"),
    "regtype": _choice("int4", "text[]", "mood", 'app."Pair"', "timestamptz", "bpchar", '"char"', "0", "999999",
                       "floatrange", "app.\"Pair\"[]", "shop", "bit", "numeric(3,2)", "information_schema.yes_or_no"),
    "regproc": _choice("now", "app.f", "pg_catalog.abs", "lower", "0", "999999", "int4in", "array_in"),
    "regprocedure": _choice("now()", "app.f(int, text)", "abs(int8)", "lower(anyrange)", "0", "999999",
                            "array_append(anycompatiblearray, anycompatible)"),
    "regoper": _choice("||/", "0", "999999", "@-@", "#>>", "!~~*"),
    "regoperator": _choice("+(int4,int4)", "-(NONE,int4)", "||(text,text)", "0", "999999", "@>(anyrange,anyelement)"),
    "regnamespace": _choice("pg_catalog", "app", "public", "0", "999999", "information_schema"),
    "regrole": _choice("postgres", "pg_monitor", '"Odd role"', "0", "999999"),
    "regcollation": _choice('"C"', '"default"', '"POSIX"', "0", "999999", "ucs_basic"),
    "regconfig": _choice("simple", "english", "0", "999999", "german", "turkish", "arabic", "13100"),
    "regdictionary": _choice("simple", "english_stem", "0", "999999", "yiddish_stem", "13101"),
    "aclitem": _choice("=r/postgres", "postgres=arwdDxt/postgres", '"Odd role"=r*w/postgres', '=UC*/"Odd role"',
                       "=/postgres", 'postgres=X*/"Odd role"'),
    "hstore": _hstore,
    "citext": _text,
    "code": lambda random: "".join(random.choices(_CHARACTERS, k=random.randint(0, 7))),
    "ltree": _ltree,
    "xml": _choice("<a/>", "text", '<?xml version="1.0"?><a/>', '<?xml version="1.0" standalone="yes"?>\n<a/>',
                   "<a>é</a>", "", '<?xml version="1.0" encoding="utf-8"?><a/>', "<a b='1'>\n x </a>", "<a/> <b/>",
                   '<?xml version="1.0" standalone=\'no\' ?><a/>', "&lt;"),
}  # fmt: skip
