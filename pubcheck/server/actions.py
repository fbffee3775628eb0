"""Quick fixes of a finding: its fixes, and the other remedies that its help lists."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from msgspec.structs import replace

from pubcheck.findings import EditEntry, Entry
from pubcheck.report.text import REMEDY
from pubcheck.server.convert import Convert, workspace_edit


def quick_fixes(entry: Entry, diagnostic: types.Diagnostic, convert: Convert) -> Iterator[types.CodeAction]:
    """Yield the fixes of a finding, safe ones first, then its other remedies."""
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
    for statements, cost, edit in _remedies(entry):
        yield types.CodeAction(
            f"Append {statements} ({cost})",
            types.CodeActionKind.QuickFix,
            [diagnostic],
            edit=workspace_edit([edit], convert),
        )


def _remedies(entry: Entry) -> Iterator[tuple[str, str, EditEntry]]:
    """Yield the statements, the cost and the edit of each remedy that no fix applies: it is appended where the fix
    appends the best one."""
    titles = [fix.title for fix in entry.fixes]
    appended = next(
        (fix.edits[0] for fix in entry.fixes if fix.title.startswith("Append ") and len(fix.edits) == 1), None
    )
    if appended is None:
        return
    blank = appended.text[: len(appended.text) - len(appended.text.lstrip())]
    for remedy in (entry.help or "").split(REMEDY)[1:]:
        statements, _, cost = remedy.partition("  (")
        if not any(statements in title for title in titles):
            yield statements, cost.removesuffix(")"), replace(appended, text=f"{blank}{statements};\n")
