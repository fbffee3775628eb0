"""Findings and fixes as the Language Server Protocol has them: 0-based lines, and columns in units of the client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote

from lsprotocol import types
from msgspec.structs import replace
from pygls import uris

from pubcheck.diagnostics import RemedyText
from pubcheck.findings import EditEntry, Entry, Finding, Related
from pubcheck.source import LineIndex

Encoding = types.PositionEncodingKind | str

_BOM = "\ufeff"


class Lines:
    """A text and its lines, which LF, CRLF and a lone CR end. Offsets do not count a byte order mark; a client does."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text.removeprefix(_BOM)
        self._encoding = encoding
        self._shift = _units(_BOM, encoding) if text.startswith(_BOM) else 0
        self._index = LineIndex(self.text)
        self._plain = self.text.isascii()

    def range(self, start: int, end: int) -> types.Range:
        """Return offsets as a range of the client."""
        return types.Range(self.position(start), self.position(end))

    def position(self, offset: int) -> types.Position:
        """Return an offset as a position of the client."""
        line, column = self._index.locate(offset)
        return self.converted(types.Position(line - 1, column - 1))

    def converted(self, position: types.Position) -> types.Position:
        """Return a position whose column counts code points as one of the client."""
        line, column = position.line, position.character
        if not self._plain and line < len(self._index):
            start = self._index.start(line + 1)
            column = _units(self.text[start : start + column], self._encoding)
        return types.Position(line, column + (0 if line else self._shift))

    def offset(self, position: types.Position) -> int:
        """Return a position of the client as an offset; one after the end of a line is the end of the line."""
        if position.line >= len(self._index):
            return len(self.text)
        start = self._index.start(position.line + 1)
        end = self._index.start(position.line + 2) if position.line + 1 < len(self._index) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        character = max(0, position.character - (0 if position.line else self._shift))
        if self._plain:
            return min(start + character, end)
        for offset in range(start, end):
            if character <= 0:
                return offset
            character -= _units(self.text[offset], self._encoding)
        return end


def changed(text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: Encoding) -> str:
    """Return a text after changes, one after the other."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            lines = Lines(text, encoding)
            start, end = lines.offset(change.range.start), lines.offset(change.range.end)
            mark = _BOM if text.startswith(_BOM) else ""
            text = mark + lines.text[:start] + change.text + lines.text[end:]
        else:
            text = change.text
    return text


def _units(text: str, encoding: Encoding) -> int:
    if text.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode(errors="surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


# Findings as the Language Server Protocol has them: 0-based lines, and columns in the units of the client.

_Convert = Callable[[str, types.Range], types.Range]
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


def diagnostic_of(entry: Entry, convert: _Convert) -> types.Diagnostic:
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


def workspace_edit(edits: Iterable[EditEntry], convert: _Convert) -> types.WorkspaceEdit:
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        text_edit = types.TextEdit(convert(edit.path, range_of(edit)), edit.text)
        changes.setdefault(uri_of(edit.path), []).append(text_edit)
    return types.WorkspaceEdit(changes=changes)


# Quick fixes of a finding: its fixes, and the other remedies that its help lists.


def quick_fixes(finding: Finding, diagnostic: types.Diagnostic, convert: _Convert) -> Iterator[types.CodeAction]:
    """Yield the fixes of a finding, safe ones first, then its other remedies."""
    entry = finding.entry
    fixes = sorted((fix for fix in entry.fixes if fix.edits), key=lambda fix: fix.applicability != "safe")
    for number, fix in enumerate(fixes):
        safe = fix.applicability == "safe"
        title = fix.title if safe else f"{fix.title} (changes more than the syntax)"
        yield types.CodeAction(
            title,
            types.CodeActionKind.QuickFix,
            [diagnostic],
            is_preferred=safe and number == 0,
            edit=workspace_edit(fix.edits, convert),
        )
    for remedy, edit in _remedies(finding):
        yield types.CodeAction(
            f"Append {remedy.statements} ({remedy.cost})",
            types.CodeActionKind.QuickFix,
            [diagnostic],
            edit=workspace_edit([edit], convert),
        )


def _remedies(finding: Finding) -> Iterator[tuple[RemedyText, EditEntry]]:
    """Yield each remedy that no fix applies, with its edit: it is appended where the fix appends the best one."""
    write, fixes = finding.write, finding.entry.fixes
    if write is None or not write.appends or len(fixes[0].edits) != 1:
        return
    appended = fixes[0].edits[0]
    blank = appended.text[: len(appended.text) - len(appended.text.lstrip())]
    for number, remedy in enumerate(write.remedies):
        if number != write.applied:
            yield remedy, replace(appended, text=f"{blank}{remedy.statements};\n")
