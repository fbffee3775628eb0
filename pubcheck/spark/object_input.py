"""Repositories in an object store, or any other file system that Arrow knows, as the input of an audit: folders of
files, or archives.

Everything is listed and read by tasks. The driver knows only how many entries INPUT has, because the lists of an object
store with millions of files do not fit into it.
"""

from __future__ import annotations

import io
import math
import os
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
import pyarrow.fs as pafs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.discovery.owners import OWNERS
from pubcheck.discovery.walk import readable
from pubcheck.spark.inputs import BadInput, without_trailing_separators
from pubcheck.spark.rows_input import RowsInput
from pubcheck.spark.store import Store

ARCHIVES = re.compile(r"\.(zip|tar|tar\.gz|tgz|tar\.bz2|tar\.xz)$", re.I)
"""The names of archives that are read."""
_ENTRIES = pa.schema([("repository", pa.string()), ("location", pa.string()), ("folder", pa.bool_())])
_LISTED = pa.schema(
    [("repository", pa.string()), ("path", pa.string()), ("commit", pa.string()), ("location", pa.string())]
)
_READ = pa.schema(
    [("repository", pa.string()), ("path", pa.string()), ("commit", pa.string()), ("content", pa.binary())]
)
_BYTES = 16 << 20
"""Contents that are handed on together."""
_BATCH = 1000
"""Files that are handed on together."""
_TASKS = 10_000
"""The most tasks that list or read."""
_AT_A_TASK = 200
"""Files that a task reads."""


class ObjectInput(RowsInput):
    """The folders in INPUT, each of which is a repository; with ``archives``, the archives in INPUT, each of which is
    one. A file is taken as unchanged if its size and its time are."""

    filter_early = True

    def __init__(self, where: str, *, archives: bool = False) -> None:
        super().__init__()
        self.name = without_trailing_separators(where)
        self._archives = archives
        # A task may run in another folder.
        self._where = self.name if "://" in self.name else os.path.abspath(self.name)
        self.has_commits = not archives
        self._files: DataFrame | None = None
        self._kept: list[DataFrame] = []

    def list_rows(self, spark: SparkSession) -> DataFrame:
        _check(self.name)
        listing = partial(_entries, where=self._where, archives=self._archives)
        entries = self._keep(spark.range(0, 1, 1, 1).mapInArrow(listing, _ddl(_ENTRIES)))
        spread = entries.repartition(max(1, min(_TASKS, entries.count())))
        if self._archives:
            self._files = spread
            return self.contents(None).drop("content")
        listed = partial(_listed, where=self._where, label=self.name.removeprefix("./"))
        self._files = self._keep(spread.mapInArrow(listed, _ddl(_LISTED)))
        return self._files.drop("location")

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return self._kept[-1]

    def forget(self, store: Store, run: str) -> None:
        super().forget(store, run)
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()

    def measured(self) -> DataFrame:
        if self._archives:
            return super().measured()
        assert self._files is not None
        return self._files.withColumn("size", F.split("commit", ":")[0].cast("bigint"))

    def contents(self, only: DataFrame | None) -> DataFrame:
        assert self._files is not None
        files = self._files
        if self._archives:
            if only is not None:
                files = files.join(only.select("repository").distinct(), "repository", "left_semi")
            return files.mapInArrow(partial(_unpacked, largest=self._largest), _ddl(_READ))
        if only is not None:
            files = files.join(only, only.columns, "left_semi")
        # A folder may have most of the files: they are spread before they are read.
        tasks = min(_TASKS, math.ceil(self.count() / _AT_A_TASK))
        return files.repartition(max(1, tasks)).mapInArrow(partial(_contents, largest=self._largest), _ddl(_READ))


def _ddl(schema: pa.Schema) -> str:
    kinds = {pa.string(): "STRING", pa.binary(): "BINARY", pa.bool_(): "BOOLEAN"}
    return ", ".join(f"`{field.name}` {kinds[field.type]}" for field in schema)


def file_system(where: str) -> tuple[pafs.FileSystem, str]:
    """Return the file system of a URI, or of a path of this machine, and the path in it. Hadoop's names of S3 are
    those of S3."""
    if "://" not in where:
        return pafs.LocalFileSystem(), os.path.abspath(where)
    system, path = pafs.FileSystem.from_uri(re.sub(r"^s3[an]://", "s3://", where))
    return system, path


def _check(where: str) -> None:
    """Raise BadInput if there is no such folder."""
    try:
        system, path = file_system(where)
        kind = system.get_file_info(path).type
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadInput(f"{where} cannot be opened: {error}") from None
    if kind != pafs.FileType.Directory:
        raise BadInput(f"{where} is not a folder of repositories")


def _entries(batches: Iterable[pa.RecordBatch], *, where: str, archives: bool) -> Iterator[pa.RecordBatch]:
    """Return the repositories. The files of the folder itself are the repository ".", as in a folder."""
    for _ in batches:
        pass
    system, top = file_system(where)
    rows: list[dict[str, object]] = []
    for info in system.get_file_info(pafs.FileSelector(top)):
        folder, name = info.type == pafs.FileType.Directory, info.base_name
        if archives and not folder and ARCHIVES.search(name):
            rows.append({"repository": ARCHIVES.sub("", name), "location": _uri(where, info.path), "folder": False})
        elif not archives and folder and not name.startswith("."):
            rows.append({"repository": name, "location": _uri(where, info.path), "folder": True})
        elif not archives and not folder and readable([name]):
            rows.append({"repository": ".", "location": _uri(where, info.path), "folder": False})
    for start in range(0, len(rows), _BATCH):
        yield pa.RecordBatch.from_pylist(rows[start : start + _BATCH], schema=_ENTRIES)


def _needed(paths: Iterable[str]) -> list[str]:
    """Return the files of a repository that a walk of it would read, and those that name owners."""
    names = list(paths)
    owners = (name for name in names if name.rpartition("/")[2] == OWNERS)
    return list(dict.fromkeys([*readable(names), *owners]))


def _uri(where: str, path: str) -> str:
    """Return the location of a path of the file system of ``where``."""
    scheme = where.partition("://")[0] if "://" in where else ""
    return f"{scheme}://{path}" if scheme else path


def _listed(batches: Iterable[pa.RecordBatch], *, where: str, label: str) -> Iterator[pa.RecordBatch]:
    """Return the files that a walk of the repositories would read."""
    system, top = file_system(where)
    for batch in batches:
        rows: list[dict[str, object]] = []
        for entry in batch.to_pylist():
            inside = file_system(entry["location"])[1]
            if entry["folder"]:
                infos = system.get_file_info(pafs.FileSelector(inside, recursive=True))
            else:
                infos = [system.get_file_info(inside)]
            files = {info.path[len(inside) + 1 :]: info for info in infos if info.type == pafs.FileType.File}
            for below in _needed(files) if entry["folder"] else files:
                info = files[below]
                rows.append(
                    {
                        "repository": entry["repository"],
                        "path": f"{label}/{info.path[len(top) :].lstrip('/')}",
                        "commit": None if info.mtime_ns is None else f"{info.size}:{info.mtime_ns}",
                        "location": _uri(where, info.path),
                    }
                )
        for start in range(0, len(rows), _BATCH):
            yield pa.RecordBatch.from_pylist(rows[start : start + _BATCH], schema=_LISTED)


def _contents(batches: Iterable[pa.RecordBatch], *, largest: int) -> Iterator[pa.RecordBatch]:
    """Return files with their contents; null for one that cannot be read. One of more than ``largest`` bytes is cut
    after the next one, which is enough to know that it is too large."""
    yield from _in_batches(_read(row, largest) for batch in batches for row in batch.to_pylist())


def _read(row: dict[str, object], largest: int) -> dict[str, object]:
    try:
        system, path = file_system(str(row["location"]))
        with system.open_input_stream(path, compression=None) as stream:
            return {**row, "content": stream.read(largest + 1)}
    except OSError:
        return {**row, "content": None}


def _in_batches(rows: Iterable[dict[str, object]]) -> Iterator[pa.RecordBatch]:
    batch: list[dict[str, object]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row["content"] or b"")  # type: ignore[arg-type]
        if size >= _BYTES or len(batch) >= _BATCH:
            yield pa.RecordBatch.from_pylist(batch, schema=_READ)
            batch, size = [], 0
    if batch:
        yield pa.RecordBatch.from_pylist(batch, schema=_READ)


def _unpacked(batches: Iterable[pa.RecordBatch], *, largest: int) -> Iterator[pa.RecordBatch]:
    """Return the files of archives with their contents. The label of a file is that of its archive and its path in it.
    An archive that cannot be read to its end has a row without a path. Files are cut as by ``_contents``, so that one
    that is packed well does no harm."""
    yield from _in_batches(row for batch in batches for entry in batch.to_pylist() for row in _unpack(entry, largest))


def _unpack(entry: dict[str, str], largest: int) -> Iterator[dict[str, object]]:
    repository = entry["repository"]
    try:
        system, path = file_system(entry["location"])
        if path.lower().endswith(".zip"):
            with system.open_input_file(path) as source, zipfile.ZipFile(source) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
                for name in _needed(names):
                    with archive.open(name) as file:
                        content = file.read(largest + 1)
                    yield {"repository": repository, "path": f"{repository}/{name}", "content": content}
        else:
            with (
                system.open_input_stream(path, compression=None) as source,
                tarfile.open(fileobj=io.BufferedReader(source), mode="r|*") as archive_,
            ):
                for member in archive_:
                    if member.isfile() and _needed([member.name]):
                        unpacked = archive_.extractfile(member)
                        assert unpacked is not None
                        label = f"{repository}/{member.name.removeprefix('./')}"
                        yield {"repository": repository, "path": label, "content": unpacked.read(largest + 1)}
    except Exception:  # there are many ways for an archive to be broken
        yield {"repository": repository, "path": None, "content": None}
