"""Quick fixes of a finding: its fixes, and the other remedies that its help lists."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from msgspec.structs import replace

from pubcheck.diagnostics import RemedyText
from pubcheck.findings import EditEntry, Finding
from pubcheck.server.convert import Convert, workspace_edit


def quick_fixes(finding: Finding, diagnostic: types.Diagnostic, convert: Convert) -> Iterator[types.CodeAction]:
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
