"""The arguments that say what is read and how, as `lint`, `explain` and `files` take them."""

from __future__ import annotations

import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.cli.app import NoInput, completes
from pubcheck.cli.lint_unit import ready
from pubcheck.config import ISOLATED, OPTIONS, Config, from_options, load
from pubcheck.discovery.file_inspector import CachedFileInspector, begins_as_json, opens_json
from pubcheck.discovery.file_types import STDIN, UNNAMED, DiscoveredUnit
from pubcheck.discovery.units import Discovery, discover_units
from pubcheck.source import escape

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from typing import Any, Self

    from click._termui_impl import ProgressBar

    from pubcheck.cli.process_pool import Workers
    from pubcheck.discovery.file_facts import Traits

together_option = click.option("--together", is_flag=True, help="All paths form one unit, in the order given.")
schema_option = click.option(
    "--schema",
    multiple=True,
    metavar="CONTEXT",
    shell_complete=completes("files"),
    help="A file or folder that is replayed before every unit, or a database or snapshot in whose state every unit"
    " begins. Findings about it are not reported. Repeatable.",
)
complete_option = click.option(
    "--complete/--no-complete",
    default=None,
    help="The input is a complete database: anything missing from it does not exist.",
)
postgres_option = click.option(
    "--postgres",
    metavar="MAJOR",
    help="PostgreSQL version to check.  [default: the last version in the configuration, the version in a pg_dump"
    " header, or 18]",
)
statement_size_option = click.option(
    "--max-statement-size",
    metavar="SIZE",
    help="Largest statement to read; a larger one is skipped and reported.  [default: 32M]",
)
_config_file_option = click.option(
    "--config",
    "config_path",
    metavar="FILE",
    shell_complete=completes("files"),
    help="Configuration file, instead of the nearest pubcheck.toml or pyproject.toml.",
)
_isolated_option = click.option(
    "--isolated", "config_path", flag_value=ISOLATED, help="Read no configuration file; use the defaults."
)


def config_option(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say which configuration file is read; the command gets a path, ``ISOLATED`` or None."""
    return _config_file_option(_isolated_option(command))


stdin_option = click.option(
    "--stdin-filename",
    metavar="NAME",
    default=UNNAMED,
    help="Treat standard input as the content of this file, in its migration history.",
)


consumer_option = click.option(
    "--consumer",
    "consumers",
    multiple=True,
    metavar="NAME",
    shell_complete=completes("consumers"),
    help="Check the publications against what this consumer demands, such as powersync or supabase-etl:bigquery;"
    " PUBLICATION=NAME for one publication. Repeatable.",
)


def _variables(_context: click.Context, _option: click.Parameter, assignments: tuple[str, ...]) -> dict[str, str]:
    variables = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not sign or not re.fullmatch(r"[^\x00-/:-@\[-^`{-\x7f]+", name):
            raise click.BadParameter(f"{assignment!r} is not NAME=VALUE")
        variables[name] = value
    return variables


variables_option = click.option(
    "-v",
    "--variable",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_variables,
    help="Set a psql variable, like psql -v. Repeatable.",
)


exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Skip these files of a folder too: a pattern as in .gitignore, relative to the current folder. Repeatable.",
)

force_exclude_option = click.option(
    "--force-exclude/--no-force-exclude",
    default=None,
    help="Skip files that the configuration excludes or Git ignores, even if they are given by name.",
)


def configuration(options: Mapping[str, object], path: str | None, variables: Mapping[str, str] = {}) -> Config:
    """Return the configuration in the file ``path``, or the nearest one, with the options of the command line that are
    given (neither None nor empty) in its place. Rules of `extend-select`, patterns of `exclude` and variables of psql
    are added. Raises ConfigError."""
    base = load(path=path)
    chosen = {key: value for key, value in options.items() if value not in (None, ())}
    config = from_options(chosen, base, where="--")
    if "extend-select" in chosen:
        config = replace(config, extend_select=base.extend_select + config.extend_select)
    if "exclude" in chosen:
        below = tuple(_relative_to(base.root, pattern) for pattern in config.exclude)
        config = replace(config, exclude=base.exclude + below)
    if variables:
        config = replace(config, variables=tuple({**dict(config.variables), **variables}.items()))
    return config


def _relative_to(root: str, pattern: str) -> str:
    """Return a pattern of .gitignore that is relative to the current folder, relative to ``root``."""
    folder = os.path.relpath(".", root or ".").replace(os.sep, "/")
    if folder == ".":
        return pattern
    escaped = re.sub(r"([\\*?\[])", r"\\\1", folder)
    negation, rest = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    depth = "" if "/" in rest.rstrip("/") else "**/"
    return f"{negation}/{escaped}/{depth}{rest.removeprefix('/')}"


class Inputs(Struct, frozen=True):
    """What a command reads: paths and context files, with the configuration.

    ``majors``: the command line names the majors, so those of units in the configuration are ignored.
    """

    config: Config
    paths: tuple[str, ...] = ()
    together: bool = False
    schema: tuple[str, ...] = ()
    stdin_filename: str = UNNAMED
    majors: bool = False


_Command = Callable[..., int]


def configured(command: _Command) -> _Command:
    """Give a command its configuration, as ``config``, instead of the options that change it."""

    @wraps(command)
    def run(**options: Any) -> int:
        return command(config=_configuration_of(options), **options)

    return run


def reads_units(*, one_major: bool = False) -> Callable[[_Command], _Command]:
    """Give a command its ``inputs`` instead of the options about them and the configuration."""

    def decorated(command: _Command) -> _Command:
        @wraps(command)
        def run(**options: Any) -> int:
            majors = options.get("postgres") is not None
            config = _configuration_of(options)
            if one_major and majors and len(config.postgres) > 1:
                name = click.get_current_context().info_name
                raise click.UsageError(f"--postgres: {name} takes one version at a time")
            fields = {field: options.pop(field) for field in Inputs.__struct_fields__ if field in options}
            return command(Inputs(config, majors=majors, **fields), **options)

        return run

    return decorated


def _configuration_of(options: dict[str, Any]) -> Config:
    """Take the options that change the configuration out of those of a command, and return it."""
    # --baseline is relative to the current folder, and not to that of the configuration: `lint` reads it itself.
    changes = {key: options.pop(field) for key, field in OPTIONS.items() if key in _CHANGES and field in options}
    return configuration(changes, options.pop("config_path"), options.pop("variables", {}))


_CHANGES = OPTIONS.keys() - {"baseline", "variables"}


def units_to_read(inputs: Inputs, workers: Workers | None = None) -> list[DiscoveredUnit]:
    """Return the units to read. Raises NoInput if there is no unit."""
    discovery = discover(inputs, workers)
    if not discovery.units:
        raise NoInput(no_input(discovery, inputs.paths))
    return discovery.units


def require_inputs(*paths: str) -> None:
    """Raise NoInput for an argument that is neither standard input, nor a file or folder, nor a database."""
    for path in paths:
        if path != STDIN and not os.path.exists(path):
            from pubcheck.live.connect import is_connection

            if not is_connection(path):
                raise NoInput(f"no input: there is no {path}")


def no_input(discovery: Discovery, paths: tuple[str, ...]) -> str:
    """Return the message for a run without input."""
    return f"no input: {'; '.join(skipped_messages(discovery.skipped)) or 'no .sql file under ' + ', '.join(paths)}"


def skipped_messages(skipped: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a message per reason for paths that are given by name and skipped."""
    reasons: dict[str, list[str]] = {}
    for label, why in skipped:
        reasons.setdefault(why, []).append(label)
    for why, labels in reasons.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        yield f"{escape(labels[0])}{more} skipped: {why}"


def discover(inputs: Inputs, workers: Workers | None = None, *, quiet: bool = False) -> Discovery:
    """Return the units to read as ``units_to_read`` has them, and the files that are skipped. Without paths, the units
    that the configuration names, else the current folder."""
    config, paths, schema, stdin_filename = inputs.config, inputs.paths, inputs.schema, inputs.stdin_filename
    if not paths:
        paths = (os.path.relpath(config.root or "."),) if config.units else (".",)
    if "" in (*paths, *schema):
        raise click.UsageError("a PATH is empty; is a shell variable not set?")
    if STDIN in paths and STDIN in schema:
        raise click.UsageError("standard input cannot be both a PATH and --schema")
    if stdin_filename not in (UNNAMED, STDIN) and STDIN not in (*paths, *schema):
        raise click.UsageError("--stdin-filename names standard input: give - as PATH")
    stdin = _standard_input() if STDIN in (*paths, *schema) else None
    if inputs.majors and config.units:
        config = replace(config, units=tuple(replace(unit, postgres=()) for unit in config.units))
    with _Progress(shown=not quiet and sys.stderr.isatty()) as progress:
        disk: CachedFileInspector = _WatchedDisk(progress)
        if workers is not None and workers.jobs > 1 and any(map(os.path.isdir, paths)):
            workers.start()
            disk = _SharedDisk(workers, progress)

        def units_of(paths: tuple[str, ...], schema: tuple[str, ...], *, alone: bool = False) -> Discovery:
            return discover_units(
                paths,
                config,
                together=inputs.together,
                schema=schema,
                stdin=stdin,
                stdin_label=stdin_filename,
                disk=disk,
                alone=alone,
            )

        texts = (*paths, *schema)
        if not opens_json(stdin or b"") and not any(
            "=" in text or "://" in text or text.endswith(".json") or begins_as_json(text) for text in texts
        ):
            return units_of(paths, schema)
        from pubcheck.cli.databases import with_listings

        return with_listings(
            paths,
            schema,
            partial(units_of, alone=bool(schema)),
            stdin=stdin,
            together=inputs.together,
            majors=config.postgres if inputs.majors else (),
        )


def _standard_input() -> bytes:
    """Return the content of standard input. Raises NoInput if it is empty or closed, because the command before the
    pipe probably failed, and a check of nothing must not succeed. Blank lines count as empty (`echo "$SQL" |`),
    comments do not: somebody wrote them. A file given by name may be empty: that it exists was checked."""
    try:
        content = sys.stdin.buffer.read()
    except OSError as error:
        raise NoInput(f"no input: standard input cannot be read: {error.strerror}") from None
    if not content.removeprefix(BOM_UTF8).strip():
        raise NoInput("no input: standard input is empty or closed; did the command before the pipe fail?")
    return content


_MANY = 500
"""Files from which on it is quicker to have them opened by several processes."""
_PORTION = 200
_MAX_SENT_BYTES = 1 << 20
"""Bytes of contents that a process sends back for a portion."""


class _Progress:
    """The progress on a terminal while a large folder is read: how many entries were listed, then how many of the
    candidate files were read."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._listed = self._next = 0
        self._bar: ProgressBar[int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._end_listing()
        if self._bar is not None:
            self._bar.render_finish()

    def _end_listing(self) -> None:
        if self._next:
            click.echo(err=True)  # what follows has a line of its own
        self._listed = self._next = 0

    def list(self, number: int) -> None:
        self._listed += number
        if self._shown and self._listed >= self._next + _MANY:
            self._next = self._listed
            click.echo(f"\rListing  {self._listed:,} files and folders", nl=False, err=True)

    def expect(self, number: int) -> None:
        self._end_listing()
        if self._shown and number >= _MANY:
            self.__exit__()
            self._bar = click.progressbar(
                length=number, label="Reading", file=sys.stderr, show_eta=False, update_min_steps=number // 100
            )
            self._bar.render_progress()

    def advance(self, number: int) -> None:
        if self._bar is not None:
            self._bar.update(number)


class _WatchedDisk(CachedFileInspector):
    """Shows how many of the many files of a folder were opened."""

    def __init__(self, progress: _Progress) -> None:
        super().__init__(progress.advance)
        self._progress = progress

    def listed(self, number: int) -> None:
        self._progress.list(number)

    def expect(self, paths: Sequence[str]) -> None:
        self._progress.expect(len(paths))


class _SharedDisk(_WatchedDisk):
    """Opens the many files of a folder in several processes."""

    def __init__(self, workers: Workers, progress: _Progress) -> None:
        super().__init__(progress)
        self._workers = workers

    def expect(self, paths: Sequence[str]) -> None:
        super().expect(paths)
        if len(paths) < _MANY:
            return
        portions = [paths[start : start + _PORTION] for start in range(0, len(paths), _PORTION)]
        for portion, facts in zip(portions, self._workers.map(_looked_at, portions, _looked_at), strict=True):
            self.know(portion, _decoded(facts))
            self._progress.advance(len(portion))
        self._workers.prepare(ready)


def _looked_at(paths: Sequence[str]) -> bytes:
    """Return the traits of files, and the contents of some that may be read."""
    disk = CachedFileInspector(room=_MAX_SENT_BYTES)
    return msgspec.msgpack.encode([(disk.traits(path), disk.contents.get(path)) for path in paths])


def _decoded(facts: bytes) -> tuple[tuple[Traits, bytes | None], ...]:
    from pubcheck.discovery.file_facts import Traits

    return msgspec.msgpack.decode(facts, type=tuple[tuple[Traits, bytes | None], ...])
