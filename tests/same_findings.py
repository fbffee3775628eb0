"""`python -m tests.same_findings OLD [--texts] [--repositories N] [PATH...]`: compare findings with another checkout's.

OLD is a folder with another version of pubcheck, such as a Git worktree. Both versions lint the sample repositories, N
generated repositories, the SQL of the rule pages and of the cases, and the paths given, for every major. A row consists
of rule, place, certainty, severity and the server's answer; with --texts also of message, help, related places and
fixes. Prints the rows that only one of the two has; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus.generate import Shape, repositories, write
from tests.support.cases import load
from tools.rulebook.pages import read_pages

HERE = Path(__file__).parents[1]
SAMPLES = HERE / "corpus" / "samples"
PLACE = ("rule", "phase", "severity", "certainty", "postgres", "path", "line", "column", "end_line", "end_column")
ABOUT = ("statement", "object", "publication", "publications", "operation", "server", "after")
TEXTS = ("name", "message", "help", "related", "fixes", "notices", "assumptions")


def findings(checkout: Path, path: Path, fields: Sequence[str], *options: str) -> Counter[str]:
    """Return how often a checkout finds each row in a file or folder."""
    command = [sys.executable, "-m", "pubcheck", "lint", "--postgres", "15,16,17,18", "--select", "PUB"]
    done = subprocess.run(
        [*command, "--format", "json", *options, str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=path if path.is_dir() else path.parent,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{checkout}: exit status {done.returncode} for {path}: {done.stderr.strip()}")
    entries: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    return Counter(json.dumps({name: finding.get(name) for name in fields}) for finding in entries)


def examples() -> Iterator[tuple[str, str]]:
    """Yield a name and the SQL of each example of a rule page and of each case."""
    for page in read_pages(str(HERE / "rules")):
        for number, example in enumerate((*(bad.sql for bad in page.bad), *page.good)):
            yield f"{page.rule.code}-{number}", example
    for case in load():
        statements = (*case.setup, case.statement, *case.then)
        yield f"case-{case.id}", "".join(f"{statement};\n" for statement in statements)


def write_examples(folder: Path) -> Path:
    """Write each example into a folder of its own, so that each is a unit."""
    for name, sql in examples():
        (folder / name).mkdir(parents=True)
        (folder / name / "example.sql").write_text(sql, encoding="utf-8")
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.same_findings", description=__doc__)
    parser.add_argument("old", type=Path, help="a folder with another version of pubcheck")
    parser.add_argument("paths", type=Path, nargs="*", help="further files and folders to lint")
    parser.add_argument("--repositories", type=int, default=200, metavar="N", help="generated repositories")
    parser.add_argument("--texts", action="store_true", help="compare messages, help, related places and fixes too")
    options = parser.parse_args()
    fields = PLACE + ABOUT + (TEXTS if options.texts else ())
    differences = rows = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(repositories("same", options.repositories, Shape()), str(folder / "generated"))
        written = write_examples(folder / "examples")
        runs = [(path.resolve(), ()) for path in (*sorted(SAMPLES.iterdir()), folder / "generated", *options.paths)]
        for path, more in [*runs, (written, ()), (written, ("--complete",))]:
            old, new = findings(options.old.resolve(), path, fields, *more), findings(HERE, path, fields, *more)
            rows += old.total()
            for sign, only in (("-", old - new), ("+", new - old)):
                for row in sorted(only.elements()):
                    differences += 1
                    print(sign, path, row)
    print(f"{rows:,} findings, {differences:,} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
