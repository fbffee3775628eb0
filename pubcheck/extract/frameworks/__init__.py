"""SQL for migrations that use the API of a framework: Alembic's operations and the like, as the statements that the
framework sends to PostgreSQL.

Each framework has a module that is loaded when one of its migrations is read. An unknown operation, or one with a
computed part, is not rendered. From there on the table that it names is in doubt, or every table.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.operations import Operations
    from pubcheck.extract.frameworks.project import Project


def operations_of(text: str, language: str, project: Project | None) -> Operations | None:
    """Return the operations of a migration, or None if the framework is unknown or the file cannot be read.

    ``project``: the effects of the migrations before it.
    """
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
