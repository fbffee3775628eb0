"""Scenarios in an editor: findings, hover, definitions, references, completion, fixes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest
from lsprotocol import types

from tests.server.client import Editor, Scenario, ServerProcess

ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL, total integer);\n"
EU = "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'EU');\n"


class Run(Protocol):
    """Runs a scenario in a folder of its own."""

    def __call__(self, scenario: Scenario) -> None: ...


def in_editor(process: ServerProcess, folder: Path, scenario: Scenario) -> None:
    async def session() -> None:
        editor = Editor(process, folder)
        try:
            await scenario(editor)
        finally:
            editor.close_all()  # the server is shared, and looks at all open files again after a save

    process.run(session())


def position(text: str, needle: str, shift: int = 0) -> types.Position:
    """Return the position of a text within another, in code points, which ASCII texts share with all encodings."""
    offset = text.index(needle) + shift
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def codes(findings: list[types.Diagnostic]) -> list[str]:
    return sorted({str(finding.code) for finding in findings})


def test_a_finding_is_shown_where_its_cause_is(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        findings = await client.open("schema.sql", ORDERS + EU)
        refused = [finding for finding in findings if finding.code == "PUB301"]
        assert len(refused) == 2  # UPDATE and DELETE
        assert refused[0].range == types.Range(types.Position(1, 46), types.Position(1, 52))
        assert refused[0].severity == types.DiagnosticSeverity.Error
        assert 'ERROR 42P10: cannot update table "orders"' in refused[0].message
        assert refused[0].related_information

    run(scenario)


def test_a_change_removes_findings(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        assert "PUB301" in codes(await client.open("schema.sql", ORDERS + EU))
        assert "PUB301" not in codes(await client.change("schema.sql", ORDERS + EU.replace("region = 'EU'", "id > 0")))

    run(scenario)


def test_a_buffer_without_a_file_is_a_unit_of_its_own(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS)
        for name in ("untitled:Untitled-1", "untitled:/tmp/a%20b.sql"):
            findings = await client.open(name, ORDERS + EU)
            assert codes(findings) == ["PUB301"]
            (place,) = findings[0].related_information or ()
            assert place.location.uri == name
            actions = await client.client.text_document_code_action_async(
                types.CodeActionParams(client.document(name), findings[0].range, types.CodeActionContext(findings))
            )
            edits = [action.edit for action in actions or () if isinstance(action, types.CodeAction)]
            assert {uri for edit in edits if edit is not None for uri in edit.changes or ()} == {name}

    run(scenario)


def test_a_buffer_is_linted_in_its_history_with_unsaved_neighbours(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "db" / "migrations"
    folder.mkdir(parents=True)
    first, second = folder / "V1__orders.sql", folder / "V2__publication.sql"
    first.write_text(ORDERS)
    second.write_text(EU)

    async def scenario(client: Editor) -> None:
        name = "db/migrations/V2__publication.sql"
        assert "PUB301" in codes(await client.open(name, EU))
        unsaved = ORDERS.replace("PRIMARY KEY, region text NOT NULL", ", region text, PRIMARY KEY (id, region)")
        await client.open("db/migrations/V1__orders.sql", unsaved)
        await client.until(name, lambda findings: "PUB301" not in codes(findings))

    run(scenario)


@pytest.mark.parametrize("encoding", [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16])
def test_columns_count_in_the_units_of_the_client(
    process: ServerProcess, tmp_path: Path, encoding: types.PositionEncodingKind
) -> None:
    async def scenario(client: Editor) -> None:
        findings = await client.open("schema.sql", ORDERS + EU.replace("CREATE", "/* 😀é */ CREATE"))
        place = next(finding.range for finding in findings if finding.code == "PUB301")
        extra = 13 if encoding == types.PositionEncodingKind.Utf8 else 10
        assert place.start == types.Position(1, 46 + extra)

    if encoding == types.PositionEncodingKind.Utf16:
        in_editor(process, tmp_path, scenario)
    else:
        with_bytes = ServerProcess(encoding)
        in_editor(with_bytes, tmp_path, scenario)
        with_bytes.end()


def test_configuration_and_comments_count(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pubcheck.toml").write_text('ignore = ["PUB301"]\n')

    async def scenario(client: Editor) -> None:
        assert "PUB301" not in codes(await client.open("schema.sql", ORDERS + EU))
        (tmp_path / "pubcheck.toml").write_text("postgres = [\n")
        client.notice((tmp_path / "pubcheck.toml", types.FileChangeType.Changed))
        await client.until("schema.sql", lambda findings: any("pubcheck.toml" in item.message for item in findings))
        hover = types.HoverParams(client.document("schema.sql"), position(ORDERS, "orders", 1))
        assert await client.client.text_document_hover_async(hover) is None
        (tmp_path / "pubcheck.toml").unlink()
        (tmp_path / "schema.sql").write_text(ORDERS + EU)
        lint = ["lint", "--write-baseline", "known.json", "schema.sql"]
        subprocess.run([sys.executable, "-m", "pubcheck", *lint], cwd=tmp_path, check=True)
        (tmp_path / "pubcheck.toml").write_text('baseline = "known.json"\n')
        client.notice((tmp_path / "pubcheck.toml", types.FileChangeType.Changed))
        await client.until("schema.sql", lambda findings: not findings)
        (tmp_path / "known.json").write_text('{"pubcheck_baseline": 1, "findings": []}')
        client.notice((tmp_path / "known.json", types.FileChangeType.Changed))
        await client.until("schema.sql", lambda findings: "PUB301" in codes(findings))

    run(scenario)


@pytest.mark.parametrize(
    ("needle", "expected"),
    [
        ("orders WHERE", "replica identity: id"),
        ("eu FOR", "publishes INSERT, UPDATE, DELETE, TRUNCATE"),
        ("region =", "not in the replica identity"),
        ("id bigint", "bigint, NOT NULL, in the replica identity"),
    ],
)
def test_hover_describes_names(run: Run, needle: str, expected: str) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        hover = await client.client.text_document_hover_async(
            types.HoverParams(client.document("schema.sql"), position(ORDERS + EU, needle, 1))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert expected in hover.contents.value

    run(scenario)


def test_names_in_a_block_are_names(run: Run) -> None:
    text = ORDERS + f"DO $körper$\nBEGIN\n  {EU}END $körper$;\n"

    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", text)
        document = client.document("schema.sql")
        for needle, expected, target in (
            ("eu FOR", "**publication eu**", "eu FOR"),
            ("orders WHERE", "**table public.orders**", "orders ("),
            ("region =", "**column region**", "region text"),
        ):
            hover = types.HoverParams(document, position(text, needle, 1))
            shown = await client.client.text_document_hover_async(hover)
            assert shown is not None
            assert isinstance(shown.contents, types.MarkupContent)
            assert shown.contents.value.startswith(expected)
            asked = types.DefinitionParams(document, position(text, needle, 1))
            places = await client.client.text_document_definition_async(asked)
            assert isinstance(places, list)
            assert [place.range.start for place in places] == [position(text, target)]

    run(scenario)


def test_nothing_is_completed_in_a_comment(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        for comment, completed in (("-- |", False), ("/* a\n |", False), ("-- a\n/* b */ |", True)):
            text = f"{ORDERS}CREATE PUBLICATION p FOR TABLE orders {comment}"
            await client.open("schema.sql", text.replace("|", ""))
            asked = types.CompletionParams(client.document("schema.sql"), position(text, "|"))
            assert bool(await client.client.text_document_completion_async(asked)) is completed
            client.close("schema.sql")

    run(scenario)


def test_hover_on_a_publication_names_its_consumers(run: Run) -> None:
    text = ORDERS + "CREATE PUBLICATION powersync FOR TABLE orders WITH (publish = 'insert');\n"

    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", text)
        hover = await client.client.text_document_hover_async(
            types.HoverParams(client.document("schema.sql"), position(text, "powersync", 1))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "read by PowerSync, as its name suggests: " in hover.contents.value

    run(scenario)


def test_hover_on_a_finding_has_its_rule(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        hover = await client.client.text_document_hover_async(
            types.HoverParams(client.document("schema.sql"), position(ORDERS + EU, "region =", 1))
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "PUB301" in hover.contents.value

    run(scenario)


@pytest.mark.parametrize(
    ("needle", "target"), [("orders WHERE", "orders ("), ("region =", "region text"), ("eu SET", "eu FOR")]
)
def test_definitions(run: Run, needle: str, target: str) -> None:
    text = ORDERS + EU + "ALTER PUBLICATION eu SET (publish = 'insert');\n"

    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", text)
        places = await client.client.text_document_definition_async(
            types.DefinitionParams(client.document("schema.sql"), position(text, needle, 1))
        )
        assert isinstance(places, list)
        (place,) = places
        assert place.range.start == position(text, target)

    run(scenario)


def test_references_across_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "db" / "migrations"
    folder.mkdir(parents=True)
    (folder / "V1__orders.sql").write_text(ORDERS)

    async def scenario(client: Editor) -> None:
        await client.open("db/migrations/V2__publication.sql", EU)
        places = await client.client.text_document_references_async(
            types.ReferenceParams(
                types.ReferenceContext(True),
                client.document("db/migrations/V2__publication.sql"),
                position(EU, "orders", 1),
            )
        )
        assert places is not None
        assert sorted(place.uri.rpartition("/")[2] for place in places) == ["V1__orders.sql", "V2__publication.sql"]
        keyword = types.ReferenceParams(
            types.ReferenceContext(True),
            client.document("db/migrations/V2__publication.sql"),
            position(EU, "CREATE"),
        )
        assert not await client.client.text_document_references_async(keyword)

    run(scenario)


@pytest.mark.parametrize(
    ("statement", "expected", "not_expected"),
    [
        ("CREATE PUBLICATION p FOR TABLE |", "orders", "region"),
        ("CREATE PUBLICATION p FOR TABLE orders (|", "region", "orders"),
        ("CREATE PUBLICATION p FOR TABLE orders (id, |", "total", "id"),
        ("CREATE PUBLICATION p FOR TABLE orders WHERE (|", "lower", "insert"),
        ("CREATE PUBLICATION p FOR TABLE orders WHERE (|", "region", "publish"),
        ("CREATE PUBLICATION p FOR ALL TABLES WITH (|", "publish_via_partition_root", "orders"),
        ("CREATE PUBLICATION p FOR ALL TABLES WITH (publish = |", "'insert, update, delete'", "orders"),
        ("ALTER PUBLICATION |", "eu", "orders"),
        ("ALTER PUBLICATION eu |", "ADD TABLE", "orders"),
        ("CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION |", "eu", "orders"),
        ("CREATE PUBLICATION p FOR |", "ALL TABLES", "WITH ("),
        ("ALTER PUBLICATION eu ADD |", "TABLES IN SCHEMA", "WHERE ("),
        ("ALTER PUBLICATION eu SET TABLE orders |", "WHERE (", "WITH ("),
        ("CREATE PUBLICATION p FOR TABLE orders WHERE (true) |", "WITH (", "WHERE ("),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA public |", "WITH (", "WHERE ("),
        ("DROP PUBLICATION eu, |", "eu", "orders"),
        ("CREATE PUBLICATION p WITH (publish = 'insert, |", "update", "publish_via_partition_root"),
        ("-- pubcheck: consumer[powersync, |", "zero", "orders"),
        ("DO $$ BEGIN CREATE PUBLICATION p FOR TABLE |", "orders", "region"),
        ("DO $$ BEGIN PERFORM 1; IF true THEN ALTER PUBLICATION |", "eu", "orders"),
    ],
)
def test_completion(run: Run, statement: str, expected: str, not_expected: str) -> None:
    text = ORDERS + EU + statement

    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", text.replace("|", ""))
        items = await client.client.text_document_completion_async(
            types.CompletionParams(client.document("schema.sql"), position(text, "|"))
        )
        assert isinstance(items, list)
        labels = [item.label for item in items]
        assert expected in labels
        assert not_expected not in labels

    run(scenario)


def test_fixes_and_ignore_comments(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        findings = await client.open("schema.sql", ORDERS + EU)
        place = next(finding.range for finding in findings if finding.code == "PUB301")
        actions = await client.client.text_document_code_action_async(
            types.CodeActionParams(client.document("schema.sql"), place, types.CodeActionContext([]))
        )
        assert actions is not None
        titles = [action.title for action in actions]
        assert titles.count("Ignore PUB301 here") == 1  # of two findings, about UPDATE and DELETE
        assert any("CREATE UNIQUE INDEX" in title or "REPLICA IDENTITY" in title for title in titles)
        ignore = next(action for action in actions if action.title == "Ignore PUB301 here")
        assert isinstance(ignore, types.CodeAction)
        assert ignore.edit is not None
        assert ignore.edit.changes is not None
        ((edit,),) = ignore.edit.changes.values()
        assert isinstance(edit, types.TextEdit)
        assert "pubcheck: ignore[PUB301]" in edit.new_text
        lines = (ORDERS + EU).splitlines(keepends=True)
        line = edit.range.start
        lines[line.line] = lines[line.line][: line.character] + edit.new_text + lines[line.line][line.character :]
        assert "PUB301" not in codes(await client.change("schema.sql", "".join(lines)))

    run(scenario)


def test_symbols(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        symbols = await client.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(client.document("schema.sql"))
        )
        assert symbols is not None
        assert [symbol.name for symbol in symbols] == ["CREATE TABLE orders", "CREATE PUBLICATION eu FOR TABLE orders"]

    run(scenario)


def test_a_closed_file_has_no_findings(run: Run) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", ORDERS + EU)
        client.client.text_document_did_close(types.DidCloseTextDocumentParams(client.document("schema.sql")))
        await client.until("schema.sql", lambda findings: not findings)

    run(scenario)


@pytest.mark.parametrize("text", ["", "\ufeff", "SELECT 'open", "CREATE PUBLICATION", "\x00", "DO $$ BEGIN", ");;("])
def test_any_text_is_answered(run: Run, text: str) -> None:
    async def scenario(client: Editor) -> None:
        await client.open("schema.sql", text)
        assert isinstance(await client.change("schema.sql", ORDERS + text), list)

    run(scenario)
