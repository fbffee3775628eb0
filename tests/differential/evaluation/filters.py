"""Row filters as people write them, and beyond: comparisons, lists, patterns, arithmetic, dates, documents, ranges."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.differential.evaluation.rows import COLUMNS, POOLS
from tests.support.generating import Choices, quoted

BY_TYPE: dict[str, list[str]] = {}
for _name, _type in COLUMNS.items():
    BY_TYPE.setdefault(_type, []).append(_name)
_COMPARED = ("=", "=", "=", "<>", "<", "<=", ">", ">=")
_ORDERED = [
    "integer", "integer", "integer", "smallint", "bigint", "numeric", "numeric(10,2)", "double precision", "real",
    "text", "text", "text", "varchar(20)", "char(5)", "boolean", "date", "date", "timestamp", "timestamptz", "time",
    "timetz", "interval", "uuid", "bytea", "inet", "oid", "money", "bit(4)", "varbit", "pg_lsn", "macaddr", "name",
    '"char"', "integer[]", "text[]", "numeric[]", "int4range", "numrange", "daterange", "cidr", "tsrange",
]  # fmt: skip
_NUMERIC = ("integer", "smallint", "bigint", "numeric", "numeric(10,2)", "double precision", "real")
_STRINGS = ("text", "varchar(20)", "char(5)", "name")
_FIELDS = (
    "year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week", "quarter", "epoch", "isoyear",
    "century", "decade", "millennium", "milliseconds", "microseconds",
)  # fmt: skip
_ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "+02", "EST", "posix zone", "Etc/GMT-3")
_PATHS = ("{a,b}", "{t,0}", "{a}", "{}", "{a,b,1,c}", "{0,a}")
_KEYS = ("a", "b", "k", "n", "t", "active", "c", "missing")


class Maker(Choices):
    """Makes conditions out of a random source."""

    def column(self, type_: str) -> str:
        return self.random.choice(BY_TYPE[type_])

    def literal(self, type_: str) -> str:
        text = self.random.choice(POOLS[type_])
        if type_ in _NUMERIC and self.chance(0.8) and text[-1].isdigit():
            return text if text[0] != "-" else f"({text})"
        if self.chance(0.25):
            return f"{quoted(text)}::{type_}"
        if type_ == "boolean":
            return self.pick("true", "false")
        return quoted(text)

    def typed(self, type_: str) -> str:
        """A literal that is of the type wherever it stands."""
        return f"{quoted(self.random.choice(POOLS[type_]))}::{type_}"

    # Values.

    def integer(self, depth: int = 1) -> str:
        how = self.random.random()
        column = self.column(self.pick("integer", "integer", "smallint", "bigint"))
        if depth <= 0 or how < 0.35:
            return column
        small = self.pick("2", "3", "4", "7", "10", "16", "100", "-3", "0")
        inner = self.integer(depth - 1)
        makers: list[Callable[[], str]] = [
            lambda: f"({inner} {self.pick('+', '-', '*')} {self.pick(small, self.integer(depth - 1))})",
            lambda: f"({inner} {self.pick('%', '/', '%')} {self.pick(small, small, column)})",
            lambda: f"mod({inner}, {small})",
            lambda: f"abs({inner})",
            lambda: f"(- {inner})",
            lambda: f"({inner} {self.pick('&', '|', '#')} {self.pick('1', '3', '255', column)})",
            lambda: f"({column} {self.pick('<<', '>>')} {self.pick('1', '4', '33')})",
            lambda: f"length({self.text(depth - 1)})",
            lambda: f"hashtext({self.column(self.pick('text', 'text', 'varchar(20)'))})",
            lambda: f"hashint4({self.column('integer')})",
            lambda: f"hashint8({self.column('bigint')})",
            lambda: f"uuid_hash({self.column('uuid')})",
            lambda: f"hash_numeric({self.column('numeric')})",
            lambda: f"strpos({self.text(0)}, {quoted(self.pick('a', 'b', '', '@', '日'))})",
            lambda: f"ascii({self.text(0)})",
            lambda: f"octet_length({self.text(0)})",
            lambda: f"coalesce({inner}, {small})",
            lambda: f"nullif({inner}, {small})",
            lambda: f"{self.pick('greatest', 'least')}({inner}, {self.pick(small, column)})",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {inner} ELSE {small} END",
            lambda: f"array_length({self.column('integer[]')}, {self.pick('1', '2')})",
            lambda: f"cardinality({self.column(self.pick('integer[]', 'text[]'))})",
            lambda: f"array_position({self.column('integer[]')}, {small})",
            lambda: f"({self.document(0)} -> {quoted(self.pick('n', 'a'))})::{self.pick('int', 'bigint', 'smallint')}",
            lambda: f"jsonb_array_length({self.document(0)})",
            lambda: f"({self.date(0)} - {self.date(0)})",
            lambda: f"extract({self.pick(*_FIELDS)} FROM {self.moment(0)})::int",
            lambda: f"{self.decimal(0)}::{self.pick('int', 'bigint', 'smallint')}",
            lambda: f"{self.column('double precision')}::{self.pick('int', 'bigint')}",
            lambda: f"{column}::{self.pick('int', 'bigint', 'smallint')}",
            lambda: f"{self.column('boolean')}::int",
            lambda: f"{self.pick('lower', 'upper')}({self.column('int4range')})",
            lambda: f"masklen({self.column('inet')})",
            lambda: f"get_byte({self.column('bytea')}, 0)",
            lambda: "bi::int",
        ]
        return self.random.choice(makers)()

    def decimal(self, depth: int = 1) -> str:
        how = self.random.random()
        column = self.column(self.pick("numeric", "numeric", "numeric(10,2)"))
        if depth <= 0 or how < 0.35:
            return column
        small = self.pick("2", "3", "0.1", "1.5", "100.00", "7.25", "0")
        inner = self.decimal(depth - 1)
        makers: list[Callable[[], str]] = [
            lambda: f"({inner} {self.pick('+', '-', '*', '/', '%')} {self.pick(small, small, column)})",
            lambda: f"round({inner}{self.pick('', ', 2', ', 0', ', -1', ', 5')})",
            lambda: f"trunc({inner}{self.pick('', ', 1', ', -2')})",
            lambda: f"{self.pick('abs', 'ceil', 'floor', 'sign')}({inner})",
            lambda: f"div({inner}, {small})",
            lambda: f"mod({inner}, {small})",
            lambda: f"({inner})::numeric({self.pick('5,2', '12,3', '3')})",
            lambda: f"{self.integer(0)}::numeric",
            lambda: f"({self.document(0)} -> 'n')::numeric",
            lambda: f"sqrt(abs({column}))",
            lambda: f"extract({self.pick(*_FIELDS)} FROM {self.moment(0)})",
            lambda: f"{self.column('double precision')}::numeric",
            lambda: f"power({self.column('integer')}::numeric, {self.pick('2', '3')})",
        ]
        return self.random.choice(makers)()

    def float(self, depth: int = 1) -> str:
        column = self.column(self.pick("double precision", "real"))
        if depth <= 0 or self.chance(0.4):
            return column
        inner = self.float(depth - 1)
        small = self.pick("2", "0.5", "1e10", "0", "-1", "1e200")
        makers: list[Callable[[], str]] = [
            lambda: f"({inner} {self.pick('+', '-', '*', '/')} {self.pick(small, column)}::float8)",
            lambda: f"{self.pick('abs', 'floor', 'ceil', 'round', 'trunc', 'sign')}({inner})",
            lambda: f"{self.integer(0)}::float8",
            lambda: f"{self.decimal(0)}::{self.pick('float8', 'real')}",
            lambda: f"{self.column('double precision')}::real",
            lambda: f"sqrt({inner})",
            lambda: f"power({inner}, 2)",
            lambda: f"date_part({quoted(self.pick(*_FIELDS))}, {self.moment(0)})",
            lambda: f"(r {self.pick('+', '*', '/', '-')} {self.pick('2', '0.1', '3')}::real)",
        ]
        return self.random.choice(makers)()

    def text(self, depth: int = 1) -> str:
        column = self.column(self.pick("text", "text", "text", "varchar(20)", "char(5)"))
        if depth <= 0 or self.chance(0.4):
            return column
        inner = self.text(depth - 1)
        part = quoted(self.pick("a", "b", "-", "@", ",", " ", "EU", "", "foo"))
        count = self.pick("0", "1", "2", "3", "-1", "5")
        makers: list[Callable[[], str]] = [
            lambda: f"{self.pick('lower', 'upper', 'lower')}({inner})",
            lambda: f"{self.pick('left', 'right')}({inner}, {count})",
            lambda: f"substr({inner}, {count}, {self.pick('0', '1', '3')})",
            lambda: f"substring({inner} FROM {count}{self.pick('', ' FOR 2')})",
            lambda: f"{self.pick('trim', 'btrim', 'ltrim', 'rtrim')}({inner})",
            lambda: f"btrim({inner}, {quoted(self.pick('ab', 'a', ' '))})",
            lambda: f"replace({inner}, {part}, {quoted(self.pick('', 'x', 'ab'))})",
            lambda: f"split_part({inner}, {part}, {self.pick('1', '2', '-1')})",
            lambda: f"({inner} || {part})",
            lambda: f"md5({self.column('text')})",
            lambda: f"lpad({inner}, {self.pick('3', '8', '0')}{self.pick('', ', ' + quoted('0'))})",
            lambda: f"rpad({inner}, 6, '*')",
            lambda: f"reverse({self.column('text')})",
            lambda: f"coalesce({inner}, {part})",
            lambda: f"{inner}::{self.pick('varchar(3)', 'char(2)', 'text', 'varchar', 'name', 'char(10)')}",
            lambda: f"({self.document(0)} ->> {quoted(self.pick(*_KEYS))})",
            lambda: f"(j ->> {quoted(self.pick(*_KEYS))})",
            lambda: f"(j -> {quoted(self.pick(*_KEYS))} ->> {self.pick('0', quoted('b'))})",
            lambda: f"({self.pick('jb', 'kb', 'j')} #>> {quoted(self.pick(*_PATHS))})",
            lambda: f"jsonb_typeof({self.document(1)})",
            lambda: "json_typeof(j)",
            lambda: f"{self.column('boolean')}::text",
            lambda: f"CASE {self.column('text')} WHEN {part} THEN {inner} ELSE {part} END",
            lambda: f"encode({self.column('bytea')}, {quoted(self.pick('hex', 'base64', 'escape'))})",
            lambda: f"translate({inner}, 'abc', 'x')",
            lambda: f"repeat({inner}, {self.pick('0', '2', '-1')})",
            lambda: f"host({self.column('inet')})",
            lambda: f"initcap({inner})",
            lambda: f"chr({self.pick('65', '97', '228')})",
            lambda: f"to_hex({self.column('integer')})",
            lambda: "nm::text",
        ]
        return self.random.choice(makers)()

    def date(self, depth: int = 1) -> str:
        column = self.column("date")
        if depth <= 0 or self.chance(0.5):
            return column
        return self.pick(
            f"({column} {self.pick('+', '-')} {self.pick('1', '30', '-365', 'a')})",
            f"{self.column('timestamp')}::date",
            f"coalesce({column}, {self.typed('date')})",
            "make_date(2024, 2, 29)",
        )

    def moment(self, depth: int = 1) -> str:
        """A timestamp without time zone."""
        column = self.column("timestamp")
        if depth <= 0 or self.chance(0.4):
            return column
        zone = quoted(self.random.choice(_ZONES)) if self.chance(0.93) else quoted("posix zone")
        return self.pick(
            f"({self.pick(column, self.date(0))} {self.pick('+', '-')} {self.interval(0)})",
            f"date_trunc({quoted(self.pick('day', 'month', 'hour', 'week', 'year', 'quarter', 'minute'))}, {column})",
            f"({self.column('timestamptz')} AT TIME ZONE {zone.replace('posix zone', 'UTC')})",
            f"{self.date(1)}::timestamp",
            f"({self.date(0)} + {self.column('time')})",
            f"{column}::timestamp({self.pick('0', '3')})",
        )

    def zoned(self, depth: int = 1) -> str:
        column = self.column("timestamptz")
        if depth <= 0 or self.chance(0.6):
            return column
        zone = quoted(self.pick("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "-05:30"))
        return self.pick(
            f"({self.column('timestamp')} AT TIME ZONE {zone})",
            f"date_trunc({quoted(self.pick('day', 'month', 'hour'))}, {column}, {zone})",
        )

    def interval(self, depth: int = 1) -> str:
        if depth <= 0 or self.chance(0.4):
            return self.pick(self.column("interval"), self.column("interval"), self.typed("interval"))
        return self.pick(
            f"({self.interval(0)} {self.pick('+', '-')} {self.interval(0)})",
            f"({self.interval(0)} * {self.pick('2', '0.5', '-1', '1.5')})",
            f"({self.interval(0)} / {self.pick('2', '3', '0')})",
            f"({self.moment(0)} - {self.moment(0)})",
            f"({self.column('timestamptz')} - {self.column('timestamptz')})",
            f"(- {self.column('interval')})",
            f"justify_hours({self.column('interval')})",
            f"justify_days({self.column('interval')})",
        )

    def document(self, depth: int = 1) -> str:
        column = self.column("jsonb")
        if depth <= 0 or self.chance(0.5):
            return column
        return self.pick(
            f"({column} -> {quoted(self.pick(*_KEYS))})",
            f"({column} -> {self.pick('0', '1', '-1')})",
            f"({column} #> {quoted(self.pick('{a,b}', '{t}', '{a}', '{}', '{t,0}', '{1}'))})",
            f"({column} || {quoted(self.pick(*POOLS['jsonb'][:20]))})",
            f"({column} - {quoted(self.pick('a', 'k'))})",
            f"coalesce({column}, '{{}}')",
        )

    def value(self, type_: str, depth: int) -> str:
        if type_ in ("integer", "smallint", "bigint"):
            return self.integer(depth)
        if type_.startswith("numeric") and type_ != "numeric[]":
            return self.decimal(depth)
        if type_ in ("double precision", "real"):
            return self.float(depth)
        if type_ in ("text", "varchar(20)"):
            return self.text(depth)
        makers = {
            "date": self.date,
            "timestamp": self.moment,
            "timestamptz": self.zoned,
            "interval": self.interval,
        }
        maker = makers.get(type_)
        return maker(depth) if maker is not None else self.column(type_)

    # Conditions.

    def comparison(self, depth: int) -> str:
        type_ = self.random.choice(_ORDERED)
        left = self.value(type_, depth)
        operator = self.random.choice(_COMPARED)
        if type_ in _NUMERIC and self.chance(0.2):
            return f"{left} {operator} {self.value(self.pick(*_NUMERIC), depth - 1)}"
        if type_ in ("date", "timestamp") and self.chance(0.15):
            return f"{left} {operator} {self.pick(self.date(0), self.moment(0))}"
        right = self.literal(type_) if self.chance(0.7) else self.value(type_, depth - 1)
        return f"{left} {operator} {right}"

    def listed(self, depth: int) -> str:
        type_ = self.random.choice(_ORDERED)
        values = [self.literal(type_) for _ in range(self.random.choice((1, 2, 3, 4, 12)))]
        if self.chance(0.15):
            values.append("NULL")
        left = self.value(type_, depth - 1)
        if self.chance(0.6):
            return f"{left} {self.pick('IN', 'IN', 'NOT IN')} ({', '.join(values)})"
        array = f"ARRAY[{', '.join(values)}]::{type_}[]"
        if type_.endswith("]"):
            return f"{left} = {values[0]}"
        return f"{left} {self.random.choice(_COMPARED)} {self.pick('ANY', 'ALL')} ({array})"

    def between(self, depth: int) -> str:
        type_ = self.random.choice(_ORDERED)
        words = self.pick("BETWEEN", "BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC")
        return f"{self.value(type_, depth - 1)} {words} {self.literal(type_)} AND {self.literal(type_)}"

    def null(self, depth: int) -> str:
        column = self.random.choice(list(COLUMNS))
        return f"{column} IS {self.pick('', 'NOT ')}NULL"

    def boolean(self, depth: int) -> str:
        column = self.column("boolean")
        return self.pick(
            column, f"NOT {column}", f"{column} IS {self.pick('', 'NOT ')}{self.pick('TRUE', 'FALSE', 'UNKNOWN')}",
            f"{column} = {self.pick('true', 'false', 'q')}",
            f"({self.condition(depth - 1)}) IS {self.pick('', 'NOT ')}{self.pick('TRUE', 'FALSE', 'UNKNOWN')}",
            f"coalesce({column}, {self.pick('true', 'false')})",
        )  # fmt: skip

    def distinct(self, depth: int) -> str:
        type_ = self.random.choice(_ORDERED)
        right = self.literal(type_) if self.chance(0.7) else self.column(type_)
        return f"{self.value(type_, depth - 1)} IS {self.pick('', 'NOT ')}DISTINCT FROM {right}"

    def pattern(self, depth: int) -> str:
        left = self.text(depth - 1) if self.chance(0.8) else self.column(self.pick(*_STRINGS))
        if self.chance(0.6):
            pattern = self.pick(
                "a%", "%a", "%a%", "_", "a_c", "%", "", "%@example.com", "tenant-%", "x\\%y", "x\\_y", "A%", "%\\%%",
                "ab", "__%", "%b%c%", "ä%", "_ä%", "d%e",
            )  # fmt: skip
            escape = self.pick("", "", "", "", " ESCAPE '#'", " ESCAPE ''")
            return f"{left} {self.pick('LIKE', 'LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE')} {quoted(pattern)}{escape}"
        if self.chance(0.2):
            pattern = self.pick("a%", "(a|b)c", "[a-c]+", "a_c|x", "[^a]%", "%(EU|US)%", "a{1,2}b?", "a.c", "\\%")
            return f"{left} {self.pick('', 'NOT ')}SIMILAR TO {quoted(pattern)}"
        pattern = self.pick(
            "^a", "a$", "^[a-z]+$", "^(EU|US)$", "[0-9]+", "\\d", "^\\w+@\\w+\\.com$", "a.c", "", "^$", "b|c",
            "(a)(b)?", "a{2}", "[^a-c]", "^[[:alpha:]]+$", "x[%_]y", "\\s", "a|", "tenant-[0-9]{1,3}", "^.{3}$",
            "\\.", "a+?b",
        )  # fmt: skip
        return f"{left} {self.pick('~', '~', '!~', '~*', '!~*')} {quoted(pattern)}"

    def sharded(self, depth: int) -> str:
        key = self.pick("a", "l", "abs(a)", "hashint4(a)", "hashtext(t)", "hashint8(l)", "uuid_hash(uu)",
            "hashtext(vc)", "hashint2(s)", "hashtextextended(t, 0)", "hashint8extended(l, 7)",
            "timestamp_hash(ts)", "hashbpchar(c)", "hashfloat8(f)", "hash_numeric(n)",
            "hashint4extended(a, 1)")  # fmt: skip
        count = self.pick("2", "4", "8", "10", "16")
        rest = self.pick("0", "1", "-1")
        return self.pick(f"{key} % {count} = {rest}", f"abs({key} % {count}) = 1", f"mod({key}, {count}) < 2")

    def documents(self, depth: int) -> str:
        value = self.document(1)
        other = quoted(self.random.choice(POOLS["jsonb"]))
        return self.pick(
            f"{value} @> {other}", f"{other}::jsonb <@ {value}", f"{value} ? {quoted(self.pick(*_KEYS, 'abc'))}",
            f"{value} ?| ARRAY['a', 'k']", f"{value} ?& ARRAY['k', 'n']", f"{value} = {other}", f"{value} <> {other}",
            f"{value} ->> {quoted(self.pick(*_KEYS))} = {quoted(self.pick('EU', 'b', '5', '1'))}",
            f"({value} -> 'n')::numeric > {self.pick('3', '7.5')}", f"({value} -> 'active')::bool",
            "j ->> 'k' = 'EU'", f"jsonb_typeof({value}) = {quoted(self.pick('object', 'array', 'string', 'number'))}",
            "j -> 'a' IS NULL", "json_array_length(j) > 1", "jb @> kb",
        )  # fmt: skip

    def arrays(self, depth: int) -> str:
        type_, element = self.random.choice((("integer[]", "integer"), ("text[]", "text"), ("numeric[]", "numeric")))
        column, other = self.column(type_), self.pick(self.typed(type_), self.column(type_))
        operator = self.pick("=", "<>", "<", ">", "@>", "<@", "&&", "<=", ">=")
        return self.pick(
            f"{column} {operator} {other}",
            f"{self.value(element, 0)} {self.random.choice(_COMPARED)} {self.pick('ANY', 'ALL')} ({column})",
            f"{self.literal(element)} = ANY ({column})",
            f"array_position({column}, {self.typed(element)}) {self.pick('= 1', 'IS NULL', '> 1')}",
            f"array_length({column}, 1) {self.random.choice(_COMPARED)} {self.pick('1', '2')}",
            f"{column} || {self.typed(element)} @> {other}",
            f"array_remove({column}, {self.typed(element)}) = {other}",
            f"ARRAY[{self.value(element, 0)}, {self.literal(element)}]::{element}[] && {column}",
            f"array_upper({column}, 1) = {self.pick('1', '2', '3')}",
        )

    def ranges(self, depth: int) -> str:
        type_, element = self.random.choice(
            (("int4range", "integer"), ("numrange", "numeric"), ("daterange", "date"), ("tsrange", "timestamp"))
        )
        column, other = self.column(type_), self.pick(self.typed(type_), self.column(type_))
        operator = self.pick("=", "<>", "<", ">", "@>", "<@", "&&", "<<", ">>", "-|-", "&<", "&>", "<=", ">=")
        return self.pick(
            f"{column} {operator} {other}", f"{column} @> {self.typed(element)}", f"{self.column(element)} <@ {column}",
            f"isempty({column})", f"{self.pick('lower', 'upper')}_{self.pick('inc', 'inf')}({column})",
            f"{self.pick('lower', 'upper')}({column}) {self.random.choice(_COMPARED)} {self.literal(element)}",
            f"{column} * {other} = {self.typed(type_)}", f"mr @> {self.pick('1', '3', '7', 'a')}",
            f"mr && {self.typed('int4range')}", f"mr = {self.typed('int4multirange')}",
            f"{type_}({self.typed(element)}, {self.typed(element)}{self.pick('', ', ' + quoted('[]'))}) && {column}",
        )  # fmt: skip

    def networks(self, depth: int) -> str:
        column, other = self.pick("ip", "ci"), self.pick(self.typed("inet"), self.typed("cidr"), "ip", "ci")
        return self.pick(
            f"{column} {self.pick('<<', '<<=', '>>', '>>=', '&&')} {other}",
            f"{column} {self.random.choice(_COMPARED)} {other}",
            f"family({column}) = {self.pick('4', '6')}", f"host({column}) = '10.0.0.1'", f"masklen({column}) > 16",
            f"network({column}) = {self.typed('cidr')}", f"ip + 1 = {other}", f"broadcast(ip) = {other}",
        )  # fmt: skip

    def moments(self, depth: int) -> str:
        field = self.pick(*_FIELDS)
        return self.pick(
            f"extract({field} FROM {self.pick(self.moment(1), self.date(0))}) {self.random.choice(_COMPARED)} "
            f"{self.pick('1', '6', '2024', '12', '0', '30.5')}",
            f"date_part({quoted(field)}, {self.pick(self.moment(0), self.interval(0), self.date(0))}) "
            f"= {self.pick('1', '15', '2024')}",
            f"{self.moment(1)} {self.random.choice(_COMPARED)} {self.literal('timestamp')}",
            f"{self.date(1)} {self.random.choice(_COMPARED)} {self.literal('date')}",
            f"{self.zoned(1)} {self.random.choice(_COMPARED)} {self.typed('timestamptz')}",
            f"({self.moment(0)}, {self.moment(0)}) OVERLAPS ({self.moment(0)}, {self.typed('timestamp')})",
            f"isfinite({self.pick(self.date(0), self.moment(0), self.column('timestamptz'))})",
            f"tm {self.pick('+', '-')} {self.interval(0)} {self.random.choice(_COMPARED)} {self.typed('time')}",
            f"extract({self.pick('hour', 'minute', 'second', 'epoch')} FROM tm) > 6",
            f"ts::time < {self.typed('time')}",
            f"{self.interval(1)} {self.random.choice(_COMPARED)} {self.typed('interval')}",
        )  # fmt: skip

    def bytes(self, depth: int) -> str:
        return self.pick(
            f"length(ba) {self.random.choice(_COMPARED)} {self.pick('0', '1', '3')}", "substr(ba, 1, 1) = '\\x61'",
            f"get_byte(ba, {self.pick('0', '2')}) = 97", "md5(ba) = md5(t)", f"ba || {self.typed('bytea')} = 'abc'",
            f"bi & B'0101' = {self.typed('bit(4)')}", f"get_bit(bi, {self.pick('0', '3', '4')}) = 1", "length(vb) > 1",
            f"bi << 1 = {self.typed('bit(4)')}", "vb || B'1' = B'11'", "position('b' in t) > 1", "starts_with(t, 'a')",
            "bit_count(ba) > 3", "vb::bit(3) = B'100'", "num_nulls(a, t, d) > 1", "num_nonnulls(a, b) = 2",
        )  # fmt: skip

    def rows(self, depth: int) -> str:
        pairs = self.random.sample(("integer", "text", "date", "boolean", "numeric", "timestamp"), 2)
        left = ", ".join(self.column(type_) for type_ in pairs)
        right = ", ".join(self.typed(type_) for type_ in pairs)
        if self.chance(0.3):
            other = ", ".join(self.typed(type_) for type_ in pairs)
            return f"({left}) {self.pick('IN', 'NOT IN')} (({right}), ({other}))"
        if self.chance(0.2):
            return f"ROW({left}) IS {self.pick('', 'NOT ')}NULL"
        return f"({left}) {self.random.choice(_COMPARED)} ({right})"

    def case(self, depth: int) -> str:
        return (
            f"CASE WHEN {self.condition(depth - 1)} THEN {self.condition(depth - 1)} "
            f"{self.pick('ELSE ' + self.condition(depth - 1), 'ELSE false', '')} END"
        )

    def dividing(self, depth: int) -> str:
        """Guards that are not always what they seem: constants are folded first."""
        return self.pick(
            "b <> 0 AND a / b > 1", "a / b > 1 OR b = 0", "CASE WHEN b <> 0 THEN a / b > 1 ELSE false END",
            "a = 1 OR 1/0 = 1", "a = 1 AND false AND 1/0 = 1", "CASE WHEN a = 1 THEN 1/0 = 1 ELSE true END",
            "coalesce(p, 1/0 = 1)", "p IS NOT NULL OR 10 / s > 1", "nullif(b, 0) IS NOT NULL AND a % nullif(b, 0) = 0",
            "true OR 1/0 = 1", "(1 / a) = NULL::int", "n / m > 1", "f / r > 1", "a::smallint > 1", "l::int = 1",
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        if depth > 0 and self.chance(0.3):
            parts = [self.condition(depth - 1) for _ in range(self.random.choice((2, 2, 3)))]
            joined = f" {self.pick('AND', 'AND', 'OR')} ".join(f"({part})" for part in parts)
            return joined if self.chance(0.85) else f"NOT ({joined})"
        weighted: list[tuple[int, Callable[[int], str]]] = [
            (30, self.comparison), (10, self.listed), (5, self.between), (4, self.null), (7, self.boolean),
            (4, self.distinct), (9, self.pattern), (4, self.sharded), (6, self.documents), (4, self.arrays),
            (4, self.ranges), (3, self.networks), (6, self.moments), (2, self.bytes), (3, self.rows),
            (2, self.dividing),
        ]  # fmt: skip
        if depth > 0:
            weighted.append((3, self.case))
        return self.random.choices([make for _, make in weighted], [weight for weight, _ in weighted])[0](depth)


def make_filter(random: Random) -> str:
    return Maker(random).condition(random.choice((0, 1, 1, 1, 2, 2)))
