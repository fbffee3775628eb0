"""Repositories in an object store, or any other file system that Arrow knows, as the input of an audit: folders of
files, or archives.

Everything is listed and read by tasks. The driver knows only how many entries INPUT has, because the lists of an object
store with millions of files do not fit into it.

Tasks open the file systems by themselves, and those are Arrow's, because tasks in Python have no Java to ask for
Hadoop's. If Hadoop's configuration has the keys of an S3 bucket, Arrow gets these.
"""

from __future__ import annotations

import io
import math
import os
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs as pafs
from msgspec import Struct
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from pubcheck.discovery.walk import OWNERS, readable
from pubcheck.spark.inputs import BadInput, RowsInput
from pubcheck.spark.paths import local_path, without_trailing_separators
from pubcheck.spark.store import Store


class Storage(Struct, frozen=True):
    """The file systems of tasks, which have no Java to ask for Hadoop's. ``s3`` are the settings of Arrow's S3."""

    s3: dict[str, str] = {}

    def of(self, where: str) -> tuple[pafs.FileSystem, str]:
        """Return the file system of a URI, or of a path of this machine, and the path in it."""
        where = local_path(where)
        scheme, separator, path = where.partition("://")
        if not separator:
            return pafs.LocalFileSystem(), os.path.abspath(where)
        if scheme in _S3 and self.s3:
            return pafs.S3FileSystem(**self.s3), path
        # As Hadoop does, but unlike Arrow, users write paths without escapes.
        system, inside = pafs.FileSystem.from_uri(f"{'s3' if scheme in _S3 else scheme}://{quote(path, safe=_LEGAL)}")
        return system, inside


_LEGAL = "/@:!$&'()*+,;="
"""Characters besides letters and digits that are written as they are in the path of a URI."""
_S3 = ("s3", "s3a", "s3n")
"""Schemes of S3: Amazon's name and those of Hadoop."""
_S3_SETTINGS = {
    "access_key": "access.key",
    "secret_key": "secret.key",
    "session_token": "session.token",
    "region": "endpoint.region",
    "endpoint_override": "endpoint",
}


def s3_settings(setting: Callable[[str], str | None], where: str) -> dict[str, str]:
    """Return the settings of Arrow's S3 from those of Hadoop's, which may differ by bucket; none for keys that Hadoop
    gets from a provider, as Arrow does by default."""
    scheme, _, path = where.partition("://")
    if scheme not in _S3:
        return {}
    prefixes = (f"fs.s3a.bucket.{path.partition('/')[0]}.", "fs.s3a.")

    def configured(name: str) -> str | None:
        return next((text for prefix in prefixes if (text := setting(prefix + name))), None)

    settings = {ours: text for ours, theirs in _S3_SETTINGS.items() if (text := configured(theirs))}
    if settings and configured("connection.ssl.enabled") == "false":
        settings["scheme"] = "http"
    return settings


def storage_of(spark: SparkSession, where: str) -> Storage:
    """Return the storage with the credentials of the session."""
    if is_remote():
        return Storage(s3_settings(lambda name: spark.conf.get(f"spark.hadoop.{name}", None), where))
    return Storage(s3_settings(spark._jsc.hadoopConfiguration().get, where))


ARCHIVES = re.compile(r"\.(zip|tar|tar\.gz|tgz|tar\.bz2|tar\.xz)$", re.I)
"""The names of archives that are read."""
# Locations are paths in the file system of INPUT, which a task opens once.
_ENTRIES = pa.schema(
    [("repository", pa.string()), ("location", pa.string()), ("folder", pa.bool_()), ("size", pa.int64())]
)
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
_LISTED_IN_A_TASK, _FEWEST_TASKS = 100, 12
"""Repositories that a task lists, and the tasks that a few repositories are spread over. All that follows has as many
tasks, most of whose time would be Spark's if each listed one repository."""
_UNPACKED_IN_A_TASK = 32 << 20
"""Bytes of archives that a task unpacks."""
_READ_IN_A_TASK = 200
"""Files that a task reads."""


class ObjectInput(RowsInput):
    """The folders in INPUT, or with ``archives`` the archives in INPUT, as repositories.

    A file counts as unchanged if its size and its time are. An archive is unpacked once."""

    def __init__(self, where: str, *, archives: bool = False) -> None:
        super().__init__()
        self.name = without_trailing_separators(where)
        self._archives = archives
        where = local_path(self.name)
        # A task may run in another folder.
        self._where = where if "://" in where else os.path.abspath(where)
        self.has_commits = self.filter_early = not archives
        self._storage = Storage()
        self._files: DataFrame | None = None
        self._kept: list[DataFrame] = []

    def list_rows(self, spark: SparkSession) -> DataFrame:
        self._storage = storage_of(spark, self._where)
        _check(self._storage, self._where)
        listing = partial(_entries, storage=self._storage, where=self._where, archives=self._archives)
        entries = self._keep(spark.range(0, 1, 1, 1).mapInArrow(listing, _ddl(_ENTRIES)))
        number, packed = entries.agg(F.count("*"), F.coalesce(F.sum("size"), F.lit(0))).collect()[0]
        spread = entries.repartition(list_tasks(number, packed))
        if self._archives:
            # To unpack them costs more than the disk that their files need.
            unpacked = partial(_unpacked, storage=self._storage, where=self._where, largest=self._largest)
            self._files = self._keep(spread.mapInArrow(unpacked, _ddl(_READ)), StorageLevel.DISK_ONLY)
            return self._files.drop("content")
        listed = partial(_listed, storage=self._storage, where=self._where, label=self.name.removeprefix("./"))
        self._files = self._keep(spread.mapInArrow(listed, _ddl(_LISTED)))
        return self._files.drop("location")

    def _keep(self, frame: DataFrame, level: StorageLevel = StorageLevel.MEMORY_AND_DISK_DESER) -> DataFrame:
        self._kept.append(frame.persist(level))
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
        files = self._files if only is None else self._files.join(only, only.columns, "left_semi")
        if self._archives:
            return files
        # A folder may have most of the files: they are spread before they are read.
        tasks = min(_TASKS, math.ceil(self.count() / _READ_IN_A_TASK))
        contents = partial(_contents, storage=self._storage, where=self._where, largest=self._largest)
        return files.repartition(max(1, tasks)).mapInArrow(contents, _ddl(_READ))


def list_tasks(repositories: int, packed: int) -> int:
    """Return the number of tasks that list repositories, or unpack them from archives of so many bytes."""
    tasks = max(math.ceil(repositories / _LISTED_IN_A_TASK), math.ceil(packed / _UNPACKED_IN_A_TASK), _FEWEST_TASKS)
    return max(1, min(tasks, repositories, _TASKS))


def _ddl(schema: pa.Schema) -> str:
    kinds = {pa.string(): "STRING", pa.binary(): "BINARY", pa.bool_(): "BOOLEAN", pa.int64(): "BIGINT"}
    return ", ".join(f"`{field.name}` {kinds[field.type]}" for field in schema)


def _check(storage: Storage, where: str) -> None:
    """Raise BadInput if there is no such folder."""
    try:
        system, path = storage.of(where)
        kind = system.get_file_info(path).type
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadInput(f"{where} cannot be opened: {error}") from None
    if kind != pafs.FileType.Directory:
        raise BadInput(f"{where} is not a folder of repositories")


def _entries(
    batches: Iterable[pa.RecordBatch], *, storage: Storage, where: str, archives: bool
) -> Iterator[pa.RecordBatch]:
    """Return the repositories. The files of the folder itself are the repository ".", as in a folder."""
    for _ in batches:
        pass
    system, top = storage.of(where)
    rows: list[dict[str, object]] = []
    for info in system.get_file_info(pafs.FileSelector(top)):
        folder, name = info.type == pafs.FileType.Directory, info.base_name
        entry = {"location": info.path, "folder": folder, "size": info.size}
        if archives and not folder and ARCHIVES.search(name):
            rows.append({"repository": ARCHIVES.sub("", name), **entry})
        elif not archives and folder and not name.startswith("."):
            rows.append({"repository": name, **entry})
        elif not archives and not folder and readable([name]):
            rows.append({"repository": ".", **entry})
    for start in range(0, len(rows), _BATCH):
        yield pa.RecordBatch.from_pylist(rows[start : start + _BATCH], schema=_ENTRIES)


def _needed(paths: Iterable[str]) -> list[str]:
    """Return the files of a repository that a walk of it would read, and those that name owners."""
    names = list(paths)
    owners = (name for name in names if name.rpartition("/")[2] == OWNERS)
    return list(dict.fromkeys([*readable(names), *owners]))


def _listed(batches: Iterable[pa.RecordBatch], *, storage: Storage, where: str, label: str) -> Iterator[pa.RecordBatch]:
    """Return the files that a walk of the repositories would read."""
    system, top = storage.of(where)
    for batch in batches:
        rows: list[dict[str, object]] = []
        for entry in batch.to_pylist():
            inside = entry["location"]
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
                        "location": info.path,
                    }
                )
        for start in range(0, len(rows), _BATCH):
            yield pa.RecordBatch.from_pylist(rows[start : start + _BATCH], schema=_LISTED)


def _contents(
    batches: Iterable[pa.RecordBatch], *, storage: Storage, where: str, largest: int
) -> Iterator[pa.RecordBatch]:
    """Return files with their contents; null for one that cannot be read. One of more than ``largest`` bytes is cut
    after the next one, which is enough to know that it is too large."""
    system, _ = storage.of(where)
    yield from _in_batches(_read(row, system, largest) for batch in batches for row in batch.to_pylist())


def _read(row: dict[str, object], system: pafs.FileSystem, largest: int) -> dict[str, object]:
    try:
        with system.open_input_stream(row["location"], compression=None) as stream:
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


def _unpacked(
    batches: Iterable[pa.RecordBatch], *, storage: Storage, where: str, largest: int
) -> Iterator[pa.RecordBatch]:
    """Return the files of archives with their contents. The label of a file is that of its archive and its path in it.
    An archive that cannot be read to its end has a row without a path. Files are cut as by ``_contents``, so that one
    that is packed well does no harm."""
    system, _ = storage.of(where)
    yield from _in_batches(
        row for batch in batches for entry in batch.to_pylist() for row in _unpack(entry, system, largest)
    )


def _unpack(entry: dict[str, str], system: pafs.FileSystem, largest: int) -> Iterator[dict[str, object]]:
    repository, path = entry["repository"], entry["location"]
    try:
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
