"""Renderers of findings, one per format; `pubcheck.findings` resolves findings to lines and columns."""


def count(number: int, noun: str, form: str = ",") -> str:
    """Return a number with a noun: "1 table", "2,000 tables"; ``form`` is that of the number, as `format` takes it."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"
