"""The group of commands, and what becomes of whatever they raise: no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from errno import EBADF, EIO, ENOSPC
from importlib import import_module

import click

from pubcheck import __version__
from pubcheck.config import ConfigError, suggestion
from pubcheck.diagnostics import SEVERITIES
from pubcheck.live import LiveError
from pubcheck.words import words

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FOUND, WRONG, INTERRUPTED = 1, 2, 130
"""Exit statuses other than 0: findings; wrong usage, no input or an internal failure; Ctrl-C."""

_COMMANDS = words("""
    lint explain files measure snapshot simulate decode verify server audit consumers scaffold rule rules comment
    schema completion man
""")


COMPLETION = "_PUBCHECK_COMPLETE"
"""The environment variable with which a shell asks for values."""


class NoInput(Exception):
    """There was nothing to lint; the message says where was looked."""


class Command(click.Command):
    """A command with the options of click, whose texts are not translated: looking for translations takes 1 ms."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if names and self._own_help is None:
            self._own_help = _eager_flag((*names, "show_help"), "Show this message and exit.", _show_help)
        return self._own_help

    _own_help: click.Option | None = None


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"pubcheck {__version__}", color=ctx.color)
        ctx.exit()


def _eager_flag(
    names: Sequence[str], text: str, callback: Callable[[click.Context, click.Parameter, bool], None]
) -> click.Option:
    return click.Option(names, is_flag=True, expose_value=False, is_eager=True, help=text, callback=callback)


class _Commands(Command, click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"pubcheck.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] == "help":
            if not args[1:]:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            if os.path.exists(args[0]) or "." in args[0] or "/" in args[0]:  # a path or an address
                ctx.fail(f"there is no command {args[0]!r}; did you mean `pubcheck lint {args[0]}`?")
            ctx.fail(f"there is no command {args[0]!r}{suggestion(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  pubcheck lint schema.sql            one file, checked as PostgreSQL 18
  pubcheck lint --postgres 15,18 db/  each migration history is one unit
  pg_dump -s shop | pubcheck lint -   standard input
  pubcheck explain schema.sql         what a subscriber will see of each table
  pubcheck decode stream.txt          the messages of a captured stream
  pubcheck rule PUB301                what a rule means and how to fix it""",
)
def cli() -> None:
    """Check what PostgreSQL will do with a publication before PostgreSQL does it."""


cli.params.append(_eager_flag(("-V", "--version"), "Show the version and exit.", _show_version))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process, and return the exit status."""
    if COMPLETION in os.environ:
        # Registers the completion in bash; loaded only when a shell asks.
        from pubcheck.cli import completing as completing
    try:
        status = cli.main(args=arguments, prog_name="pubcheck", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        if "\n" not in error.format_message():
            return complain(_in_one_line(error))
        with suppress(OSError):
            error.show()  # the help, where a command is missing
        return WRONG
    except (ConfigError, LiveError, NoInput) as error:
        return complain(str(error))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        forget_stdout()
        return WRONG
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (EBADF, EIO, ENOSPC):
            return complain(f"cannot write: {error.strerror}")
        if isinstance(error, FileNotFoundError) and not _in_folder():
            return complain("the current folder no longer exists; change to another one")
        from pubcheck.faults import failure_text, fault_of

        return complain(failure_text([fault_of(error)]) or "")
    return int(status or 0)


def _in_one_line(error: click.ClickException) -> str:
    """Return what is wrong with the arguments, and where the right ones are explained."""
    message = error.format_message().rstrip(".")
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else ""
    return f"{message}; see {command} --help" if command else message


def _in_folder() -> bool:
    """Return whether the current folder still exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def complain(message: str) -> int:
    """Write the reason of a failure to stderr, if it is open, and return the exit status."""
    with suppress(OSError):
        click.echo(f"pubcheck: {message}", err=True)
    return WRONG


def forget_stdout() -> None:
    """After a reader went away: keeps the interpreter from failing once more when it flushes at its end."""
    with suppress(OSError, ValueError):  # no real file behind it, as under a test's capture
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def use_color(choice: str, output: str | None = None) -> bool:
    """Return whether to colour the output: ``always``, ``never``, or for ``auto`` on a terminal, never in the file
    ``output``, unless the environment decides (https://no-color.org, https://force-color.org)."""
    if choice != "auto":
        return choice == "always"
    if output not in (None, "-"):
        return False
    environment = os.environ
    if environment.get("NO_COLOR") or environment.get("FORCE_COLOR"):
        return not environment.get("NO_COLOR")
    return sys.stdout.isatty() and environment.get("TERM") != "dumb"


def completes(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes a value in a shell: the one of that name in `completing`."""

    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from pubcheck.cli import completing

        items: list[CompletionItem] = getattr(completing, kind)(incomplete)
        return items

    return complete


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default=None,
    help="Lowest severity that fails the run.  [default: warning]",
)
fail_on_assumed_option = click.option(
    "--fail-on-assumed/--no-fail-on-assumed", default=None, help="Assumed findings fail the run too."
)
color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour; auto means on a terminal, unless NO_COLOR or FORCE_COLOR is set.",
)


def show(pieces: Iterable[str], *, for_people: bool = True) -> None:
    """Write a text to standard output. A reader that goes away (`| head`) is not an error.

    A program reads UTF-8 whatever the locale is: JSON and XML are declared to be that, and a patch must fit its files.
    """
    write = emit if for_people or _is_utf8(sys.stdout.encoding) else _emit_utf8
    try:
        for piece in pieces:
            write(piece)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()


def _is_utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")


def _emit_utf8(text: str) -> None:
    """Write to standard output, past its encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))


def emit(text: str) -> None:
    """Write to standard output; a character that its encoding does not have is written as an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
