"""Tables that migration tools make for themselves and give no key: updates and deletes of a publication stop the tool.

Of a tool the releases are meant that are named, otherwise all since its table has had these columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.checks.context import RuleContext, RuleFinding, finds, listed
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog import PUBLIC
from pubcheck.postgres.catalog.rows import Publication, Relation
from pubcheck.postgres.tokens import identifier


class Tool(Struct, frozen=True):
    """``table`` is the table's name, its case does not count; ``columns`` it has at least. ``writes`` says when
    the tool changes its rows. ``mark``: how a source shows that the tool runs it; None where nothing does. ``words``
    are in every text that has the mark, for looking for them is what a large text can bear.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    writes: str
    mark: re.Pattern[str] | None = None
    words: str = ""

    def runs(self, text: str) -> bool:
        return self.mark is not None and self.words in text and self.mark.search(text) is not None


TOOLS = (
    Tool(
        "Liquibase",
        "databasechangelog",
        ("md5sum", "orderexecuted"),
        "it UPDATEs the row of a changeset that runs again, and DELETEs that of one that is rolled back",
        lazy_compile(r"\A\s*--\s*liquibase formatted sql", re.IGNORECASE),
    ),
    Tool(
        "an older tern",
        "schema_version",
        ("version",),
        "it UPDATEs the one row with every migration",
        lazy_compile(r"^---- create above / drop below ----$", re.MULTILINE),
        "---- create above / drop below ----",
    ),
    Tool(
        "FluentMigrator",
        "VersionInfo",
        ("version", "appliedon"),
        "it DELETEs the row of a migration that is undone",
        lazy_compile(r"^\s*using FluentMigrator\s*;", re.MULTILINE),
        "using FluentMigrator",
    ),
    Tool(
        "a Rails before 5.0",
        "schema_migrations",
        ("version",),
        "it DELETEs the row of a migration that is undone; its unique index may serve: unique_schema_migrations",
    ),
    Tool(
        "Sequel's IntegerMigrator",
        "schema_info",
        ("version",),
        "it UPDATEs the one row with every migration",
    ),
    Tool(
        "Rambler",
        "migrations",
        ("migration",),
        "it DELETEs the row of a migration that is reversed",
        lazy_compile(r"^-- rambler (?:up|down)\b", re.MULTILINE),
        "-- rambler ",
    ),
    Tool(
        "an older Laravel",
        "migrations",
        ("migration", "batch"),
        "it DELETEs the row of a migration that is rolled back",
    ),
    Tool(
        "TypeORM",
        "typeorm_metadata",
        ("type", "name", "value"),
        "it DELETEs the row of a view or a generated column that changes",
        lazy_compile(r"\b(?:INTO|FROM)\s+\"typeorm_metadata\""),
        "typeorm_metadata",
    ),
)

_JOIN_TABLE = "it is Prisma's table of an implicit many-to-many relation, which before Prisma 6 has a unique index only"


def maker(relation: Relation) -> str | None:
    """Return the tool that a keyless table belongs to, by its name and columns, and when it writes rows."""
    names = {column.name.lower() for column in relation.live()}
    for tool in sorted(TOOLS, key=lambda tool: -len(tool.columns)):
        if relation.name.lower() == tool.table.lower() and names.issuperset(tool.columns):
            return f"it looks like the table of {tool.name}: {tool.writes}"
    if relation.name.startswith("_") and {column.name for column in relation.live()} == {"A", "B"}:
        return _JOIN_TABLE
    return None


@finds("PUB813")
def tables_to_come(context: RuleContext) -> Iterator[RuleFinding]:
    """A publication that takes in every table next to the marks of a tool whose own table has no key."""
    taking = [
        row for row in context.catalog.publications.values() if (row.update or row.delete) and _takes(context, row)
    ]
    if not taking:
        return
    held = {row.name.lower() for row in context.catalog.relations.values() if row.kind == "r"}
    for tool in TOOLS:
        if tool.table.lower() in held or not any(map(tool.runs, context.texts)):
            continue
        for publication in taking:
            place = context.place_of(publication)
            if place is None:
                continue
            operations = listed([name.upper() for name in ("update", "delete") if getattr(publication, name)])
            yield RuleFinding(
                rule="PUB813",
                message=f'publication "{publication.name}" includes the table {tool.table}, which {tool.name} creates '
                f"without a key: {operations} of it will be refused",
                help=f"{tool.writes}; ALTER TABLE {identifier(tool.table)} REPLICA IDENTITY FULL, which costs "
                "little for such a small table; or list the tables to publish",
                place=place,
                certain=False,
                assumptions=(f"whether {tool.name} creates {tool.table}",),
                publications=(publication.name,),
            )


def _takes(context: RuleContext, publication: Publication) -> bool:
    """Return whether a table that is made later in the schema public is published."""
    return publication.all_tables or (publication.oid, PUBLIC) in context.catalog.schema_members
