"""The same files through every kind of input give the same findings."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from corpus.generate import Shape, repositories
from pubcheck.spark.data_source import PubcheckDataSource, findings_of
from pubcheck.spark.inputs import BadInput, RowsInput
from pubcheck.spark.object_input import ObjectInput, s3_settings
from pubcheck.spark.sources import TableColumns, TableInput
from pubcheck.spark.store import Store
from pubcheck.spark.worker import Job
from tests.spark.audits import Audits, exactly
from tests.spark.conftest import PUBLISHES, Plant, linted

pytestmark = pytest.mark.spark

ODD: dict[str, str | bytes] = {
    "odd/a/1.sql": PUBLISHES,
    "odd/b/x.sql": b"CREATE PUBLICATION \x00",
    "odd/.hidden/y.sql": PUBLISHES,
    "odd/.github/CODEOWNERS": "* @all\n/a/ @a-team @b-team\n",
    "odd/README.md": "CREATE PUBLICATION p;",
    "quiet/a.sql": "SELECT 1;",
}
COLUMNS = TableColumns("repository", "path", "content", "commit")


def corpus_files() -> dict[str, str | bytes]:
    made = repositories("inputs", 14, Shape(tables=1.5, spread=0.5, quiet=0.3, faulty=0.6))
    return {f"{repository.name}/{path}": text for repository in made for path, text in repository.files.items()} | ODD


def rows_of(spark: SparkSession, files: Mapping[str, str | bytes], commit: str = "1") -> DataFrame:
    rows = [
        (name.partition("/")[0], f"corpus/{name}", bytearray(text.encode() if isinstance(text, str) else text), commit)
        for name, text in files.items()
    ]
    return spark.createDataFrame(rows, "repository STRING, path STRING, content BINARY, commit STRING")


def pack(files: dict[str, str | bytes], folder: Path) -> None:
    """Write each repository as an archive: a tar, or a zip."""
    folder.mkdir()
    for number, name in enumerate(sorted({path.partition("/")[0] for path in files})):
        own = {path.partition("/")[2]: text for path, text in files.items() if path.startswith(f"{name}/")}
        own_bytes = {path: text.encode() if isinstance(text, str) else text for path, text in own.items()}
        if number % 2:
            with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for path, content in own_bytes.items():
                    archive.writestr(path, content)
        else:
            with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as tar:
                for path, content in own_bytes.items():
                    info = tarfile.TarInfo(f"./{path}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))


class ArchivesReadOnce(ObjectInput):
    """Archives that are deleted when their files were counted."""

    def look(
        self,
        spark: SparkSession,
        store: Store | None,
        run: str,
        settings: str,
        largest: int,
        *,
        comparing: bool = False,
    ) -> None:
        super().look(spark, store, run, settings, largest, comparing=comparing)
        shutil.rmtree(self.name)


def without_prefix(findings: list[dict[str, Any]], prefix: str = "corpus") -> list[str]:
    return sorted(str(row).replace(f"{prefix}/", "") for row in exactly(findings))


def test_every_input_gives_what_lint_finds(spark: SparkSession, audits: Audits, plant: Plant, tmp_path: Path) -> None:
    files = corpus_files()
    plant(files)
    expected = exactly(linted("corpus"))
    assert len(expected) > 10

    rows_of(spark, files).write.parquet(str(tmp_path / "files"))
    table = TableInput(str(tmp_path / "files"), "parquet", COLUMNS)
    audits.run(table, "table")
    assert exactly(audits.findings("table")) == expected
    top = (tmp_path / "corpus").as_uri()
    audits.run(ObjectInput(top), "objects")
    assert without_prefix(audits.findings("objects"), top) == without_prefix(expected)
    pack(files, tmp_path / "archives")
    (tmp_path / "archives" / "broken.zip").write_bytes(b"PK")
    audits.run(ArchivesReadOnce("archives", archives=True), "archives")
    assert without_prefix(audits.findings("archives")) == without_prefix(expected)
    for run in ("table", "objects", "archives"):
        owners = {tuple(row["owners"]) for row in audits.rows("findings", run) if row["repository"] == "odd"}
        assert owners == {("@a-team", "@b-team"), ("@all",)}, run
    (broken,) = (row for row in audits.rows("quarantine", "archives") if row["repository"] == "broken")
    assert (broken["unit"], broken["path"], broken["reason"]) == (None, None, "unreadable")

    spark.dataSource.register(PubcheckDataSource)
    reader = spark.read.format("pubcheck").option("tasks", "2")
    top = str(tmp_path / "corpus")
    rows = [row.asDict(recursive=True) for row in reader.load(top).collect()]
    assert without_prefix(audits.as_lint_has_them(rows), top) == without_prefix(expected)
    files_and_others = rows_of(spark, files).selectExpr("content", "path", "repository", "1 AS number")
    nothing = spark.createDataFrame([(None, "a.sql", "none", 1), (b"", None, "none", 1)], files_and_others.schema)
    files_and_others.union(nothing).write.partitionBy("repository").parquet(str(tmp_path / "parts"))
    for listed_files in (
        reader.option("inputFormat", "parquet").load(str(tmp_path / "parts")),
        findings_of(spark.read.parquet(str(tmp_path / "parts")), tasks=2),
    ):
        rows = [row.asDict(recursive=True) for row in listed_files.where("repository <> 'none'").collect()]
        assert exactly(audits.as_lint_has_them(rows)) == expected
        of_none = listed_files.where("repository = 'none'").select("path", "rule").collect()
        assert of_none == [("a.sql", "PUB001")]
    for listed_files in (
        reader.option("inputFormat", "parquet").load(str(tmp_path / "files")),
        findings_of(spark.read.parquet(str(tmp_path / "files")), tasks=2),
    ):
        rows = [row.asDict(recursive=True) for row in listed_files.collect()]
        assert exactly(audits.as_lint_has_them(rows)) == expected


def test_a_repository_with_the_same_commit_is_not_read(spark: SparkSession, audits: Audits) -> None:
    same, other = {"a/1.sql": PUBLISHES}, {"b/1.sql": PUBLISHES}
    columns = TableColumns("repository", "path", "content", "commit")
    rows_of(spark, {**same, **other}).createOrReplaceTempView("committed")
    audits.run(TableInput("committed", "table", columns), "r1")
    # The content of `a` is another one, which its commit does not say.
    rows_of(spark, {"a/1.sql": "SELECT 1;"}).union(rows_of(spark, other, "2")).createOrReplaceTempView("committed")
    summary = audits.run(TableInput("committed", "table", columns), "r2", since="r1")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units_carried"]) == (1, 2)
    assert len(audits.findings("r2")) == 4
    with pytest.raises(BadInput, match="nowhere is not a folder of repositories"):
        audits.run(ObjectInput("nowhere"))


def test_contents_that_have_not_changed_are_only_hashed(
    spark: SparkSession, audits: Audits, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[DataFrame | None] = []
    describe = RowsInput.describe

    def watched(source: RowsInput, job: Job, only: DataFrame | None = None) -> DataFrame:
        described.append(only)
        return describe(source, job, only)

    columns = TableColumns("repository", "path", "content")
    rows_of(spark, {"a/1.sql": PUBLISHES, "b/1.sql": PUBLISHES}).createOrReplaceTempView("hashed")
    audits.run(TableInput("hashed", "table", columns), "r1")
    monkeypatch.setattr(RowsInput, "describe", watched)
    summary = audits.run(TableInput("hashed", "table", columns), "r2", since="r1")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units_carried"], described) == (2, 2, [])
    assert audits.findings("r2") == audits.findings("r1")
    rows_of(spark, {"a/1.sql": PUBLISHES, "b/1.sql": "SELECT 1;"}).createOrReplaceTempView("hashed")
    summary = audits.run(TableInput("hashed", "table", columns), "r3", since="r2")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units_nothing_to_lint"]) == (1, 1)
    assert all(only is not None for only in described)
    assert len(audits.findings("r3")) == 2


def test_tasks_use_the_keys_of_a_bucket_that_hadoop_has() -> None:
    hadoop = {
        "fs.s3a.access.key": "anyone",
        "fs.s3a.bucket.lake.access.key": "owner",
        "fs.s3a.secret.key": "secret",
        "fs.s3a.endpoint": "store.example.com",
        "fs.s3a.connection.ssl.enabled": "false",
    }
    settings = s3_settings(hadoop.get, "s3a://lake/files")
    assert settings == {
        "access_key": "owner",
        "secret_key": "secret",
        "endpoint_override": "store.example.com",
        "scheme": "http",
    }
    assert s3_settings(hadoop.get, "s3://other/files")["access_key"] == "anyone"
    assert s3_settings(hadoop.get, "gs://lake/files") == {}
    assert s3_settings(lambda name: None, "s3a://lake/files") == {}
