"""`spark.read.format("pubcheck")`: the findings about repositories as a DataFrame, without tables or runs.

    from pubcheck.spark.data_source import PubcheckDataSource

    spark.dataSource.register(PubcheckDataSource)
    spark.read.format("pubcheck").load("repositories/")
    spark.read.format("pubcheck").option("inputFormat", "parquet").load("files.parquet")

Spark has no session where it reads a data source; `findings_of` gives the findings of any DataFrame of files.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pubcheck.config import Config, from_options, suggestion
from pubcheck.discovery.walk import OWNERS, RepositoryPlace, find_places, fixed_part, readable
from pubcheck.engine.linter import Linter
from pubcheck.spark import worker
from pubcheck.spark.folder_input import Chunk, FolderInput
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.paths import local_path
from pubcheck.spark.run_tables import KEY, rows_of_table
from pubcheck.spark.schema import FINDINGS, ddl
from pubcheck.spark.sources import FrameInput, TableColumns, lake_name, local_lake_table
from pubcheck.spark.unit_discovery import Largest

_LIMITS, _LARGEST = Limits(60.0, 2 << 30), Largest(32 << 20, 128 << 20)
_TASKS = 200
"""The most tasks that read, unless the option `tasks` says more."""
_COLUMNS = TableColumns("repository", "path", "content")


class PubcheckDataSource(DataSource):
    """The data source `pubcheck`. Options: `inputFormat` (files or parquet), `repoColumn`, `pathColumn`,
    `contentColumn`, `postgres`, `select`, `ignore`, `complete`, `tasks`."""

    @classmethod
    def name(cls) -> str:
        return "pubcheck"

    def schema(self) -> str:
        return ddl(FINDINGS)

    def reader(self, schema: StructType) -> DataSourceReader:
        options = _options(self.options)
        where = options.get("path")
        if not where:
            raise ValueError('there is nothing to read: spark.read.format("pubcheck").load("repositories/")')
        where = local_path(where)
        if not os.path.isabs(where):
            raise ValueError(f"{where} is a relative path, but tasks may run in another folder: write the whole path")
        tasks, job = _tasks(options), _job(_config(options), where)
        input_format = options.get("inputformat", "files")
        if not os.path.exists(where) and fixed_part(where) is None:
            raise ValueError(f"there is no {where}")
        if input_format == "files":
            return _FolderReader(where, tasks, job)
        if input_format != "parquet":
            raise ValueError(
                f"inputFormat is {input_format!r}, but must be files or parquet: use findings_of for others"
            )
        lake = local_lake_table(where)
        if lake is not None:
            raise ValueError(
                f"{where} is a table of {lake_name(lake)}, whose files also hold deleted rows: use findings_of and"
                f" spark.read.format({lake!r})"
            )
        columns = TableColumns(
            *(options.get(f"{role}column", default) for role, default in zip(_ROLES, _DEFAULTS, strict=True))
        )
        return _ParquetReader(where, tasks, job, columns)


_ROLES, _DEFAULTS = ("repo", "path", "content"), ("repository", "path", "content")


_OPTIONS = (
    "inputFormat",
    *(f"{role}Column" for role in _ROLES),
    "postgres",
    "select",
    "ignore",
    "complete",
    "tasks",
)


def _options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options by their names in lower case, which is how Spark compares them."""
    known = {name.lower() for name in ("path", *_OPTIONS)}
    for name in options:
        if name.lower() not in known:
            raise ValueError(f"the data source pubcheck has no option {name}{suggestion(name, _OPTIONS)}")
    return {name.lower(): value for name, value in options.items()}


def _tasks(options: Mapping[str, str]) -> int:
    """Return the most tasks that read."""
    text = options.get("tasks", str(_TASKS))
    if not re.fullmatch("0*[1-9][0-9]*", text):
        raise ValueError(f"tasks is {text!r}, but must be a number of at least 1")
    return int(text)


def _config(options: Mapping[str, str]) -> Config:
    """Return the configuration of the options, which are those of the command line."""
    chosen: dict[str, object] = {name: options[name] for name in ("postgres",) if name in options}
    chosen |= {name: options[name].split(",") for name in ("select", "ignore") if name in options}
    if "complete" in options:
        if options["complete"].lower() not in ("true", "false"):
            raise ValueError(f"complete is {options['complete']!r}, but must be true or false")
        chosen["complete"] = options["complete"].lower() == "true"
    return from_options(chosen)


def _job(config: Config, where: str) -> worker.Job:
    return worker.Job(pickle.dumps(Linter(config)), _LIMITS, _LARGEST, "", FolderInput(where).top)


class _Repositories(InputPartition):
    def __init__(self, repositories: Sequence[RepositoryPlace | str | None]) -> None:
        super().__init__(repositories)


class _FolderReader(DataSourceReader):
    """Each task lists, reads and lints some of the repositories in a folder."""

    def __init__(self, where: str, tasks: int, job: worker.Job) -> None:
        self._where, self._tasks, self._job = where, tasks, job

    def partitions(self) -> Sequence[InputPartition]:
        places = list(find_places(self._where))
        return [_Repositories(places[number :: self._tasks]) for number in range(min(self._tasks, len(places)))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        chunk, tops = Chunk(), dict[str, str | None]()
        for place in partition.value:
            chunk.read(place, Config(), "", tops)
        units = worker.examine(chunk.table().to_batches(), job=self._job, at_once=True)
        for batch in units:
            waiting = batch.filter(pc.equal(batch.column("step"), "lint"))
            yield from _findings([batch, *worker.lint_units([waiting], job=self._job)])


class _ParquetReader(DataSourceReader):
    """Each task reads the rows of some repositories in Parquet files, which are a file each, and lints them."""

    def __init__(self, where: str, tasks: int, job: worker.Job, columns: TableColumns) -> None:
        self._where, self._tasks, self._job, self._columns = where, tasks, job, columns

    def partitions(self) -> Sequence[InputPartition]:
        column = self._columns.repository
        names: set[str | None] = set()
        for batch in self._dataset().to_batches(columns=[column]):
            names.update(pc.unique(batch.column(column)).to_pylist())
        ordered = sorted(names, key=str)
        return [_Repositories(ordered[number :: self._tasks]) for number in range(min(self._tasks, len(ordered)))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        repository, path, content = map(pc.field, (self._columns.repository, self._columns.path, self._columns.content))
        columns = {"repository": repository.cast("string"), "path": path.cast("string"), "content": content}
        table = self._dataset().to_table(columns=columns, filter=repository.isin(partition.value))
        rows = table.sort_by("repository").to_pylist()
        for _, files in groupby(rows, itemgetter("repository")):
            yield from _findings(worker.in_batches(_linted(files, self._job), self._job))

    def _dataset(self) -> pds.Dataset:
        return pds.dataset(self._where, partitioning="hive")


_FILES = pa.schema(
    [
        ("repository", pa.string()),
        ("path", pa.string()),
        ("problem", pa.string()),
        ("size", pa.int64()),
        ("digest", pa.string()),
        ("content", pa.binary()),
    ]
)


def _linted(files: Iterable[dict[str, Any]], job: worker.Job) -> Iterator[worker.Row]:
    """Return the units of a repository, linted, from the rows of its files."""
    rows: list[dict[str, Any]] = []
    for row in files:
        content = row["content"].encode() if isinstance(row["content"], str) else row["content"]
        path = row["path"] if row["path"] and row["path"].strip(" ") else None
        if path is not None and not readable([path]) and not path.endswith(OWNERS):
            continue
        rows.append(
            {
                "repository": row["repository"] or "",
                "path": path,
                "problem": "it has no path" if path is None else "it has no content" if content is None else None,
                "size": len(content or b""),
                "digest": "" if content is None else hashlib.sha256(content).hexdigest(),
                "content": content,
            }
        )
    contents = {(row["path"], row["digest"]): row["content"] for row in rows}
    described = worker.describe([pa.RecordBatch.from_pylist(rows, schema=_FILES)], job=job)
    for batch in worker.group(described, job=job):
        for unit in worker.units_of(batch):
            if unit.step == "lint":
                yield job.lint(unit, tuple(contents.get((member.path, member.digest)) for member in unit.members))


def _findings(units: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return worker.unpack((batch.select([*KEY, "findings"]) for batch in units), table="findings")


def findings_of(
    files: DataFrame, columns: TableColumns = _COLUMNS, config: Config = Config(), *, tasks: int = _TASKS
) -> DataFrame:
    """Return the findings (``schema.FINDINGS``) about a DataFrame of files, which may come from any table. Nothing is
    written or recorded."""
    source = FrameInput(files, columns)
    job = worker.Job(pickle.dumps(Linter(config)), _LIMITS, _LARGEST, "", "")
    source.look(files.sparkSession, None, "", "", _LARGEST.file)
    waiting = source.units(None, job).where("step = 'lint'").withColumn("salt", F.xxhash64("repository", "unit"))
    return rows_of_table(source.linted(waiting, tasks, job), "findings", "findings")
