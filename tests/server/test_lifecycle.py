"""A server from its start to its end, and what happens to the files of an editor meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.server.client import Editor
from tests.server.test_language_server import EU, ORDERS, Run, codes, position

HISTORY = "db/migrations"


@pytest.mark.slow
def test_a_server_ends_with_its_client(tmp_path: Path) -> None:
    """With the status that the protocol asks for, and so does the process that lints, even in the middle of a file."""
    uri = (tmp_path / "a.sql").as_uri()
    open_file = notification(
        "textDocument/didOpen",
        textDocument={"uri": uri, "languageId": "sql", "version": 1, "text": ORDERS + EU},
    )
    tables = "".join(f"CREATE TABLE t{number} (id int PRIMARY KEY, a int);\n" for number in range(100_000))
    edit_file = notification(
        "textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"text": tables}]
    )
    begin = [request(1, "initialize", capabilities={}), notification("initialized"), open_file]
    orderly, rude, dead, busy = (
        subprocess.Popen([sys.executable, "-m", "pubcheck", "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    )
    leave = notification("exit")
    for process, ending, expected in (
        (orderly, [request(2, "shutdown"), leave], 0),
        (rude, [leave], 1),
        (dead, [], 1),
        (busy, [edit_file, request(2, "shutdown"), leave], 0),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        for message in begin:
            write(process, message)
        while read(process).get("method") != "textDocument/publishDiagnostics":
            pass
        children = children_of(process.pid)
        assert len(children) >= 1
        for message in ending:
            write(process, message)
            if message is edit_file:  # a copy of the process lints it
                until(one_has_a_child, children)
        if process is dead:
            process.stdin.close()
        assert process.wait(30) == expected
        process.stdin.close()
        process.stdout.close()
        until(all_are_dead, children)


def test_every_request_is_answered() -> None:
    """Also one whose parameters are not those of its method, or that comes after `shutdown`."""
    arguments = [sys.executable, "-m", "pubcheck", "server"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for message in (
            request(1, "initialize", capabilities={}),
            notification("initialized"),
            request(2, "textDocument/hover", textDocument={"uri": 7}, position="here"),
            request(3, "textDocument/hover"),
            notification("textDocument/didOpen", textDocument=[]),
            request(4, "pubcheck/unknown"),
            request(5, "shutdown"),
            request(
                6, "textDocument/hover", textDocument={"uri": "file:///a.sql"}, position={"line": 0, "character": 0}
            ),
            notification("exit"),
        ):
            write(process, message)
        answers: dict[int, Any] = {}
        while len(answers) < 6:
            message = read(process)
            if "id" in message:
                answers[message["id"]] = message.get("error", {}).get("code")
    # The codes of JSON-RPC: invalid parameters, unknown method, invalid request.
    assert answers == {1: None, 2: -32602, 3: -32602, 4: -32601, 5: None, 6: -32600}


def until(holds: Callable[[list[int]], bool], processes: list[int]) -> None:
    """Wait until something holds of processes."""
    deadline = time.monotonic() + 30
    while not holds(processes):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or None}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def write(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    body = json.dumps({key: value for key, value in message.items() if value is not None}).encode()
    assert process.stdin is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()


def read(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    length = 0
    while line := process.stdout.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    message: dict[str, Any] = json.loads(process.stdout.read(length))
    return message


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] or [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


def one_has_a_child(processes: list[int]) -> bool:
    return any(map(children_of, processes))


def all_are_dead(processes: list[int]) -> bool:
    return all(map(is_dead, processes))


def is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


# In a server that is shared.


def test_files_come_change_and_go_outside_of_the_editor(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / HISTORY
    folder.mkdir(parents=True)
    table, more = folder / "V1__orders.sql", folder / "V3__more.sql"
    table.write_bytes(ORDERS.encode() + b"-- caf\xe9\r\n")  # not UTF-8
    publication = f"{HISTORY}/V2__eu.sql"

    async def scenario(client: Editor) -> None:
        findings = await client.open(publication, EU)
        related = [place for finding in findings for place in finding.related_information or ()]
        assert any(place.location.uri == table.as_uri() for place in related)
        table.unlink()
        client.notice((table, types.FileChangeType.Deleted))
        await client.until(publication, lambda diagnostics: "PUB301" not in codes(diagnostics))
        table.write_text(ORDERS)
        client.notice((table, types.FileChangeType.Created))
        await client.until(publication, lambda diagnostics: "PUB301" in codes(diagnostics))
        table.rename(folder / "V0__orders.sql")
        more.write_text("ALTER TABLE orders REPLICA IDENTITY FULL;\n")
        client.notice((table, types.FileChangeType.Deleted), (more, types.FileChangeType.Created))
        await client.until(publication, lambda diagnostics: "PUB301" not in codes(diagnostics))
        # A neighbour that is gone without any notice does no harm.
        (folder / "V0__orders.sql").unlink()
        assert isinstance(await client.change(publication, EU + "\n"), list)

    run(scenario)


def test_text_that_was_not_saved_counts_until_its_file_is_closed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / HISTORY
    folder.mkdir(parents=True)
    (folder / "V1__orders.sql").write_text(ORDERS)

    async def scenario(client: Editor) -> None:
        first, second = f"{HISTORY}/V1__orders.sql", f"{HISTORY}/V2__eu.sql"
        assert "PUB301" in codes(await client.open(second, EU))
        await client.open(first, ORDERS + "ALTER TABLE orders REPLICA IDENTITY FULL;\n")
        await client.until(second, lambda diagnostics: "PUB301" not in codes(diagnostics))
        client.close(first)
        await client.until(second, lambda diagnostics: "PUB301" in codes(diagnostics))

    run(scenario)


def test_fixes_are_those_of_the_present_text(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        client.send("schema.sql", types.TextDocumentContentChangeWholeDocument("-- one more line\n" + ORDERS + EU))
        whole = types.Range(types.Position(0, 0), types.Position(9, 0))
        actions = await client.client.text_document_code_action_async(
            types.CodeActionParams(client.document("schema.sql"), whole, types.CodeActionContext([]))
        )
        (ignore,) = (action for action in actions or () if action.title == "Ignore PUB301 here")
        assert isinstance(ignore, types.CodeAction)
        assert ignore.edit is not None
        assert ignore.edit.changes is not None
        ((edit,),) = ignore.edit.changes.values()
        assert edit.range.start == types.Position(2, 0)

    run(scenario)


def test_definitions_are_in_other_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / HISTORY
    folder.mkdir(parents=True)
    (folder / "V1__orders.sql").write_text("-- first\n" + ORDERS)

    async def scenario(client: Editor) -> None:
        name = f"{HISTORY}/V2__eu.sql"
        await client.open(name, EU)
        for needle, target in (("orders WHERE", "orders"), ("region =", "region")):
            places = await client.client.text_document_definition_async(
                types.DefinitionParams(client.document(name), position(EU, needle, 1))
            )
            assert isinstance(places, list)
            (place,) = places
            assert place.uri == (folder / "V1__orders.sql").as_uri()
            assert place.range.start == position("-- first\n" + ORDERS, target)

    run(scenario)


def test_edits_of_lines_with_all_ends_and_wide_characters(run: Run) -> None:
    text = (
        "-- 😀\u2028\x0c é\r\n"
        + ORDERS.replace("region", '"😀é"').replace("\n", "\r\n")
        + EU.replace("region", '"😀é"')
    )

    async def scenario(client: Editor) -> None:
        findings = await client.open("schema.sql", text)
        place = next(finding.range for finding in findings if finding.code == "PUB301")
        assert (place.start, place.end) == (types.Position(2, 46), types.Position(2, 51))  # four units in quotes
        edit = types.TextDocumentContentChangePartial(range=place, text="id")
        assert "PUB301" not in codes(await client.edit("schema.sql", edit))
        parts = (
            types.TextDocumentContentChangePartial(
                range=types.Range(place.start, types.Position(2, 46 + length)), text=written
            )
            for length, written in ((2, "é😀"), (3, '"😀é"'))
        )
        assert "PUB301" in codes(await client.edit("schema.sql", *parts))

    run(scenario)


def test_documents_without_a_file_and_folders_of_the_workspace_do_no_harm(run: Run, tmp_path: Path) -> None:
    async def scenario(client: Editor) -> None:
        for uri in ("git:/a.sql?ref=HEAD", "vscode-notebook-cell:/a.ipynb#1"):
            item = types.TextDocumentItem(uri, "sql", 1, ORDERS + EU)
            client.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            document = types.TextDocumentIdentifier(uri)
            hover = types.HoverParams(document, types.Position(0, 15))
            assert await client.client.text_document_hover_async(hover) is None
            whole = types.Range(types.Position(0, 0), types.Position(9, 0))
            actions = types.CodeActionParams(document, whole, types.CodeActionContext([]))
            assert not await client.client.text_document_code_action_async(actions)
            client.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        folder = types.WorkspaceFolder(tmp_path.as_uri(), "shop")
        for added, removed in (([folder], []), ([], [folder])):
            event = types.WorkspaceFoldersChangeEvent(added=added, removed=removed)
            client.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        assert "PUB301" in codes(await client.open("schema.sql", ORDERS + EU))

    run(scenario)


def test_a_file_that_is_opened_while_another_is_linted_is_shown_when_it_is_linted(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / HISTORY
    folder.mkdir(parents=True)
    twice = EU + EU  # the second one is refused, which is not reported of a context file
    (folder / "V1__orders.sql").write_text(ORDERS)
    (folder / "V2__publication.sql").write_text(twice)

    async def scenario(client: Editor) -> None:
        client.begin(f"{HISTORY}/V1__orders.sql", ORDERS)
        assert "PUB105" in codes(await client.open(f"{HISTORY}/V2__publication.sql", twice))

    run(scenario)


def test_a_request_that_is_cancelled_leaves_the_others(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        params = types.HoverParams(client.document("schema.sql"), position(ORDERS, "orders", 1))
        first = client.client.protocol.send_request("textDocument/hover", params)
        message_id = next(iter(client.client.protocol._request_futures))
        client.client.protocol.notify("$/cancelRequest", types.CancelParams(message_id))
        second = await client.client.text_document_hover_async(params)
        assert second is not None
        assert first.done() or not first.cancelled()

    run(scenario)


@pytest.mark.slow
def test_a_file_of_ten_megabytes(run: Run) -> None:
    row = f"('{'x' * 1000}'),\n"
    text = ORDERS + "INSERT INTO notes VALUES\n" + row * 10_000 + "('x');\n" + EU

    async def scenario(client: Editor) -> None:
        assert "PUB301" in codes(await client.open("schema.sql", text))
        last = text.count("\n") - 1
        end = types.Range(types.Position(last, 46), types.Position(last, 52))
        edit = types.TextDocumentContentChangePartial(range=end, text="id")
        assert "PUB301" not in codes(await client.edit("schema.sql", edit))

    run(scenario)


def test_other_remedies_are_offered_and_do_what_they_say(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        findings = await client.open("schema.sql", ORDERS + EU)
        place = next(finding.range for finding in findings if finding.code == "PUB301")
        actions = await client.client.text_document_code_action_async(
            types.CodeActionParams(client.document("schema.sql"), place, types.CodeActionContext([]))
        )
        appended = [
            action
            for action in actions or ()
            if isinstance(action, types.CodeAction) and action.title.startswith("Append ")
        ]
        assert len({action.title for action in appended}) == 5
        for action in appended[:5]:
            assert action.edit is not None
            assert action.edit.changes is not None
            ((edit,),) = action.edit.changes.values()
            assert edit.range.start == edit.range.end == types.Position(2, 0)
            assert isinstance(edit, types.TextEdit)
            assert "PUB301" not in codes(await client.change("schema.sql", ORDERS + EU + edit.new_text)), action.title

    run(scenario)


def test_a_rule_is_shown_a_rename_is_not_offered_and_files_are_watched(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        params = types.HoverParams(client.document("schema.sql"), position(ORDERS + EU, "region =", 1))
        hover = await client.client.text_document_hover_async(params)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value.count("## What happens") == 1
        assert client.server.capabilities.rename_provider is None
        assert client.server.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]

    run(scenario)
