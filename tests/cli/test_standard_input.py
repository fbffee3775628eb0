"""Standard input that bears the name of a file: what an editor hands over of a file that is not saved yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.mark.parametrize("saved", ["DROP TABLE t;\n", None])
def test_it_replaces_that_file_in_its_history(pubcheck: Call, saved: str | None) -> None:
    folder = Path("db/migrations")
    folder.mkdir(parents=True)
    (folder / "001.sql").write_text("CREATE TABLE t (id int);\nCREATE PUBLICATION p;\n")
    if saved is not None:
        (folder / "002.sql").write_text(saved)
    arguments = ("lint", "--stdin-filename", "db/migrations/002.sql", "--format", "concise", "-q", "-")
    called = pubcheck(*arguments, stdin=b"ALTER PUBLICATION p ADD TABLE t;\n")
    assert called.status == 1
    assert called.out.startswith("db/migrations/002.sql:1:")
    assert "error[PUB302]: " in called.out
