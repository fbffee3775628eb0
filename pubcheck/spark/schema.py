"""The tables that an audit writes: every column with what it means. Columns are added, never renamed or retyped.

A table is Parquet under DIR/<table>/run=<id>/attempt=<attempt>/; each start of a run is an attempt. A run exists once
DIR/runs/ holds its row (see `runs`). The types are Arrow's, which the workers fill; `ddl` says them in Spark's words.
"""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
from msgspec import Struct

from pubcheck.diagnostics import SEVERITIES
from pubcheck.findings import Entry


class Column(Struct, frozen=True):
    name: str
    type: pa.DataType
    description: str


_TEXT, _INT, _LONG, _FLAG, _REAL = pa.string(), pa.int32(), pa.int64(), pa.bool_(), pa.float64()
_TIME = pa.timestamp("us", tz="UTC")


def _struct(columns: tuple[Column, ...]) -> pa.DataType:
    return pa.struct([(column.name, column.type) for column in columns])


_UNIT_KEY = (
    Column(
        "repository",
        _TEXT,
        "the repository, as its folder or --repo-column names it; a backslash in a folder's name is doubled, and bytes"
        " that are not valid UTF-8 are written as \\xff",
    ),
    Column(
        "unit", _TEXT, "the unit in the repository: the folder of its files, or its first file where that is shared"
    ),
)


def _type_of(annotation: Any) -> pa.DataType:
    """Return the Arrow type of a field: a Struct is a struct, a tuple a list, and a Literal text."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return pa.list_(_type_of(parts[0]))
    if origin in (Union, UnionType):
        return _type_of(parts[0])
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return pa.struct([(name, _type_of(of)) for name, of in get_type_hints(annotation).items()])
    return {int: _INT, bool: _FLAG}.get(annotation, _TEXT)


def _fields(record: type[Struct], **descriptions: str) -> tuple[Column, ...]:
    """Return columns of the fields of a record, with their descriptions."""
    types = get_type_hints(record)
    return tuple(Column(name, _type_of(types[name]), description) for name, description in descriptions.items())


DIAGNOSTIC = (
    *_fields(
        Entry,
        rule="code of the rule",
        name="name of the rule",
        phase="ddl, write, subscribe or silent",
        severity="note, warning or error",
        certainty="certain or assumed",
        postgres="majors for which it holds",
        message="what is wrong",
        help="what to do",
        path="file, as `pubcheck lint` prints it",
        line="1-based",
        column="1-based, in code points",
        end_line="1-based",
        end_column="exclusive",
        related="other places that it refers to",
        statement="the statement it is about, counted from 0 in its file",
        object="the relation that the server names",
        publication="the publication at fault",
        publications="all publications at fault; only one for a refused write, which has a row for each cause",
        operation="insert, update, delete or truncate",
        server="the ERROR that a server raises",
        notices="its NOTICEs and WARNINGs",
        fixes="fixes",
        url="the page of the rule",
        after="for a refused write: the first causes that the server reports before this one, in its order",
        after_count="the number of these causes; 0 for the answer that the server gives now",
        assumptions="what an assumed finding rests on, the first few",
        consumer="the claim about a consumer that it rests on, with its evidence and source",
    ),
    Column("fingerprint", _TEXT, "identifies the finding across runs, even if its line changes"),
    Column("owners", pa.list_(_TEXT), "of its file, as the CODEOWNERS of the repository says"),
)
"""A finding: the fields of the JSON document (`pubcheck/report/schema.json`), its fingerprint and its
owners."""

FINDINGS = (*_UNIT_KEY, *DIAGNOSTIC)
"""`findings`: a row a diagnostic."""

PUBLISHED = (
    Column("publication", _TEXT, "its name"),
    Column("table", _TEXT, "schema.table: an ordinary table, or a leaf partition; null where there is none"),
    Column("operation", _TEXT, "insert, update, delete or truncate; null for what is never sent"),
    Column("postgres", pa.list_(_INT), "majors for which it holds"),
    Column(
        "verdict",
        _TEXT,
        "sent; filtered (rows that match); refused (on the publisher); not-sent; empty (a publication that publishes"
        " nothing); null for an update or delete if the rules that decide it were not selected",
    ),
    Column("certainty", _TEXT, "certain or assumed"),
    Column("how", _TEXT, "named as a table, by its schema, or with all tables"),
    Column("named", _TEXT, "the ancestor that the publication names"),
    Column("arrives_as", _TEXT, "the table under whose name changes are published, null for its own"),
    Column("filter", _TEXT, "the row filter, as written"),
    Column("canonical_filter", _TEXT, "the same in sqlglot's canonical form"),
    Column("filter_columns", pa.list_(_TEXT), "columns that it reads"),
    Column("columns", pa.list_(_TEXT), "columns that are published, null for all"),
    Column("left_out", pa.list_(_TEXT), "columns that are not published"),
    Column("identity", _TEXT, "kind of replica identity"),
    Column("identity_columns", pa.list_(_TEXT), "its columns"),
    Column("rule", _TEXT, "rule of a refusal"),
    Column("sqlstate", _TEXT, "the server's, of a refusal"),
    Column("message", _TEXT, "the server's message for the first refused table; or why a table is not published"),
    Column("path", _TEXT, "file of the publication"),
    Column("line", _INT, "and the line"),
    Column("names", _TEXT, "what the publication names: tables, schemas, tables and schemas, all tables, or empty"),
    Column("publish", pa.list_(_TEXT), "the operations that it publishes"),
    Column("via_root", _FLAG, "its publish_via_partition_root"),
    Column("generated_columns", _TEXT, "its publish_generated_columns: none or stored"),
)
PUBLICATIONS = (*_UNIT_KEY, *PUBLISHED)
"""`publications`: a row for each publication, table and operation, as `pubcheck explain` says. Publications that a
context file of the unit creates have their rows where that file is not context."""

UNITS = (
    *_UNIT_KEY,
    Column("status", _TEXT, "linted, nothing-to-lint or quarantined"),
    Column("reason", _TEXT, "why it is quarantined (see `quarantine`)"),
    Column("carried", _FLAG, "whether its findings are those of the run given by --since"),
    Column("fingerprint", _TEXT, "of its files, pubcheck, the rules and the configuration: equal, so are the findings"),
    Column("files", _LONG, "files of the input; the sum of the next three counts"),
    Column("files_linted", _LONG, "read and linted"),
    Column("files_nothing_to_lint", _LONG, "of a repository that is not about publications"),
    Column("files_quarantined", _LONG, "of a quarantined unit, or themselves quarantined"),
    Column("bytes", _LONG, "of its files"),
    Column("postgres", pa.list_(_INT), "majors checked"),
    Column("statements", _LONG, "statements in them"),
    Column("errors", _LONG, "findings of severity error"),
    Column("warnings", _LONG, "findings of severity warning"),
    Column("notes", _LONG, "findings of severity note"),
    Column("seconds", _REAL, "that linting took"),
)
"""`units`: a row a unit, whatever became of it."""

QUARANTINE = (
    *_UNIT_KEY,
    Column(
        "path",
        _TEXT,
        "the file: quarantined on its own, or with its unit; null for the unit itself, and for a row without a path",
    ),
    Column(
        "reason",
        _TEXT,
        "unreadable, not-text, too-large, duplicate (a path twice in a repository), not-postgresql (written for another"
        " database, or most statements cannot be read; findings are kept), time-out, memory, crashed or internal-error"
        " (what else was found is kept)",
    ),
    Column("detail", _TEXT, "for people"),
    Column("trace", _TEXT, "the traceback of an internal error, the fault handler's of a crash"),
)
"""`quarantine`: a row a quarantined unit, and a row a quarantined file, also one whose unit is."""

REPOSITORIES = (
    _UNIT_KEY[0],
    Column(
        "state",
        _TEXT,
        "of its files, pubcheck, the rules, the configuration and the size limits: if it is equal, so are the findings."
        " For files in folders it covers names, sizes, times and inodes; null if a file is so new that a later change"
        " could go unnoticed",
    ),
    Column("files", _LONG, "files of the input in it"),
    Column("files_apart", _LONG, "those that are in no unit"),
    Column("files_apart_quarantined", _LONG, "and are quarantined"),
)
"""`repositories`: a row a repository of the input."""

RESULTS = {
    "findings": FINDINGS,
    "publications": PUBLICATIONS,
    "units": UNITS,
    "quarantine": QUARANTINE,
    "repositories": REPOSITORIES,
}
"""The tables that hold what a run found, by name."""

SURVEY = (
    Column("subject", _TEXT, "features, outcomes, rules or consumers"),
    Column("item", _TEXT, "such as row filter"),
    Column("kind", _TEXT, "what is counted, such as publications"),
    Column("count", _LONG, "how many of them are as `item` says"),
    Column("whole", _LONG, "of how many"),
    Column("share", _REAL, "their share"),
    Column("low", _REAL, "the lower bound of its interval of 95 percent (Wilson)"),
    Column("high", _REAL, "and the upper bound"),
)
"""`survey`: with --survey, a row a share."""

METRICS = (
    Column("metric", _TEXT, "what was counted"),
    Column("value", _REAL, "how much"),
)
"""`metrics`: a row a number of the run."""

RUNS = (
    Column("run", _TEXT, "its id"),
    Column("started", _TIME, ""),
    Column("finished", _TIME, ""),
    Column("pubcheck", _TEXT, "version"),
    Column("spark", _TEXT, "version"),
    Column("input", _TEXT, "where files were read from"),
    Column("since", _TEXT, "the run that unchanged units were carried over from"),
    Column("ruleset", _TEXT, "fingerprint of pubcheck, the rules and the configuration"),
    Column("config", _TEXT, "the configuration as JSON"),
    Column(
        "state",
        _TEXT,
        "of all its repositories (see `repositories`): equal, so is the whole input; null where something may be"
        " otherwise next time",
    ),
    Column("largest_file", _LONG, "bytes that a file could have"),
    Column("largest_unit", _LONG, "bytes that a unit could have"),
    Column("summary", _TEXT, "its metrics, findings by rule and quarantined units and files by reason, as JSON"),
    Column("attempt", _TEXT, "the folder in each table that holds its rows; of several rows of a run the last counts"),
)
"""`runs`: the row that makes a run exist."""

# What passes between the steps of the job.

PLACES = (
    Column("name", _TEXT, "of the repository"),
    Column("path", pa.binary(), "its folder"),
    Column("into", _FLAG, "whether the folders in it are part of it"),
)
"""Repositories whose files are not listed yet."""
LISTING = (
    *REPOSITORIES[:3],
    Column("cost", _LONG, "of linting all of it: costs.cost"),
    Column("tops", pa.list_(pa.binary()), "folders in it that git watches over by themselves"),
    Column("included", pa.list_(pa.binary()), "files that the configuration includes"),
    Column("linked", _FLAG, "whether one of its files is a link"),
    Column("root", pa.binary(), "its folder"),
    *PLACES[1:],
    Column("members", pa.binary(), "its files, encoded: unit_discovery.encode_files; null if they are not listed yet"),
)
"""Repositories in folders."""
FILES = (
    _UNIT_KEY[0],
    Column("path", _TEXT, "label of the file"),
    Column("digest", _TEXT, "SHA-256 of the content; for a file that was not read, its size or the error"),
    Column("problem", _TEXT, "why it cannot be read"),
    Column("size", _LONG, "bytes"),
    Column("may_publish", _FLAG, "whether anything may be reported about it"),
    Column("fate", _TEXT, "unreadable, too-large, or what became of the process that looked at it"),
    Column("detail", _TEXT, "for people"),
    Column("trace", _TEXT, "of the process that looked at it"),
    Column("traits", pa.binary(), "what of its content decides where it belongs: discovery.file_facts.Traits"),
    Column("names", pa.binary(), "discovery.object_names.Names"),
    Column("owners", pa.binary(), "the content of a CODEOWNERS; else null"),
)
"""Files that are rows of a table, without their contents."""
MEMBER = (
    Column("path", _TEXT, "label of the file"),
    Column("location", pa.binary(), "the file's name for the system, null where the content comes with a table"),
    Column("view", _TEXT, "how its text becomes SQL"),
    Column("problem", _TEXT, "why it is known already that it cannot be read"),
    Column("context", _FLAG, "whether another unit has it, and this one only follows it"),
    Column("sometime", _FLAG, "whether it is not known when it is run"),
    Column("app", _TEXT, "the label of its application of Django as apps.py gives it, empty where that computes it"),
    Column("fate", _TEXT, "duplicate, or as of SCANNED"),
    Column("detail", _TEXT, "for people"),
    Column("trace", _TEXT, ""),
    Column("digest", _TEXT, ""),
    Column("owners", pa.list_(_TEXT), "as CODEOWNERS says"),
)
EXAMINED = (
    *_UNIT_KEY,
    Column("convention", _TEXT, "by which the unit was found"),
    Column("majors", pa.list_(_INT), "that its files name, as Supabase's configuration does; else empty"),
    Column("platform", _TEXT, "that its repository shows, where its files are rows of a table"),
    Column("files", _LONG, ""),
    Column("bytes", _LONG, ""),
    Column("cost", _LONG, "of linting it: costs.cost"),
    Column("fingerprint", _TEXT, "as of UNITS"),
    Column("step", _TEXT, "what is, or was, done with it: unit_row.Step"),
    Column("reason", _TEXT, "why it cannot be linted"),
    Column("why", _TEXT, "the same for people"),
    Column("set_aside", _LONG, "files that are quarantined by themselves, for what was known before linting"),
    Column(
        "members",
        pa.list_(_struct(MEMBER)),
        "its files in their order, with its context; of a unit that need not be linted, or was and is not"
        " quarantined, only those of its own that have a fate",
    ),
    Column("findings", pa.binary(), "its rows of that table, encoded; empty like all that follows until it is linted"),
    *(Column(f"{severity}s", _LONG, "findings of that severity") for severity in reversed(SEVERITIES)),
    Column("published", pa.binary(), "its rows of the table `publications`, encoded"),
    Column("quarantine", pa.list_(_struct(QUARANTINE[2:])), "rows of that table"),
    Column("unread", _LONG, "files that were left out"),
    Column("postgres", pa.list_(_INT), ""),
    Column("statements", _LONG, ""),
    Column("seconds", _REAL, ""),
    Column("failed", _TEXT, "why the unit is quarantined, null when it was linted"),
)
"""A unit from its discovery to the tables: `unit_row.UnitRow`. For each repository that has files outside units there
is a row without a unit.

Rows of tables are encoded because Spark handles each column of a row inside a row separately, in each task: it writes
code for it, and converts, keeps and reads it. `worker.unpack` decodes them where the table is written."""
CONTENTS = (
    *_UNIT_KEY,
    Column("ordinal", _INT, "place of the file among the unit's members; -1 in the row that holds the unit"),
    Column("row", _struct(EXAMINED), "the unit"),
    Column("content", pa.binary(), "of the file"),
)
"""Units with the contents of their files, where they come with a table."""


def arrow(columns: tuple[Column, ...]) -> pa.Schema:
    """Return columns as an Arrow schema."""
    return pa.schema([(column.name, column.type) for column in columns])


def ddl(columns: tuple[Column, ...]) -> str:
    """Columns as a schema in Spark's words, such as `rule STRING, line INT`."""
    return ", ".join(f"`{column.name}` {_spark(column.type)}" for column in columns)


def quoted(name: str) -> str:
    """Return a column's name as Spark's expressions have it."""
    return "`" + name.replace("`", "``") + "`"


_SPARK = {
    _TEXT: "STRING",
    _INT: "INT",
    _LONG: "BIGINT",
    _FLAG: "BOOLEAN",
    _REAL: "DOUBLE",
    _TIME: "TIMESTAMP",
    pa.binary(): "BINARY",
}


def _spark(arrow_type: pa.DataType) -> str:
    if pa.types.is_list(arrow_type):
        return f"ARRAY<{_spark(arrow_type.value_type)}>"
    if pa.types.is_struct(arrow_type):
        return f"STRUCT<{', '.join(f'`{field.name}`: {_spark(field.type)}' for field in arrow_type)}>"
    return _SPARK[arrow_type]
