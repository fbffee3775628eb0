"""Findings as the Language Server Protocol has them: 0-based lines, and columns in the units of the client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from urllib.parse import quote, unquote

from lsprotocol import types
from pygls import uris

from pubcheck.findings import EditEntry, Entry, Related

Convert = Callable[[str, types.Range], types.Range]
"""Turns a range in code points of the file at a path into one in the client's units."""

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


_UNTITLED = "untitled:"
_UNTITLED_FOLDER = "(untitled)"
"""A folder that does not exist: a buffer without a file belongs to no migration history."""


def path_of(uri: str) -> str | None:
    """Return the path of a document, None for one that is neither a file nor a buffer that was never saved."""
    if uri.startswith(_UNTITLED):
        name = quote(uri.removeprefix(_UNTITLED), safe="")
        return os.path.abspath(os.path.join(_UNTITLED_FOLDER, f"{name}.sql"))
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    """Return the address of a document by its path; the reverse of ``path_of``."""
    folder, name = os.path.split(os.path.abspath(path))
    if folder == os.path.abspath(_UNTITLED_FOLDER):
        return _UNTITLED + unquote(name.removesuffix(".sql"))
    uri: str | None = uris.from_fs_path(os.path.abspath(path))
    assert uri is not None
    return uri


def range_of(place: Entry | Related | EditEntry) -> types.Range:
    """Return a place, which counts from 1 and in code points, as a range that counts from 0."""
    return types.Range(
        types.Position(place.line - 1, place.column - 1), types.Position(place.end_line - 1, place.end_column - 1)
    )


def diagnostic_of(entry: Entry, convert: Convert) -> types.Diagnostic:
    """Return a finding as the editor shows it: the message, the server's answer, and where else to look."""
    lines = [entry.message]
    if entry.server is not None:
        lines.append(f"PostgreSQL: ERROR {entry.server.sqlstate}: {entry.server.message}")
        lines += [
            f"{label}: {text}" for label, text in (("DETAIL", entry.server.detail), ("HINT", entry.server.hint)) if text
        ]
    if entry.certainty == "assumed":
        lines.append(f"assumed: {'; '.join(entry.assumptions)}" if entry.assumptions else "assumed")
    return types.Diagnostic(
        range=convert(entry.path, range_of(entry)),
        message="\n".join(lines),
        severity=_SEVERITIES[entry.severity],
        code=entry.rule,
        code_description=types.CodeDescription(entry.url) if entry.url else None,
        source="pubcheck",
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(uri_of(related.path), convert(related.path, range_of(related))), related.message
            )
            for related in entry.related
        ],
    )


def workspace_edit(edits: Iterable[EditEntry], convert: Convert) -> types.WorkspaceEdit:
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        text_edit = types.TextEdit(convert(edit.path, range_of(edit)), edit.text)
        changes.setdefault(uri_of(edit.path), []).append(text_edit)
    return types.WorkspaceEdit(changes=changes)
