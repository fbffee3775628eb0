"""The plugin in docs/plugins.md does what the page says, and the page names each callback."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

from pubcheck.simulate.decoding.output_plugin import CALLBACKS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "plugins.md").read_text()


def test_the_page_s_plugin_prints_what_the_page_shows() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    (output,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    folder = os.getcwd()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/plugins.md", "exec"), {})
    finally:
        os.chdir(folder)
    assert printed.getvalue() == output


def test_the_page_s_plugin_is_short() -> None:
    plugin = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    assert len([line for line in plugin.splitlines() if line.strip()]) <= 32


def test_the_page_names_each_callback() -> None:
    missing = [name for name in CALLBACKS if f"`{name}" not in PAGE]
    assert missing == []
