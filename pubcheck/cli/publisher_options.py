"""The arguments that `simulate`, `decode` and `verify` share: a schema, its publications, a stream's options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from pubcheck.cli.input_options import Inputs, units_to_read

if TYPE_CHECKING:
    from pubcheck.discovery.file_types import DiscoveredUnit
    from pubcheck.engine.linter import Followed
    from pubcheck.lint_files import LintedUnit
    from pubcheck.source import Source
    from pubcheck.verify import Options

FRAMINGS = ("psql", "csv", "copy", "hex", "jsonl", "parquet", "copy-binary", "copydata", "xlogdata", "recvlogical")


def publication_names(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return names as pgoutput reads publication_names: separated by commas, folded unless they are quoted."""
    from pubcheck.postgres.tokens import split_identifiers

    names: list[str] = []
    for text in texts:
        parts = split_identifiers(text)
        if parts is None:
            raise click.BadParameter(
                f"{text!r} is not a list of names; put a name with spaces or capitals in double quotes"
            )
        names += parts
    return tuple(dict.fromkeys(names))


def name_values(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the values of NAME=VALUE by their names."""
    options = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        options[name] = value
    return options


publication_option = click.option(
    "--publication",
    "publications",
    multiple=True,
    callback=publication_names,
    metavar="NAME[,NAME]",
    help="The publications that the stream was requested with. Repeatable.  [default: the only one of the schema]",
)
option_option = click.option(
    "--option",
    "options",
    multiple=True,
    callback=name_values,
    metavar="NAME=VALUE",
    help="An option of pgoutput that the stream was requested with, such as proto_version=2 or streaming=parallel."
    " Repeatable.",
)
framing_option = click.option(
    "--framing",
    type=click.Choice(FRAMINGS),
    metavar="FRAMING",
    help=f"The form of the capture: {', '.join(FRAMINGS)}.  [default: recognised by its first bytes]",
)


def stream_options(options: Mapping[str, str]) -> Options:
    """Return the options that the stream was requested with. Raises UsageError."""
    from pubcheck.verify import Options

    try:
        return Options.of(options)
    except ValueError as error:
        raise click.UsageError(f"--option: {error}") from None


def schema_unit(inputs: Inputs) -> DiscoveredUnit:
    """Return the unit of a schema, which is a file or folder. Raises NoInput and UsageError."""
    units = units_to_read(inputs)
    if len(units) > 1:
        names = ", ".join(unit.name for unit in units[:10])
        raise click.UsageError(f"SCHEMA contains {len(units)} units: name one of {names}")
    return units[0]


def linted_schema(inputs: Inputs) -> LintedUnit:
    """Return the schema with its final state. Raises NoInput and UsageError."""
    unit, config = schema_unit(inputs), inputs.config

    from pubcheck.engine.linter import Linter
    from pubcheck.faults import failure_text
    from pubcheck.lint_files import lint_files

    linted = lint_files(unit, Linter(replace(config, postgres=config.postgres[-1:])), follow=True)
    if linted.followed is None:
        raise click.ClickException(failure_text(linted.faults) or "the schema cannot be read")
    return linted


def refuse_databases(sources: Sequence[Source]) -> None:
    """Raise UsageError for a database among the sources of a schema that is to be simulated."""
    if any(source.listing is not None for source in sources):
        raise click.UsageError(
            "a simulated server runs the statements of its schema and knows the rows that they insert; a database or a"
            " snapshot has no statements, and its rows are not read"
        )


def chosen_publications(publications: tuple[str, ...], followed: Followed) -> tuple[str, ...]:
    """Return the publications that are meant. Raises UsageError."""
    known = sorted(followed.replays[-1].catalog.publication_names)
    if not publications:
        if len(known) != 1:
            listed = f"has {_listed(known)}" if known else "creates no publication"
            raise click.UsageError(f"name the stream's publications with --publication: the schema {listed}")
        return tuple(known)
    for name in publications:
        if name not in known:
            raise click.UsageError(f"--publication: the schema has no publication {name!r}; it has {_listed(known)}")
    return publications


def _listed(names: Sequence[str]) -> str:
    """Return names as --publication takes them."""
    from pubcheck.postgres.tokens import identifier

    return ", ".join(map(identifier, names)) or "none"
