"""The storage of an audit's runs.

Each start of a run writes into folders of its own, DIR/<table>/run=<id>/attempt=<attempt>/, and nothing is ever written
there by another start. The row under DIR/runs/ is written last, as one file, and commits the run: readers ignore the
folders of attempts that have no row, and of several rows of a run the last one counts. Nothing is renamed or
overwritten on the way, so a run that dies at any moment, that is started twice, or that runs next to others changes
none of them.

DIR/_started holds an empty file for each attempt that has not ended. Those of dead ones are deleted with their folders
by a later run.

Files are marked, listed and deleted through Hadoop's file systems, with the session's credentials, and in folders of
this machine by Python: Hadoop starts a process for each file that it creates there, to set its permissions. A client of
Spark Connect has no file systems, and does it only in folders of its own machine. Small tables in folders of this
machine are read and written without a job of Spark, which takes about a tenth of a second however little it has to do.
Their files are as Spark's: compressed with Snappy, times as INT96.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, reduce
from itertools import takewhile
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from pubcheck.spark.paths import exactly, hadoop_path, local_path
from pubcheck.spark.schema import RESULTS, RUNS, arrow, ddl
from pubcheck.spark.schema import Column as TableColumn


def read_rows(folder: str, columns: tuple[TableColumn, ...]) -> list[dict[str, Any]]:
    """Return the rows of a table in a folder and in the folders in it; a column that it was written without is None."""
    rows: list[dict[str, Any]] = []
    schema = arrow(columns)
    for path in Path(folder).rglob("[!._]*.parquet"):
        if any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts):  # not committed
            continue
        table = pq.read_table(path, partitioning=None)
        found = {
            field.name: table.column(field.name).cast(field.type)
            for field in schema
            if field.name in table.schema.names
        }
        rows += [dict.fromkeys(schema.names) | row for row in pa.table(found).to_pylist()]
    return rows


def write_rows(folder: str, columns: tuple[TableColumn, ...], values: Mapping[str, Sequence[Any]]) -> None:
    """Write a table of one file, which appears at once."""
    table = pa.table(dict(values), arrow(columns))
    with _new_file(folder, table.schema) as writer:
        writer.write_table(table)


def copy_marked(before: str, folder: str, reasons: Collection[str]) -> bool:
    """Write the table `units` of a folder to another one, with `carried` as ``Earlier.ended`` says; ``reasons`` are
    those of a quarantine that lasts. Return whether it has that column."""
    for path in sorted(Path(before).glob("[!._]*.parquet")):
        with pq.ParquetFile(path) as units:
            schema = units.schema_arrow
            place = schema.get_field_index("carried")
            if place < 0:
                return False
            with _new_file(folder, schema) as writer:
                for number in range(units.num_row_groups):
                    rows = units.read_row_group(number)
                    lasting = pc.is_in(rows["reason"], pa.array(reasons, pa.string()))
                    ended = pc.fill_null(pc.or_kleene(pc.equal(rows["status"], "linted"), lasting), False)
                    writer.write_table(rows.set_column(place, schema.field(place), ended))
    return True


@contextmanager
def _new_file(folder: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file of a folder. It gets its name when it is whole."""
    os.makedirs(folder, exist_ok=True)
    name = f"part-00000-{token_hex(16)}.snappy.parquet"
    unfinished = os.path.join(folder, f".{name}")
    with pq.ParquetWriter(unfinished, schema, compression="snappy", use_deprecated_int96_timestamps=True) as writer:
        yield writer
    os.rename(unfinished, os.path.join(folder, name))


class Folders:
    """The files of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def are_here(self, path: str) -> bool:
        """Return whether a path is one of this machine, as far as the session says."""
        if is_remote() or "://" in local_path(path):
            return False
        return local_path(path) != path or self._default.startswith("file:")

    @cached_property
    def _default(self) -> str:
        """The file system of paths without a scheme."""
        return str(self._spark._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))

    def _by_python(self, path: str) -> bool:
        return is_remote() or self.are_here(path)

    def mark(self, path: str) -> None:
        """Create an empty file, in the place of what was there."""
        if self._by_python(path):
            if "://" not in local_path(path):
                os.makedirs(os.path.dirname(local_path(path)), exist_ok=True)
                Path(local_path(path)).touch()
            return
        system, place = self._hadoop(path)
        system.create(place, True).close()

    def files(self, path: str) -> dict[str, float]:
        """Return the names in a folder with the times of their last change, in seconds; none if there is no folder."""
        if self._by_python(path):
            if not os.path.isdir(local_path(path)):
                return {}
            entries = os.scandir(local_path(path))
            return {entry.name: entry.stat().st_mtime for entry in entries if not entry.name.startswith(".")}
        system, place = self._hadoop(path)
        if not system.exists(place):
            return {}
        return {status.getPath().getName(): status.getModificationTime() / 1000 for status in system.listStatus(place)}

    def delete(self, path: str, *, above: int = 0) -> None:
        """Delete a file or a folder with its contents, and up to ``above`` parent folders that are empty then."""
        if self._by_python(path):
            with suppress(OSError):
                shutil.rmtree(local_path(path)) if os.path.isdir(local_path(path)) else os.unlink(local_path(path))
            with suppress(OSError):
                for folder in list(Path(local_path(path)).parents)[:above]:
                    folder.rmdir()
            return
        system, place = self._hadoop(path)
        system.delete(place, True)
        for _ in range(above):
            place = place.getParent()
            if not system.exists(place) or system.listStatus(place):
                return
            system.delete(place, False)

    def _hadoop(self, path: str) -> tuple[Any, Any]:
        """Return Hadoop's file system of a path, and the path as it wants it."""
        jvm, context = self._spark._jvm, self._spark._jsc
        assert jvm is not None
        place = jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(context.hadoopConfiguration()), place


class NoRun(ValueError):
    """There is no such run; the message says where was looked."""


_TABLES = ("runs", *RESULTS, "metrics", "survey", "listing")
"""The folders of a run; that of its row is the first to be deleted."""
_DEAD = 7 * 24 * 3600
"""Seconds after which an attempt that has not ended is taken for dead. No audit takes as long between two steps."""

Attempt = str | None
"""What tells the starts of a run apart; None for a run of an early release, which has no folder for it."""


class Store:
    """The tables of the audits under one folder, which may be any that Spark can write to."""

    def __init__(self, spark: SparkSession, where: str) -> None:
        self.spark = spark
        self.where = hadoop_path(where).rstrip("/")
        self._folders = Folders(spark)
        self._attempts = ChainMap[str, Attempt]()

    def path(self, table: str, run: str) -> str:
        """Return the folder of a run's table. Raises NoRun."""
        if run not in self._attempts:
            self.row(run)
        return self._path(table, run, self._attempts[run])

    def _path(self, table: str, run: str, attempt: Attempt) -> str:
        return f"{self.where}/{table}/run={run}" + (f"/attempt={attempt}" if attempt is not None else "")

    # Reading.

    def read(self, columns: tuple[TableColumn, ...], table: str, run: str) -> DataFrame:
        """Return a table of a run; a column that it was written without is null."""
        path = self.path(table, run)
        return self.spark.read.schema(ddl(columns)).options(**exactly(path)).parquet(path)

    def read_runs(self, columns: tuple[TableColumn, ...], table: str, runs: Iterable[tuple[str, Attempt]]) -> DataFrame:
        """Return a table of several runs, with the column `run`."""
        schema = f"{ddl(columns)}, `run` STRING"
        base = f"{self.where}/{table}"
        options = exactly(base)
        paths: dict[object, list[str]] = {}
        for run, attempt in runs:
            # Spark reads folders together that have the same levels, unless their names look like patterns.
            paths.setdefault((run, attempt) if options else attempt is None, []).append(self._path(table, run, attempt))
        reader = self.spark.read.schema(schema).option("basePath", base).options(**options)
        frames = [reader.parquet(*alike) for alike in paths.values()]
        names = [column.name for column in columns]
        empty = self.spark.createDataFrame([], schema)
        return reduce(DataFrame.unionByName, (frame.select(*names, "run") for frame in frames or [empty]))

    def runs(self) -> DataFrame:
        """Return the runs that exist, a row each."""
        last = Window.partitionBy("run").orderBy(F.desc("finished"), F.desc("attempt"))
        rows = self._rows().withColumn("number", F.row_number().over(last))
        return rows.where("number = 1").drop("number")

    def _rows(self) -> DataFrame:
        """Return the rows of all attempts that were committed."""
        reader = self.spark.read.schema(ddl(RUNS)).option("recursiveFileLookup", "true")
        return reader.options(**exactly(self.where)).parquet(f"{self.where}/runs")

    def last_of(self, input: str, *, but: str) -> str | None:
        """Return the id of the run of an input that finished last, other than ``but``, if there is one."""
        row = self._last(lambda rows: rows.where((F.col("input") == input) & (F.col("run") != but)))
        return None if row is None else str(row["run"])

    def find(self, run_id: str, input: str | None = None) -> str:
        """Return the id of a run that exists, `latest` being the one of this input that finished last, or if none is of
        this input the last one of any. Raises NoRun."""
        if run_id != "latest":
            return str(self.row(run_id)["run"])
        row = self._last(lambda rows: rows, F.col("input").eqNullSafe(F.lit(input)).desc())
        if row is None:
            raise NoRun(f"there is no run in {self.where}")
        return str(row["run"])

    def row(self, run: str) -> Row:
        """Return the row of a run. Raises NoRun."""
        folder = f"{self.where}/runs/run={run}"
        if self._folders.are_here(folder):
            rows = read_rows(local_path(folder), RUNS)
            row = Row(**max(rows, key=lambda row: (row["finished"], row["attempt"] or ""))) if rows else None
            self._remember(row)
        else:
            row = self._last(lambda rows: rows.where(F.col("run") == run))
        if row is None:
            raise NoRun(f"there is no run {run} in {self.where}")
        return row

    def _last(self, choose: Callable[[DataFrame], DataFrame], *order: Column) -> Row | None:
        """Return the row of the attempt that finished last, if there is one; it is read from now on."""
        try:
            row = choose(self._rows()).orderBy(*order, F.desc("finished"), F.desc("run"), F.desc("attempt")).head()
        except AnalysisException:  # there is no such folder
            return None
        self._remember(row)
        return row

    def _remember(self, row: Row | None) -> None:
        """Let the tables of the run of this row be those of its attempt."""
        if row is not None:
            self._attempts[row["run"]] = row["attempt"]

    # Writing.

    def start(self, run: str) -> Store:
        """Return the store with folders of its own for a new attempt of a run."""
        started = Store(self.spark, self.where)
        started._attempts = self._attempts.new_child({run: token_hex(4)})
        started.mark(run)
        return started

    def mark(self, run: str) -> None:
        """Note that this attempt is alive."""
        self._folders.mark(self._mark(run, self._attempts[run]))

    def _mark(self, run: str, attempt: Attempt) -> str:
        return f"{self.where}/_started/{run}.{attempt}"

    def write(self, rows: DataFrame, table: str, run: str, *, more: bool = False) -> None:
        """Write a table of a run, in the place of what this attempt wrote before, or as ``more`` of it."""
        writer = rows.write.mode("append" if more else "overwrite")
        # Nobody asks for the mark of success, which on a local disk takes a fifth of the time of a small table.
        writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(self.path(table, run))

    def write_rows(
        self, columns: tuple[TableColumn, ...], values: Mapping[str, Sequence[Any]], table: str, run: str
    ) -> None:
        """Write a table of a few rows, given by its columns, as one file that appears at once."""
        path = self.path(table, run)
        if self._folders.are_here(path):
            write_rows(local_path(path), columns, values)
        else:
            rows = self.spark.createDataFrame(pa.table(dict(values), arrow(columns)), ddl(columns))
            self.write(rows.coalesce(1), table, run)

    def carry(self, table: str, since: str, run: str) -> bool:
        """Copy a table of another run if both are folders of this machine, and return whether they are."""
        folders = self._carried_folders(table, since, run)
        if folders is None:
            return False
        shutil.copytree(*folders)
        return True

    def carry_units(self, since: str, run: str, lasting: Collection[str]) -> bool:
        """Copy the units of another run, marked as carried over, in the same case; ``lasting`` as in ``Earlier``."""
        folders = self._carried_folders("units", since, run)
        return folders is not None and copy_marked(*folders, lasting)

    def _carried_folders(self, table: str, since: str, run: str) -> tuple[str, str] | None:
        """Return the folders of a table of two runs on this machine, the second of which is empty; None elsewhere."""
        paths = [self.path(table, run_id) for run_id in (since, run)]
        before, current = map(local_path, paths)
        if not all(map(self._folders.are_here, paths)) or not os.path.isdir(before):
            return None
        shutil.rmtree(current, ignore_errors=True)
        return before, current

    def remove(self, table: str, run: str) -> None:
        """Delete a table that is needed only while the run is made."""
        self._folders.delete(self.path(table, run), above=2)

    def commit(self, row: Mapping[str, object], run: str) -> None:
        """Let this attempt of a run exist: its row is one file, which appears at once. Earlier attempts are deleted."""
        attempt = self._attempts[run]
        values = {column.name: [attempt if column.name == "attempt" else row[column.name]] for column in RUNS}
        self.write_rows(RUNS, values, "runs", run)
        # The next reader asks which attempt counts: one that is committed at the same time may be later.
        self._attempts.maps[-1].pop(run, None)
        self._folders.delete(self._mark(run, attempt), above=1)
        if len(self._folders.files(os.path.dirname(self.path("runs", run)))) > 1:
            rows = self._rows().where(F.col("run") == run).orderBy("finished", "attempt").select("attempt").collect()
            # Whatever comes after this attempt is a later one.
            for earlier in takewhile(lambda row: row["attempt"] != attempt, rows):
                self._delete(run, earlier["attempt"])
        self._clean()

    def discard(self, run: str) -> None:
        """Delete what this attempt wrote if it was not committed."""
        if not self._is_committed(run, self._attempts[run]):
            self._delete(run, self._attempts[run])

    def _clean(self) -> None:
        """Delete what is left of attempts that died long ago."""
        for name, marked in self._folders.files(f"{self.where}/_started").items():
            run, _, attempt = name.rpartition(".")
            if run and time.time() - marked > _DEAD:
                if self._is_committed(run, attempt):  # and died after that
                    self._folders.delete(self._mark(run, attempt), above=1)
                else:
                    self._delete(run, attempt)

    def _is_committed(self, run: str, attempt: Attempt) -> bool:
        names = self._folders.files(self._path("runs", run, attempt))
        return any(not name.startswith(("_", ".")) for name in names)

    def _delete(self, run: str, attempt: Attempt) -> None:
        if attempt is None:  # its tables are in the folders that hold those of other attempts
            return
        for table in _TABLES:
            self._folders.delete(self._path(table, run, attempt), above=2)
        self._folders.delete(self._mark(run, attempt), above=1)
