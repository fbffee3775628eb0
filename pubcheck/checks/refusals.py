"""What refusals say to people: the server's answer in plain words, and an action.

The server's own words stand beside these in every report, so a headline repeats them only where they are plain enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.scan import tokens


class Words(Struct, frozen=True):
    """How one answer of the server is told.

    ``answer``: a pattern that the whole of message and DETAIL (after a line feed) matches. In ``headline`` and ``help``
    stand its groups by name, ``{name:sql}`` as an identifier in SQL, and the fields of `_fields`.
    """

    answer: str
    headline: str
    help: str | None = None


class _Name(str):
    """A name out of an answer; formatted with ``sql`` it is quoted where SQL needs it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return _identifier(self) if spec == "sql" else str(self)


_RESERVED = (
    " all analyse analyze and any array as asc both case cast check collate column constraint create default desc "
    "distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral "
    "leading limit not null offset on only or order placing primary references returning select session_user some "
    "symmetric table then to trailing true union unique user using variadic when where window with "
)
"""The reserved words that could be somebody's name for a table or a column (src/include/parser/kwlist.h)."""


def _identifier(name: str) -> str:
    if re.fullmatch(r"[a-z_][a-z0-9_$]*", name) and f" {name} " not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _qualified(name: str) -> str:
    return ".".join(_identifier(part) for part in name.split(".", 1))


def explain(error: ServerError) -> tuple[str, str | None]:
    """Headline and help for a refusal. An answer that has no words of its own is told in the server's."""
    answer = error.message if error.detail is None else f"{error.message}\n{error.detail}"
    for words in WORDS.get(error.rule or "", ()):
        match = re.fullmatch(words.answer, answer, re.DOTALL)
        if match is not None:
            fields = _fields(error)
            fields.update((key, _Name(value or "")) for key, value in match.groupdict().items())
            return words.headline.format_map(fields), words.help and words.help.format_map(fields)
    return f"PostgreSQL refuses this statement: {error.message}", None


def _fields(error: ServerError) -> dict[str, str]:
    """What every text may use: with names where the error knows them, in general terms where it does not."""
    publication, relation = error.publication, error.relation
    return {
        "message": error.message,
        "publication": "the publication" if publication is None else f'publication "{publication}"',
        "table": "the table" if relation is None else f'"{relation}"',
        "alter_publication": f"ALTER PUBLICATION {'...' if publication is None else _identifier(publication)}",
        "alter_table": f"ALTER TABLE {'...' if relation is None else _qualified(relation)}",
    }


_QUALIFY = "check the spelling and the schema, and that what makes it comes before this statement"
_MAKE_ROOT = "WITH (publish_via_partition_root = true)"
_LIST = r'cannot use column list for relation "(?P<relation>.*)" in publication "(?P<name>.*)"\n'
_ADD_RELATION = r'cannot add relation "(?P<relation>.*)" to publication\n.*'
_INDEX = "choose a unique index over NOT NULL columns that is neither partial, deferrable nor over an expression"

WORDS: Mapping[str, tuple[Words, ...]] = {
    # Statements.
    "syntax-error": (Words(r".*", "PostgreSQL cannot read this statement: {message}"),),
    "bad-object-list": (
        Words(
            r".*",
            "the list does not say whether its names are tables or schemas",
            "write TABLE or TABLES IN SCHEMA before the first name",
        ),
    ),
    "continuation-kind": (
        Words(
            r"invalid schema name",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, whose name has no dot",
            "write TABLE before it if it is a table",
        ),
        Words(
            r"WHERE clause not allowed for schema",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, which takes no row filter",
            "write TABLE before it if it is a table; a schema's tables are filtered one by one",
        ),
        Words(
            r"column specification not allowed for schema",
            "this entry follows TABLES IN SCHEMA, so it is read as a schema, which takes no column list",
            "write TABLE before it if it is a table; a column list cannot stand beside a schema at all",
        ),
        Words(
            r"invalid table name",
            "CURRENT_SCHEMA follows a table, so it is read as a table",
            "write TABLES IN SCHEMA before it",
        ),
    ),
    "publication-exists": (
        Words(
            r'publication "(?P<name>.*)" already exists',
            'there is a publication "{name}" already',
            "take another name, or DROP PUBLICATION {name:sql} first, or change it with ALTER PUBLICATION {name:sql}",
        ),
    ),
    "publication-undefined": (
        Words(
            r'publication "(?P<name>.*)" does not exist',
            'there is no publication "{name}"',
            "check the spelling (names without quotes are folded to lower case) and the order of the statements",
        ),
    ),
    # Relations and schemas.
    "relation-missing": (
        Words(r'relation "(?P<name>.*)" does not exist', 'there is no table "{name}"', _QUALIFY),
        Words(r'schema "(?P<name>.*)" does not exist', 'there is no schema "{name}"', _QUALIFY),
        Words(
            r'cross-database references are not implemented: "(?P<name>.*)"',
            '"{name}" names a table of another database, and a publication holds only tables of its own',
            "leave the database out of the name, or make the publication in the other database",
        ),
        Words(
            r"improper qualified name \(too many dotted names\): (?P<name>.*)",
            '"{name}" has too many parts for the name of a table',
            "write schema.table",
        ),
    ),
    "relation-kind": (
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for views\.',
            '"{relation}" is a view, and only tables can be published',
            "publish the tables that the view reads, with a row filter or a column list where it selects",
        ),
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for materialized views\.',
            '"{relation}" is a materialized view, and only tables can be published',
            "publish the tables that it reads and make the materialized view on the subscriber",
        ),
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for foreign tables\.',
            '"{relation}" is a foreign table, whose changes this server does not see',
            "publish the table on the server that holds it; where it was reached as a child, write ONLY before the "
            "parent",
        ),
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for sequences\.',
            '"{relation}" is a sequence, and only tables can be published',
            "leave it out, and set the subscriber's sequences yourself before it takes over",
        ),
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for (?P<kind>.*)s\.',
            '"{relation}" is a {kind}, and only tables can be published',
            "name the table that it belongs to",
        ),
    ),
    "relation-not-openable": (
        Words(
            r'"(?P<relation>.*)" is (?P<kind>an index|a composite type)',
            '"{relation}" is {kind}, not a table',
            "name the table that it belongs to",
        ),
        Words(
            r'cannot open relation "(?P<relation>.*)"\n.*for (?P<kind>.*)s\.',
            '"{relation}" is not a table: publications do not take {kind}s',
            "name the table that it belongs to",
        ),
        Words(
            r'cannot open relation "(?P<relation>.*)".*',
            '"{relation}" is not a table',
            "name the table that it belongs to",
        ),
    ),
    "relation-persistence": (
        Words(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for temporary tables\.',
            '"{relation}" is temporary: its changes are not logged, so they cannot be published',
            "publish an ordinary table; where this one was reached as a child, write ONLY before the parent",
        ),
        Words(
            _ADD_RELATION,
            '"{relation}" is unlogged: its changes are not logged, so they cannot be published',
            "ALTER TABLE {relation:sql} SET LOGGED first (rewrites the table), or leave it out; "
            "where it was reached as a child, write ONLY before the parent",
        ),
    ),
    "system-relation": (
        Words(
            _ADD_RELATION,
            '"{relation}" is a system table, and these cannot be published',
            "leave it out; where a table of your own has that name, write its schema before it",
        ),
    ),
    "schema-not-allowed": (
        Words(
            r'cannot add schema "(?P<schema>.*)" to publication\nTemporary.*',
            '"{schema}" holds temporary tables, which cannot be published',
            "name a schema of ordinary tables",
        ),
        Words(
            r'cannot add schema "(?P<schema>.*)" to publication\n.*',
            '"{schema}" is a system schema, and these cannot be published',
            "name a schema of your own",
        ),
    ),
    "current-schema": (
        Words(
            r".*",
            "CURRENT_SCHEMA stands for nothing: no schema of search_path exists",
            "write the schema's name, or SET search_path to one that exists before this statement",
        ),
    ),
    "duplicate-table": (
        Words(
            r'conflicting or redundant (?P<what>.*)s for table "(?P<relation>.*)"',
            'the list names "{relation}" twice (or it and its parent or child), and an entry has a {what}',
            "name each table once (join two filters with OR in one WHERE); a parent brings its children along unless "
            "ONLY stands before it",
        ),
    ),
    # Options.
    "option-unknown": (
        Words(
            r'unrecognized publication parameter: "(?P<option>publish_generated_columns)"',
            'publications have no option "{option}" before PostgreSQL 18',
            "leave it out: generated columns are not sent there and are computed by the subscriber's own table",
        ),
        Words(
            r'unrecognized publication parameter: "(?P<option>insert|update|delete|truncate)"',
            '"{option}" is read as an option of its own, because the list of operations has no quotes',
            "write the list as one text: publish = 'insert, update'",
        ),
        Words(
            r'unrecognized publication parameter: "(?P<option>copy_data|create_slot|enabled|slot_name|connect|streaming'
            r'|binary|two_phase|disable_on_error|origin|failover|synchronous_commit|password_required|run_as_owner)"',
            '"{option}" is an option of subscriptions, not of publications',
            "move it to CREATE SUBSCRIPTION",
        ),
        Words(
            r'unrecognized publication parameter: "(?P<option>.*)"',
            'publications have no option "{option}"',
            "the options are publish, publish_via_partition_root and, from PostgreSQL 18, publish_generated_columns",
        ),
    ),
    "option-twice": (Words(r".*", "an option is given twice", "keep one of the two"),),
    "publish-list-syntax": (
        Words(
            r".*",
            "the value of publish is not a list of operations",
            "separate the operations by single commas: publish = 'insert, update, delete, truncate'",
        ),
    ),
    "publish-value": (
        Words(
            r'unrecognized value for publication option "publish": "(?P<value>.*)"',
            'publish has no operation "{value}"',
            "the operations are insert, update, delete and truncate; leave the option out to publish all of them",
        ),
    ),
    "publish-no-value": (
        Words(r".*", "publish has no value", "name the operations, or leave the option out to publish all of them"),
    ),
    "viaroot-boolean": (
        Words(
            r"(?P<option>.*) requires a Boolean value",
            "{option} is neither true nor false",
            "write true, false, on, off, 1 or 0; unlike elsewhere, yes, no, t, f and '1' are not understood",
        ),
    ),
    "generated-option-value": (
        Words(
            r'.*"publish_generated_columns": "(?P<value>true|on|1|s)"\n.*',
            'publish_generated_columns is neither none nor stored, but "{value}"',
            "write publish_generated_columns = stored",
        ),
        Words(
            r'.*"publish_generated_columns": "(?P<value>.*)"\n.*',
            'publish_generated_columns is neither none nor stored, but "{value}"',
            "write stored to publish stored generated columns, or none; virtual ones cannot be published",
        ),
    ),
    # Members and rights.
    "already-member": (
        Words(
            r'relation "(?P<relation>.*)" is already member of publication "(?P<name>.*)"',
            '"{relation}" is in publication "{name}" already',
            "leave it out; to change its row filter or column list, ALTER PUBLICATION {name:sql} SET with the whole "
            "list, or DROP TABLE and ADD TABLE in one transaction",
        ),
        Words(
            r'schema "(?P<schema>.*)" is already member of publication "(?P<name>.*)"',
            'schema "{schema}" is in publication "{name}" already',
            "leave it out",
        ),
    ),
    "not-member": (
        Words(
            r'relation "(?P<relation>.*)" is not part of the publication',
            '"{relation}" is not itself in {publication}, so it cannot be dropped from it',
            "leave it out; a table that is published through its schema or its partitioned table cannot be dropped by "
            "itself, and a child made after its parent was added is no member (write ONLY before the parent)",
        ),
        Words(
            r'tables from schema "(?P<schema>.*)" are not part of the publication',
            'schema "{schema}" is not in {publication}, so it cannot be dropped from it',
            "leave it out; single tables of a schema are dropped with DROP TABLE",
        ),
    ),
    "drop-with-filter": (
        Words(
            r"column list .*",
            "DROP takes a table out of {publication} whole, so it takes no column list",
            "write the table's name alone; to change the list, use SET, or DROP and ADD in one transaction",
        ),
        Words(
            r"cannot use a WHERE clause .*",
            "DROP takes a table out of {publication} whole, so it takes no row filter",
            "write the table's name alone; to change the filter, use SET, or DROP and ADD in one transaction",
        ),
    ),
    "for-all-tables-fixed": (
        Words(
            r'publication "(?P<name>.*)" is defined as FOR ALL TABLES\n(?P<what>Tables|Schemas) .*',
            'publication "{name}" is FOR ALL TABLES: its list cannot be changed',
            "DROP PUBLICATION {name:sql} and make it anew with a list (subscribers must then refresh)",
        ),
    ),
    "permission": (
        Words(
            r"permission denied for database (?P<database>.*)",
            'the current role may not create in database "{database}"',
            "GRANT CREATE ON DATABASE {database:sql} to it",
        ),
        Words(
            r"must be owner of publication (?P<name>.*)",
            'the current role does not own publication "{name}"',
            "run this as its owner, or ALTER PUBLICATION {name:sql} OWNER TO that role",
        ),
        Words(
            r"must be owner of (?P<kind>table|view|materialized view|sequence|foreign table|index) (?P<relation>.*)",
            'the current role does not own the {kind} "{relation}"',
            "run this as the owner, or as a superuser",
        ),
        Words(
            r"must be superuser to create FOR ALL TABLES publication",
            "only a superuser may make a publication FOR ALL TABLES",
            "run this as a superuser, or list the tables, which their owner may",
        ),
        Words(
            r"must be superuser to (?:create FOR TABLES IN SCHEMA publication|add or set schemas)",
            "only a superuser may publish a schema",
            "run this as a superuser, or list the tables, which their owner may",
        ),
        Words(
            r'permission denied to change owner of publication "(?P<name>.*)"',
            'publication "{name}" is FOR ALL TABLES or FOR TABLES IN SCHEMA, so its owner must be a superuser',
            "give it to a superuser, or change the owner as one",
        ),
        Words(
            r'role "(?P<role>.*)" does not exist',
            'there is no role "{role}"',
            "CREATE ROLE first; PUBLIC is not a role",
        ),
        Words(
            r'must be (?:able to SET ROLE|member of role) "(?P<role>.*)"',
            'the current role may not give anything to "{role}": it cannot become that role',
            "GRANT {role:sql} to it, or run this as a superuser",
        ),
    ),
    # Names in filters.
    "rf-name-resolution": (
        Words(
            r'column (?:"(?P<column>.*)"|(?P<dotted>\S*)) does not exist',
            'the row filter reads a column that {table} does not have: "{column}{dotted}"',
            "check the spelling; texts stand in single quotes, and double quotes make a column's name",
        ),
        Words(
            r'missing FROM-clause entry for table "(?P<name>.*)"',
            'the row filter speaks of "{name}", and only the columns of {table} can be read',
            "write the column without a table's name; there are neither aliases nor other tables in a row filter",
        ),
    ),
    "inheritance-qualified-filter": (
        Words(
            r'missing FROM-clause entry for table "(?P<name>.*)"',
            'the row filter says "{name}.", and it is read anew for each child table, which has another name',
            'write the columns without "{name}.", or ONLY before the table',
        ),
    ),
    # Replica identity.
    "replica-identity-ddl": (
        Words(
            r'index "(?P<index>.*)" for table "(?P<relation>.*)" does not exist',
            'table "{relation}" has no index "{index}"',
            "make the index before this statement; its name stands without a schema",
        ),
        Words(
            r'"(?P<index>.*)" is not an index for table "(?P<relation>.*)"',
            '"{index}" is an index of another table than "{relation}"',
            "name an index of this table",
        ),
        Words(r'"(?P<index>.*)" is not an index', '"{index}" is not an index', "name a unique index of the table"),
        Words(
            r'cannot use non-unique index "(?P<index>.*)" as replica identity',
            'index "{index}" is not unique, so it cannot tell rows apart',
            _INDEX,
        ),
        Words(
            r'cannot use non-immediate index "(?P<index>.*)" as replica identity',
            'index "{index}" is deferrable: for a while it can hold a key twice',
            "make its constraint NOT DEFERRABLE (drop it and add it anew), or choose another unique index",
        ),
        Words(
            r'cannot use (?P<kind>expression|partial) index "(?P<index>.*)" as replica identity',
            'index "{index}" is {kind}: it does not identify every row by columns',
            _INDEX,
        ),
        Words(
            r'index "(?P<index>.*)" cannot be used as replica identity because column "(?P<column>.*)" is nullable',
            'column "{column}" of index "{index}" may be NULL, so the index does not identify every row',
            "{alter_table} ALTER COLUMN {column:sql} SET NOT NULL first",
        ),
        Words(
            r'index "(?P<index>.*)" cannot be used .*',
            'index "{index}" is over a system column',
            _INDEX,
        ),
        Words(
            r'column "(?P<column>.*)" is in index used as replica identity',
            'column "{column}" is in the index that is the replica identity, so it must stay NOT NULL',
            "choose another replica identity first",
        ),
        Words(
            r'ALTER action REPLICA IDENTITY cannot be performed on relation "(?P<relation>.*)"\n.*for (?P<kind>.*)s\.',
            '"{relation}" is a {kind}, and only tables have a replica identity',
            "name the table whose rows are changed",
        ),
        Words(
            r'permission denied: "(?P<relation>.*)" is a system catalog',
            '"{relation}" is a system table, whose replica identity cannot be changed',
        ),
    ),
    # Column lists.
    "cl-unknown-column": (
        Words(
            r'column "(?P<column>.*)" of relation "(?P<relation>.*)" does not exist',
            'the column list names "{column}", which "{relation}" does not have',
            "check the spelling; a parent's list can name the parent's columns only",
        ),
    ),
    "cl-system-column": (
        Words(
            r'cannot use system column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", which the server keeps for itself',
            "leave it out",
        ),
        Words(
            r"negative bitmapset member not allowed",
            "the column list of {table} names a system column (this major answers with an internal error)",
            "leave it out",
        ),
    ),
    "cl-duplicate-column": (
        Words(
            r'duplicate column "(?P<column>.*)" in publication column list',
            'the column list names "{column}" twice',
            "keep one of the two",
        ),
    ),
    "cl-generated-column": (
        Words(
            r'cannot use virtual generated column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", a virtual generated column, which is not stored and cannot be sent',
            "leave it out and let the subscriber's table generate it, or make it STORED",
        ),
        Words(
            r'cannot use generated column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", a generated column, which is not sent before PostgreSQL 18',
            "leave it out and let the subscriber's table generate it",
        ),
    ),
    "cl-with-schema": (
        Words(
            rf"{_LIST}.*",
            'publication "{name}" cannot hold both a column list ("{relation}") and TABLES IN SCHEMA',
            "publish the tables with column lists in a publication of their own; a subscription can name both",
        ),
        Words(
            r'cannot add schema to publication "(?P<name>.*)"\n.*',
            'a table of publication "{name}" has a column list, so no schema can be added',
            "publish the schema in a publication of its own; a subscription can name both",
        ),
    ),
    # Partitions.
    "rf-partitioned-root": (
        Words(
            r'cannot use publication WHERE clause for relation "(?P<relation>.*)"\n.*',
            '"{relation}" is partitioned and {publication} publishes its partitions as themselves, so its row filter '
            "would never be used",
            f"publish through the root, {_MAKE_ROOT}, or filter the partitions one by one",
        ),
    ),
    "cl-partitioned-root": (
        Words(
            rf"{_LIST}.*",
            '"{relation}" is partitioned and publication "{name}" publishes its partitions as themselves, so its '
            "column list would never be used",
            f"publish through the root, {_MAKE_ROOT}, or give the partitions lists one by one",
        ),
    ),
    "viaroot-to-false": (
        Words(
            r'.* for publication "(?P<name>.*)"\nThe publication contains a (?P<what>.*) for partitioned table '
            r'"(?P<relation>.*)", which .*',
            'partitioned table "{relation}" of publication "{name}" has a {what}, which needs '
            "publish_via_partition_root",
            "take it off first: ALTER PUBLICATION {name:sql} SET with the whole list anew",
        ),
    ),
    # Later DDL.
    "ddl-drop-column": (
        Words(
            r"cannot drop column (?P<column>.*) of table (?P<relation>.*) because other objects depend on it\n.*",
            'column "{column}" is used by {publication}, in a row filter or a column list',
            "change the publication first ({alter_publication} SET with the whole list); CASCADE would take the whole "
            "table out of it",
        ),
        Words(
            r"cannot drop (?P<what>.*) because other objects depend on (?:it|them)\n.*",
            "{publication} depends on what is dropped, by a row filter or a column list of {table}",
            "change the publication first ({alter_publication} SET with the whole list); CASCADE would take the whole "
            "table out of it",
        ),
    ),
    "ddl-alter-type": (
        Words(
            r'.*\n.* depends on column "(?P<column>.*)"',
            'the type of column "{column}" is fixed: {publication} uses it in a row filter or a column list',
            "in one transaction take {table} out of the publication, change the type, and put it back",
        ),
    ),
    "ddl-set-unlogged": (
        Words(
            r'cannot change table "(?P<relation>.*)" to unlogged .*',
            'table "{relation}" is in {publication}, so it must stay logged',
            "take it out of every publication first: {alter_publication} DROP TABLE {relation:sql}",
        ),
        Words(
            r'ALTER action SET UNLOGGED cannot be performed on relation "(?P<relation>.*)"\n.*',
            'a partitioned table ("{relation}") cannot be made unlogged',
            "change its partitions one by one; of a published root nothing of an unlogged partition is sent",
        ),
    ),
    "ddl-set-expression": (
        Words(
            r'.*\nColumn "(?P<column>.*)" of relation "(?P<relation>.*)" is .*',
            'the expression of "{column}" is fixed as long as "{relation}" is in a publication',
            "in one transaction take the table out of its publications, change the expression, and put it back",
        ),
    ),
}
"""By rule of the specification, the words for each of its answers; the first that matches is used."""


# --- What these files do not show ---------------------------------------------------------------------------------

_MISSING = r'(?P<kind>relation|schema|publication) "(?P<name>.*)" does not exist'
_KINDS = {"relation": "table", "schema": "schema", "publication": "publication"}
_UNSEEN_HELP = (
    "if it is made elsewhere, lint the files that make it together with these; with --complete, which says that they "
    "are the whole database, this is an error"
)


def explain_unseen(error: ServerError, others: Sequence[str]) -> tuple[str, str | None]:
    """Headline and help for a name that the unit neither makes nor drops, so that it may exist all the same.

    ``others``: the server's messages for the further such names of the statement, in the order of the text.
    """
    headline = f"{_unseen_name(error.message)} is not created in these files"
    if others:
        rest = [_unseen_name(message) for message in others[:2]]
        more = len(others) - len(rest)
        listed = ", ".join(rest) + (f" and {more} more" if more else "")
        headline += f", nor {'is' if len(others) == 1 else 'are'} {listed}"
    return headline, _UNSEEN_HELP


def _unseen_name(message: str) -> str:
    match = re.fullmatch(_MISSING, message, re.DOTALL)
    return message if match is None else f'{_KINDS[match["kind"]]} "{match["name"]}"'


# --- Statements that the grammar refuses --------------------------------------------------------------------------

_NAME = r"[^\s(),]+"
_ANY_RESERVED = "|".join(_RESERVED.split())
_NINETEEN = "this is PostgreSQL 19 syntax"
_NO_IF = "look into the catalogs in a DO block first"
_ONE_LIST = r"publish takes one text: publish = 'insert, update'"

_SYNTAX = (
    # The head.
    (
        r"^create or replace publication",
        "there is no CREATE OR REPLACE PUBLICATION: write DROP PUBLICATION IF EXISTS before CREATE PUBLICATION, or "
        "ALTER PUBLICATION",
    ),
    (
        r"^create publication if not exists",
        f"there is no CREATE PUBLICATION IF NOT EXISTS: {_NO_IF} (SELECT FROM pg_publication WHERE pubname = ...)",
    ),
    (
        r"^alter publication if exists",
        f"there is no ALTER PUBLICATION IF EXISTS: {_NO_IF} (SELECT FROM pg_publication WHERE pubname = ...)",
    ),
    (
        rf"^alter publication {_NAME} (?:add|set|drop) (?:tables? )?if (?:not )?exists",
        f"ADD and DROP know no IF [NOT] EXISTS: {_NO_IF} (SELECT FROM pg_publication_tables WHERE ...)",
    ),
    (r"^\w+ publication '", "a publication's name stands in double quotes or in none"),
    (
        rf"^\w+ publication [^\s(),.]+\.{_NAME}",
        "a publication belongs to the database, not to a schema: its name has no dot",
    ),
    (r"^create publication for (?:tables?|all)\b", "the publication has no name"),
    (
        rf"^create publication (?:{_ANY_RESERVED}) ",
        "the publication's name is a reserved word: write it in double quotes, or take another",
    ),
    # All tables.
    (r" for all tables in schema\b", "this is the syntax of a beta of PostgreSQL 15: write FOR TABLES IN SCHEMA"),
    (r" for all tables except\b", f"{_NINETEEN} (EXCEPT); before 19 list the tables that are to be published"),
    (
        r" for all (?:tables , )?(?:all )?sequences\b",
        f"{_NINETEEN} (ALL SEQUENCES); before 19 publications hold no sequences",
    ),
    (
        rf"^alter publication {_NAME} set all (?:tables|sequences)\b",
        f"{_NINETEEN} (SET ALL TABLES); before 19 drop the publication and create it FOR ALL TABLES",
    ),
    (
        rf"^alter publication {_NAME} (?:add|drop) all (?:tables|sequences)\b",
        "ALL TABLES can be neither added nor dropped: drop the publication and create it anew",
    ),
    (r" except (?:\(|table\b)", f"{_NINETEEN} or later (EXCEPT); list the tables that are to be published"),
    (r" for all tables where\b", "FOR ALL TABLES takes no row filter: list the tables, each with its own WHERE"),
    (r" for all tables \(", "FOR ALL TABLES takes no column list: list the tables, each with its own"),
    (r" for all tables ,", "FOR ALL TABLES stands alone; it holds every table already"),
    # What kind of object.
    (r" (?:for|add|set|drop) table in schema\b", "write TABLES IN SCHEMA, in the plural"),
    (r" (?:for|add|set|drop) tables (?!in\b)", "write TABLE, in the singular, before names of tables"),
    (r" (?:for|add|set|drop) schemas? ", "write TABLES IN SCHEMA before names of schemas"),
    (
        r" (?:for|add|set|drop) (?:sequences?|(?:materialized )?views?|foreign tables?|index(?:es)?) ",
        "publications hold tables only",
    ),
    (rf"^create publication {_NAME} (?:tables?|all)\b", "write FOR before the list"),
    (r" (?:for|table|only|schema)$", "the list ends before a name"),
    (rf"^alter publication {_NAME} reset\b", "there is no RESET: SET the option to its default"),
    (
        rf"^create publication {_NAME} for (?!tables?\b|all\b)",
        "write FOR TABLE or FOR TABLES IN SCHEMA before the first name",
    ),
    (
        rf"^alter publication {_NAME} (?:add|set|drop) (?!tables?\b|all\b|\()",
        "write TABLE or TABLES IN SCHEMA before the first name",
    ),
    # Options.
    (rf"^create publication {_NAME} with \(\S*\) for\b", "WITH (...) comes last, after FOR"),
    (r" with \(\S*\) (?:where\b|\(|,)", "WITH (...) comes last, after every table"),
    (r" (?:with|set) \(\)", "the list of options is empty: leave it out, or name an option"),
    (r" , \(\S*\)$", "options are changed by a statement of their own: ALTER PUBLICATION ... SET (...)"),
    # Schemas.
    (rf" in schema [^\s(),.]+\.{_NAME}", "a schema's name has no dot: write TABLE before the name of a table"),
    (
        rf" in schema {_NAME} where\b",
        "a schema takes no row filter: list its tables, each with its own WHERE (...)",
    ),
    (rf" in schema {_NAME} \(", "a schema takes no column list"),
    (
        rf" in schema {_NAME} , (?:[^\s(),.]+\.{_NAME}|{_NAME} where\b|{_NAME} \()",
        "an entry takes the kind of the one before it: write TABLE before the name of a table",
    ),
    # Tables.
    (r" , current_schema\b| table current_schema\b", "write TABLES IN SCHEMA before CURRENT_SCHEMA"),
    (r" where (?!\()", "the row filter stands in parentheses: WHERE (...)"),
    (r" where \(\)", "the row filter is empty: leave WHERE () out"),
    (r" where \(\S*\) \(", "the column list comes before the row filter: t (a, b) WHERE (...)"),
    (r" where \(\S*\) (?:and|or)\b", "one pair of parentheses stands around the whole row filter: WHERE (a AND b)"),
    (rf" only {_NAME} \*", "ONLY and * say opposite things: keep one"),
    (
        rf"(?: table| ,(?! tables?\b))(?: only)? (?!only\b){_NAME} (?!where\b|with\b)(?:[^\W\d]|\"q\")",
        "a table takes no alias here: name its columns without a table's name",
    ),
    (
        rf" (?:table|only|,) (?!only\b|table\b)(?:{_ANY_RESERVED})\b",
        "a table's name is a reserved word: write it in double quotes",
    ),
    (rf" {_NAME} \(\)", "the column list is empty: leave it out to publish all columns"),
    (rf" {_NAME} \(\*\)", "leave the column list out to publish all columns"),
    (r" \(,\)| ,$", "a comma is too many: nothing follows it"),
    (rf" (?!where\b){_NAME} \(\.\)", "a column list takes plain names of columns, without the table's"),
)

_OPTION_SYNTAX = (
    (r"\bpublish = (?:\(|array\b)", _ONE_LIST),
    (r"(?:^| )\S+\.\S+ =", "an option's name has no dot"),
    (r",$", "a comma is too many: nothing follows it"),
)


def syntax_help(sql: str) -> str | None:
    """What to do about CREATE or ALTER PUBLICATION that PostgreSQL's grammar refuses; None where that is not known.

    ``sql`` is the text of the one statement. Looked at are its tokens outside of parentheses, and its options.
    """
    shape, options = _shape(sql)
    for pattern, text in _OPTION_SYNTAX:
        if re.search(pattern, options):
            return text
    for pattern, text in _SYNTAX:
        if re.search(pattern, shape):
            return text
    return None


def _shape(sql: str) -> tuple[str, str]:
    """A statement's tokens joined by blanks, and those of its options.

    Unquoted names are in lower case, quoted names and texts are ``"q"`` and ``'s'``; names with dots are one word.
    What stands in parentheses is ``()`` when empty, ``(*)``, ``(.)`` for names with dots, ``(,)`` when a comma ends it,
    else ``(_)``.
    """
    words: list[str] = []
    group: list[str] = []
    options = ""
    depth = 0
    for kind, token, _ in tokens(sql.encode(errors="replace")):
        word = _word(kind, token)
        if word == "(":
            depth += 1
            if depth == 1:
                group.clear()
                continue
        elif word == ")" and depth:
            depth -= 1
            if depth == 0:
                if words[-1:] in (["with"], ["set"]):
                    options = " ".join(group)
                words.append(_group(group))
                continue
        elif word == ";" and not depth:
            break
        into = group if depth else words
        if into and (word == "." or into[-1].endswith(".")):
            into[-1] += word
        else:
            into.append(word)
    return " ".join(words), options


def _word(kind: str, token: bytes) -> str:
    if kind == "text":
        return "'s'"
    if kind == "name" and token.endswith(b'"'):
        return '"q"'
    return token.decode(errors="replace").lower()


def _group(group: Sequence[str]) -> str:
    if not group:
        return "()"
    if group[-1] == ",":
        return "(,)"
    if list(group) == ["*"]:
        return "(*)"
    names = [word for word in group if word != ","]
    if len(names) == (len(group) + 1) // 2 and all(re.fullmatch(r"[\w.\"]+", word) for word in names):
        return "(.)" if any("." in word for word in names) else "(_)"
    return "(_)"
