"""CREATE PUBLICATION and ALTER PUBLICATION, every check in the server's order (commands/publicationcmds.c,
catalog/pg_publication.c).

RENAME, OWNER TO and DROP are in ``ddl.objects``. This module has the first checks of both statements, and their errors.
"""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Publication
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def check_text(session: Session, node: Node) -> None:
    """Check the statement's text with the major's own scanner and grammar, and the setting of backslashes."""
    if not session.catalog.major.sql_json_functions:
        from pubcheck.postgres import older_grammars

        older_grammars.check(session.catalog.major, session.text)
    if session.setting("standard_conforming_strings") == "off":
        from pubcheck.postgres.analysis.nonstandard_strings import read_escapes

        read_escapes(session, node)


def is_removed(session: Session, kind: str, publication: Publication, member: int) -> bool:
    """Return whether the unit itself removed a table or schema, so that it is not a member of a publication made
    elsewhere."""
    gone = session.catalog.gone
    return (kind, publication.oid, member) in gone or (kind, publication.oid, 0) in gone


def permission_denied(message: str, key: str, name: str, location: int | None, **arguments: str) -> ServerError:
    """Return the error for a role that lacks a privilege on the publication of that name."""
    error = ServerError("42501", message, key=key, detail=None, hint=None, location=None, culprit=location, **arguments)
    return error.about(name)
