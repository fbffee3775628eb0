"""`python -m tests.postgres.executor.record [--ports FILE]`: asks servers for the answers that the tests hold to.

Filters are those of filters.txt and some of the random ones; rows are random and stand in the record.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from tests.differential.evaluation.filters import make_filter
from tests.differential.evaluation.rows import COLUMNS, make_row
from tests.differential.evaluation.run import Run
from tests.support.servers import PACKAGES, Server, Servers

HERE = Path(__file__).parent
RECORD = HERE / "answers.json.gz"
RANDOM_FILTERS, ROWS = 250, 40


def filters() -> list[str]:
    """The texts of filters.txt."""
    return (HERE / "filters.txt").read_text().splitlines()


def load() -> dict[str, Any]:
    """``rows``: column -> text or None; ``answers``: major -> filter -> an answer a row (an error is a pair)."""
    document: dict[str, Any] = json.loads(gzip.decompress(RECORD.read_bytes()))
    return document


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.postgres.executor.record", description=__doc__)
    parser.add_argument("--ports", type=Path, help="servers that run already: what `tests.support.servers run` wrote")
    options = parser.parse_args()
    random = Random("recorded")
    rows = [make_row(random, COLUMNS) for _ in range(ROWS)]
    texts = [*filters(), *(make_filter(random) for _ in range(RANDOM_FILTERS))]
    answers: dict[str, dict[str, list[Any]]] = {}
    with contextlib.ExitStack() as stack:
        if options.ports:
            ports = json.loads(options.ports.read_text())
            servers = {major: Server(major, ports[str(major)]) for major in PACKAGES}
        else:
            servers = dict(stack.enter_context(Servers()))
        for major, server in servers.items():
            with Run(server, 0) as run:
                run.insert(rows)
                taken = [text for text in texts if run.evaluator.analysed(text) is not None]
                answers[str(major)] = {text: list(run.asked(text)) for text in taken}
                for text in sorted(set(filters()) - set(taken)):
                    print(f"{major}: no publication takes {text}")
    document = json.dumps({"rows": rows, "answers": answers}, ensure_ascii=False, separators=(",", ":"))
    RECORD.write_bytes(gzip.compress(document.encode(), mtime=0))


if __name__ == "__main__":
    main()
