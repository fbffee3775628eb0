"""Paths and tables as users name them: odd names, columns, formats and options."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pubcheck.cli.spark import failures
from pubcheck.config import ConfigError
from pubcheck.discovery.walk import find_repositories
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.measure.plan import measurable
from pubcheck.source import Source
from pubcheck.spark.data_source import PubcheckDataSource
from pubcheck.spark.exports import create_views
from pubcheck.spark.inputs import BadInput
from pubcheck.spark.measure import EXACT, BadData, Data, measure, read
from pubcheck.spark.object_input import ObjectInput, Storage, list_tasks
from pubcheck.spark.session import settings
from pubcheck.spark.sources import TableColumns, TableInput, load
from pubcheck.spark.store import NoRun, Store
from tests.spark.audits import SMALL, Audits
from tests.spark.conftest import PUBLISHES, Plant

pytestmark = pytest.mark.spark

COLUMNS = TableColumns("repository", "path", "content")
ROWS = "repository STRING, path STRING, content STRING"


def test_folders_may_have_any_name(spark: SparkSession, tmp_path: Path, plant: Plant) -> None:
    corpus = plant({"a/a.sql": PUBLISHES}).absolute().rename(tmp_path / "c[1]:{a,b}\\?#%20 ü*")
    table = f"{tmp_path}/t[1]:{{a,b}}\\?#%20 ü*"
    spark.createDataFrame([("a", "a/a.sql", PUBLISHES)], ROWS).write.parquet(table)
    assert len(list(find_repositories(str(corpus)))) == 1
    assert ObjectInput(f"file://{corpus}/").size(spark, SMALL).files == 1
    for where in (table, f"file://{table}/"):
        assert TableInput(where, "parquet", COLUMNS).size(spark, SMALL).files == 1
    with pytest.raises(BadInput, match="Spark cannot stream from a path with a colon and one of"):
        TableInput(table, "parquet", COLUMNS).growing(spark)
    for name in ("o[1]{a,b}\\c d%20:", "o*?", "o:c"):  # the second is a pattern of the others
        audits = Audits(spark, tmp_path / name)
        audits.run(corpus, "r1")
        audits.run(corpus, "r2", since=audits.store.find("latest"))
        assert len(audits.rows("findings", "r2")) == 2
        assert sorted(row["run"] for row in audits.store.runs().collect()) == ["r1", "r2"]
        create_views(spark, audits.store.where)
        assert spark.table("pubcheck_findings").count() == 4
    stores = {where: Store(spark, where).where for where in ("o:c", "o/b:c/", "s3a://o", "dbfs:/o", "./o:c")}
    assert stores.pop("o:c") == str(tmp_path / "o:c")
    assert stores == {"o/b:c/": "o/b:c", "s3a://o": "s3a://o", "dbfs:/o": "dbfs:/o", "./o:c": "./o:c"}


def test_paths_of_an_object_store_need_no_escapes() -> None:
    keys = Storage({"access_key": "a", "secret_key": "b", "region": "eu-central-1"})
    assert keys.of("s3a://bucket/a folder/%20[1]")[1] == "bucket/a folder/%20[1]"
    assert Storage().of("mock:///a folder/%20[1]#?")[1] == "a folder/%20[1]#?"


def test_objects_are_listed_by_few_tasks() -> None:
    numbers = {repositories: list_tasks(repositories, 0) for repositories in (0, 1, 12, 1_200, 20_000, 5_000_000)}
    assert numbers == {0: 1, 1: 1, 12: 12, 1_200: 12, 20_000: 200, 5_000_000: 10_000}
    assert list_tasks(100, 50 << 30) == 100, "archives that are large"


def test_files_of_a_lake_table_are_not_read_as_if_all_of_them_were_current(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("a", "a.sql", PUBLISHES)], ROWS)
    for lake, marker in (("delta", "_delta_log/0.json"), ("iceberg", "metadata/v1.metadata.json"), ("hudi", ".hoodie")):
        files = f"{tmp_path}/{lake}/data/repository=a"
        rows.drop("repository").coalesce(1).write.parquet(files)
        (tmp_path / lake / marker).parent.mkdir(exist_ok=True)
        (tmp_path / lake / marker).write_text("{}")
        for where in (f"{tmp_path}/{lake}", f"file://{tmp_path}/{lake}/", files, f"{tmp_path}/{lake}*"):
            with pytest.raises(BadInput, match=f"is a table of .*or --input-format {lake} in"):
                load(spark, where, "parquet")
        with pytest.raises(ValueError, match="is a table of"):
            source(files, inputFormat="parquet")
        with pytest.raises(BadData, match="is a table of"):
            read(spark, Data("t", files))
    with pytest.raises(BadInput, match="Spark has no data source delta"):
        load(spark, f"{tmp_path}/delta", "delta")
    # A folder that is only called like one of Iceberg's.
    rows.write.parquet(f"{tmp_path}/plain/files")
    (tmp_path / "plain" / "metadata").mkdir()
    (tmp_path / "plain" / "metadata" / "v1.metadata.json").touch()
    assert load(spark, f"{tmp_path}/plain/files", "parquet").count() == 1


@pytest.mark.parametrize("format_", ["delta", "iceberg"])
def test_a_stream_of_a_lake_table_has_the_schema_of_the_table(format_: str) -> None:
    session = MagicMock()
    TableInput("s3a://lake/files", format_, COLUMNS).growing(session)
    reader = session.readStream.format(format_).options()
    reader.load.assert_called_once_with("s3a://lake/files")
    reader.schema.assert_not_called()


def source(where: str, **options: str) -> None:
    PubcheckDataSource({"path": where, **options}).reader(StructType())


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("input_format", "parquet", "no option input_format; did you mean inputFormat"),
        ("selct", "PUB301", "no option selct; did you mean select"),
        ("complete", "yes", "complete is 'yes', but must be true or false"),
        ("tasks", "0", "tasks is '0', but must be a number of at least 1"),
        ("tasks", "many", "tasks is 'many', but must be a number of at least 1"),
        ("postgres", "9", "PostgreSQL 9 is not supported"),
        ("path", "/nowhere", "there is no /nowhere"),
    ],
)
def test_an_option_of_the_data_source_that_is_wrong_is_refused(option: str, value: str, reason: str) -> None:
    with pytest.raises((ValueError, ConfigError), match=reason):
        source("/", **{option: value})


def test_columns_are_found_in_any_case_and_order(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(PUBLISHES, "a.sql", "a")], "Content STRING, PATH STRING, repository STRING")
    table.createOrReplaceTempView("cased")
    for sensitive in ("true", "false"):
        spark.conf.set("spark.sql.caseSensitive", sensitive)
        try:
            assert TableInput("cased", "table", COLUMNS).size(spark, SMALL).files == 1
        finally:
            spark.conf.unset("spark.sql.caseSensitive")

    # Spark otherwise reads columns by their position in the first file.
    (tmp_path / "1.csv").write_text("repository,path,content\na,a.sql,SELECT 1;\n")
    (tmp_path / "2.csv").write_text("content,path,repository\nSELECT 1;,b.sql,b\n")
    with pytest.raises(failures(), match="CSV header does not conform to the schema"):
        TableInput(str(tmp_path), "csv", COLUMNS).size(spark, SMALL)


def test_a_session_keeps_its_settings(spark: SparkSession, audits: Audits, plant: Plant, tmp_path: Path) -> None:
    batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    names = (batch, "spark.sql.execution.arrow.maxBytesPerBatch", *EXACT)
    corpus = plant({"a/a.sql": PUBLISHES})
    (tmp_path / "t.csv").write_text("id\n1\n")
    schema = Linter().follow(Unit((Source("a.sql", "CREATE TABLE t (id int); CREATE PUBLICATION p FOR TABLE t;"),)))
    spark.conf.set(batch, "77")
    try:
        before = [spark.conf.get(name, None) for name in names]
        audits.run(corpus)
        with pytest.raises(NoRun):
            audits.run(corpus, "r2", since="none")
        measure(spark, Data("t", f"{tmp_path}/t.csv"), measurable(schema.replays[-1], schema.statements, "t"))
        assert [spark.conf.get(name, None) for name in names] == before
    finally:
        spark.conf.unset(batch)


def test_settings_that_are_changed_twice_at_once_are_restored_by_the_last(spark: SparkSession) -> None:
    name = "spark.sql.shuffle.partitions"
    before = spark.conf.get(name)
    with settings(spark, {name: "91"}):
        with settings(spark, {name: "91"}):
            assert spark.conf.get(name) == "91"
        assert spark.conf.get(name) == "91"
    assert spark.conf.get(name) == before
