"""Files and the units that they form. Values only: this module opens no file."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.words import words

STDIN = "-"
UNNAMED = "<stdin>"
"""The label of standard input unless its content belongs to a file."""


class File(Struct, frozen=True):
    """A file yet to be read. ``label`` is how it is reported; ``error`` why it is known already to be unreadable;
    ``content`` what standard input held, None for a file. ``view`` says how its text becomes SQL, a key of
    ``views.VIEWS``. ``context``: it is read to be followed, and what concerns it alone is not reported. ``sometime``:
    when it is run is not known. ``app`` is the label of its application of Django as `apps.py` gives it, "" where that
    computes it. ``cached_content``: its content from the discovery, so that it is not opened again."""

    path: str
    label: str
    error: str | None = None
    content: bytes | None = None
    view: str = "sql"
    context: bool = False
    sometime: bool = False
    app: str | None = None
    cached_content: bytes | None = None


class DiscoveredUnit(Struct, frozen=True):
    """A unit that discovery found and that is not yet read: its ``files`` in the order in which they are run.

    ``name`` is unique in a repository: the label of its folder, or of its first file. ``convention`` is the tool by
    whose naming convention the files belong together ("supabase", "flyway", ...), or "file", "folder", "references",
    "dump", "configuration", "together", "stdin"; ``reason`` is a text for people. ``postgres`` are the majors
    that the configuration or the header of a dump names.
    """

    name: str
    files: tuple[File, ...]
    convention: str
    reason: str
    postgres: tuple[int, ...] = ()
    named: bool = False
    """Whether it is a single file that was given by name."""
    platform: str = ""
    """The platform that its repository shows, if its files are not on a disk that shows it."""

    @property
    def is_loose(self) -> bool:
        """Whether no convention shows that the files are a whole database."""
        return self.convention in LOOSE and not self.named

    @property
    def context(self) -> frozenset[str]:
        """The labels of the files that are only read to be followed."""
        return frozenset(file.label for file in self.files if file.context)

    @property
    def title(self) -> str:
        """The unit in a message: its first file, and how many more there are."""
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return self.files[0].label + more


LOOSE = frozenset(["file", "folder", "references"])
"""Conventions of units that may lack objects that another unit creates."""
GUESSED = LOOSE | {"numbered", "dump", "rails", "psql"}
"""Conventions of no tool: a file of such a unit, named on the command line, is a unit of its own."""

SNAPSHOT, DATABASE = "snapshot", "database"
LISTINGS = (SNAPSHOT, DATABASE)
"""The views of a snapshot in a file, and of one that was just read from a server."""

SUFFIXES: tuple[str, ...] = (".sql", ".psql", ".pgsql")
"""Suffixes of files that are always read, in any case."""

LANGUAGES: dict[str, str] = {
    suffix: language
    for language, suffixes in {
        "sql": "ddl erb j2 jinja jinja2 tmpl tpl template",
        "shell": "sh bash ksh zsh bats tf dockerfile",
        "make": "mk",
        "python": "py",
        "ruby": "rb",
        "javascript": "js jsx mjs cjs ts tsx mts",
        "go": "go",
        "elixir": "ex exs",
        "java": "java kt",
        "csharp": "cs",
        "php": "php",
        "rust": "rs",
        "yaml": "yml yaml",
        "xml": "xml",
        "prisma": "prisma",
    }.items()
    for suffix in words(suffixes)
}
"""Suffixes, in lower case, of files that are read only where they hold a statement about a publication, each with the
view that finds the SQL in them."""


NAMES: dict[str, str] = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "shell",
    "containerfile": "shell",
    "justfile": "shell",
}
"""Likewise names, in lower case, with any suffix or none."""
ENDS = rf"(?:^|/)(?:[^./]+|(?:{'|'.join(NAMES)})\.[^/]*)$"
"""The endings, in lower case, of paths that are read by name, or that may be scripts without a suffix."""

_INTERPRETERS = {
    **dict.fromkeys(("sh", "bash", "dash", "ksh", "zsh", "ash", "bats"), "shell"),
    "python": "python",
    "ruby": "ruby",
    "node": "javascript",
    "php": "php",
    "elixir": "elixir",
}
_SHEBANG = lazy_compile(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?([a-z]+)")


_CURRENT_FOLDER = lazy_compile(r"(?:\./+)+(?=[^/])")


def language_of(name: str) -> str | None:
    """Return the view of a file that is read only if it holds a publication, by its name or path, else None."""
    if name.endswith(SUFFIXES):
        return None
    stem, dot, suffix = name.rpartition(".")
    language = LANGUAGES.get(suffix.lower()) if stem and dot else None
    if language == "sql":
        # Of a template the suffix before its own says what it makes.
        return language_of(stem) or language
    if language is not None or name.lower().endswith(SUFFIXES):
        return language
    return NAMES.get(re.split(r"[/\\]", name)[-1].partition(".")[0].lower())


def may_be_script(name: str) -> bool:
    """Return whether only the first line of a file tells if it is read where it holds a publication: a name without a
    suffix."""
    return "." not in name and name.lower() not in NAMES


def interpreter_of(head: str) -> str | None:
    """Return the view of a script, by its first line; None for what is none."""
    shebang = _SHEBANG.match(head)
    return _INTERPRETERS.get(shebang[1]) if shebang is not None else None


def view_of(name: str) -> str:
    """Return the view of a file by its name: "sql" unless its suffix is that of another language."""
    return language_of(name) or "sql"


def label_of(path: str) -> str:
    """Return a path as it is reported: as the user gave it without "./", joined with "/", in readable characters."""
    text = path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = text.replace(os.sep, "/") if os.sep != "/" else text
    return _CURRENT_FOLDER.sub("", text, count=1) if text.startswith("./") else text


def join(folder: str, name: str) -> str:
    return folder + name if folder.endswith(("/", os.sep)) else folder + os.sep + name
