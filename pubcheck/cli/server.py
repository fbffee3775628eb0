"""`pubcheck server`: the language server for editors."""

from __future__ import annotations

import click

from pubcheck.cli.app import Command
from pubcheck.cli.input_options import config_option


@click.command(cls=Command, short_help="Serve an editor (Language Server Protocol).")
@config_option
def command(config_path: str | None) -> int:
    """Serve an editor: the Language Server Protocol on standard input and output.

    It shows findings while a file is edited, in the migration history of the file, and describes tables and
    publications. It needs `pip install pubcheck[lsp]`.
    """
    try:
        from pubcheck.server.language_server import main
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.UsageError("the language server needs pygls: pip install 'pubcheck[lsp]'") from None
    return main(config_path)
