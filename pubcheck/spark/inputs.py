"""The input of an audit: repositories in folders (``folder_input``), the rows of a table (``table_input``),
or the files of an object store or of archives (``object_input``)."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession

from pubcheck.spark import worker
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.store import Store


class InputSize(Struct, frozen=True):
    """The repositories of an input, the files to read and their bytes, and the rows that are not files to read."""

    repositories: int
    files: int
    bytes: int
    passed_over: int = 0


class Input(Protocol):
    """The repositories that an audit reads. ``look`` is called first."""

    @property
    def name(self) -> str:
        """The input in the table `runs`."""

    @property
    def top(self) -> str:
        """The beginning of the labels of files that depends on how the input is written: a copy has another one."""

    def size(self, spark: SparkSession, largest: int) -> InputSize:
        """Return how much there is to read, without reading it. Raises BadInput."""

    def look(
        self, spark: SparkSession, store: Store, run: str, settings: str, largest: int, *, comparing: bool = False
    ) -> str | None:
        """Find the repositories and return the state of all of them, including ``settings``; None if the state is
        unknown. A file may have ``largest`` bytes. ``comparing``: they are compared with those of an earlier run, so
        that only some may be read. Raises EmptyInput, BadInput."""

    def repositories(self, job: worker.Job) -> DataFrame:
        """Return one row per repository with its number of files and its state, which changes when the repository
        does."""

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        """Return the units (``schema.EXAMINED``) of all repositories, some of them linted already. With ``standing``,
        which compares them with an earlier run, only those of changed repositories, none of them linted."""

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        """Return the units, linted. Each comes with a ``salt``, by which `repartition` puts it into its partition, one
        of ``parts``."""

    def count(self) -> int:
        """Return the number of files, counted independently of ``units``."""

    def passed_over(self) -> int:
        """Return the number of rows of the input that are not files to read."""

    def forget(self, store: Store, run: str) -> None:
        """Delete the data that was kept for the run."""


class EmptyInput(ValueError):
    """The input has no file to audit; the message names the place."""


class BadInput(ValueError):
    """The input does not have the given format; the message says which option to give."""
