"""Which files a run reads and how they make units, and what becomes of those that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pubcheck.discovery.file_inspector import CachedFileInspector
from pubcheck.discovery.file_types import File
from pubcheck.discovery.read import Reading, read_unit
from pubcheck.discovery.units import find_units, group_into_units
from pubcheck.discovery.walk import find_repositories


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two folders of SQL, entered."""
    for name in ("db/b.sql", "db/a.sql", "db/notes.txt", "db/v2/c.SQL", "db/.old/z.sql", "app/main.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"-- {name}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def labels(*paths: str, together: bool = False) -> list[list[str]]:
    return [[file.label for file in plan.files] for plan in find_units(paths, together=together)]


def read(*files: File) -> Reading:
    return read_unit(files, (18,))


def notes_of(reading: Reading) -> list[tuple[str, str, str]]:
    return [(finding.rule, finding.span.source.label, finding.message) for finding in reading.diagnostics]


def test_each_directory_that_holds_sql_files_is_a_unit(tree: Path) -> None:
    assert labels("db") == [["db/a.sql", "db/b.sql"], ["db/v2/c.SQL"]]


def test_a_file_given_by_name_is_a_unit_whatever_it_is_called(tree: Path) -> None:
    assert labels("db/b.sql", "db/notes.txt") == [["db/b.sql"], ["db/notes.txt"]]


def test_together_makes_one_unit_in_the_order_given(tree: Path) -> None:
    assert labels("db/v2", "db/b.sql", "db", together=True) == [["db/v2/c.SQL", "db/b.sql", "db/a.sql"]]


def test_paths_are_reported_as_they_were_given(tree: Path) -> None:
    assert labels("db/v2/") == [["db/v2/c.SQL"]]
    assert labels("./db/v2") == [["db/v2/c.SQL"]]
    assert labels("././db/../db/v2") == [["db/../db/v2/c.SQL"]]
    assert labels(str(tree / "db" / "v2")) == [[f"{tree}/db/v2/c.SQL"]]


def test_folders_with_a_dot_are_walked_only_when_given_by_name(tree: Path) -> None:
    assert labels("db/.old") == [["db/.old/z.sql"]]
    assert labels(".")[0] == ["db/a.sql", "db/b.sql"]


def test_a_file_reached_twice_is_linted_once_where_it_is_reached_first(tree: Path) -> None:
    assert labels("db/a.sql", "db/../db/a.sql", "db", "db") == [["db/a.sql"], ["db/b.sql"], ["db/v2/c.SQL"]]


def test_a_link_to_a_file_is_that_file(tree: Path) -> None:
    (tree / "db" / "link.sql").symlink_to("a.sql")
    assert labels("db")[0] == ["db/a.sql", "db/b.sql"]


def test_links_to_folders_are_not_followed_while_walking_so_loops_end(tree: Path) -> None:
    (tree / "db" / "loop").symlink_to(tree / "db", target_is_directory=True)
    assert labels("db") == [["db/a.sql", "db/b.sql"], ["db/v2/c.SQL"]]
    assert labels("db/loop") == [["db/loop/a.sql", "db/loop/b.sql"], ["db/loop/v2/c.SQL"]]


def test_a_link_to_nothing_is_reported(tree: Path) -> None:
    (tree / "db" / "gone.sql").symlink_to("nowhere.sql")
    (tree / "db" / "self.sql").symlink_to("self.sql")
    reading = read(*find_units(["db"])[0].files)
    assert [note[:2] for note in notes_of(reading)] == [("PUB001", "db/gone.sql"), ("PUB001", "db/self.sql")]
    assert [source.label for source in reading.sources] == ["db/a.sql", "db/b.sql"]


def test_a_pipe_in_a_folder_is_passed_over(tree: Path) -> None:
    os.mkfifo(tree / "db" / "pipe.sql")
    assert labels("db")[0] == ["db/a.sql", "db/b.sql"]


def test_a_folder_without_sql_has_no_unit(tree: Path) -> None:
    assert labels("app") == []


def test_standard_input_is_a_unit_with_the_name_it_is_given() -> None:
    (unit,) = find_units(["-", "-"], stdin=b"SELECT 1", stdin_label="buffer.sql")
    reading = read(*unit.files)
    assert [(source.label, source.text) for source in reading.sources] == [("buffer.sql", "SELECT 1")]


def test_a_missing_path_is_reported_and_the_rest_is_read(tree: Path) -> None:
    (unit,) = find_units(["nowhere.sql", "db/a.sql"], together=True)
    reading = read(*unit.files)
    assert notes_of(reading) == [("PUB001", "nowhere.sql", "this cannot be read: No such file or directory")]
    assert [source.label for source in reading.sources] == ["db/a.sql"]
    assert reading.diagnostics[0].certainty == "certain"
    assert reading.diagnostics[0].severity == "error"


def test_a_folder_that_cannot_be_listed_is_reported(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def refusing(path: str) -> object:
        if path == "db/v2":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    first, second = find_units(["db"])
    assert [file.label for file in first.files] == ["db/a.sql", "db/b.sql"]
    assert notes_of(read(*second.files)) == [("PUB001", "db/v2", "this cannot be read: Permission denied")]


def test_a_path_that_no_system_takes_is_reported() -> None:
    (unit,) = find_units(["a\0b"])
    assert [note[0] for note in notes_of(read(*unit.files))] == ["PUB001"]


def test_what_is_no_text_is_reported_and_left_out(tree: Path) -> None:
    (tree / "db" / "dump.sql").write_bytes(b"PGDMP\x01\x0e\x00\x00")
    reading = read(*find_units(["db"])[0].files)
    assert [note[:2] for note in notes_of(reading)] == [("PUB002", "db/dump.sql")]
    assert [source.label for source in reading.sources] == ["db/a.sql", "db/b.sql"]


def test_a_file_in_windows_1252_is_read_with_a_note_at_the_first_character_in_doubt(tree: Path) -> None:
    (tree / "old.sql").write_bytes("-- Größe".encode("cp1252"))
    reading = read(File("old.sql", "old.sql"))
    assert [source.text for source in reading.sources] == ["-- Größe"]
    (note,) = reading.diagnostics
    assert (note.rule, note.severity, note.span.start, note.span.end) == ("PUB003", "note", 5, 6)


def test_names_of_any_bytes_can_be_reported(tree: Path) -> None:
    name = os.fsdecode(b"gr\xfc\xdfe.sql")
    (tree / "app" / name).write_text("SELECT 1")
    (unit,) = find_units(["app"])
    assert [file.label for file in unit.files] == ["app/gr\ufffd\ufffde.sql"]
    assert len(read(*unit.files).sources) == 1


def test_files_of_a_tool_are_known_by_their_names_and_not_opened(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("V2__b.sql", "V1__a.sql"):
        (tree / "app" / name).touch()

    def refuse(*arguments: object, **options: object) -> object:
        raise AssertionError("a file was opened")

    (tree / "app" / "main.py").unlink()
    monkeypatch.setattr("builtins.open", refuse)
    assert labels("app") == [["app/V1__a.sql", "app/V2__b.sql"]]


def repositories(where: str) -> list[tuple[str, list[list[str]]]]:
    """Those that hold units."""
    planned = (
        (repository.name, group_into_units(repository.files, CachedFileInspector())[0])
        for repository in find_repositories(where)
    )
    return [(name, [[file.label for file in plan.files] for plan in plans]) for name, plans in planned if plans]


def test_each_folder_in_a_folder_is_a_repository_and_its_own_files_are_one(tree: Path) -> None:
    (tree / "top.sql").touch()
    assert repositories(".") == [(".", [["top.sql"]]), ("db", [["db/a.sql", "db/b.sql"], ["db/v2/c.SQL"]])]


def test_a_folder_under_version_control_is_one_repository(tree: Path) -> None:
    (tree / ".git").mkdir()
    (name, units), *others = repositories(str(tree))
    assert (name, len(units), others) == (tree.name, 2, [])


def test_each_match_of_a_pattern_is_a_repository_named_by_what_it_matched(tree: Path) -> None:
    assert repositories("*/v*") == [("db/v2", [["db/v2/c.SQL"]])]
    assert [name for name, _ in repositories("d*/**")] == ["db"]


def test_repositories_whose_names_are_no_text_are_told_apart(tree: Path) -> None:
    for name in (b"s\xff", b"s\xfe", b"s\\xff", "\xe9".encode()):
        os.mkdir(os.path.join(os.fsencode(tree), name))
        with open(os.path.join(os.fsencode(tree), name, b"x.sql"), "w"):
            pass
    names = [name for name, _ in repositories(".")]
    assert sorted(names) == ["db", "s\\\\xff", "s\\xfe", "s\\xff", "\xe9"]
    assert [name for name, _ in repositories("s*")] == ["s\\\\xff", "s\\xfe", "s\\xff"]


def test_each_repository_of_a_corpus_obeys_the_git_that_watches_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("generated.sql\n")
    for name in ("a", "own", "z"):
        folder = tmp_path / "corpus" / name
        folder.mkdir(parents=True)
        (folder / "a.sql").write_text("")
        (folder / "generated.sql").write_text("")
    (tmp_path / "corpus" / "own" / ".git").mkdir()
    files = {
        repository.name: [file.label for _, file in repository.files] for repository in find_repositories("corpus")
    }
    assert files == {
        "a": ["corpus/a/a.sql"],
        "own": ["corpus/own/a.sql", "corpus/own/generated.sql"],
        "z": ["corpus/z/a.sql"],
    }


def test_a_file_or_what_does_not_exist_is_a_repository_too(tree: Path) -> None:
    assert repositories("db/a.sql") == [("a.sql", [["db/a.sql"]])]
    (missing,) = find_repositories("none")
    assert [(file.label, file.error) for _, file in missing.files] == [("none", "No such file or directory")]
