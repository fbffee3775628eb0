"""Asks servers what they make of the filters: ``python -m tests.postgres.analysis.record CONNECTION...``.

One connection a major, to a database with nothing in it; needs psycopg, and leaves nothing behind. Writes answers.json
beside this file: for each filter of filters.txt, in its order, an answer for each of "majors": null (accepted) or
[sqlstate, message, detail, hint, position], the position counted in characters from the filter's first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
SCHEMA = (HERE / "schema.sql").read_text(encoding="utf-8")

Answer = list[Any] | None


def filters() -> Iterator[tuple[str, str]]:
    """(table, filter)."""
    table = ""
    for line in (HERE / "filters.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("table "):
            table = line.removeprefix("table ")
        elif line and not line.startswith("#"):
            yield table, line


def publication(table: str, filter_: str) -> tuple[str, int]:
    """The statement that is judged, and where the filter begins in it."""
    start = f"CREATE PUBLICATION p FOR TABLE {table} WHERE ("
    return f"{start}{filter_})", len(start)


def ask(connection: Any) -> tuple[int, list[Answer]]:
    """The major behind a psycopg connection, and its answers."""
    import psycopg

    answers: list[Answer] = []
    with connection.transaction(force_rollback=True):
        connection.execute(SCHEMA)
        for table, filter_ in filters():
            statement, start = publication(table, filter_)
            try:
                with connection.transaction(force_rollback=True):
                    connection.execute(statement)
                answers.append(None)
            except psycopg.Error as error:
                diagnostics = error.diag
                place = diagnostics.statement_position
                answers.append(
                    [
                        diagnostics.sqlstate,
                        diagnostics.message_primary,
                        diagnostics.message_detail,
                        diagnostics.message_hint,
                        int(place) - 1 - start if place else None,
                    ]
                )
    return connection.info.server_version // 10000, answers


def main(connections: list[str]) -> None:
    import psycopg

    answers = dict(ask(psycopg.connect(connection, autocommit=True)) for connection in connections)
    rows = list(zip(*(answers[major] for major in sorted(answers)), strict=True))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    ANSWERS.write_text(f'{{"majors": {sorted(answers)}, "answers": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
