"""Asks servers what they make of the texts: ``python -m tests.postgres.input.record CONNECTION...``, one a major.

Needs psycopg and the right to make a schema, which is rolled back. Writes answers.json.gz beside this file: by type,
rows of a text and, for each major in the order of "majors", the number of the answer; "answers" are null (accepted) or
[sqlstate, message, detail, hint] with the text itself written as a NUL.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tests.postgres.input.fakes import SCHEMA
from tests.postgres.input.inputs import inputs

ANSWERS = Path(__file__).with_name("answers.json.gz")
PLACEHOLDER = "\0"

_ASK = """
    CREATE FUNCTION ask(input text, type text) RETURNS text[] LANGUAGE plpgsql AS $$
    DECLARE state text; message text; detail text; hint text; result text;
    BEGIN
        EXECUTE format('SELECT (%L::%s) IS NULL', input, type) INTO result;
        RETURN NULL;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
            hint = PG_EXCEPTION_HINT;
        RETURN ARRAY[state, message, nullif(detail, ''), nullif(hint, '')];
    END $$;
"""

Answer = list[str | None] | None


def ask(connection: Any, texts: dict[str, list[str]]) -> dict[str, list[Answer]]:
    """What the server behind a psycopg connection answers for each text."""
    answers: dict[str, list[Answer]] = {}
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE SCHEMA literals")
        connection.execute("SET LOCAL search_path = literals")
        connection.execute(SCHEMA + _ASK)
        for name, inputs_of_type in texts.items():
            rows = connection.execute(
                "SELECT ask(t, %s) FROM unnest(%s::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n",
                (f'"{name}"' if name in ("any", "trigger") else name, inputs_of_type),
            )
            answers[name] = [row[0] for row in rows]
    return answers


def written(answer: Answer, text: str) -> str:
    """An answer as a key, so that texts that are refused alike share one."""
    if answer is None or not text:
        return json.dumps(answer, ensure_ascii=False)
    return json.dumps([part and part.replace(f'"{text}"', f'"{PLACEHOLDER}"') for part in answer], ensure_ascii=False)


def main(connections: list[str]) -> None:
    import psycopg

    texts, by_major = inputs(), {}
    for conninfo in connections:
        with psycopg.connect(conninfo) as connection:
            by_major[connection.info.server_version // 10000] = ask(connection, texts)
    majors = sorted(by_major)
    answers: dict[str, int] = {}
    cases = {
        name: [
            [text, *(answers.setdefault(written(by_major[major][name][index], text), len(answers)) for major in majors)]
            for index, text in enumerate(inputs_of_type)
        ]
        for name, inputs_of_type in texts.items()
    }
    document = {"majors": majors, "answers": [json.loads(answer) for answer in answers], "cases": cases}
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    ANSWERS.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{sum(map(len, cases.values()))} texts of {len(cases)} types, {ANSWERS.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
