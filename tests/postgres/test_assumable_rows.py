"""Rows that may be assumed."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import fields

from pubcheck.postgres.catalog import rows


def test_the_rows_that_may_be_assumed_are_those_that_have_seen() -> None:
    kinds = [kind for kind in vars(rows).values() if isinstance(kind, type) and issubclass(kind, Struct)]
    with_seen = {kind for kind in kinds if kind is not Struct and "seen" in {field.name for field in fields(kind)}}
    assert with_seen == rows.ASSUMABLE
