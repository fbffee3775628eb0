"""Taking pubcheck up in a project that has findings: fixes, comments that ignore, baselines, counts, exit status."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubcheck.autofix import Rewritten
from pubcheck.cli import output_files
from tests.cli.conftest import Call

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int, r text);\n"
BAD = "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\n"  # PUB301, of UPDATE and DELETE
OTHER = "CREATE TABLE u (id int PRIMARY KEY, a int);\n"
WORSE = "CREATE PUBLICATION q FOR TABLE u WHERE (a > 1);\n"  # the same of another table
IDLE = "-- pubcheck: ignore[PUB302] old\n"
FIXABLE = TABLE + IDLE + "CREATE PUBLICATION p FOR TABLE t;\n"  # PUB011, with a safe fix
FIXED = TABLE + "CREATE PUBLICATION p FOR TABLE t;\n"


# --- Fixes --------------------------------------------------------------------------------------------------------


def test_fix_writes_the_file_and_reports_what_is_left(pubcheck: Call) -> None:
    Path("a.sql").write_text(FIXABLE)
    called = pubcheck("lint", "--fix", "a.sql")
    assert Path("a.sql").read_text() == FIXED
    assert called.status == 0
    assert called.out == "Nothing found in 2 statements of 1 file (PostgreSQL 18).\nFixed 1 finding in 1 file.\n"
    again = pubcheck("lint", "--fix", "a.sql")
    assert Path("a.sql").read_text() == FIXED
    assert "Fixed" not in again.out


def test_what_no_fix_took_care_of_still_fails_the_run(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + IDLE + BAD)
    called = pubcheck("lint", "--fix", "a.sql")
    assert called.status == 1
    assert "error[PUB301]" in called.out
    assert "PUB011" not in called.out


@pytest.mark.parametrize(
    ("mark", "codec", "newline", "name"),
    [
        (b"\xef\xbb\xbf", "utf-8", "\n", "é"),
        (b"", "utf-8", "\r\n", "é"),
        (b"\xff\xfe", "utf-16-le", "\r\n", "é"),
        (b"\xfe\xff", "utf-16-be", "\n", "é"),
        (b"", "cp1252", "\r\n", "é€"),
    ],
)
def test_encoding_byte_order_mark_and_line_ends_stay(
    pubcheck: Call, mark: bytes, codec: str, newline: str, name: str
) -> None:
    def content(text: str) -> bytes:
        return mark + f"-- {name}\n{text}".replace("\n", newline).encode(codec)

    Path("a.sql").write_bytes(content(FIXABLE + OTHER + WORSE))
    pubcheck("lint", "--fix", "a.sql")
    assert Path("a.sql").read_bytes() == content(FIXED + OTHER + WORSE)
    pubcheck("lint", "--add-ignore", "--ignore", "PUB003", "a.sql")
    ignored = "-- pubcheck: ignore[PUB301]\n" + WORSE
    assert Path("a.sql").read_bytes() == content(FIXED + OTHER + ignored)
    assert pubcheck("lint", "--ignore", "PUB003", "a.sql").status == 0


def test_a_file_that_is_no_text_is_left_alone(pubcheck: Call) -> None:
    Path("a.sql").write_bytes(FIXABLE.encode() + b"\0")
    for option in ("--fix", "--add-ignore"):
        assert pubcheck("lint", option, "a.sql").status == 1
    assert Path("a.sql").read_bytes() == FIXABLE.encode() + b"\0"


def test_mode_and_symbolic_link_stay(pubcheck: Call) -> None:
    Path("real.sql").write_text(FIXABLE)
    os.chmod("real.sql", 0o750)
    os.symlink("real.sql", "a.sql")
    pubcheck("lint", "--fix", "a.sql")
    assert Path("a.sql").is_symlink()
    assert Path("real.sql").read_text() == FIXED
    assert stat.S_IMODE(os.stat("real.sql").st_mode) == 0o750
    assert sorted(os.listdir(".")) == ["a.sql", "real.sql"]


def test_diff_shows_and_writes_nothing(pubcheck: Call) -> None:
    Path("a.sql").write_text(FIXABLE.rstrip("\n"))
    called = pubcheck("lint", "--diff", "a.sql")
    assert called.status == 1
    assert Path("a.sql").read_text() == FIXABLE.rstrip("\n")
    assert called.err == "Would fix 1 finding in 1 file.\n"
    Path("a.patch").write_text(called.out)
    subprocess.run(["git", "apply", "-p0", "a.patch"], check=True)
    assert Path("a.sql").read_text() == FIXED.rstrip("\n")
    nothing = pubcheck("lint", "--diff", "a.sql")
    assert (nothing.status, nothing.out) == (0, "")


def test_a_diff_of_standard_input(pubcheck: Call) -> None:
    called = pubcheck("lint", "--diff", "--stdin-filename", "x.sql", "-", stdin=FIXABLE.encode())
    assert "--- x.sql\n+++ x.sql\n" in called.out
    refused = pubcheck("lint", "--fix", "-", stdin=FIXABLE.encode())
    assert (refused.status, refused.out) == (2, "")
    assert "standard input cannot be changed; use --diff to see the changes" in refused.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--unsafe-fixes",), "--unsafe-fixes needs --fix or --diff"),
        (("--fix", "--add-ignore"), "run one after the other"),
        (("--fix", "--write-baseline", "b.json"), "--write-baseline cannot be combined with"),
        (("--statistics", "--format", "sarif"), "--statistics needs --format text or json"),
        (("--baseline", "none.json"), "baseline none.json: cannot be read: No such file or directory; create it with"),
    ],
)
def test_options_that_do_not_go_together_exit_2(pubcheck: Call, options: tuple[str, ...], reason: str) -> None:
    Path("a.sql").write_text(FIXABLE)
    called = pubcheck("lint", *options, "a.sql")
    assert (called.status, called.out) == (2, "")
    assert reason in called.err
    assert Path("a.sql").read_text() == FIXABLE


def test_a_file_that_changed_meanwhile_is_left_as_it_is(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:

    def late(rewritten: list[Rewritten]) -> Iterator[tuple[str, str]]:
        Path("a.sql").write_text("-- mine\n")
        return output_files.write_rewritten(rewritten)

    monkeypatch.setattr("pubcheck.cli.lint.write_rewritten", late)
    Path("a.sql").write_text(FIXABLE)
    called = pubcheck("lint", "--fix", "a.sql")
    assert called.status == 2
    assert "a.sql: was changed while it was linted, so it was not written" in called.err
    assert Path("a.sql").read_text() == "-- mine\n"


def test_a_file_that_cannot_be_written_is_not_counted_among_the_fixed(
    pubcheck: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(path: str, mode: str) -> object:
        if path.endswith("b.sql"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return open(path, mode)

    monkeypatch.setattr(output_files, "open", opened, raising=False)  # root may write what is read-only
    for name in ("a.sql", "b.sql"):
        Path(name).write_text(FIXABLE)
    called = pubcheck("lint", "--fix", "a.sql", "b.sql")
    assert (called.status, called.err) == (2, "pubcheck: b.sql: cannot be written: Permission denied\n")
    assert called.out.endswith("\nFixed 1 finding in 1 file.\n")
    assert (Path("a.sql").read_text(), Path("b.sql").read_text()) == (FIXED, FIXABLE)
    assert "Fixed" not in pubcheck("lint", "--fix", "b.sql").out


def test_files_of_several_units_are_fixed_in_several_processes(pubcheck: Call) -> None:
    for name in "abc":
        Path(name).mkdir()
        Path(name, "x.sql").write_text(FIXABLE)
    called = pubcheck("lint", "--fix", "--jobs", "2", ".")
    assert called.out.endswith("Fixed 3 findings in 3 files.\n")
    assert {Path(name, "x.sql").read_text() for name in "abc"} == {FIXED}


# --- Comments -----------------------------------------------------------------------------------------------------


def test_add_ignore_puts_a_comment_on_each_statement(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + OTHER + "  " + BAD + "SELECT 1; " + WORSE)
    called = pubcheck("lint", "--add-ignore", "a.sql")
    assert called.status == 0
    assert called.out.endswith("Ignored 2 findings in 1 file.\n")
    assert Path("a.sql").read_text() == (
        f"{TABLE}{OTHER}  -- pubcheck: ignore[PUB301]\n  {BAD}SELECT 1; /* pubcheck:ignore[PUB301] */ {WORSE}"
    )
    once = Path("a.sql").read_text()
    assert pubcheck("lint", "--add-ignore", "a.sql").status == 0
    assert Path("a.sql").read_text() == once


def test_add_ignore_extends_a_comment_that_is_there(pubcheck: Call) -> None:
    table = "CREATE TABLE t (id int);\n"
    bad = "CREATE PUBLICATION p FOR TABLE t;\n"
    Path("a.sql").write_text(f"{table}-- pubcheck: ignore[PUB301] soon\n{bad}")
    pubcheck("lint", "--add-ignore", "a.sql")
    assert Path("a.sql").read_text() == f"{table}-- pubcheck: ignore[PUB301, PUB302] soon\n{bad}"


def test_findings_of_a_whole_file_are_ignored_at_its_end(pubcheck: Call) -> None:
    Path("a.sql").write_text("-- Dumped from database version 14.19\nDROP PUBLICATION IF EXISTS p;\nSELECT 1;")
    pubcheck("lint", "--add-ignore", "a.sql")
    assert Path("a.sql").read_text().endswith("SELECT 1;\n-- pubcheck: ignore-file[PUB007]\n")
    assert pubcheck("lint", "a.sql").out.startswith("Nothing found")


def test_comments_go_into_blocks_and_programs_where_their_statements_stand(pubcheck: Call) -> None:
    inner = "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1)"
    block = f"DO $$\nBEGIN\n  {inner};\n  EXECUTE '{inner.replace(' p ', ' q ').replace(' t ', ' u ')}';\nEND $$;\n"
    Path("a.sql").write_text(TABLE + OTHER + block)
    program = 'run("CREATE TABLE t (id int)")\nrun("CREATE PUBLICATION p FOR TABLE t (id, id)")\n'
    Path("b.py").write_text(program)
    assert pubcheck("lint", "--add-ignore", "a.sql", "b.py").status == 0
    assert Path("a.sql").read_text() == TABLE + OTHER + block.replace(
        f"  {inner}", f"  -- pubcheck: ignore[PUB301]\n  {inner}"
    ).replace("EXECUTE '", "EXECUTE '/* pubcheck:ignore[PUB301] */ ")
    assert (
        Path("b.py").read_text().startswith(program.replace("CREATE PUB", "/* pubcheck:ignore[PUB403] */ CREATE PUB"))
    )
    assert pubcheck("lint", "a.sql", "b.py").out.startswith("Nothing found")


ALEMBIC = """from alembic import op
revision, down_revision = "1", None


def upgrade():
    op.execute("CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL)")
    op.execute("CREATE PUBLICATION p FOR TABLE t (id, a)")
    op.drop_column("t", "a")
    op.get_bind(); op.drop_column("t", "a")
    op.drop_table("u"); op.drop_column("t", "a")
"""
KNEX = """exports.up = async (knex) => {
  await knex.raw("CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL)");
  await knex.raw("CREATE PUBLICATION p FOR TABLE t (id, a)");
  await knex.schema.alterTable('t', (t) => { t.dropColumn('a'); });
};
"""


def test_a_comment_on_a_call_is_one_of_its_language(pubcheck: Call) -> None:
    """A line above it; a call that shares its line with another one has no place for a comment in Python."""
    for path, text, sign, not_ignored in (
        ("versions/1_a.py", ALEMBIC, "#", 1),
        ("migrations/20240101000000_a.js", KNEX, "//", 0),
    ):
        Path(path).parent.mkdir()
        Path(path).write_text(text)
        pubcheck("lint", "--select", "PUB701", "--add-ignore", path)
        drop = re.compile(r"^( +)(?=(await knex|op\.get_bind.*op|op)\.(schema\.alter|drop_column))", re.MULTILINE)
        assert Path(path).read_text() == drop.sub(rf"\1{sign} pubcheck: ignore[PUB701]\n\1", text)
        assert pubcheck("lint", "--select", "PUB701", "--format", "concise", path).out.count("PUB701") == not_ignored


def test_migrations_with_a_way_back_and_templates_are_changed_where_they_are_sql(pubcheck: Call) -> None:
    goose = f"-- +goose Up\n{TABLE}{IDLE}{BAD}-- +goose Down\nDROP PUBLICATION p;\n"
    template = f"{TABLE}{IDLE}{BAD}SELECT '{{{{ name }}}}';\n"
    for text in (goose, template):
        Path("1_a.sql").write_text(text)
        pubcheck("lint", "--fix", "1_a.sql")
        assert Path("1_a.sql").read_text() == text.replace(IDLE, "")
        pubcheck("lint", "--add-ignore", "1_a.sql")
        assert Path("1_a.sql").read_text() == text.replace(IDLE, "-- pubcheck: ignore[PUB301]\n")


def test_a_comment_of_a_program_is_shortened(pubcheck: Call) -> None:
    comment = "# pubcheck: ignore[PUB403,PUB301]"
    text = f'run("CREATE TABLE t (id int)")\n{comment}\nrun("CREATE PUBLICATION p FOR TABLE t (id, id)")\n'
    Path("a.py").write_text(text)
    pubcheck("lint", "--fix", "a.py")
    assert Path("a.py").read_text() == text.replace(",PUB301", "")


def test_add_ignore_can_be_shown_first(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + BAD)
    called = pubcheck("lint", "--add-ignore", "--diff", "a.sql")
    assert "+-- pubcheck: ignore[PUB301]\n" in called.out
    assert called.err == "Would ignore 1 finding in 1 file.\n"
    assert Path("a.sql").read_text() == TABLE + BAD


# --- Baselines ----------------------------------------------------------------------------------------------------


def test_a_baseline_knows_what_was_found_and_not_what_comes_after(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + BAD)
    written = pubcheck("lint", "--write-baseline", "known.json", "a.sql")
    assert (written.status, written.out, written.err) == (0, "", "known.json: 1 finding written\n")
    known = pubcheck("lint", "--baseline", "known.json", "a.sql")
    assert (known.status, known.out.count("PUB301")) == (0, 0)
    assert known.out.endswith("Not shown: 1 finding recorded in known.json.\n")
    # Lines above do not matter, and neither does the folder that it is called from.
    Path("a.sql").write_text("\n\n-- more\n" + TABLE + BAD + OTHER + WORSE)
    called = pubcheck("lint", "--baseline", "known.json", os.path.abspath("a.sql"))
    assert called.status == 1
    assert called.out.count("error[PUB301]") == 1
    assert 'publication "q"' in called.out


def test_lines_above_do_not_matter_where_a_finding_names_one(pubcheck: Call) -> None:
    text = "CREATE PUBLICATION p FOR TABLE t;\nCREATE TABLE t (id int PRIMARY KEY);\n"
    Path("a.sql").write_text(text)
    assert "on line 2" in pubcheck("lint", "a.sql").out
    pubcheck("lint", "--write-baseline", "known.json", "a.sql")
    Path("a.sql").write_text("-- more\n" + text)
    assert pubcheck("lint", "--baseline", "known.json", "a.sql").out.startswith("Nothing found in 2 statements")


def test_the_baseline_can_stand_in_the_configuration(pubcheck: Call) -> None:
    Path("db").mkdir()
    Path("db/a.sql").write_text(TABLE + BAD)
    Path("pubcheck.toml").write_text('baseline = "db/known.json"')
    assert pubcheck("lint", "db").status == 2
    assert pubcheck("lint", "--write-baseline", "db/known.json", "db").status == 0
    assert pubcheck("lint", "db").status == 0


def test_what_is_no_longer_found_is_said(pubcheck: Call) -> None:
    for name in ("a.sql", "b.sql", "c.sql"):
        Path(name).write_text(TABLE + BAD)
    pubcheck("lint", "--write-baseline", "known.json", "a.sql", "b.sql", "c.sql")
    Path("a.sql").write_text(TABLE)
    Path("c.sql").unlink()
    called = pubcheck("lint", "--baseline", "known.json", "a.sql")
    assert called.status == 0
    # Of a.sql, and of c.sql which is gone; b.sql was not read.
    assert called.out.endswith(
        "No longer found: 2 findings recorded in known.json; --write-baseline known.json removes them.\n"
    )
    for options in (("--ignore", "PUB3"), ("--postgres", "17")):
        assert "No longer" not in pubcheck("lint", "--baseline", "known.json", *options, "b.sql", "a.sql").out


def test_what_a_baseline_knows_is_neither_fixed_nor_ignored(pubcheck: Call) -> None:
    Path("a.sql").write_text(FIXABLE)
    pubcheck("lint", "--write-baseline", "known.json", "a.sql")
    for option in ("--fix", "--add-ignore"):
        pubcheck("lint", option, "--baseline", "known.json", "a.sql")
        assert Path("a.sql").read_text() == FIXABLE


@pytest.mark.parametrize("content", ["", "[]", '{"findings": []}', '{"pubcheck_baseline": 2, "findings": []}'])
def test_another_file_is_no_baseline(pubcheck: Call, content: str) -> None:
    Path("a.sql").write_text(TABLE)
    Path("known.json").write_text(content)
    called = pubcheck("lint", "--baseline", "known.json", "a.sql")
    assert called.status == 2
    assert called.err.startswith("pubcheck: baseline known.json: ")


def test_a_baseline_is_written_whole_or_not_at_all(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + BAD)
    called = pubcheck("lint", "--write-baseline", "nowhere/known.json", "a.sql")
    assert called.status == 2
    assert "--write-baseline nowhere/known.json: cannot be written: No such file or directory" in called.err


# --- Counts and exit status ---------------------------------------------------------------------------------------


def test_statistics_count_by_rule_the_most_frequent_first(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + IDLE + BAD + OTHER + "ALTER PUBLICATION x ADD TABLE u;")
    called = pubcheck("lint", "--statistics", "-q", "a.sql")
    assert called.status == 1
    assert called.out == (
        "1  PUB011  warning  unused-ignore-comment (1 with a fix)\n"
        "1  PUB106  note     publication-undefined (1 assumed)\n"
        "1  PUB301  error    filter-column-outside-replica-identity (1 with a fix)\n"
    )
    counted = json.loads(pubcheck("lint", "--statistics", "--format", "json", "a.sql").out)
    assert [(finding["rule"], finding["count"]) for finding in counted] == [("PUB011", 1), ("PUB106", 1), ("PUB301", 1)]


def test_a_fix_that_belongs_to_another_file_is_not_counted(pubcheck: Call) -> None:
    Path("migrations").mkdir()
    Path("migrations/001_t.sql").write_text(TABLE)
    Path("migrations/002_p.sql").write_text(BAD)
    assert "Can be fixed" in pubcheck("lint", "migrations/002_p.sql").out
    called = pubcheck("lint", "migrations/001_t.sql")
    assert "error[PUB301]" in called.out
    assert "Can be fixed" not in called.out


def test_exit_zero_reports_and_does_not_fail(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + BAD)
    called = pubcheck("lint", "--exit-zero", "a.sql")
    assert called.status == 0
    assert "error[PUB301]" in called.out
    assert pubcheck("lint", "--exit-zero", "--postgres", "20", "a.sql").status == 2


def test_ignores_and_severities_come_before_the_exit_status(pubcheck: Call) -> None:
    Path("old").mkdir()
    for name in ("old/a.sql", "b.sql"):
        Path(name).write_text(TABLE + BAD)
    Path("pubcheck.toml").write_text('[per-file-ignores]\n"old/**" = ["PUB301"]\n')
    assert pubcheck("lint", "old").status == 0
    assert pubcheck("lint", "b.sql").status == 1
    Path("pubcheck.toml").write_text('[severity]\nPUB301 = "note"\n')
    assert pubcheck("lint", "b.sql").status == 0
    Path("pubcheck.toml").write_text('[severity]\nPUB8 = "error"\n')
    Path("c.sql").write_text(TABLE + "CREATE PUBLICATION p FOR TABLE t WITH (publish = '');")
    assert pubcheck("lint", "--select", "PUB802", "--fail-on", "error", "c.sql").status == 1


def test_extend_select_adds_to_what_is_on(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + "CREATE PUBLICATION p FOR TABLE t WHERE (id > 1);")
    Path("pubcheck.toml").write_text('extend-select = ["PUB604"]')
    assert "PUB604" in pubcheck("lint", "a.sql").out
    out = pubcheck("lint", "--extend-select", "PUB601", "--format", "concise", "a.sql").out
    assert "PUB601" in out
    assert "PUB604" in out


def test_a_comment_that_is_not_needed_fails_the_run(pubcheck: Call) -> None:
    Path("a.sql").write_text(FIXABLE)
    assert pubcheck("lint", "a.sql").status == 1
    assert pubcheck("lint", "--ignore", "PUB011", "a.sql").status == 0


# --- The samples of every tool ------------------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / "corpus" / "samples"


def _texts() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def test_projects_of_every_tool_can_be_commented_and_fixed(pubcheck: Call) -> None:
    shutil.copytree(SAMPLES, ".", dirs_exist_ok=True)
    assert pubcheck("lint", "-q", ".").status == 1
    commented = pubcheck("lint", "-q", "--add-ignore", "--format", "concise", ".")
    assert (commented.status, commented.out) == (0, "")
    before = _texts()
    assert pubcheck("lint", "-q", "--add-ignore", ".").out == ""
    assert _texts() == before
    shutil.copytree(SAMPLES, ".", dirs_exist_ok=True)
    pubcheck("lint", "-q", "--fix", "--unsafe-fixes", ".")
    before = _texts()
    assert pubcheck("lint", "--diff", "--unsafe-fixes", ".").out == ""
    pubcheck("lint", "-q", "--fix", "--unsafe-fixes", ".")
    assert _texts() == before
