"""`pubcheck man`: the manual pages, made of the texts of `--help`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import click

from pubcheck import __version__
from pubcheck.cli.app import Command, cli, completes, show
from pubcheck.cli.output_files import put


def _commands(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the commands that a shell completes."""
    return [name for name in cli.list_commands(context) if name.startswith(incomplete)]


@click.command(
    cls=Command,
    short_help="Show or write the manual pages.",
    epilog="""\b
Examples:
  pubcheck man lint | man -l -
  pubcheck man -o ~/.local/share/man/man1""",
)
@click.argument("name", required=False, metavar="[COMMAND]", shell_complete=_commands)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Write every page to this folder instead of standard output.",
    shell_complete=completes("folders"),
)
def command(name: str | None, output: str | None) -> int:
    """Print the manual page of pubcheck or of a command, in roff."""
    context = _top()
    names = cli.list_commands(context)
    if name is not None and name not in names:
        raise click.UsageError(f"there is no command {name!r}; there are {', '.join(names)}")
    if output is None:
        show([page(name)])
        return 0
    if not os.path.isdir(output):
        raise click.UsageError(f"there is no folder {output}")
    for subcommand in (None, *names):
        put(os.path.join(output, f"{'-'.join(filter(None, ('pubcheck', subcommand)))}.1"), [page(subcommand)])
    return 0


def page(name: str | None) -> str:
    """Return the page of a command, or of pubcheck itself."""
    top = _top()
    if name is None:
        return "\n".join(_lines(cli, top, "pubcheck")) + "\n"
    subject = cli.get_command(top, name)
    assert subject is not None
    return "\n".join(_lines(subject, click.Context(subject, info_name=name, parent=top), f"pubcheck-{name}")) + "\n"


def _top() -> click.Context:
    return click.Context(cli, info_name="pubcheck", **cli.context_settings)


def _lines(subject: click.Command, context: click.Context, title: str) -> Iterator[str]:
    yield f'.TH {title.upper()} 1 "" "pubcheck {__version__}" "pubcheck"'
    yield from (".SH NAME", f"{_text(title)} \\- {_text(subject.get_short_help_str(200).rstrip('.'))}")
    yield from (".SH SYNOPSIS", f".B {_text(context.command_path)}")
    yield _text(" ".join(subject.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    for paragraph in (subject.help or "").split("\n\n"):
        yield from (".PP", _text(" ".join(paragraph.split())))
    yield ".SH OPTIONS"
    records = (parameter.get_help_record(context) for parameter in subject.get_params(context))
    for names, text in (record for record in records if record and record[1]):
        yield from (".TP", f".B {_text(names)}", _text(text))
    if isinstance(subject, click.Group):
        yield ".SH COMMANDS"
        for name in subject.list_commands(context):
            below = subject.get_command(context, name)
            assert below is not None
            yield from (".TP", f".BR pubcheck\\-{_text(name)} (1)", _text(below.get_short_help_str(200)))
    yield from _epilog(subject.epilog or "")


def _epilog(text: str) -> Iterator[str]:
    """Yield the parts of an epilog, which begin with a title and a colon, as sections."""
    for part in filter(None, (part.strip("\n") for part in re.split(r"^\b$|\x08", text, flags=re.MULTILINE))):
        heading, _, rest = part.partition(":")
        lines = rest.strip("\n").splitlines()
        if heading == "Examples":
            yield from (f".SH {heading.upper()}", ".nf", *map(_text, lines), ".fi")
        else:
            yield from (f".SH {heading.upper()}", _text(" ".join(line.strip() for line in lines)))


def _text(text: str) -> str:
    """Return a text whose characters roff prints, none of them as a request."""
    escaped = text.strip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
