"""Refused relations and schemas, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

_QUALIFY = "check the spelling and the schema, and that what makes it comes before this statement"
_ADD_RELATION = r'cannot add relation "(?P<relation>.*)" to publication\n.*'

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "relation-missing": (
        MessageTemplate(r'relation "(?P<name>.*)" does not exist', 'there is no table "{name}"', _QUALIFY),
        MessageTemplate(r'schema "(?P<name>.*)" does not exist', 'there is no schema "{name}"', _QUALIFY),
        MessageTemplate(
            r'cross-database references are not implemented: "(?P<name>.*)"',
            '"{name}" names a table of another database, and a publication holds only tables of its own',
            "leave the database out of the name, or make the publication in the other database",
        ),
        MessageTemplate(
            r"improper qualified name \(too many dotted names\): (?P<name>.*)",
            '"{name}" has too many parts for the name of a table',
            "write schema.table",
        ),
    ),
    "relation-kind": (
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for views\.',
            '"{relation}" is a view, and only tables can be published',
            "publish the tables that the view reads, with a row filter or a column list where it selects",
        ),
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for materialized views\.',
            '"{relation}" is a materialized view, and only tables can be published',
            "publish the tables that it reads and make the materialized view on the subscriber",
        ),
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for foreign tables\.',
            '"{relation}" is a foreign table, whose changes this server does not see',
            "publish the table on the server that holds it; where it was reached as a child, write ONLY before the "
            "parent",
        ),
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for sequences\.',
            '"{relation}" is a sequence, and only tables can be published',
            "leave it out, and set the subscriber's sequences yourself before it takes over",
        ),
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for (?P<kind>.*)s\.',
            '"{relation}" is a {kind}, and only tables can be published',
            "name the table that it belongs to",
        ),
    ),
    "relation-not-openable": (
        MessageTemplate(
            r'"(?P<relation>.*)" is (?P<kind>an index|a composite type)',
            '"{relation}" is {kind}, not a table',
            "name the table that it belongs to",
        ),
        MessageTemplate(
            r'cannot open relation "(?P<relation>.*)"\n.*for (?P<kind>.*)s\.',
            '"{relation}" is not a table: publications do not take {kind}s',
            "name the table that it belongs to",
        ),
        MessageTemplate(
            r'cannot open relation "(?P<relation>.*)".*',
            '"{relation}" is not a table',
            "name the table that it belongs to",
        ),
    ),
    "relation-persistence": (
        MessageTemplate(
            r'cannot add relation "(?P<relation>.*)" to publication\n.*for temporary tables\.',
            '"{relation}" is temporary: its changes are not logged, so they cannot be published',
            "publish an ordinary table; where this one was reached as a child, write ONLY before the parent",
        ),
        MessageTemplate(
            _ADD_RELATION,
            '"{relation}" is unlogged: its changes are not logged, so they cannot be published',
            "ALTER TABLE {table_sql} SET LOGGED first (rewrites the table), or leave it out; "
            "where it was reached as a child, write ONLY before the parent",
        ),
    ),
    "system-relation": (
        MessageTemplate(
            _ADD_RELATION,
            '"{relation}" is a system table, and these cannot be published',
            "leave it out; where a table of your own has that name, write its schema before it",
        ),
    ),
    "schema-not-allowed": (
        MessageTemplate(
            r'cannot add schema "(?P<schema>.*)" to publication\nTemporary.*',
            '"{schema}" holds temporary tables, which cannot be published',
            "name a schema of ordinary tables",
        ),
        MessageTemplate(
            r'cannot add schema "(?P<schema>.*)" to publication\n.*',
            '"{schema}" is a system schema, and these cannot be published',
            "name a schema of your own",
        ),
    ),
    "current-schema": (
        MessageTemplate(
            r".*",
            "CURRENT_SCHEMA stands for nothing: no schema of search_path exists",
            "write the schema's name, or SET search_path to one that exists before this statement",
        ),
    ),
    "duplicate-table": (
        MessageTemplate(
            r'conflicting or redundant (?P<what>.*)s for table "(?P<relation>.*)"',
            'the list names "{relation}" twice (or it and its parent or child), and an entry has a {what}',
            "name each table once (join two filters with OR in one WHERE); a parent brings its children along unless "
            "ONLY stands before it",
        ),
    ),
}
