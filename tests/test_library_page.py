"""The examples in docs/library.md print what the page shows, one after the other."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "library.md"


def test_each_example_prints_what_the_page_shows() -> None:
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    printed = []
    for code, _ in examples:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, PAGE.name, "exec"), names)
        printed.append(output.getvalue())
    assert printed == [text for _, text in examples]
    assert len(printed) == PAGE.read_text().count("```python")
