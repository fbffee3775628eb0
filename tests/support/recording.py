"""A server's answer in the form in which the corpus keeps it."""

from __future__ import annotations

import json
import re

from tests.support.cases import After, Recorded, Row
from tests.support.servers import Answer


def recorded(answer: Answer, database: str, then: tuple[After, ...] = ()) -> Recorded:
    def same(text: str | None) -> str | None:
        return None if text is None else normalised(text, database)

    return Recorded(
        ok=answer.ok,
        sqlstate=answer.sqlstate,
        message=same(answer.message),
        detail=same(answer.detail),
        hint=same(answer.hint),
        position=answer.position,
        context=same(answer.context),
        notices=tuple(normalised(notice, database) for notice in answer.notices),
        rows=rows_of(answer),
        then=then,
    )


def after(server_answer: Answer, database: str) -> After:
    answer = recorded(server_answer, database)
    return After(answer.ok, answer.sqlstate, answer.message, answer.detail, answer.hint, answer.rows)


def rows_of(answer: Answer) -> tuple[Row, ...] | None:
    return None if answer.rows is None else tuple(json.dumps(row, ensure_ascii=False) for row in answer.rows)


def normalised(text: str, database: str) -> str:
    """A message with the corpus' placeholders for what differs from run to run."""
    text = re.sub(r"\bpg_temp_\d+\b", "pg_temp_<n>", text)
    return re.sub(rf"\b{re.escape(database)}\b", "<db>", text)
