"""What migrations do through the API of a framework: Alembic's operations and their like, as the statements that the
framework sends to PostgreSQL for them.

Each framework has a module that is loaded when a migration of it is read. An operation of which a part is computed, or
that is not known, is not rendered: the table that it names, or any table, is in doubt from there on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.operations import Operations
    from pubcheck.extract.frameworks.project import Project


def operations_of(text: str, language: str, project: Project | None) -> Operations | None:
    """What the operations of a migration do; None where they are of no framework that is known here, or where the file
    cannot be read. ``project``: what the migrations before it did."""
    from pubcheck.extract.frameworks.project import Project

    project = Project() if project is None else project
    if language == "python" and "upgrade" in text:
        from pubcheck.extract.frameworks.alembic import alembic

        return alembic(text, project)
    if language == "python" and "django" in text:
        from pubcheck.extract.frameworks.django import django

        return django(text, project)
    if language == "ruby" and "ActiveRecord::" in text:
        from pubcheck.extract.frameworks.rails import rails

        return rails(text, project)
    if language == "javascript" and "schema" in text:
        from pubcheck.extract.frameworks.knex import knex

        return knex(text, project)
    return None
