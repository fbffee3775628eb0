"""A server's answer in the form in which the corpus keeps it."""

from __future__ import annotations

import json
import re

from tests.support.cases import After, Recorded, Row
from tests.support.servers import Answer


def recorded(given: Answer, database: str, then: tuple[After, ...] = ()) -> Recorded:
    def same(text: str | None) -> str | None:
        return None if text is None else normalised(text, database)

    return Recorded(
        ok=given.ok,
        sqlstate=given.sqlstate,
        message=same(given.message),
        detail=same(given.detail),
        hint=same(given.hint),
        position=given.position,
        context=same(given.context),
        notices=tuple(normalised(notice, database) for notice in given.notices),
        rows=rows_of(given),
        then=then,
    )


def after(given: Answer, database: str) -> After:
    answer = recorded(given, database)
    return After(answer.ok, answer.sqlstate, answer.message, answer.detail, answer.hint, answer.rows)


def rows_of(given: Answer) -> tuple[Row, ...] | None:
    return None if given.rows is None else tuple(json.dumps(row, ensure_ascii=False) for row in given.rows)


def normalised(text: str, database: str) -> str:
    """A message with the corpus' placeholders for what differs from run to run."""
    text = re.sub(r"\bpg_temp_\d+\b", "pg_temp_<n>", text)
    return re.sub(rf"\b{re.escape(database)}\b", "<db>", text)
