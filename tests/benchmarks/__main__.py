"""`python -m tests.benchmarks [NAME...]`: what pubcheck costs, against the limits it is held to and against its peers.

Without names all of them run, some minutes. Exit status 1 when a limit is broken.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from pubcheck.extract import VIEWS
from tests.benchmarks.decoding import batch_costs, decoding_costs, decoding_inputs
from tests.benchmarks.editing import editing
from tests.benchmarks.filters import median_milliseconds, tables_and_publications
from tests.benchmarks.growth import growth
from tests.benchmarks.measure import BARE_PARSER, BARE_PYTHON, cost, file_of, lint
from tests.benchmarks.openings import HOSTILE as HOSTILE_TEXTS
from tests.benchmarks.openings import growth as growth_of_a_view
from tests.benchmarks.row import Row, table
from tests.benchmarks.schema import dump, published
from tests.benchmarks.shapes import HOSTILE
from tests.benchmarks.trees import flat, mixed, supabase, tree_of
from tests.benchmarks.verifying import verifying

TABLES = 5_000
SMALL = """\
CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL, total numeric(10, 2));
ALTER TABLE orders ADD COLUMN note text;
CREATE PUBLICATION eu FOR TABLE orders WHERE (id > 5);
"""


def start_up() -> Iterator[Row]:
    """A file of three statements, against Python that does nothing."""
    with file_of(SMALL) as path:
        ours, bare = cost(lint(path), BARE_PYTHON, runs=10)
    yield Row("three statements", f"{_ms(ours.cpu)}, bare Python {_ms(bare.cpu)}", ours.cpu / bare.cpu, 7.5)


def size() -> Iterator[Row]:
    """A dump of 5,000 tables, against no more than splitting and parsing it; and its memory."""
    with file_of(dump(TABLES)) as path:
        ours, bare = cost(lint(path), (*BARE_PARSER, str(path)), runs=6)
    yield Row("dump of 5,000 tables", f"{_ms(ours.cpu)}, parsed only {_ms(bare.cpu)}", ours.cpu / bare.cpu, 1.9)
    yield Row("memory of it", f"parsed only {bare.memory:.0f} MB", ours.memory, 300, "MB")


def publications() -> Iterator[Row]:
    """200 publications over 5,000 tables, against the same file without them."""
    with file_of(published(TABLES)) as path, file_of(published(TABLES, cut=True)) as without:
        ours, bare, told = cost(lint(path), lint(without), lint(path, "explain"))
    yield Row("lint", f"{_ms(ours.cpu)}, without {_ms(bare.cpu)}", ours.cpu / bare.cpu, 1.5)
    yield Row("explain", f"{_ms(told.cpu)}, lint without {_ms(bare.cpu)}", told.cpu / bare.cpu, 2)


def filters() -> Iterator[Row]:
    """Judging row filters: one that is warm, the first of a process, and many in one file."""
    yield Row("one filter, warm, in the median", "", median_milliseconds(), 0.3, "ms")
    table, publication = SMALL.splitlines()[0], "CREATE PUBLICATION p FOR TABLE orders WITH (publish = 'insert');"
    first = publication.replace("orders", "orders WHERE (total > 5 AND lower(region) = 'eu')")
    with file_of(f"{table}\n{first}\n") as path, file_of(f"{table}\n{publication}\n") as without:
        ours, bare = cost(lint(path), lint(without), runs=10)
    yield Row("the first filter of a process", "", (ours.cpu - bare.cpu) * 1000, 25, "ms")
    many = [tables_and_publications(2_000, filtered=filtered) for filtered in (True, False)]
    with file_of(many[0]) as path, file_of(many[1]) as without:
        ours, bare = cost(lint(path), lint(without))
    over = ours.cpu - 2 * bare.cpu
    yield Row("2,000 filters, above twice without", f"{_ms(ours.cpu)}, without {_ms(bare.cpu)}", over, 0.6, "s")


def hostile() -> Iterator[Row]:
    """Inputs that break programs: no crash (which exits with 2), and time as Python takes it for so many bytes."""
    for shape in HOSTILE:
        text = shape()
        with file_of(text) as path:
            (ours,) = cost(lint(path), runs=1)
        megabytes = len(text.encode()) / 1e6
        outcome = "crashed" if ours.status not in (0, 1) else f"{ours.memory:.0f} MB"
        value = 60.0 if outcome == "crashed" else ours.cpu
        yield Row(f"{shape.__name__.replace('_', ' ')}, {megabytes:.1f} MB", outcome, value, 30, "s")


def openings() -> Iterator[Row]:
    """The views of programs and templates on sixteen times as much hostile text: the worst text for each."""
    for kind in sorted(VIEWS):
        name, worst = max(
            ((name, growth_of_a_view(kind, name)) for name in HOSTILE_TEXTS), key=lambda measurement: measurement[1]
        )
        yield Row(kind, name, worst, 40)


def peers() -> Iterator[Row]:
    """The same file through linters of migrations, which look for other things; ratios are theirs to ours.

    They are looked for beside this Python and on PATH: pgspot needs another pglast and so an environment of its own.
    """
    for tables in (50, 250):
        with file_of(dump(tables)) as path:
            (ours,) = cost(lint(path))
            yield Row(f"pubcheck, {tables} tables", _ms(ours.cpu))
            for name, package in (("squawk", "squawk-cli"), ("pgspot", "pgspot")):
                program = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
                if program is None:
                    yield Row(f"{name}, {tables} tables", f"not on PATH: pipx install {package}")
                    continue
                (theirs,) = cost((program, str(path)))
                yield Row(f"{name}, {tables} tables", _ms(theirs.cpu), theirs.cpu / ours.cpu)


def trees() -> Iterator[Row]:
    """What a hook costs on one file of 300 migrations; a folder of 50,000 files; 20,000 files of all kinds."""
    with tree_of(supabase, 300) as top:
        (ours,) = cost(lint(top / "supabase" / "migrations" / "20240000000295_items.sql"), runs=10)
    yield Row("one of 300 migrations", f"{ours.memory:.0f} MB", ours.cpu, 0.6, "s")
    with tree_of(flat, 5_000) as small, tree_of(flat, 50_000) as large:
        less, ten = cost(lint(small, "files"), lint(large, "files"), runs=2)
    yield Row("units of ten times the files", f"{_ms(less.cpu)} to {_ms(ten.cpu)}", ten.cpu / less.cpu, 11)
    with tree_of(mixed, 20_000) as top:
        ours, bare, discovered = cost(lint(top), (*BARE_PARSER, str(top)), lint(top, "files"), runs=2)
        single, two = cost(*(lint(top, "lint", "--jobs", jobs) for jobs in ("1", "2")), runs=3)
    yield Row("20,000 files of all kinds", f"{_ms(ours.cpu)}, parsed only {_ms(bare.cpu)}", ours.cpu / bare.cpu, 2)
    yield Row("of that finding the units", _ms(discovered.cpu))
    yield Row("memory of it", f"parsed only {bare.memory:.0f} MB", ours.memory, 300, "MB")
    passed = f"{_ms(two.wall)} pass, with one {_ms(single.wall)}; wants two idle cores"
    yield Row("time with --jobs 2 against 1", passed, two.wall / single.wall, 0.625)


def decoding() -> Iterator[Row]:
    """Decoding messages, against a loop that only cuts out fields, and pypgoutput 0.0.3 (0.1 is ten times as fast).

    The limits are those of the module in C, which `python hatch_build.py` compiles."""
    for name, messages in decoding_inputs().items():
        ours, many, in_python, bare, theirs = decoding_costs(messages)
        yield Row(f"{name}, against a bare loop", f"{ours:.2f} µs, bare {bare:.2f} µs", ours / bare, 3)
        yield Row(f"{name}, in Python against the loop", f"{in_python:.2f} µs", in_python / bare, 3)
        if theirs is None:
            yield Row(f"{name}, against pypgoutput", "not installed: pip install --no-deps pypgoutput==0.0.3")
            continue
        yield Row(f"{name}, against pypgoutput", f"theirs {theirs:.2f} µs", ours / theirs, 0.1)
        yield Row(f"{name}, decode_many", f"{many:.2f} µs", many / theirs, 0.1)
        yield Row(f"{name}, in Python", f"{in_python:.2f} µs", in_python / theirs)
    batch, single, in_python = batch_costs()
    yield Row("in batches, against one by one in Python", f"{batch:.2f}, {in_python:.2f} µs", batch / in_python)
    yield Row("in batches, against one by one in C", f"{batch:.2f}, {single:.2f} µs", batch / single, 0.5)


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "start-up": start_up,
    "size": size,
    "publications": publications,
    "growth": growth,
    "filters": filters,
    "hostile": hostile,
    "openings": openings,
    "trees": trees,
    "verifying": verifying,
    "decoding": decoding,
    "editing": editing,
    "peers": peers,
}


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def main(names: list[str]) -> int:
    """Runs the benchmarks of those names, all without names; 2 for an unknown one."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        print(f"there is no benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    broken = False
    for name in names or BENCHMARKS:
        print(f"\n{name}: {(BENCHMARKS[name].__doc__ or '').splitlines()[0]}")
        broken = table(BENCHMARKS[name]()) or broken
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
