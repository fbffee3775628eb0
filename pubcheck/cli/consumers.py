"""`pubcheck consumers`: who reads publications, and what each demands."""

from __future__ import annotations

import click
import msgspec

from pubcheck.cli.app import Command, completes
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.consumers import NAMES


@click.command(
    cls=Command,
    short_help="List the consumers of publications, or what one demands.",
    epilog="""\b
Examples:
  pubcheck consumers
  pubcheck consumers powersync
  pubcheck consumers --format json zero""",
)
@click.argument("name", required=False, shell_complete=completes("consumers"))
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
@output_option
def command(name: str | None, format_: str, output: str | None) -> int:
    """List every consumer that pubcheck knows, or show what one demands, how this is known, and the sources. NAME can
    be a .toml file of your own, which is checked."""
    from pubcheck.consumers.page import listing, page
    from pubcheck.consumers.profiles import hint_for, is_own, load

    if name is not None and is_own(name):
        try:
            load(name)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    elif name is not None and name not in NAMES:
        raise click.UsageError(f"there is no consumer {name!r}{hint_for(name)}")
    if format_ == "json":
        document = {key: load(key) for key in ([name] if name is not None else NAMES)}
        text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
        return write_output(output, [text], for_people=False)
    return write_output(output, listing() if name is None else page(name), for_people=True)
