"""Corpora of repositories, as large as wanted, the same for the same seed: `python -m corpus.generate --help`.

A repository has a database in the convention of some tool, with publications of every form or without any; some have
faults that are known (`faults`) or content that harms the process that reads it. What must be found stands in a
manifest. Everything else is meant to be right: pubcheck should report nothing certain there that is at least a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from math import exp
from random import Random

import msgspec
from msgspec import Struct

from corpus.generate import schema
from corpus.generate.conventions import CONVENTIONS, Files, Piece, one_file
from corpus.generate.faults import FAULTS


class Shape(Struct, frozen=True):
    """What repositories are like: the median of their tables, and shares from 0 to 1. ``quiet`` is the share that holds
    no publication, ``faulty`` the share of the others that has faults. ``plain``: each is a single file."""

    tables: float = 5.0
    spread: float = 0.9
    quiet: float = 0.4
    faulty: float = 0.15
    plain: bool = False


class Planted(Struct, frozen=True, omit_defaults=True):
    """A finding that there must be: certain, and at least a warning. ``path`` is that in the repository."""

    repository: str
    path: str
    line: int
    rule: str
    fault: str
    sqlstate: str | None = None
    operation: str | None = None


class Repository(Struct, frozen=True):
    """Files by their paths, and what must be found in them. ``kind`` is the convention, ``holds`` whether there is a
    statement about a publication."""

    name: str
    kind: str
    holds: bool
    files: dict[str, bytes]
    planted: tuple[Planted, ...] = ()


def repository(seed: int | str, number: int, shape: Shape = Shape()) -> Repository:
    """The repository of that number: it depends on nothing but the arguments."""
    random = Random(f"{seed} {number}")
    name = (
        f"{random.choice(('blue', 'quick', 'open', 'north', 'small', 'plain'))}-{random.choice(_PRODUCTS)}-{number:06}"
    )
    convention = one_file if shape.plain else random.choices(list(CONVENTIONS), list(CONVENTIONS.values()))[0]
    quiet = random.random() < shape.quiet
    faulty = not quiet and random.random() < shape.faulty
    size = max(1, min(400, round(shape.tables * exp(random.gauss(0, shape.spread)))))
    pieces = _database(random, size, quiet=quiet, faults=random.randint(1, 3) if faulty else 0)
    files = convention(random, pieces)
    if random.random() < 0.06 and not shape.plain:
        files.contents["legacy/mysql/schema.sql"] = _mysql(random)
    if random.random() < 0.04 and not shape.plain:
        _history(random, files)
    planted = tuple(
        Planted(
            name,
            place.path,
            place.line,
            place.expected.rule,
            place.fault,
            place.expected.sqlstate,
            place.expected.operation,
        )
        for place in files.places
    )
    content = {path: text.encode() for path, text in files.contents.items()}
    return Repository(
        name, convention.__name__, not quiet or "PUBLICATION" in "".join(files.contents.values()), content, planted
    )


def repositories(seed: int | str, number: int, shape: Shape = Shape()) -> Iterator[Repository]:
    """The first so many repositories of a seed."""
    return (repository(seed, each, shape) for each in range(number))


def write(given: Iterable[Repository], folder: str) -> Counts:
    """Writes repositories under ``folder``, a folder each, and the manifest beside it, as ``folder``.jsonl: a line a
    planted fault."""
    counts = Counts()
    with open(f"{folder}.jsonl", "wb") as manifest:
        for each in given:
            for path, content in each.files.items():
                place = os.path.join(folder, each.name, *path.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "wb") as file:
                    file.write(content)
            manifest.writelines(msgspec.json.encode(planted) + b"\n" for planted in each.planted)
            counts = counts.with_one(each)
    return counts


class Counts(Struct, frozen=True):
    """How much was written."""

    repositories: int = 0
    holding: int = 0
    """Repositories with a statement about a publication."""
    files: int = 0
    bytes: int = 0
    planted: int = 0

    def with_one(self, given: Repository) -> Counts:
        return Counts(
            self.repositories + 1,
            self.holding + given.holds,
            self.files + len(given.files),
            self.bytes + sum(map(len, given.files.values())),
            self.planted + len(given.planted),
        )


def planted(folder: str) -> list[Planted]:
    """What the manifest of a folder says must be found there."""
    with open(f"{folder}.jsonl", "rb") as manifest:
        return [msgspec.json.decode(line, type=Planted) for line in manifest]


_PRODUCTS = ("shop", "clinic", "ledger", "fleet", "school", "forum", "depot", "studio", "market", "archive")
_STREAMS = ("analytics", "cdc", "debezium", "events", "mirror", "realtime", "replica", "search", "warehouse")


def _database(random: Random, size: int, *, quiet: bool, faults: int) -> list[Piece]:
    """The statements of a database in order."""
    name = random.choice((None, None, None, "app", "public"))
    tables = schema.tables(random, size, name)
    pieces = [Piece(f"CREATE SCHEMA {name};", f"DROP SCHEMA {name};")] if name == "app" else []
    for number, table in enumerate(tables):
        pieces.append(Piece(schema.definition(random, table), f"DROP TABLE {table.name};"))
        pieces += [Piece(sql) for sql in schema.company(random, table, tables[: number + 1])]
    if random.random() < 0.05:
        pieces.append(Piece(schema.inserts(random, random.choice(tables), random.randint(50, 300))))
    if not quiet:
        pieces += _publications(random, tables, name, narrow=faults > 0)
    for number, fault in enumerate(random.sample(list(FAULTS), faults)):
        planted = FAULTS[fault](f"planted_{number}", f"faulty_{number}")
        for at, sql in enumerate(planted.statements):
            expected = tuple(each for each in planted.expected if each.statement == at)
            pieces.append(Piece(sql, _undo(sql), fault, expected))
    return pieces


def _publications(random: Random, tables: list[schema.Table], name: str | None, *, narrow: bool) -> Iterator[Piece]:
    """Publications of which no two have a table in common: their lists and filters would meet."""
    free = list(tables)
    for number in range(random.choice((1, 1, 1, 2, 3))):
        stream = f"{random.choice(_STREAMS)}_{number}"
        sqls, taken = schema.publication(random, stream, free, narrow=narrow or number > 0, schema=name)
        yield from (Piece(sql, _undo(sql)) for sql in sqls)
        free = [table for table in free if table not in taken]
        if not free:
            return
    if random.random() < 0.1 and not narrow:
        yield Piece(schema.guarded("guarded", free[0]))
    if random.random() < 0.12:
        yield from (Piece(sql, _undo(sql)) for sql in schema.partitioned(random, "measurements", "by_region"))


_CREATED = re.compile(
    r"create\s+(?:unlogged\s+)?(table|publication|view)\s+(?:if not exists\s+)?([\w.]+)", re.IGNORECASE
)


def _undo(sql: str) -> str | None:
    found = _CREATED.match(sql)
    return f"DROP {found[1].upper()} IF EXISTS {found[2]};" if found else None


def _mysql(random: Random) -> str:
    """A schema for another server, in a folder of its own."""
    return "".join(
        f"CREATE TABLE `{name}` (\n  `id` int(11) unsigned NOT NULL AUTO_INCREMENT,\n  `name` varchar(255),\n"
        f"  PRIMARY KEY (`id`),\n  KEY `{name}_name` (`name`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n\n"
        for name in random.sample(("users", "posts", "votes", "tags", "media", "links"), 4)
    )


def _history(random: Random, files: Files) -> None:
    """The data of a product through the years, in a folder of its own: INSERTs by the thousand."""
    table = schema.tables(random, 1, None)[0]
    files.add("product/history/0000_table.sql", [schema.definition(random, table)])
    for number in range(1, random.randint(2, 9)):
        files.add(f"product/history/{number:04}_data.sql", [schema.inserts(random, table, random.randint(100, 900))])
