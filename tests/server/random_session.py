"""A client that edits files at random, in bursts: after each burst the editor shows what a fresh lint finds.

`python -m tests.server.random_session SEED BURSTS`: each burst has ten edits of single places, in any open file;
between bursts files are saved, closed (also without being saved) and opened, and change on the disk.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from lsprotocol import types

from pubcheck.engine.linter import Linter
from pubcheck.server.analysis import Analysis
from pubcheck.server.workspace import Workspace
from tests.server.client import Editor, ServerProcess
from tests.server.random_edits import Edits

BURST = 10
PIECES = ("", "", " ", "x", ";", "'", "(", ")", "\n", "\r\n", "é", "😀", "--", "/*", "*/", "$$", "a" * 90)
FOLDER = "db/migrations"


def position(text: str, offset: int) -> types.Position:
    """Return a position in UTF-16, which every client counts in."""
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


class Session:
    """The files of a history, all of them open at first."""

    def __init__(self, editor: Editor, seed: int) -> None:
        self.editor, self.random = editor, random.Random(seed)
        edits = Edits(seed)
        self.texts = {f"{FOLDER}/V{number}__a.sql": "\n".join(lines) for number, lines in enumerate(edits.lines)}
        self.statement = edits.statement
        self.open = set(self.texts)
        for name, text in self.texts.items():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(text, newline="")

    def path(self, name: str) -> Path:
        return self.editor.folder / name

    def edit(self) -> str:
        """Change one place of one open file, which is returned."""
        name = self.random.choice(sorted(self.open))
        text = self.texts[name]
        start = self.random.randrange(len(text) + 1)
        end = min(len(text), start + self.random.choice((0, 0, 1, 5, 40)))
        while "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
            start, end = start - (text[start - 1 : start + 1] == "\r\n"), end + (text[end - 1 : end + 1] == "\r\n")
        new = self.random.choice((*PIECES, f"\n{self.statement()}\n", f"\n{self.statement()}\n"))
        if text[:start].endswith("\r") and new.startswith("\n"):
            new = f" {new}"
        self.texts[name] = text[:start] + new + text[end:]
        place = types.Range(position(text, start), position(text, end))
        self.editor.send(name, types.TextDocumentContentChangePartial(place, new))
        return name

    async def burst(self) -> list[str]:
        """Edit, and return what the editor shows that a fresh lint does not find, and the other way round."""
        changed = {self.edit() for _ in range(BURST)}
        for name in changed:
            await self.editor.findings(name)
        return await self.differences()

    async def differences(self) -> list[str]:
        workspace = Workspace()
        for name in sorted(self.open):
            workspace.put(str(self.path(name)), self.texts[name], 1)
        different = []
        for name in sorted(self.open):
            path = str(self.path(name))
            unit = workspace.unit(path)
            assert unit is not None
            findings = Analysis(unit, Linter(workspace.config(path))).findings()
            expected = sorted(
                (entry.rule, entry.message.split("\n")[0], entry.line)
                for entry in (finding.entry for finding in findings)
                if str(Path(entry.path).absolute()) == path
            )

            def as_expected(shown: list[types.Diagnostic], expected: list[tuple[str, str, int]] = expected) -> bool:
                return as_rows(shown) == expected

            try:
                await self.editor.until(name, as_expected)
            except TimeoutError:
                rows = as_rows(self.editor.shown(name))
                different.append(f"{name}: {set(rows) ^ set(expected) or (rows, expected)}")
        return different

    async def reopen(self) -> None:
        """Save, close or open a file; one that is not open may change on the disk, or come and go."""
        name = self.random.choice(sorted(self.texts))
        path, kind = self.path(name), self.random.random()
        if name in self.open:
            if kind < 0.6:
                path.write_text(self.texts[name], newline="")
                self.editor.save(name)
            if len(self.open) > 1 and kind > 0.3:
                self.open.remove(name)
                self.editor.close(name)
                self.texts[name] = path.read_bytes().decode() if path.exists() else ""
        elif kind < 0.3 and path.exists():
            path.unlink()
            self.editor.notice((path, types.FileChangeType.Deleted))
        elif kind < 0.6:
            self.texts[name] += f"\n{self.statement()}\n"
            path.write_text(self.texts[name], newline="")
            self.editor.notice((path, types.FileChangeType.Changed))
        else:
            self.open.add(name)
            await self.editor.open(name, self.texts[name])


def as_rows(shown: list[types.Diagnostic]) -> list[tuple[str, str, int]]:
    return sorted(
        (str(diagnostic.code), diagnostic.message.split("\n")[0], diagnostic.range.start.line + 1)
        for diagnostic in shown
    )


def differences(process: ServerProcess, folder: Path, seed: int, bursts: int) -> list[str]:
    """Return what the editor showed wrongly after a burst."""
    different: list[str] = []

    async def scenario() -> None:
        editor = Editor(process, folder)
        session = Session(editor, seed)
        for name, text in session.texts.items():
            await session.editor.open(name, text)
        for number in range(bursts):
            rows = await session.burst()
            different.extend(f"seed {seed}, burst {number}: {row}" for row in rows)
            if session.random.random() < 0.2:
                await session.reopen()
        editor.close_all()

    process.run(scenario(), patience=60 * bursts)
    return different


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        client = ServerProcess()
        wrong = differences(client, Path(scratch), int(sys.argv[1]), int(sys.argv[2]))
        client.end()
    print(*wrong, f"{BURST * int(sys.argv[2])} edits, {len(wrong)} times other findings than a fresh lint", sep="\n")
    sys.exit(bool(wrong))
