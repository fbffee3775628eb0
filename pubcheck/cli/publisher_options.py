"""The arguments that describe a publisher, as `verify` and `decode` take them: its schema and its publications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from pubcheck.cli.input_options import read_units
from pubcheck.discovery.file_types import UNNAMED

if TYPE_CHECKING:
    from pubcheck.config import Config
    from pubcheck.engine.linter import Followed
    from pubcheck.lint_files import LintedUnit


def publication_names(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names as pgoutput reads publication_names: separated by commas, folded unless they are quoted."""
    from pubcheck.postgres.ddl.publications.options import split_identifiers

    names: list[str] = []
    for text in texts:
        parts = split_identifiers(text)
        if parts is None:
            raise click.BadParameter(f"{text!r} is not a list of names")
        names += parts
    return tuple(dict.fromkeys(names))


def linted_schema(path: str, config: Config, together: bool, schema: tuple[str, ...], *, majors: bool) -> LintedUnit:
    """Return the schema with its final state. Raises NoInput and UsageError."""
    units = read_units((path,), config, together=together, schema=schema, stdin_filename=UNNAMED, majors=majors)
    if len(units) > 1:
        names = ", ".join(unit.name for unit in units[:10])
        raise click.UsageError(f"SCHEMA contains {len(units)} units ({names}): name one, or use --together")

    from pubcheck.engine.linter import Linter
    from pubcheck.faults import failure_text
    from pubcheck.lint_files import lint_files

    linted = lint_files(units[0], Linter(replace(config, postgres=config.postgres[-1:])), follow=True)
    if linted.followed is None:
        raise click.ClickException(failure_text(linted.faults) or "the schema cannot be read")
    return linted


def chosen_publications(publications: tuple[str, ...], followed: Followed) -> tuple[str, ...]:
    """Return the publications that are meant. Raises UsageError."""
    known = sorted(followed.replays[-1].catalog.publication_names)
    if not publications:
        if len(known) != 1:
            listed = f"has {', '.join(known)}" if known else "creates no publication"
            raise click.UsageError(f"name the stream's publications with --publication: the schema {listed}")
        return tuple(known)
    for name in publications:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise click.UsageError(f"--publication: the schema has no publication {name!r}; it has {listed}")
    return publications
