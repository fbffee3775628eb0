"""The storage of an audit's runs.

A table of a run is Parquet under DIR/<table>/run=<id>/. The row under DIR/runs/run=<id>/ is written last and makes the
run exist; readers ignore all others. To write a run once more its row is deleted first. There is no rename:
an obsolete table is overwritten by an empty one, which every file system and Spark Connect support. Data between the
steps of a run (`listing`) is deleted if it is in a folder of this machine, and otherwise emptied.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.spark.schema import RUNS, Column, ddl


class NoRun(ValueError):
    """There is no such run; the message says where was looked."""


def literal(path: str) -> str:
    """Return a path that Spark reads as it is: what it reads is a pattern otherwise, and what it writes is none."""
    return re.sub(r"[\\\[\]{}*?]", r"\\\g<0>", path)


def as_meant(path: str) -> str:
    """Return a path or pattern of the user's for Spark to read: what is there by that name is meant as it is."""
    return literal(path) if os.path.exists(path) else path


class Store:
    """The tables of the audits under one folder, which may be any that Spark can write to."""

    def __init__(self, spark: SparkSession, where: str) -> None:
        self.spark = spark
        # What is before a colon is a scheme only where a slash follows; to Hadoop it is one unless a slash precedes.
        self.where = ("./" if re.match(r"[^/:]*:(?!/)", where) else "") + where.rstrip("/")

    def path(self, table: str, run: str) -> str:
        return f"{self.where}/{table}/run={run}"

    def write(self, rows: DataFrame, table: str, run: str, *, more: bool = False) -> None:
        """Write a table of a run, in the place of what stood there, or as ``more`` of it."""
        writer = rows.write.mode("append" if more else "overwrite")
        # Nobody asks for the mark of success, which on a local disk takes a fifth of the time of a small table.
        writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(self.path(table, run))

    def clear(self, columns: tuple[Column, ...], table: str, run: str) -> None:
        """Leave no row of a table of a run, if there is one."""
        try:
            self.read(columns, table, run).columns  # noqa: B018 -- which Spark Connect asks for only now
        except AnalysisException:  # there is no such folder
            return
        self.write(self.spark.createDataFrame([], ddl(columns)), table, run)

    def carry(self, table: str, since: str, run: str) -> bool:
        """Copy a table of another run where it is a folder of this machine; where it is not, nothing is done."""
        before, current = (self.path(table, run_id).removeprefix("file://") for run_id in (since, run))
        if not os.path.isdir(before):
            return False
        shutil.rmtree(current, ignore_errors=True)
        shutil.copytree(before, current)
        return True

    def remove(self, columns: tuple[Column, ...], table: str, run: str) -> None:
        """Delete a run's table that is not one of the audit's own."""
        where = self.path(table, run).removeprefix("file://")
        if not os.path.isdir(where):
            self.clear(columns, table, run)
            return
        shutil.rmtree(where, ignore_errors=True)
        with suppress(OSError):  # another run's may be there
            os.rmdir(os.path.dirname(where))

    def read(self, columns: tuple[Column, ...], table: str, run: str) -> DataFrame:
        """Return a table of a run; a column that it was written without is null."""
        return self.spark.read.schema(ddl(columns)).parquet(literal(self.path(table, run)))

    def runs(self) -> DataFrame:
        """Return the runs that exist, a row each."""
        return self.spark.read.schema(ddl(RUNS)).parquet(literal(f"{self.where}/runs"))

    def last_of(self, input: str, *, but: str) -> str | None:
        """Return the id of the run of an input that finished last, other than ``but``, if there is one."""
        try:
            rows = self.runs().where((F.col("input") == input) & (F.col("run") != but))
            row = rows.orderBy(F.desc("finished"), F.desc("run")).select("run").head()
        except AnalysisException:  # there is no such folder
            return None
        return None if row is None else str(row[0])

    def find(self, run_id: str, input: str | None = None) -> str:
        """Return the id of a run that exists, `latest` being the one of this input that finished last, or if none is of
        this input the last one of any. Raises NoRun."""
        try:
            alike = F.col("input").eqNullSafe(F.lit(input))
            rows = self.runs() if run_id == "latest" else self.runs().where(F.col("run") == run_id)
            row = rows.orderBy(alike.desc(), F.desc("finished"), F.desc("run")).select("run").head()
        except AnalysisException:  # there is no such folder
            row = None
        if row is None:
            raise NoRun(f"there is no {'run' if run_id == 'latest' else f'run {run_id}'} in {self.where}")
        return str(row[0])
