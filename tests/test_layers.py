"""The layers of docs/architecture.md: imports go downwards only, and nowhere in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "pubcheck").rglob("*.py"))
}


def imports_of(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it: also in functions, and for types alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in FILES else node.module for name in names if node.module in FILES)


IMPORTS = {name: {each for each in imports_of(path) if each != name} for name, path in FILES.items()}


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_imports_go_in_no_circle(depth: int) -> None:
    """Of packages two and three levels deep, and of files."""
    graph: dict[str, set[str]] = {}
    for name, targets in IMPORTS.items():
        package = ".".join(name.split(".")[:depth])
        found = {".".join(each.split(".")[:depth]) for each in targets}
        graph.setdefault(package, set()).update(found - {package, "pubcheck"})
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle


def test_the_contracts_between_layers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0
