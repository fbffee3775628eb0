"""Help for statements that the grammar refuses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.checks.misspelt_names import misspelt_keyword
from pubcheck.lexing.lexical import RESERVED
from pubcheck.postgres.tokens import tokens
from pubcheck.postgres.versions import NEWER_GRAMMAR
from pubcheck.rulebook import finder

_NAME = r"[^\s(),]+"
_ANY_RESERVED = "|".join(sorted(RESERVED))
_NEWER = f"this is PostgreSQL {NEWER_GRAMMAR} syntax"
_LOOK_FIRST = "or test for it first (SELECT FROM"
_ONE_LIST = r"publish takes one string: publish = 'insert, update'"

_SYNTAX = (
    # The head.
    (
        r"^create or replace publication",
        "there is no CREATE OR REPLACE PUBLICATION: write DROP PUBLICATION IF EXISTS before CREATE PUBLICATION, or "
        "ALTER PUBLICATION",
    ),
    (
        r"^create publication if not exists",
        "there is no CREATE PUBLICATION IF NOT EXISTS: create it in a DO block with EXCEPTION WHEN duplicate_object, "
        f"{_LOOK_FIRST} pg_publication WHERE pubname = ...)",
    ),
    (
        r"^alter publication if exists",
        "there is no ALTER PUBLICATION IF EXISTS: do it in a DO block with EXCEPTION WHEN undefined_object, "
        f"{_LOOK_FIRST} pg_publication WHERE pubname = ...)",
    ),
    (
        rf"^alter publication {_NAME} (?:add|set|drop) (?:tables? )?if (?:not )?exists",
        "ADD and DROP do not accept IF [NOT] EXISTS: use a DO block with EXCEPTION WHEN duplicate_object (for DROP "
        f"undefined_object), {_LOOK_FIRST} pg_publication_tables WHERE ...)",
    ),
    (r"^\w+ publication '", "write the publication's name in double quotes or without quotes"),
    (
        rf"^\w+ publication [^\s(),.]+\.{_NAME}",
        "a publication belongs to the database, not to a schema: its name has no dot",
    ),
    (r"^create publication for (?:tables?|all)\b", "the publication has no name"),
    (
        rf"^create publication (?:{_ANY_RESERVED}) ",
        "the publication's name is a reserved word: write it in double quotes, or choose another",
    ),
    (r"^(?:create|alter|drop) publication$", "the publication has no name"),
    (
        rf"^alter publication {_NAME}$",
        "write ADD, SET or DROP and tables, SET and options, RENAME TO or OWNER TO",
    ),
    # All tables.
    (
        r" (?:for|add|set|drop) all tables in schema\b",
        "this is the syntax of a beta of PostgreSQL 15: write TABLES IN SCHEMA",
    ),
    (
        rf"^alter publication {_NAME} (?:add|drop) all (?:tables|sequences)\b",
        "ALL TABLES cannot be added or dropped: drop the publication and create it again",
    ),
    (
        r" except (?:\(|table\b)",
        f"EXCEPT goes with ALL TABLES only, from PostgreSQL {NEWER_GRAMMAR} on: list the tables to publish",
    ),
    (r" for all tables where\b", "FOR ALL TABLES takes no row filter: list the tables, each with its own WHERE"),
    (r" for all tables \(", "FOR ALL TABLES takes no column list: list the tables, each with its own"),
    (r" for all tables ,", "FOR ALL TABLES cannot be combined with other objects; it publishes every table already"),
    (r" for all$", "write FOR ALL TABLES"),
    # What kind of object.
    (r" (?:for|add|set|drop) table in schema\b", "write TABLES IN SCHEMA, in the plural"),
    (r" (?:for|add|set|drop) tables (?!in\b)", "write TABLE, in the singular, before names of tables"),
    (r" (?:for|add|set|drop) schemas? ", "write TABLES IN SCHEMA before names of schemas"),
    (
        r" (?:for|add|set|drop) (?:sequences?|(?:materialized )?views?|foreign tables?|index(?:es)?)\b",
        "a publication can only contain tables",
    ),
    (rf"^create publication {_NAME} (?:tables?|all)\b", "write FOR before the list"),
    (r" (?:for|table|only|schema)$", "the list ends before a name"),
    (r" tables(?: in)?$", "write TABLES IN SCHEMA and the name of a schema, or TABLE and the name of a table"),
    (r" (?:add|drop)$", "write TABLE or TABLES IN SCHEMA, and a name"),
    (r" (?:rename|rename to|owner|owner to)$", "write RENAME TO or OWNER TO, and a name"),
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
    (r" (?:with|set)$", "write the options in parentheses: (publish = 'insert, update')"),
    (rf"^create publication {_NAME} with \(\S*\) for\b", "WITH (...) comes last, after FOR"),
    (r" with \(\S*\) (?:where\b|\(|,)", "WITH (...) comes last, after every table"),
    (r" (?:with|set) \(\)", "the list of options is empty: leave it out, or name an option"),
    (r" , \(\S*\)$", "change options in a separate statement: ALTER PUBLICATION ... SET (...)"),
    # Schemas.
    (rf" in schema [^\s(),.]+\.{_NAME}", "a schema's name has no dot: write TABLE before the name of a table"),
    (
        rf" in schema {_NAME} where\b",
        "a schema takes no row filter: list its tables, each with its own WHERE (...)",
    ),
    (rf" in schema {_NAME} \(", "a schema takes no column list"),
    (
        rf" in schema {_NAME} , (?:[^\s(),.]+\.{_NAME}|{_NAME} where\b|{_NAME} \()",
        "an entry without a keyword has the kind of the entry before it: write TABLE before the name of a table",
    ),
    # Tables.
    (rf" (?:{_NAME}\.){{3}}{_NAME}", "a table's name has at most its schema before it: write schema.table"),
    (r" where$", "write the row filter in parentheses: WHERE (...)"),
    (r" , current_schema\b| table current_schema\b", "write TABLES IN SCHEMA before CURRENT_SCHEMA"),
    (r" where (?!\()", "put the row filter in parentheses: WHERE (...)"),
    (r" where \(\)", "the row filter is empty: leave WHERE () out"),
    (r" where \(\S*\) \(", "the column list comes before the row filter: t (a, b) WHERE (...)"),
    (r" where \(\S*\) (?:and|or)\b", "put one pair of parentheses around the whole row filter: WHERE (a AND b)"),
    (rf" only {_NAME} \*", "ONLY and * contradict each other: keep one"),
    (
        rf"(?: table| ,(?! tables?\b))(?: only)? (?!only\b){_NAME} (?!where\b|with\b)(?:[^\W\d]|\"q\")",
        "a table has no alias here: write its columns without a table name",
    ),
    (
        rf" (?:table|only|,) (?!only\b|table\b)(?:{_ANY_RESERVED})\b",
        "a table's name is a reserved word: write it in double quotes",
    ),
    (rf" {_NAME} \(\)", "the column list is empty: leave it out to publish all columns"),
    (rf" {_NAME} \(\*\)", "leave the column list out to publish all columns"),
    (r" \(,\)| ,$", "remove the last comma: nothing follows it"),
    (rf" (?!where\b){_NAME} \(\.\)", "a column list takes column names only, without the table's name"),
    (r" \($", "a parenthesis is opened and not closed"),
)

_OLDER_SYNTAX = (
    (
        r" for all tables except\b",
        f"{_NEWER} (EXCEPT); before {NEWER_GRAMMAR} list the tables that are to be published",
    ),
    (
        r" for all (?:tables , (?:all )?)?sequences\b",
        f"{_NEWER} (ALL SEQUENCES); before {NEWER_GRAMMAR} publications cannot contain sequences",
    ),
    (
        rf"^alter publication {_NAME} set all (?:tables|sequences)\b",
        f"{_NEWER} (SET ALL TABLES); before {NEWER_GRAMMAR} drop the publication and create it FOR ALL TABLES",
    ),
)
"""Forms that only the newer grammar accepts."""
_OLDER_SUBSCRIPTIONS = (
    (
        rf"^\w+ subscription {_NAME} server (?!$)",
        f"{_NEWER} (SERVER); before {NEWER_GRAMMAR} write CONNECTION and a string",
    ),
    (r" refresh sequences$", f"{_NEWER} (REFRESH SEQUENCES); before {NEWER_GRAMMAR} sequences are not synchronized"),
)
_NEWER_SYNTAX = (
    (r" all (tables|sequences) (?:.* )?, all \1\b", "name each of ALL TABLES and ALL SEQUENCES once"),
    (
        r" all (?:tables|sequences)(?: except \(\S*\))? , (?!all\b)",
        "ALL TABLES and ALL SEQUENCES cannot be combined with a list of tables or schemas",
    ),
    (r" all sequences except\b", "ALL SEQUENCES takes no EXCEPT: it publishes every permanent sequence"),
    (r" all tables except (?:table|tables|only)\b", "write the tables in parentheses: EXCEPT (TABLE a, TABLE b)"),
    (
        r" all tables except \(",
        "write EXCEPT (TABLE a, TABLE b): names of tables only, without column lists and row filters",
    ),
    (
        rf"^alter publication {_NAME} set all .*\bwith\b",
        "SET ALL TABLES takes no WITH: change options in a separate statement, ALTER PUBLICATION ... SET (...)",
    ),
)
"""Mistakes in forms of the newer grammar."""

_OPTION_SYNTAX = (
    (r"\bpublish = (?:\(|array\b)", _ONE_LIST),
    (r"(?:^| )\S+\.\S+ =", "an option's name has no dot"),
    (r",$", "remove the last comma: nothing follows it"),
)


def syntax_help(sql: str, *, newer: bool = False) -> str | None:
    """Return help for CREATE or ALTER PUBLICATION that PostgreSQL's grammar refuses, or None.

    ``sql`` is the text of one statement; ``newer``: the newer grammar refuses it. Its options and its tokens outside
    parentheses decide. Other statements with help are ALTER TABLE ... REPLICA IDENTITY, and forms of subscriptions that
    the newer grammar accepts.
    """
    shape, options = _shape(sql)
    if shape.startswith("alter table "):
        return "after REPLICA IDENTITY comes DEFAULT, FULL, NOTHING or USING INDEX and the name of an index"
    if re.match(r"\w+ (?:on publication|subscription)\b", shape):
        forms = () if newer else _OLDER_SUBSCRIPTIONS
        return next((text for pattern, text in forms if re.search(pattern, shape)), None)
    misspelt = misspelt_keyword(shape.split(" ", 2)[:2])
    if misspelt is not None:
        return f"did you mean {misspelt[1].upper()}?"
    for pattern, text in _OPTION_SYNTAX:
        if re.search(pattern, options):
            return text
    for pattern, text in (*_NEWER_SYNTAX, *_SYNTAX) if newer else (*_OLDER_SYNTAX, *_SYNTAX):
        if re.search(pattern, shape):
            return text
    return None


def _shape(sql: str) -> tuple[str, str]:
    """A statement's tokens joined by blanks, and those of its options.

    Unquoted names are in lower case, quoted names and texts are ``"q"`` and ``'s'``; names with dots are one word.
    What is in parentheses is ``()`` when empty, ``(*)``, ``(.)`` for names with dots, ``(,)`` when a comma ends it,
    ``(`` when it is not closed, else ``(_)``.
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
    if depth:
        words.append("(")
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


_LIST_ERRORS = {
    "invalid publication object list": "PUB102",
    "invalid table name": "PUB103",
    "invalid schema name": "PUB103",
    "WHERE clause not allowed for schema": "PUB103",
    "column specification not allowed for schema": "PUB103",
}

_LIST_DETAIL = "One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name."


@finder("PUB101", "PUB102", "PUB103")
def code_of_syntax_error(message: str) -> tuple[str, str | None]:
    """Return the code of the rule for an error of the grammar in a statement about publications, and its DETAIL."""
    code = _LIST_ERRORS.get(message, "PUB107" if message.startswith("improper") else "PUB101")
    return code, _LIST_DETAIL if code == "PUB102" else None
