"""The pages of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from pubcheck.cli.app import cli
from tools.site.pages import Generated, escape, fence, table


def pages(root: Path) -> Iterator[Generated]:
    """Yield the list of the commands, then a page for each."""
    context = click.Context(cli, info_name="pubcheck", **cli.context_settings)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    subcommands = {name: command for name, command in commands.items() if command is not None}
    yield Generated("commands/index.md", _index(context, subcommands), "Commands")
    for name, command in subcommands.items():
        below = click.Context(command, info_name=name, parent=context, **command.context_settings)
        yield Generated(f"commands/{name}.md", _page(below, command), f"pubcheck {name}")


def _index(context: click.Context, commands: dict[str, click.Command]) -> str:
    rows = [
        (f"[`pubcheck {name}`]({name}.md)", escape(command.get_short_help_str(200)))
        for name, command in commands.items()
    ]
    return "\n".join(
        (
            "# Command line\n",
            *_text(cli.help),
            table(("Command", "Purpose"), rows),
            "[Formats and exit status](../reports.md) explains what a run prints and returns. "
            "Options that are the same on every run belong into the [configuration](../configuration.md).\n",
            "## Options\n",
            *_options(context, cli),
            *_epilog(cli.epilog),
        )
    )


def _page(context: click.Context, command: click.Command) -> str:
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    return "\n".join(
        (
            f"# {context.command_path}\n",
            fence("text", usage),
            *_text(command.help),
            "## Options\n",
            *_options(context, command),
            *_epilog(command.epilog),
        )
    )


def _options(context: click.Context, command: click.Command) -> Iterator[str]:
    """Yield a definition for each option, as `--help` lists them."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            names, text = record
            yield f"`{names}`\n:   {escape(' '.join(text.split()))}\n"


def _text(help: str | None) -> Iterator[str]:
    """Yield the paragraphs of a help; one that click leaves as it is (after a backspace) is a block of code."""
    for paragraph in inspect.cleandoc((help or "").partition("\f")[0]).split("\n\n"):
        if paragraph.startswith("\b"):
            yield fence("text", paragraph.removeprefix("\b").strip("\n"))
        elif paragraph.strip():
            yield f"{_code_spans(' '.join(paragraph.split()))}\n"


def _code_spans(text: str) -> str:
    """Return plain text as Markdown, in which backticks enclose code."""
    parts = text.split("`")
    return "".join(f"`{part}`" if number % 2 else escape(part) for number, part in enumerate(parts))


def _epilog(text: str | None) -> Iterator[str]:
    """Yield the parts of an epilog, each of which click leaves as it is. The first one has the examples; another one
    may begin with a title and a colon."""
    for part in (text or "").split("\b\n"):
        lines = inspect.cleandoc(part).splitlines()
        if lines[:1] == ["Examples:"]:
            yield from ("## Examples\n", fence("sh", inspect.cleandoc("\n".join(lines[1:]))))
        elif lines:
            title, colon, rest = " ".join(lines).partition(": ")
            if colon and title == "Exit status":
                yield f"## {title}\n"
            else:
                rest = " ".join(lines)
            yield f"{_code_spans(rest)}\n"
