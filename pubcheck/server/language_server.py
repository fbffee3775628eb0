"""The language server over standard input and output: requests of the protocol, answered from units."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from pubcheck import __version__, rulebook
from pubcheck.config import Config, ConfigError
from pubcheck.discovery.file_types import LANGUAGES, SUFFIXES, DiscoveredUnit
from pubcheck.faults import failure_text, fault_of
from pubcheck.findings import Entry, Finding
from pubcheck.server.analysis import Located, symbols
from pubcheck.server.analyst import Analyst, Cancelled, Failed
from pubcheck.server.conversion import changed as changed_text
from pubcheck.server.conversion import diagnostic_of, path_of, quick_fixes, range_of, uri_of, workspace_edit
from pubcheck.server.workspace import Schedule, Workspace


class Protocol(LanguageServerProtocol):
    """Requests with parameters that are not those of their method, and requests after `shutdown`, are answered by an
    error: an editor would wait for them for ever."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return an object of JSON as a message; None for a request that is not valid, which is answered here."""
        if "method" in data:
            data.setdefault("params", None)  # pygls wants them of methods that it does not know
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            self._send_response(data["id"], error=error.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is None:
            return  # `structure_message` answered it
        number = getattr(message, "id", None)
        if self._shutdown and number is not None and hasattr(message, "method"):
            self._send_response(number, error=JsonRpcInvalidRequest("the server is shutting down").to_response_error())
        else:
            super().handle_message(message)


Answer = TypeVar("Answer")
_PATIENCE = 120
"""Seconds after which an answer is given up."""


class Server(LanguageServer):
    """The state of one client: its open files, and the findings last shown for each of them."""

    def __init__(self) -> None:
        super().__init__("pubcheck", __version__, protocol_cls=Protocol)
        self.files = Workspace()
        self.analyst = Analyst(_PATIENCE)
        self.schedule = Schedule(self.lint, self.analyst.cancel_findings)
        self.shown: dict[str, list[Finding]] = {}
        self._linted: dict[str, tuple[object, ...]] = {}
        """What the findings that are shown of a file depend on."""
        self.may_exit = False
        """Whether the client asked for the end."""
        self._busy = asyncio.Lock()
        self._session: asyncio.Task[None] | None = None

    def begin_session(self) -> None:
        """Stop the process that lints when the event loop ends: on exit, and when the client goes away."""

        async def session() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                self.analyst.kill()

        self._session = asyncio.get_running_loop().create_task(session())

    # Places.

    def convert(self, path: str, place: types.Range) -> types.Range:
        """Turn a range in code points into the client's units."""
        lines = self.files.lines(os.path.abspath(path))
        return types.Range(lines.converted(place.start), lines.converted(place.end))

    def offset(self, path: str, position: types.Position) -> int:
        """Return a position of the client as an offset in code points."""
        return self.files.lines(path).offset(position)

    def range(self, path: str, start: int, end: int) -> types.Range:
        """Return offsets in code points as a range of the client."""
        return self.files.lines(os.path.abspath(path)).range(start, end)

    def locations(self, places: Iterable[Located]) -> list[types.Location]:
        return [types.Location(uri_of(place.path), self.range(place.path, place.start, place.end)) for place in places]

    # Questions.

    def unit_of(self, path: str | None) -> DiscoveredUnit | None:
        """Return the unit of an open file; None for another file, and under a configuration that is not valid, which
        is shown where the file is linted."""
        if path is None or path not in self.files.texts:
            return None
        try:
            return self.files.unit(path)
        except ConfigError:
            return None

    async def ask(self, question: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return the answer of the analyst, which takes one question after the other: also after one that is cancelled
        while it is answered, so that those that are cancelled before are never asked."""
        await self._busy.acquire()
        answer = asyncio.create_task(asyncio.to_thread(question, *arguments))
        answer.add_done_callback(self._answered)
        return await asyncio.shield(answer)

    def _answered(self, answer: asyncio.Task[Any]) -> None:
        self._busy.release()
        if not answer.cancelled():
            answer.exception()  # nobody may be waiting for it

    # Findings.

    async def lint(self, path: str) -> None:
        """Lint the unit of a file, and show the findings of all its open files."""
        if path not in self.files.texts:
            return  # it was closed meanwhile
        try:
            await self._lint(path)
        except (ConfigError, Failed) as error:
            problem = str(error)
        except Exception as error:
            problem = failure_text((fault_of(error, path),)) or ""
        else:
            return
        for name in self.schedule.current:
            self.show_problem(name, problem)

    async def _lint(self, path: str) -> None:
        unit, config, known = self.files.unit(path), self.files.config(path), self.files.baseline(path)
        if unit is None:
            self.show(path, [])
            return
        # A file that is opened from now on is context in this unit, and is linted later.
        names, state = self.files.files_of(unit), self.files.state(unit, path)
        self.schedule.begin(names)
        if all(self._linted.get(name) == state for name in names):
            return
        findings = await self.ask(self._findings, names, unit, config)
        if findings is None or self.schedule.waits(names):
            self.schedule.put(path)  # one of them changed meanwhile, perhaps so that it leaves the unit
            return
        if known is not None:
            findings = list(known.split(findings)[0])
        for name in names:
            if name in self.files.texts:  # not closed meanwhile
                self.show(name, [row for row in findings if os.path.abspath(row.entry.path) == name])
                self._linted[name] = state

    def _findings(self, names: Iterable[str], unit: DiscoveredUnit, config: Config) -> list[Finding] | None:
        """Return the findings of a unit; None if one of its files changed before its turn, or meanwhile."""
        if self.schedule.waits(names):
            return None
        try:
            return self.analyst.findings(unit, config)
        except Cancelled:
            return None

    def lint_all(self) -> None:
        """Look up units and configurations again, and lint all open files."""
        self.files.forget()
        self._linted.clear()
        for path in self.files.texts:
            self.schedule.put(path)

    def lint_changed(self) -> None:
        """Look up units and configurations again, and lint the open files whose units differ from those linted."""
        self.files.forget()
        for path in self.files.texts:
            self.schedule.put_unchanged(path)

    def close(self, path: str) -> None:
        self.files.close(path)
        self.schedule.remove(path)
        self.shown.pop(path, None)
        self._linted.pop(path, None)

    def show(self, path: str, findings: list[Finding]) -> None:
        self._linted.pop(path, None)
        self.shown[path] = findings
        self._publish(path, [diagnostic_of(finding.entry, self.convert) for finding in findings])

    def show_problem(self, path: str, message: str) -> None:
        self._linted.pop(path, None)
        self.shown[path] = []
        start = types.Position(0, 0)
        self._publish(
            path,
            [types.Diagnostic(types.Range(start, start), message, types.DiagnosticSeverity.Error, source="pubcheck")],
        )

    def _publish(self, path: str, diagnostics: list[types.Diagnostic]) -> None:
        version = self.files.versions.get(path)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri_of(path), diagnostics, version))


server = Server()


@server.feature(types.INITIALIZED)
def initialized(ls: Server, params: types.InitializedParams) -> None:
    """Take over the units of columns; ask a client that can to report changes of files and configurations."""
    ls.begin_session()
    # Edits are applied in `changed`: pygls also ends lines at characters at which the protocol does not.
    ls.workspace.update_text_document = lambda *_: None  # type: ignore[method-assign]
    ls.files.encoding = ls.workspace.position_encoding or types.PositionEncodingKind.Utf16
    workspace = ls.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    suffixes = (*(suffix.removeprefix(".") for suffix in SUFFIXES), *LANGUAGES, "json", "toml")
    watchers = [types.FileSystemWatcher(f"**/*.{{{','.join(suffixes)}}}")]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    ls.client_register_capability(
        types.RegistrationParams(
            [types.Registration("watched-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]
        )
    )


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is not None:
        ls.files.put(path, params.text_document.text, params.text_document.version)
        ls.schedule.put(path, pause=0)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path in ls.files.texts:
        text = changed_text(ls.files.texts[path], params.content_changes, ls.files.encoding)
        ls.files.put(path, text, params.text_document.version)
        ls.schedule.put(path)


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
async def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.lint_changed()


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
async def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    unsaved = ls.files.is_unsaved(path)
    ls.close(path)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
    if unsaved:
        ls.lint_all()  # in its unit the text on the disk counts again


@server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
async def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    paths = (path_of(change.uri) for change in params.changes)
    if any(path is not None and ls.files.may_depend_on(path) for path in paths):
        ls.lint_all()


# Questions about a place.


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    path = path_of(params.text_document.uri)
    if path is None or path not in ls.files.texts:
        return None
    await ls.schedule.settled(path)
    offset = ls.offset(path, params.position)
    texts: list[str] = []
    place: types.Range | None = None
    entries = [finding.entry for finding in ls.shown.get(path, ())]
    ranges = ((entry, ls.convert(path, range_of(entry))) for entry in entries)
    texts += {entry.rule: _rule(entry) for entry, shown in ranges if _contains(shown, params.position)}.values()
    unit = ls.unit_of(path)
    if unit is not None:
        described = await ls.ask(ls.analyst.hover, unit, ls.files.config(path), path, offset)
        if described is not None:
            texts.insert(0, described.markdown)
            place = ls.range(path, described.start, described.end)
    if not texts:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(texts)), place)


def _rule(entry: Entry) -> str:
    """Return the help of a finding, and the page of its rule."""
    link = f"[{entry.rule}]({entry.url})" if entry.url else entry.rule
    return "\n\n".join(filter(None, (f"**{link}** {entry.name}", entry.help, rulebook.sections(entry.rule))))


def _contains(place: types.Range, position: types.Position) -> bool:
    return (
        (place.start.line, place.start.character)
        <= (position.line, position.character)
        <= (
            place.end.line,
            place.end.character,
        )
    )


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
async def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
    return await _places(ls, params, "definition")


@server.feature(types.TEXT_DOCUMENT_REFERENCES)
async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
    return await _places(ls, params, "references")


async def _places(
    ls: Server, params: types.DefinitionParams | types.ReferenceParams, question: str
) -> list[types.Location]:
    path = path_of(params.text_document.uri)
    unit = ls.unit_of(path)
    if path is None or unit is None:
        return []
    ask = getattr(ls.analyst, question)
    places = await ls.ask(ask, unit, ls.files.config(path), path, ls.offset(path, params.position))
    return ls.locations(places)


_COMPLETION_KINDS = {
    "table": types.CompletionItemKind.Class,
    "column": types.CompletionItemKind.Field,
    "publication": types.CompletionItemKind.Module,
    "schema": types.CompletionItemKind.Folder,
    "option": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "function": types.CompletionItemKind.Function,
    "keyword": types.CompletionItemKind.Keyword,
}


@server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "(", ",", " ", "["]))
async def completion(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    path = path_of(params.text_document.uri)
    unit = ls.unit_of(path)
    if path is None or unit is None:
        return []
    offset = ls.offset(path, params.position)
    items = await ls.ask(ls.analyst.complete, unit, ls.files.config(path), path, offset)
    return [
        types.CompletionItem(item.label, kind=_COMPLETION_KINDS[item.kind], detail=item.detail or None)
        for item in items
    ]


@server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def document_symbols(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    path = path_of(params.text_document.uri)
    text = ls.files.texts.get(path or "")
    if path is None or text is None:
        return []
    outline = []
    for name, start, end in symbols(text):
        place = ls.range(path, start, end)
        outline.append(types.DocumentSymbol(name, types.SymbolKind.Object, place, place))
    return outline


# Changes.


@server.feature(
    types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
)
async def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    path = path_of(params.text_document.uri)
    if path is None:
        return []
    await ls.schedule.settled(path)
    unit, version, place = ls.unit_of(path), ls.files.versions.get(path), params.range
    findings = [
        (finding, shown)
        for finding in ls.shown.get(path, ())
        for shown in [ls.convert(path, range_of(finding.entry))]
        if not (_before(shown.end, place.start) or _before(place.end, shown.start))
    ]
    if unit is None or not findings:
        return []
    entries = [finding.entry for finding, _ in findings]
    actions: list[types.CodeAction] = []
    comments = await ls.ask(ls.analyst.ignoring, unit, ls.files.config(path), entries)
    if ls.files.versions.get(path) != version:
        return []  # the edits would be made in another text
    for (finding, _), edits in zip(findings, comments, strict=True):
        diagnostic = diagnostic_of(finding.entry, ls.convert)
        actions += quick_fixes(finding, diagnostic, ls.convert)
        if edits:
            title, edit = f"Ignore {finding.entry.rule} here", workspace_edit(edits, ls.convert)
            actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [diagnostic], edit=edit))
    return _merged(actions)


def _merged(actions: list[types.CodeAction]) -> list[types.CodeAction]:
    """Return the actions with each change once, such as that of two findings about UPDATE and DELETE."""
    kept: list[types.CodeAction] = []
    for action in actions:
        same = next((other for other in kept if (other.title, other.edit) == (action.title, action.edit)), None)
        if same is None:
            kept.append(action)
        else:
            same.diagnostics = [*(same.diagnostics or ()), *(action.diagnostics or ())]
    return kept


def _before(position: types.Position, other: types.Position) -> bool:
    return (position.line, position.character) < (other.line, other.character)


@server.feature(types.SHUTDOWN)
def shutdown(ls: Server, params: None) -> None:
    ls.may_exit = True


def main(config_path: str | None = None) -> int:
    """Serve a client on standard input and output until it exits; return the exit status that the protocol asks for.

    ``config_path``: the configuration file, None for the nearest one of each file.
    """
    server.files.config_path = config_path
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print is not a message
    with suppress(SystemExit):
        server.start_io(sys.stdin.buffer, output)
    return 0 if server.may_exit else 1
