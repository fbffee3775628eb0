"""`import pubcheck`: what it offers, and how little it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pubcheck


@pytest.mark.parametrize("name", pubcheck.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pubcheck, name) is not None
    assert name in dir(pubcheck)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Lintr'"):
        pubcheck.Lintr  # noqa: B018 -- looking is the point


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import pubcheck", {"msgspec", "pglast", "click", "typing", "re"}),
        ("import pubcheck.cli", {"msgspec", "pglast", "click"}),
        (
            "import pubcheck.cli.lint",
            {"pglast", "pubcheck.engine.linter", "json", "dataclasses", "pathlib", "multiprocessing"},
        ),
        ("import pubcheck.rulebook", {"pglast", "click", "dataclasses", "pathlib", "tomllib"}),
    ],
)
def test_importing_loads_nothing_that_it_does_not_need(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", prefix() + code], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & unwanted == set()


def prefix() -> str:
    """Gives an isolated interpreter our import path without the site module, which imports what .pth files ask for."""
    return f"import sys; sys.path[:] = {sys.path!r}; "
