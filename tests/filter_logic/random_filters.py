"""Random row filters over one table, and the values near their constants."""

from __future__ import annotations

import random
from collections.abc import Callable

TABLE = """CREATE TABLE t (
    id integer PRIMARY KEY, a integer, b integer NOT NULL, small smallint, big bigint, price numeric(6,2), n numeric,
    x double precision, y real, s text, name text NOT NULL COLLATE "C", code varchar(3) COLLATE "C", c char(3), d date,
    ts timestamp, f boolean, g boolean NOT NULL, u uuid)"""

CONSTANTS: dict[str, tuple[str, ...]] = {
    "a": ("-1", "0", "1", "2", "5", "100"),
    "b": ("0", "1", "2", "3", "10"),
    "small": ("-1", "0", "7", "32767", "40000"),
    "big": ("0", "1", "5000000000"),
    "price": ("0", "0.01", "1.5", "2.345", "9999.99", "10000"),
    "n": ("0", "1", "1.5", "2"),
    "x": ("0", "0.5", "1.5", "1e10"),
    "y": ("0", "0.1", "1.5"),
    "s": ("'eu'", "'us'", "'a'", "''"),
    "name": ("'eu'", "'eua'", "'us'", "'a'", "'b'", "''"),
    "code": ("'a'", "'ab'", "'abc'", "'b'"),
    "c": ("'a'", "'ab'", "'abc'", "'b'"),
    "d": ("'2024-01-01'", "'2024-01-02'", "'2025-06-30'", "'infinity'"),
    "ts": ("'2024-01-01'", "'2024-01-01 12:00'", "'2024-01-02'"),
    "u": ("'00000000-0000-0000-0000-000000000001'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"),
}
_OF_TABLE = tuple(CONSTANTS)
CONSTANTS |= {"gs": CONSTANTS["s"], "ge": CONSTANTS["s"], "gb": CONSTANTS["a"], "dom": CONSTANTS["a"]}
_NUMBERS = ("a", "b", "small", "big", "price", "n", "x", "y")
_WHOLE = ("a", "b", "small", "big", "gb")
_TEXTS = ("s", "name", "code", "c", "gs", "ge")
_ORDERS = ("=", "<>", "<", "<=", ">", ">=")
_PATTERNS = ("'a%'", "'eu%'", "'%u%'", "'a_'", "'eu'", "''")


class Filters:
    """A generator of filters. ``usual``: only what real filters have, comparisons, IN, NULL tests, AND, OR and NOT."""

    def __init__(self, seed: int, *, usual: bool, columns: tuple[str, ...] = ()) -> None:
        """``columns``: more columns, and those that are chosen most often."""
        self.random = random.Random(seed)
        self._preferred = columns
        self.usual = usual
        self.columns: list[str] = []

    def pair(self) -> tuple[str, str]:
        """Return two filters over the same one to three columns."""
        self._choose_columns()
        first = self.filter()
        if self.random.random() < 0.15:
            return first, self.changed(first)
        return first, self.filter()

    def _choose_columns(self) -> None:
        pool = [*_OF_TABLE, "f", "g"]
        self.columns = self.random.sample(pool, self.random.choice((1, 1, 2, 2, 3)))
        if self._preferred:
            self.columns[-1] = self.random.choice(self._preferred)

    def changed(self, text: str) -> str:
        """Return a filter that is near another one."""
        part = self.part()
        return self.random.choice((f"NOT ({text})", f"({text}) AND {part}", f"({text}) OR {part}", f"({text}) IS TRUE"))

    def filter(self) -> str:
        if not self.columns:
            self._choose_columns()
        parts = [self.part() for _ in range(self.random.choice((1, 1, 2, 2, 3, 4)))]
        text = parts[0]
        for part in parts[1:]:
            text = f"({text}) {self.random.choice(('AND', 'OR'))} {part}"
        return f"NOT ({text})" if self.random.random() < 0.1 else text

    def part(self) -> str:
        column = self.random.choice(self.columns)
        if column in ("f", "g", "gf"):
            return self.random.choice((column, f"NOT {column}", f"{column} IS TRUE", f"{column} IS NOT FALSE",
                                       f"{column} = true", f"{column} IS NULL"))  # fmt: skip
        makers = [self._compared, self._compared, self._in, self._null, self._between]
        if not self.usual:
            makers += [self._other, self._other]
        return self.random.choice(makers)(column)

    def _constant(self, column: str) -> str:
        return self.random.choice(CONSTANTS[column])

    def _compared(self, column: str) -> str:
        orders = ("=", "<>", "=") if column in ("s", "c", "gs", "ge") and self.usual else _ORDERS
        constant, order = self._constant(column), self.random.choice(orders)
        return f"{constant} {order} {column}" if self.random.random() < 0.1 else f"{column} {order} {constant}"

    def _in(self, column: str) -> str:
        values = ", ".join(self._constant(column) for _ in range(self.random.choice((1, 2, 3))))
        return f"{column} {self.random.choice(('IN', 'IN', 'NOT IN'))} ({values})"

    def _null(self, column: str) -> str:
        return f"{column} IS {self.random.choice(('NULL', 'NOT NULL'))}"

    def _between(self, column: str) -> str:
        if column in ("s", "c", "gs", "ge") and self.usual:
            return self._in(column)
        return f"{column} BETWEEN {self._constant(column)} AND {self._constant(column)}"

    def _other(self, column: str) -> str:
        makers: list[Callable[[str], str]] = [self._distinct, self._coalesce, self._case]
        if column in _TEXTS:
            makers += [self._like, self._like, self._function]
        if column in _WHOLE:
            makers += [self._remainder, self._sum]
        if column in _NUMBERS:
            makers.append(self._two_columns)
        return self.random.choice(makers)(column)

    def _distinct(self, column: str) -> str:
        return f"{column} IS {self.random.choice(('', 'NOT '))}DISTINCT FROM {self._constant(column)}"

    def _coalesce(self, column: str) -> str:
        return (
            f"coalesce({column}, {self._constant(column)}) {self.random.choice(('=', '<>'))} {self._constant(column)}"
        )

    def _case(self, column: str) -> str:
        return f"CASE WHEN {self._compared(column)} THEN {self._in(column)} ELSE {self._null(column)} END"

    def _like(self, column: str) -> str:
        return f"{column} {self.random.choice(('LIKE', 'NOT LIKE', 'ILIKE'))} {self.random.choice(_PATTERNS)}"

    def _function(self, column: str) -> str:
        return self.random.choice((f"lower({column}) = {self._constant(column)}", f"length({column}) > 1",
                                   f"{column} || 'x' <> 'ax'"))  # fmt: skip

    def _remainder(self, column: str) -> str:
        return f"{column} % {self.random.choice('23')} {self.random.choice(('=', '<>'))} {self.random.choice('01')}"

    def _sum(self, column: str) -> str:
        return f"{column} + 1 {self.random.choice(_ORDERS)} {self._constant(column)}"

    def _two_columns(self, column: str) -> str:
        return f"{column} {self.random.choice(_ORDERS)} {self.random.choice(_NUMBERS)}"


def values_near(column: str) -> list[str]:
    """Return texts of values of a column: the constants, their neighbours and others."""
    if column in ("f", "g"):
        return ["t", "f"]
    if column == "status":
        return ["eu", "us", "a"]
    if column == "dom":
        return ["1", "2", "5", "100"]
    constants = [constant.strip("'") for constant in CONSTANTS[column]]
    if column in _WHOLE:
        return [str(int(constant) + step) for constant in constants for step in (0, -1, 1)]
    if column in ("price", "n", "x", "y"):
        return [*constants, "NaN", "-1", "1.51", "1.49", "0.005", "2.34", "2.35", "1000"]
    if column in _TEXTS:
        return [*constants, "A", "EU", "aa", "ax", "ac", "eub", "u", "z"]
    if column == "d":
        return [*constants, "2023-12-31", "2024-01-03", "2030-01-01", "-infinity"]
    if column == "ts":
        return [*constants, "2023-12-31 23:59:59", "2024-01-01 00:00:01", "2024-01-03"]
    return [*constants, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
