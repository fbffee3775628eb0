"""`pubcheck completion`: a script with which a shell completes commands, options and their values."""

from __future__ import annotations

import click

from pubcheck.cli.app import Command
from pubcheck.cli.output_files import output_option, write_output


@click.command(
    cls=Command,
    short_help="Print a script that completes pubcheck in a shell.",
    epilog="""\b
Examples:
  pubcheck completion bash > ~/.local/share/bash-completion/completions/pubcheck
  pubcheck completion zsh > "${fpath[1]}/_pubcheck"
  pubcheck completion fish > ~/.config/fish/completions/pubcheck.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@output_option
def command(shell: str, output: str | None) -> int:
    """Print a script that makes a shell complete commands, options, rules, consumers, formats and files."""
    from click.shell_completion import get_completion_class

    from pubcheck.cli import completing as completing
    from pubcheck.cli.app import COMPLETION, cli

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    return write_output(output, [completion_class(cli, {}, "pubcheck", COMPLETION).source()], for_people=True)
