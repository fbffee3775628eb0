"""Reading the files of a unit: text, or why there is none."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck import extract
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.discovery.file_inspector import content_of
from pubcheck.discovery.file_types import DATABASE, LISTINGS, File, interpreter_of
from pubcheck.extract.frameworks.project import Project
from pubcheck.faults import Fault, fault_of, internal_error
from pubcheck.rulebook import finder, reading_diagnostic
from pubcheck.source import Source, decode


class Reading(Struct, frozen=True):
    """The sources of a unit that could be read, and the diagnostics of reading them.

    ``faults`` are pubcheck's own errors; each one loses the file in which the SQL was searched.
    """

    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]
    faults: tuple[Fault, ...] = ()


_SNAPSHOT = '{"pubcheck_snapshot"'
"""The beginning of a snapshot; one that comes from a pipe is seen only when it is read."""
_EIGHT_BIT = {"windows-1252": "Windows-1252", "iso-8859-1": "ISO 8859-1"}


@finder("PUB001", "PUB002", "PUB003")
def read_unit(files: Sequence[File], majors: tuple[int, ...]) -> Reading:
    """Read a unit's files. A file that cannot be read, or is not text, becomes a diagnostic for ``majors``."""
    sources, diagnostics, faults = list[Source](), list[Diagnostic](), list[Fault]()
    project = Project()
    for file in files:
        try:
            decoded = decode(_content(file))
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            message = f"this cannot be read: {reason}"
            diagnostics.append(reading_diagnostic("PUB001", message, Span(Source(file.label, ""), 0, 0), majors))
            continue
        if decoded.text is None:
            message = f"this is not text: {decoded.problem}"
            help = "convert a pg_dump archive to SQL with `pg_restore --file=schema.sql`"
            diagnostics.append(reading_diagnostic("PUB002", message, Span(Source(file.label, ""), 0, 0), majors, help))
            continue
        if file.view in LISTINGS:
            from pubcheck.live.document import source_of

            sources.append(source_of(file.label, decoded.text, live=file.view == DATABASE))
            continue
        if decoded.text.startswith(_SNAPSHOT):
            message = "this cannot be read: a snapshot of a database is read from a file, or from standard input as -"
            diagnostics.append(reading_diagnostic("PUB001", message, Span(Source(file.label, ""), 0, 0), majors))
            continue
        view = interpreter_of(decoded.text) if decoded.text.startswith("#!") else None
        # A file that is a row of a table has a label only.
        project.begin(os.path.abspath(file.path) if file.path else file.label, file.app)
        try:
            source = extract.source(file.label, decoded.text, view or file.view, project, sometime=file.sometime)
        except Exception as error:
            faults.append(fault_of(error, file.label))
            span = Span(Source(file.label, decoded.text), 0, 0)
            diagnostics.append(internal_error(error, "this file", span, majors))
            continue
        if decoded.encoding in _EIGHT_BIT:
            source = replace(source, encoding=decoded.encoding)
            start = next(index for index, char in enumerate(decoded.text) if char > "\x7f")
            message = f"this file is not UTF-8 and was read as {_EIGHT_BIT[decoded.encoding]}"
            help = "save it as UTF-8"
            diagnostics.append(reading_diagnostic("PUB003", message, Span(source, start, start + 1), majors, help))
        sources.append(source)
    return Reading(tuple(sources), tuple(diagnostics), tuple(faults))


def _content(file: File) -> bytes:
    if file.content is not None:
        return file.content
    if file.error is not None:
        raise OSError(0, file.error)
    return content_of(file.path) if file.cached_content is None else file.cached_content
