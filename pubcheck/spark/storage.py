"""The file systems that tasks read from and write to by themselves, apart from Spark's tables.

They are Arrow's, because tasks in Python have no Java to ask for Hadoop's. If Hadoop's configuration has the keys of an
S3 bucket, Arrow gets these.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from urllib.parse import quote

import pyarrow.fs as pafs
from msgspec import Struct
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from pubcheck.spark.paths import local_path


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
