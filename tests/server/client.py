"""A client of the language server: it starts `pubcheck server`, opens and edits files, and keeps what is published."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 30
"""Seconds for which an answer is awaited."""


class ServerProcess:
    """A server and its client, for many editors; the event loop runs in a thread."""

    def __init__(self, *encodings: types.PositionEncodingKind) -> None:
        self.client = LanguageClient("test", "1")
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int | None] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._begin(encodings))

    def run(self, work: Coroutine[Any, Any, None], patience: float = PATIENCE * 4) -> None:
        """Run something in the loop to its end."""
        asyncio.run_coroutine_threadsafe(work, self._loop).result(patience)

    async def _begin(self, encodings: tuple[types.PositionEncodingKind, ...]) -> None:
        self.news = asyncio.Condition()

        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.published[params.uri] = list(params.diagnostics)
                self.versions[params.uri] = params.version
                self.news.notify_all()

        def register(params: types.RegistrationParams) -> None:
            self.registered += [registration.method for registration in params.registrations]

        self.registered: list[str] = []
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        self.client.feature(types.CLIENT_REGISTER_CAPABILITY)(register)
        await self.client.start_io(sys.executable, "-m", "pubcheck", "server")
        general = types.GeneralClientCapabilities(position_encodings=list(encodings) or None)
        watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watching)
        answer = await self.client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(general=general, workspace=workspace))
        )
        self.capabilities = answer.capabilities
        self.client.initialized(types.InitializedParams())

    def end(self) -> None:
        async def leave() -> None:
            await self.client.shutdown_async(None)
            self.client.exit(None)

        self.run(leave())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)


class Editor:
    """Files of a folder, opened and edited."""

    def __init__(self, server: ServerProcess, folder: Path) -> None:
        self.server, self.client, self.folder = server, server.client, folder
        self._versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        return name if name.startswith("untitled:") else (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def shown(self, name: str) -> list[types.Diagnostic]:
        return self.server.published[self.uri(name)]

    async def until(self, name: str, holds: Callable[[list[types.Diagnostic]], bool]) -> None:
        """Wait until the findings of a file are as they should be."""
        async with self.server.news:
            await asyncio.wait_for(self.server.news.wait_for(lambda: holds(self.shown(name))), PATIENCE)

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        """Open a file and return its findings."""
        self.begin(name, text)
        return await self.findings(name)

    def begin(self, name: str, text: str) -> None:
        """Open a file, and do not wait for its findings."""
        self._versions[name] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), "sql", 1, text))
        )

    async def change(self, name: str, text: str) -> list[types.Diagnostic]:
        """Replace the whole text of a file, and return its findings."""
        return await self.edit(name, types.TextDocumentContentChangeWholeDocument(text))

    async def edit(self, name: str, *changes: types.TextDocumentContentChangeEvent) -> list[types.Diagnostic]:
        self.send(name, *changes)
        return await self.findings(name)

    def send(self, name: str, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Edit a file, and do not wait for its findings."""
        self._versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name)), list(changes)
            )
        )

    def save(self, name: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(name)))

    def notice(self, *events: tuple[Path, types.FileChangeType]) -> None:
        """Report changes of files on the disk."""
        changes = [types.FileEvent(path.as_uri(), kind) for path, kind in events]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    def close(self, name: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def close_all(self) -> None:
        for name in self._versions:
            self.close(name)

    async def findings(self, name: str) -> list[types.Diagnostic]:
        """Return the findings of the current version of a file."""

        def current() -> bool:
            return self.server.versions.get(self.uri(name)) == self._versions[name]

        async with self.server.news:
            await asyncio.wait_for(self.server.news.wait_for(current), PATIENCE)
        return self.shown(name)


Scenario = Callable[[Editor], Awaitable[None]]
