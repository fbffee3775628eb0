"""`pubcheck snapshot`: the catalogs of a database as a file."""

from __future__ import annotations

import click

from pubcheck.cli.app import Command, NoInput
from pubcheck.cli.databases import taken, with_statistics
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.live import document
from pubcheck.live.connect import is_connection


@click.command(
    cls=Command,
    short_help="Write the catalogs of a database to a file.",
    epilog="""\b
Examples:
  pubcheck snapshot postgresql://db.example.com/shop -o shop.json
  pubcheck snapshot service=shop > shop.json
  pubcheck lint --schema shop.json migrations/0042.sql

\b
Exit status: 0; 2 bad arguments, or the database cannot be read.""",
)
@click.argument("database", metavar="DATABASE")
@output_option
@click.option(
    "--statistics",
    is_flag=True,
    help="Add the share of rows that each row filter publishes, and the counters of tables with REPLICA IDENTITY FULL."
    " No value of a table is written.",
)
def command(database: str, output: str | None, statistics: bool) -> int:
    """Write a snapshot of a database: its schemas, tables, publications and all else that `lint` reads, without data
    and passwords.

    DATABASE is a connection string of libpq, such as postgresql://host/db, service=shop or "host=db dbname=shop".
    Everything is read in one read-only transaction. A snapshot has one object a line, in a fixed order.
    """
    if not is_connection(database):
        # Its text is not shown: a misspelled connection string may hold a password.
        raise NoInput("DATABASE is not a connection string, such as postgresql://host/db or service=name")
    _, snapshot = taken(database, facts=statistics)
    if statistics:
        snapshot = with_statistics(snapshot)
    text = document.encode(snapshot).decode()
    return write_output(output, [text], for_people=False)
