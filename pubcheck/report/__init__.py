"""The formats of a report by name. Each is a module of this package with a pure ``render``, loaded when asked for.

`pubcheck.findings` resolves findings to lines and columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from pubcheck.findings import Report
from pubcheck.words import words

FORMATS: tuple[str, ...] = words("""
    text concise json jsonl yaml sarif github gitlab markdown junit checkstyle azure rdjson
""")
FOR_PEOPLE = ("text", "concise")
"""Formats that are coloured on a terminal, and of which ``quiet`` leaves out the closing line."""


def render(
    report: Report, name: str, *, color: bool = False, quiet: bool = False, verbose: bool = False
) -> Iterator[str]:
    """Return a report in a format of ``FORMATS``, in pieces of text. ``color`` and ``quiet`` are of those for
    people, ``verbose`` is of ``text``."""
    module = import_module(f"pubcheck.report.{name}")
    options = {"color": color, "quiet": quiet} if name in FOR_PEOPLE else {}
    if name == "text":
        options["verbose"] = verbose
    pieces: Iterator[str] = module.render(report, **options)
    return pieces


def count(number: int, noun: str, form: str = ",") -> str:
    """Return a number with a noun: "1 table", "2,000 tables"; ``form`` is that of the number, as `format` takes it."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"
