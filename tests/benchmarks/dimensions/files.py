"""Many files."""

from __future__ import annotations

from collections.abc import Callable

from tests.benchmarks.dimensions.parts import Dimension

_RUN = {"publication.sql": "CREATE PUBLICATION p FOR TABLE t1;\n"}


def files(name: str, text: str) -> Callable[[int], dict[str, str]]:
    """So many files, with their numbers for each `@` in path and text, and one that publishes."""
    return lambda size: {
        **_RUN,
        **{name.replace("@", f"{n:07}"): text.replace("@", str(n)) for n in range(1, size + 1)},
    }


FILES = (
    Dimension("files of one folder", files("t@.sql", "CREATE TABLE t@ (id int PRIMARY KEY);\n")),
    Dimension("migrations", files("supabase/migrations/@_t.sql", "CREATE TABLE t@ (id int PRIMARY KEY);\n")),
    Dimension(
        "files that refer to each other",
        files("t@.sql", "CREATE TABLE t@ (id int PRIMARY KEY, f int REFERENCES t1);\n"),
    ),
    Dimension(
        "units", files("d@/migrations/0001_t.sql", "CREATE TABLE t1 (id int);\nCREATE PUBLICATION p FOR TABLE t1;\n")
    ),
    Dimension(
        "units of single files", files("d@/t.sql", "CREATE TABLE u@ (id int);\nCREATE PUBLICATION p FOR TABLE u@;\n")
    ),
    Dimension("files that create the same tables", files("t@.sql", "CREATE TABLE t1 (id int);\n")),
    Dimension("programs", files("src/p@.py", "x = 1\n")),
    Dimension("programs that publish", files("src/p@.py", 'cur.execute("CREATE PUBLICATION p FOR TABLE t@")\n')),
    Dimension(
        "Alembic files",
        files(
            "alembic/versions/@_t.py",
            "revision = '@'\ndown_revision = None\nfrom alembic import op\n"
            "def upgrade():\n    op.execute('CREATE PUBLICATION p@ FOR TABLE t@')\n",
        ),
    ),
    Dimension("files of other kinds", files("d@/readme.txt", "nothing\n")),
    Dimension(
        "deep folders",
        lambda size: {**_RUN, "/".join("d" for _ in range(size)) + "/t.sql": "CREATE TABLE t1 (id int);\n"},
        most=640,
    ),
    Dimension("folders listed", files("d@/t.sql", "CREATE TABLE t@ (id int);\n"), ("files",)),
)
