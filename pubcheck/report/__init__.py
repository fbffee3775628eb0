"""The formats of a report by name. Each is a pure function of a module of this package, loaded when asked for.

`pubcheck.findings` resolves findings to lines and columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from pubcheck.findings import Report

_FUNCTIONS = {
    "text": ("text", "render"),
    "concise": ("text", "render_concise"),
    "json": ("json", "render"),
    "jsonl": ("json", "render_jsonl"),
    "yaml": ("json", "render_yaml"),
    "sarif": ("sarif", "render"),
    "github": ("code_hosts", "render_github"),
    "gitlab": ("code_hosts", "render_gitlab"),
    "markdown": ("code_hosts", "render_markdown"),
    "junit": ("xml", "render_junit"),
    "checkstyle": ("xml", "render_checkstyle"),
    "azure": ("code_hosts", "render_azure"),
    "rdjson": ("code_hosts", "render_rdjson"),
}
FORMATS: tuple[str, ...] = tuple(_FUNCTIONS)
FOR_PEOPLE = ("text", "concise")
"""Formats that are coloured on a terminal, and of which ``quiet`` leaves out the closing line."""


def render(
    report: Report, name: str, *, color: bool = False, quiet: bool = False, verbose: bool = False
) -> Iterator[str]:
    """Return a report in a format of ``FORMATS``, in pieces of text. ``color`` and ``quiet`` are of those for
    people, ``verbose`` is of ``text``."""
    module, function = _FUNCTIONS[name]
    options = {"color": color, "quiet": quiet} if name in FOR_PEOPLE else {}
    if name == "text":
        options["verbose"] = verbose
    pieces: Iterator[str] = getattr(import_module(f"pubcheck.report.{module}"), function)(report, **options)
    return pieces


def count(number: int, noun: str, form: str = ",") -> str:
    """Return a number with a noun: "1 table", "2,000 tables"; ``form`` is that of the number, as `format` takes it."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"
