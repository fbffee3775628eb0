"""The order of migrations in the tools' own lists."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    import ast

STRUCTURE, SCHEMA = "structure.sql", "schema.rb"
"""Rails' schema files."""
_OTHERWISE = lazy_compile(r"<!--.*?-->|<rollback\b.*?</rollback\s*>", re.S | re.I)
_OTHERWISE_YAML = lazy_compile(r"^\s*#.*$|^(\s*)(?:- )?rollback:.*\n(?:\1 +.*\n|\s*\n)*", re.M)
_XML = lazy_compile(r"<(include|includeAll|sqlFile)\b[^>]*?\b(?:file|path)\s*=\s*[\"']([^\"'\n]+)")
_KEYS = lazy_compile(
    r"\b(include|includeAll|sqlFile)[\"']?\s*:|\b(?:file|path)[\"']?\s*:\s*(?:\"([^\"\n]+)|'([^'\n]+)|([^\s,}\"'#]+))"
)


def changelog_entries(content: bytes) -> tuple[str, ...]:
    """Return the files that a change log runs, and with a slash at the end the folders, in its order."""
    if b"databaseChangeLog" not in content:
        return ()
    text = content.decode(errors="replace")
    entries: list[tuple[str, str]] = []
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        entries = _XML.findall(_OTHERWISE.sub("", text))
    else:
        kind = ""
        for match in _KEYS.finditer(_OTHERWISE_YAML.sub("", text)):
            if match[1]:
                kind = match[1]
            elif kind:
                entries.append((kind, match[2] or match[3] or match[4]))
                kind = ""
    return tuple(
        path.removeprefix("classpath:").rstrip("/") + ("/" if kind == "includeAll" else "") for kind, path in entries
    )


_LISTED = lazy_compile(rb"^\s*\('(\d{8,})'\)", re.M)
_DEFINED = lazy_compile(rb"ActiveRecord::Schema(?:\[[\d.]+\])?\.define\(version: ([\d_]+)\)")


def schema_versions(name: str, content: bytes) -> tuple[str, ...]:
    """Return the versions of the migrations that a schema holds; of `schema.rb` the last one alone."""
    if name == STRUCTURE:
        return tuple(version.decode() for version in _LISTED.findall(content))
    match = _DEFINED.search(content)
    return (match[1].decode().replace("_", ""),) if match else ()


_LIST = rb"^[ \t]+%b\s*(?::[^=\n]*)?=\s*[\[(](.{0,20000}?)^[ \t]*[\])]|^[ \t]+%b\s*(?::[^=\n]*)?=\s*[\[(]([^\n]*)[\])]"
_DEPENDENCIES = lazy_compile(_LIST % (b"dependencies", b"dependencies"), re.S | re.M)
_REPLACES = lazy_compile(_LIST % (b"replaces", b"replaces"), re.S | re.M)
_PAIR = lazy_compile(rb"\(\s*[\"'](\w+)[\"']\s*,\s*[\"'](\w+)[\"']\s*,?\s*\)")


def django_revision(path: str, content: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a migration and the ones that it depends on, and the names of the ones that it replaces.

    The names of other migrations begin with the label of their application."""
    own = path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    return (own, *_pairs(_DEPENDENCIES, content)), tuple(_pairs(_REPLACES, content))


def django_labels(content: bytes) -> tuple[str, ...]:
    """Return the label that `apps.py` gives an application; "" where it may compute it, or inherits it from another
    file, and nothing where it leaves the folder's name."""
    if b"Config" not in content:
        return ()
    import ast  # only projects of Django pay for it

    try:
        classes = [node for node in ast.parse(content).body if isinstance(node, ast.ClassDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ("",)
    known: dict[str, dict[str, ast.expr | None]] = {"AppConfig": {}}
    labels: set[str] = set()
    for node in classes:
        bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
        if not any(base.endswith("Config") for base in bases):
            continue
        values = known[node.name] = {}
        for base in reversed(bases):
            values |= known.get(base, {"label": None} if base.endswith("Config") else {})
        values |= _assigned(node)
        label = values.get("label", values.get("name"))
        if isinstance(label, ast.Constant) and isinstance(label.value, str):
            labels.add(label.value.rpartition(".")[2])
        elif "label" in values:
            labels.add("")
    return tuple(labels) if len(labels) < 2 else ("",)


def _assigned(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the values that the body of a class assigns, by their names."""
    import ast

    return {
        target.id: statement.value
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }


def _pairs(pattern: re.Pattern[bytes], content: bytes) -> list[str]:
    match = pattern.search(content)
    return [b".".join(pair).decode() for pair in _PAIR.findall(match[1] or match[2] or b"")] if match else []


def listed_order(name: str, content: bytes) -> tuple[str, ...]:
    """Return what the list of a tool says, by the list's name: migrations in order, or a setting of the tool."""
    text = content.decode(errors="replace")
    if name == "sqitch.plan":
        # A line begins with the name of a change, or with that of a tag, which has an @; a % begins a pragma.
        lines = (line.split("#")[0].split() for line in text.splitlines())
        return tuple(line[0].lstrip("+") for line in lines if line and line[0][0] not in "%-")
    if name == "config.toml":
        return _supabase_major(text)
    if name == "_journal.json":
        try:
            journal = msgspec.json.decode(content, type=_Journal)
        except msgspec.DecodeError:
            return ()
        return tuple(entry.tag for entry in sorted(journal.entries, key=lambda entry: entry.idx))
    match = re.search(r'^\s*provider\s*=\s*"(\w+)"', text, re.M)
    return (match[1],) if match else ()


def _supabase_major(text: str) -> tuple[str, ...]:
    """Return the major of the server that Supabase runs."""
    import tomllib

    try:
        written = tomllib.loads(text).get("db")
    except tomllib.TOMLDecodeError:
        return ()
    major = written.get("major_version") if isinstance(written, dict) else None
    return (str(major),) if isinstance(major, int) else ()


class _JournalEntry(Struct, frozen=True):
    idx: int
    tag: str


class _Journal(Struct, frozen=True):
    """Drizzle's journal of migrations."""

    entries: tuple[_JournalEntry, ...] = ()


_REVISIONS = lazy_compile(
    rb"^(down_revision|revision)\b[^=\n]*=\s*(None|\([^)]*\)|\[[^\]]*\]|['\"][^'\"\n]*['\"])", re.M
)


def alembic_revision(content: bytes) -> tuple[str, ...]:
    """Return the identifiers of an Alembic migration and of the migrations that it follows."""
    assigned = {
        match[1]: tuple(name.decode(errors="replace") for name in re.findall(rb"['\"]([^'\"]*)['\"]", match[2]))
        for match in _REVISIONS.finditer(content)
    }
    own = assigned.get(b"revision", ())
    return (*own[:1], *assigned.get(b"down_revision", ())) if own else ()
