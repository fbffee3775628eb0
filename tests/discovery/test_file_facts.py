"""What is found in a file's bytes does not depend on how they are written."""

from __future__ import annotations

import pytest

from pubcheck.discovery.file_facts import traits
from pubcheck.discovery.object_names import mentions, names

SQL = (
    "-- +goose Up\nCREATE TABLE t (id int);\n\\i x.sql\nCREATE PUBLICATION p FOR TABLE t;\n"
    "ALTER TABLE t REPLICA IDENTITY FULL;\n"
)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_tells_what_utf_8_does(encoding: str) -> None:
    plain, wide = SQL.encode(), SQL.encode(encoding)
    assert traits("x.sql", wide) == traits("x.sql", plain)
    assert names(wide) == names(plain)
    assert mentions(wide, frozenset({"t"}))
