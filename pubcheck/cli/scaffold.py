"""`pubcheck scaffold`: the statements of a publication that satisfies a consumer."""

from __future__ import annotations

import click

from pubcheck.cli.app import FOUND, Command, completes
from pubcheck.cli.input_options import (
    Inputs,
    config_option,
    configuration,
    schema_option,
    statement_size_option,
    stdin_option,
    units_to_read,
    variables_option,
)
from pubcheck.cli.output_files import output_option, write_output


@click.command(
    cls=Command,
    short_help="Write a publication that satisfies a consumer.",
    epilog="""\b
Examples:
  pubcheck scaffold --consumer powersync schema.sql
  pubcheck scaffold --consumer supabase-etl:bigquery --tables 'app.*' schema.sql
  pg_dump -s shop | pubcheck scaffold --consumer zero --publication zero_data -

\b
Exit status: 0 the statements were written; 1 no publication can satisfy the
consumer, with the reasons on stderr; 2 bad arguments or configuration, no
input, or an internal error.""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completes("files"))
@click.option(
    "--consumer",
    required=True,
    metavar="NAME",
    shell_complete=completes("consumers"),
    help="The consumer, such as powersync or supabase-etl:bigquery.",
)
@click.option(
    "--tables",
    multiple=True,
    metavar="PATTERN",
    help="The tables to publish, such as orders or 'app.*'. Repeatable.  [default: all]",
)
@click.option("--publication", default="", metavar="NAME", help="Name of the publication.")
@click.option(
    "--postgres", metavar="MAJOR", help="PostgreSQL version.  [default: the version in a pg_dump header, or 18]"
)
@schema_option
@variables_option
@statement_size_option
@stdin_option
@config_option
@output_option
def command(
    paths: tuple[str, ...],
    consumer: str,
    tables: tuple[str, ...],
    publication: str,
    postgres: str | None,
    schema: tuple[str, ...],
    variables: dict[str, str],
    max_statement_size: str | None,
    stdin_filename: str,
    config_path: str | None,
    output: str | None,
) -> int:
    """Write CREATE PUBLICATION and ALTER TABLE statements that satisfy a consumer, for a schema.

    The statements are checked before they are written: pubcheck lints them after the schema. Tables that cannot satisfy
    the consumer are left out, with the reason in a comment.
    """
    config = configuration(
        {"postgres": postgres, "consumer": (consumer,), "max-statement-size": max_statement_size},
        config_path,
        variables,
    )
    if len(config.postgres) > 1 and postgres is not None:
        raise click.UsageError("--postgres: scaffold takes one version at a time")
    units = units_to_read(Inputs(config, paths, together=True, schema=schema, stdin_filename=stdin_filename))
    from pubcheck.lint_files import read_files
    from pubcheck.scaffold import scaffold

    _, unit = read_files(units[0], config)
    result = scaffold(unit, config.consumers[0], tables, config, publication)
    if result.problems:
        for problem in result.problems:
            click.echo(f"pubcheck: {problem}", err=True)
        for name, reason in result.left_out:
            click.echo(f"pubcheck: {name} is left out: {reason}", err=True)
        return FOUND
    return write_output(output, [result.sql()], for_people=False)
