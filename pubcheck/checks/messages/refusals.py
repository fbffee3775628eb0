"""Headline and help for the server's errors.

Every report shows the server's message too. A headline repeats it only if it is plain enough.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pubcheck.checks.messages import Messages, MessageTemplate, filter_expressions, publications, statements
from pubcheck.diagnostics import Severity
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.tokens import identifier, qualified
from pubcheck.rulebook import RULES, Rule

MESSAGES: Messages = {
    **statements.STATEMENTS,
    **statements.RELATIONS,
    **publications.MEMBERS,
    **filter_expressions.MESSAGES,
    **publications.TABLES,
    **statements.SUBSCRIPTIONS,
}
"""The templates by the code of a rule and the key of an error."""


def _by_key() -> Mapping[str, Mapping[str, tuple[MessageTemplate, ...]]]:
    by_key: dict[str, dict[str, tuple[MessageTemplate, ...]]] = {}
    for code, templates in MESSAGES.items():
        for key, template in templates.items():
            by_key.setdefault(key, {})[code] = template if isinstance(template, tuple) else (template,)
    return by_key


BY_KEY = _by_key()
"""The templates by the key of an error and the code of the rule that reports it."""


class _Name(str):
    """A name out of an answer; formatted with ``sql`` it is quoted where SQL needs it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return identifier(self) if spec == "sql" else str(self)


def explain(error: ServerError) -> tuple[str, str | None]:
    """Return headline and help for an error of the server that has a key."""
    template = _template(error)
    fields = _fields(error)
    return template.headline.format_map(fields), template.help and template.help.format_map(fields)


def rule_of(error: ServerError) -> Rule:
    """Return the rule that reports an error; of several, the one that declares its SQLSTATE, or else the last."""
    rules = [RULES[code] for code in BY_KEY[error.key or ""]]
    return next((rule for rule in rules if error.sqlstate in rule.sqlstate), rules[-1])


def _template(error: ServerError) -> MessageTemplate:
    arguments = error.arguments
    for template in BY_KEY[error.key or ""][rule_of(error).code]:
        if all(arguments.get(name) in values for name, values in template.where.items()):
            return template
    raise LookupError(f"no template for {error.key} with {dict(arguments)}")


def _fields(error: ServerError) -> dict[str, str]:
    """Return the fields that every text may use: names where the error has them, general terms where it has not."""
    publication, relation = error.publication, error.relation
    # The server's messages leave the schema out.
    bare = error.arguments.get("relation")
    return {
        "message": error.message,
        "the_publication": "the publication" if publication is None else f'publication "{publication}"',
        "table": "the table" if relation is None else f'"{relation}"',
        "alter_publication": f"ALTER PUBLICATION {'...' if publication is None else identifier(publication)}",
        "table_sql": (identifier(bare) if bare is not None else "...")
        if relation is None
        else identifier(relation.removeprefix("public."))
        if relation.startswith("public.")
        else qualified(relation),
        "alter_table": f"ALTER TABLE {'...' if relation is None else qualified(relation)}",
        **{name: _Name(value) for name, value in error.arguments.items()},
    }


# --- What these files do not show ---------------------------------------------------------------------------------

_KINDS = {
    "no-relation": ("table", "relation"),
    "no-schema": ("schema", "schema"),
    "no-schema-of-expression": ("schema", "schema"),
    "no-publication": ("publication", "publication"),
    "no-collation": ("collation", "name"),
}
"""The kind of the missing object, and the argument with its name, by the key of an error."""
_UNSEEN_HELP = (
    "if it is created elsewhere, lint the files that create it together with these, or name it in the configuration "
    "if a platform creates it; with --complete, which declares these files the whole database, this is an error"
)


def explain_unseen(errors: Sequence[ServerError]) -> tuple[str, str | None]:
    """Return headline and help for names that the unit neither creates nor drops, so that they may exist.

    ``errors`` are the server's errors for the names of one statement, in the order of the text.
    """
    headline = missing_name(errors[0]) + " is not created in these files"
    further = errors[1:]
    if further:
        rest = [missing_name(error) for error in further[:2]]
        more = len(further) - len(rest)
        listed = ", ".join(rest) + (f" and {more} more" if more else "")
        headline += f", nor {'is' if len(further) == 1 else 'are'} {listed}"
    return headline, _UNSEEN_HELP


def missing_name(error: ServerError) -> str:
    """Return the kind and the name of a missing object; the server's message for other kinds of objects."""
    if error.key not in _KINDS:
        return error.message
    kind, argument = _KINDS[error.key]
    return f'{kind} "{error.arguments[argument]}"'


# --- Filters that are accepted ------------------------------------------------------------------------------------

_FROZEN: tuple[tuple[str, Severity, str, str], ...] = (
    (
        "now",
        "warning",
        "{literal} is evaluated once, when the publication is created, and the filter keeps that value",
        "write the intended time; a filter cannot follow the current time",
    ),
    (
        "zone",
        "note",
        "{literal} has no time zone: it is read in the time zone of the session that creates the publication",
        "write an offset, as in '2024-01-01 00:00:00+00', or SET timezone before this statement",
    ),
    (
        "datestyle",
        "note",
        "the day of {literal} depends on the DateStyle of the session that creates the publication",
        "write dates as year-month-day",
    ),
)


def frozen_words(literal: str, kinds: Collection[str]) -> tuple[Severity, str, str]:
    """Return severity, headline and help for a literal whose value is fixed when the publication is created."""
    for kind, severity, headline, help_text in _FROZEN:
        if kind in kinds:
            return severity, headline.format(literal=literal), help_text
    raise ValueError(f"nothing is known of {kinds}")


def undecided_filter(unknown: str) -> tuple[str, str]:
    """Return headline and help for a filter that cannot be checked because ``unknown`` is not in these files."""
    return (
        f"it is unknown whether PostgreSQL accepts this row filter: {unknown or 'something'} is not in these files",
        "lint the files that create it together with these, or try it on a server",
    )
