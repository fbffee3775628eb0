"""Small trees of files, and the units that are found in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pubcheck.config import Config
from pubcheck.discovery.units import discover_units, find_units

TABLE = "CREATE TABLE {} (id int PRIMARY KEY);\n"
PUBLICATION = "CREATE PUBLICATION p FOR TABLE {};\n"

Grow = Callable[..., None]
Units = dict[str, tuple[str, list[str]]]


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def plant(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        write(path, text)


def units(top: str = "repo") -> Units:
    """By its name each unit's convention and its files, without the folder."""
    cut = len(top) + 1
    return {
        plan.name[cut:] or ".": (plan.convention, [file.label[cut:] for file in plan.files])
        for plan in find_units([top])
    }


def passed_over(top: str = "repo") -> list[str]:
    return [label[len(top) + 1 :] for label, _ in discover_units([top]).skipped]


def shown(*paths: str, config: Config = Config(), schema: tuple[str, ...] = ()) -> list[list[str]]:
    """The files of each unit, those of the context in brackets."""
    return [
        [f"({file.label})" if file.context else file.label for file in plan.files]
        for plan in find_units(paths, config, schema=schema)
    ]
