"""The layers of docs/architecture.md: imports go downwards only, and nowhere in a circle.

Only the table of majors compares their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "pubcheck").rglob("*.py"))
}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it: also in functions, and for types alone."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in FILES else node.module for name in names if node.module in FILES)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    return {
        name: {name_of_import for name_of_import in imports_of(path) if name_of_import != name}
        for name, path in FILES.items()
    }


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_imports_go_in_no_circle(depth: int, imports: dict[str, set[str]]) -> None:
    """Of packages two and three levels deep, and of files."""
    graph: dict[str, set[str]] = {}
    for name, targets in imports.items():
        package = ".".join(name.split(".")[:depth])
        packages = {".".join(target.split(".")[:depth]) for target in targets}
        graph.setdefault(package, set()).update(packages - {package, "pubcheck"})
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle


def test_the_contracts_between_layers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


# A major is a row of versions.

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def comparisons(tree: ast.Module) -> Iterator[int]:
    """The lines that compare a major's number: in order with anything, or for equality with a literal."""
    numbers = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_major(node.value, frozenset())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        operands = (node.left, *node.comparators)
        if not any(_is_major(operand, numbers) for operand in operands):
            continue
        literal = any(isinstance(part, ast.Constant | ast.Tuple | ast.Set) for part in operands)
        none = any(isinstance(part, ast.Constant) and part.value is None for part in operands)
        if any(isinstance(op, _ORDER) or (isinstance(op, _EQUAL) and literal and not none) for op in node.ops):
            yield node.lineno


def _is_major(node: ast.expr, names: set[str] | frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr.endswith("major") or (node.attr == "number" and _is_major(node.value, frozenset()))
    return isinstance(node, ast.Name) and (node.id.endswith("major") or node.id in names)


def test_the_check_finds_comparisons() -> None:
    program = "if catalog.major.number >= 17: pass\nnumber = p.major.number\nx = number < 16\ny = 15 == self._major\n"
    assert list(comparisons(ast.parse(program + "z = major in (15, 16)\n"))) == [1, 3, 4, 5]
    assert not list(
        comparisons(ast.parse("if p.major.set_expression: pass\nx = major in majors\ny = major == number\n"))
    )


def test_no_module_compares_the_number_of_a_major() -> None:
    compared = [
        f"{path.relative_to(ROOT)}:{line}"
        for name, path in FILES.items()
        if name != "pubcheck.postgres.versions"
        for line in comparisons(tree_of(path))
    ]
    assert compared == [], "give the difference a name in pubcheck/postgres/versions.py"


def test_the_page_names_files_that_exist() -> None:
    named = set(re.findall(r"`([\w/.]+(?:\.py|\.toml|\.sql|/))`", (ROOT / "docs" / "architecture.md").read_text()))
    tops = (ROOT / top for top in ("pubcheck", "tests", "corpus"))
    paths = "".join(f"{path.as_posix()}{'/' * path.is_dir()}\n" for top in tops for path in top.rglob("*"))
    assert {name for name in named if f"/{name}" not in paths} == {"pyproject.toml"}


@pytest.mark.parametrize("package", [name for name, path in FILES.items() if path.name == "__init__.py"])
def test_the_overview_of_a_package_names_what_it_has(package: str) -> None:
    path = FILES[package]
    source = path.read_text(encoding="utf-8")
    named = re.findall(r"``([a-z_]+)``", ast.get_docstring(ast.parse(source)) or "")
    modules = {name.rpartition(".")[2] for name in FILES if name.startswith(f"{package}.")}
    assert {
        name for name in named if name not in modules and not re.search(rf"\b(?:def|import) .*\b{name}\b", source)
    } == set()
