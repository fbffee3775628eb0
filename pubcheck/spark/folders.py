"""Marks, lists and deletes files in the folder that an audit writes to.

This goes through Hadoop's file systems, with the session's credentials. A client of Spark Connect has none, and does it
only in folders of its own machine.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote


class Folders:
    """The files of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._local = is_remote()  # then the session has no file systems

    def mark(self, path: str) -> None:
        """Create an empty file, in the place of what was there."""
        if self._local:
            if "://" not in _local(path):
                os.makedirs(os.path.dirname(_local(path)), exist_ok=True)
                Path(_local(path)).touch()
            return
        system, place = self._hadoop(path)
        system.create(place, True).close()

    def files(self, path: str) -> dict[str, float]:
        """Return the names in a folder with the times of their last change, in seconds; none if there is no folder."""
        if self._local:
            if not os.path.isdir(_local(path)):
                return {}
            return {entry.name: entry.stat().st_mtime for entry in os.scandir(_local(path))}
        system, place = self._hadoop(path)
        if not system.exists(place):
            return {}
        return {status.getPath().getName(): status.getModificationTime() / 1000 for status in system.listStatus(place)}

    def delete(self, path: str, *, above: int = 0) -> None:
        """Delete a file or a folder with its contents, and up to ``above`` parent folders that are empty then."""
        if self._local:
            with suppress(OSError):
                shutil.rmtree(_local(path)) if os.path.isdir(_local(path)) else os.unlink(_local(path))
            with suppress(OSError):
                for folder in list(Path(_local(path)).parents)[:above]:
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


def _local(path: str) -> str:
    return path.removeprefix("file://")
