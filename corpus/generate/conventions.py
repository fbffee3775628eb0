"""How repositories keep their schema: one function a convention, from the statements of a database to files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from random import Random

from msgspec import Struct

from corpus.generate.faults import Expected


class Piece(Struct, frozen=True):
    """A statement, what undoes it, and what of a fault is expected of it."""

    sql: str
    undo: str | None = None
    fault: str = ""
    expected: tuple[Expected, ...] = ()


class Place(Struct, frozen=True):
    """Where something of a fault is expected: a line of a file, counted from 1."""

    path: str
    line: int
    fault: str
    expected: Expected


class Files:
    """Files as they are written, line by line, with the places of what is expected."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}
        self.places: list[Place] = []

    def add(self, path: str, parts: Iterable[Piece | str], *, end: str = "\n") -> None:
        """A file of statements and of other lines, with ``end`` after each."""
        text, line = [], 1
        for part in parts:
            sql = part if isinstance(part, str) else part.sql
            if isinstance(part, Piece):
                self.places += [Place(path, line, part.fault, expected) for expected in part.expected]
            text.append(sql + end)
            line += text[-1].count("\n")
        self.contents[path] = "".join(text)


_CREATE_TABLE = re.compile(r"create table (?:if not exists )?([\w.]+)", re.IGNORECASE)

Convention = Callable[[Random, list[Piece]], Files]

_TASKS = ("init", "core", "more_tables", "tracking", "permissions", "reports", "sync", "outbox", "partners", "audit")


def _steps(random: Random, pieces: list[Piece], most: int = 40) -> list[tuple[str, list[Piece]]]:
    """The statements cut into a history of at most so many named steps."""
    number = min(len(pieces), random.randint(1, most))
    cuts = [0, *sorted(random.sample(range(1, len(pieces)), number - 1)), len(pieces)]
    return [(random.choice(_TASKS), pieces[a:b]) for a, b in pairwise(cuts)]


def one_file(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    path = random.choice(("schema.sql", "db/schema.sql", "sql/create.sql", "database/init.sql", "setup.SQL"))
    files.add(path, ["-- The database.", *pieces], end=random.choice(("\n", "\n", "\n\n", "\r\n")))
    return files


def psql_script(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    head = ["\\set ON_ERROR_STOP on", "\\echo making the database", "SET client_min_messages = warning;"]
    files.add("scripts/install.sql", [*head, *pieces, "\\echo done"])
    return files


def init_scripts(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    folder = random.choice(("docker/initdb.d", "docker-entrypoint-initdb.d", "postgres/init"))
    for number, (name, step) in enumerate(_steps(random, pieces, 4), 1):
        files.add(f"{folder}/{number:02}-{name}.sql", step)
    return files


def numbered(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    folder = random.choice(("migrations", "db/migrations", "sql/migrations"))
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        files.add(f"{folder}/{number:04}_{name}.sql", step)
    return files


def supabase(random: Random, pieces: list[Piece]) -> Files:
    """Migrations of Supabase; the publication that the platform makes is changed and never made."""
    files = Files()
    made = [found[1] for piece in pieces if (found := _CREATE_TABLE.match(piece.sql))]
    for number, (name, step) in enumerate(_steps(random, pieces)):
        files.add(f"supabase/migrations/2024{number // 28 + 1:02}{number % 28 + 1:02}120000_{name}.sql", step)
    if made:
        add = f"ALTER PUBLICATION supabase_realtime ADD TABLE {made[0]};"
        files.add("supabase/migrations/20261231120000_realtime.sql", [add])
    return files


def flyway(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        files.add(f"src/main/resources/db/migration/V{number}__{name}.sql", step)
    return files


def liquibase(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces, 9), 1):
        parts: list[Piece | str] = ["--liquibase formatted sql", ""]
        for each, piece in enumerate(step, 1):
            parts += [f"--changeset team:{number}-{each} splitStatements:false", piece]
            parts += [f"--rollback {piece.undo}"] if piece.undo else []
        files.add(f"db/changelog/{number:03}-{name}.sql", parts)
    return files


def up_and_down(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        files.add(f"migrations/{number:06}_{name}.up.sql", step)
        files.add(f"migrations/{number:06}_{name}.down.sql", [each.undo for each in reversed(step) if each.undo])
    return files


def _in_one_file(files: Files, path: str, step: list[Piece], marks: Mapping[str, str]) -> None:
    """A migration with its way back in the same file."""
    parts: list[Piece | str] = [marks["up"]]
    for piece in step:
        whole = "$$" in piece.sql and "begin" in marks
        parts += [marks["begin"], piece, marks["end"]] if whole else [piece]
    parts += ["", marks["down"], *(each.undo for each in reversed(step) if each.undo)]
    files.add(path, parts)


_GOOSE = {
    "up": "-- +goose Up",
    "down": "-- +goose Down",
    "begin": "-- +goose StatementBegin",
    "end": "-- +goose StatementEnd",
}
_DBMATE = {"up": "-- migrate:up", "down": "-- migrate:down"}


def goose(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        _in_one_file(files, f"migrations/{number:05}_{name}.sql", step, _GOOSE)
    return files


def dbmate(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        _in_one_file(files, f"db/migrations/2024010100{number:04}_{name}.sql", step, _DBMATE)
    return files


def drizzle(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    steps = _steps(random, pieces)
    for number, (name, step) in enumerate(steps):
        parts: list[Piece | str] = []
        for piece in step:
            parts += [piece, "--> statement-breakpoint"]
        files.add(f"drizzle/{number:04}_{name}.sql", parts[:-1])
    entries = ",".join(
        f'{{"idx":{number},"version":"7","when":{17040672 + number}00000,"tag":"{number:04}_{name}"}}'
        for number, (name, _) in enumerate(steps)
    )
    files.contents["drizzle/meta/_journal.json"] = f'{{"version":"7","dialect":"postgresql","entries":[{entries}]}}\n'
    return files


def prisma(random: Random, pieces: list[Piece]) -> Files:
    files = Files()
    for number, (name, step) in enumerate(_steps(random, pieces), 1):
        files.add(f"prisma/migrations/202401011200{number:02}_{name}/migration.sql", step)
    files.contents["prisma/migrations/migration_lock.toml"] = 'provider = "postgresql"\n'
    return files


_DUMPED = """\
--
-- PostgreSQL database dump
--

\\restrict nZ2vPqK4

-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', 'public', false);
SET row_security = off;
"""
_DATA = "COPY {table} ({columns}) FROM stdin;\n7\tit's a ; row\n8\t\\N\n\\."


def dump(random: Random, pieces: list[Piece]) -> Files:
    """What pg_dump writes, with the rows of a table and its comments of three lines."""
    files = Files()
    parts: list[Piece | str] = [_DUMPED]
    for number, piece in enumerate(pieces):
        parts += [f"--\n-- Name: {number}; Type: OBJECT; Schema: public; Owner: -\n--\n", piece, ""]
    parts += ["CREATE TABLE schema_migrations (id int PRIMARY KEY, said text);"]
    parts += [_DATA.format(table="schema_migrations", columns="id, said"), "\\unrestrict nZ2vPqK4"]
    files.add(random.choice(("db/structure.sql", "dump/schema.sql")), parts)
    return files


CONVENTIONS: Mapping[Convention, int] = {
    one_file: 30,
    psql_script: 4,
    init_scripts: 12,
    numbered: 14,
    supabase: 14,
    flyway: 4,
    liquibase: 2,
    up_and_down: 4,
    goose: 3,
    dbmate: 2,
    drizzle: 3,
    prisma: 3,
    dump: 5,
}
"""Each convention and how many of a hundred repositories have it, about as public repositories with publications do,
the rare ones made a little less so."""
