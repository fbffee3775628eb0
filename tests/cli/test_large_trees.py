"""Trees of many files, few of them SQL: each file is opened once, and a terminal sees how far that is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

_COUNTING = """
import json, os, sys
from collections import Counter

opened = Counter()

def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(top):
        opened[os.path.relpath(arguments[0], top)] += 1

top, *given = sys.argv[1:]
sys.addaudithook(hook)
from pubcheck.cli.app import run

run(given)
print("\\n" + json.dumps(opened))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Programs, migrations, loose files of SQL, and a program that publishes."""
    for number in range(600):
        _write(tmp_path / f"src/m{number // 50}/f{number}.py", f"x = {number}\n")
    for number in range(5):
        _write(tmp_path / f"db/migrations/{number:04}_t.sql", f"CREATE TABLE t{number} (id int PRIMARY KEY, v text);\n")
        _write(tmp_path / f"sql/q{number}.sql", f"SELECT {number} FROM t1;\n")
    _write(tmp_path / "db/migrations/9999_p.sql", "CREATE PUBLICATION p FOR TABLE t1 WHERE (v = 'x');\n")
    _write(tmp_path / "src/publish.py", 'cur.execute("CREATE PUBLICATION q FOR TABLE t2")\n')
    _write(tmp_path / "Makefile", "all:\n\techo\n")
    _write(tmp_path / "run", "#!/bin/sh\npsql -c 'CREATE PUBLICATION r FOR TABLE t3'\n")
    _write(tmp_path / ".gitignore", "*.log\n")
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("files", "."),
        ("lint", "."),
        ("explain", "."),
        ("lint", "db/migrations/9999_p.sql"),
        ("lint", "src", "db"),
        ("lint", "--diff", "--unsafe-fixes", "db"),
    ],
    ids=" ".join,
)
def test_no_file_is_opened_twice(tree: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", _COUNTING, str(tree), *arguments]
    out = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout
    opened: dict[str, int] = json.loads(out.splitlines()[-1])
    assert len(opened) > 5
    assert {path: times for path, times in opened.items() if times > 1} == {}


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
@pytest.mark.parametrize(
    ("arguments", "shown"), [(("files", "."), True), (("lint", "."), True), (("lint", "--quiet", "."), False)]
)
def test_a_terminal_shows_what_was_listed_and_read(tree: Path, arguments: tuple[str, ...], shown: bool) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "pubcheck", *arguments]
    child = subprocess.Popen(command, cwd=tree, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # how a terminal ends
        while piece := os.read(ours, 1 << 16):
            seen += piece
    os.close(ours)
    child.wait()
    assert (b"Listing" in seen) is shown
    assert (b"Reading" in seen) is shown


def test_a_pipe_sees_nothing_of_that(tree: Path) -> None:
    command = [sys.executable, "-m", "pubcheck", "files", "."]
    assert subprocess.run(command, cwd=tree, capture_output=True, check=True).stderr == b""
