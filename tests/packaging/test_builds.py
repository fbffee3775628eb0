"""An installation is whole: from a wheel, a wheel of the sdist, an editable install, and by pre-commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from msgspec import Struct

from pubcheck import __version__, rulebook

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parent.parent.parent
SHIPPED = (
    *("pubcheck", "rules", "hatch_build.py", "pyproject.toml"),
    *("README.md", "CHANGELOG.md", "LICENSE", ".pre-commit-hooks.yaml"),
)


PRINT_TEXTS = """
from pubcheck import rulebook
from pubcheck.consumers import NAMES, profiles
from pubcheck.postgres.builtins.extensions import contents
print(contents(18, "hstore"))
print(*map(rulebook.page, rulebook.RULES), *map(profiles.load, NAMES), *profiles.contradictions())
"""


def run(*command: str | Path, cwd: Path, status: int = 0, **environment: str) -> str:
    """Runs a command outside of this process's import path; returns its stdout and stderr, which an assertion shows."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the project ships, so that building leaves nothing in the checkout."""
    copy = tmp_path_factory.mktemp("project")
    for name in SHIPPED:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy(PROJECT / name, copy / name)
    return copy


class Built(Struct, frozen=True):
    """The archives of two builds: of the project, and of a copy whose files have other times and permissions."""

    wheel: Path
    """Built from the copy."""
    wheel_of_sdist: Path
    sdist: Path
    sdist_of_copy: Path


@pytest.fixture(scope="module")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("dist")
    other = out / "elsewhere" / "copy"
    shutil.copytree(project, other)
    for path in other.rglob("*"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
        path.chmod(0o700 if path.is_dir() else 0o600)
    build = (sys.executable, "-m", "build", "--no-isolation")
    time = "1767323045"
    run(*build, other, "--outdir", out / "copy", "--sdist", "--wheel", cwd=out, SOURCE_DATE_EPOCH=time)
    run(
        *build, project, "--outdir", out / "both", cwd=out, SOURCE_DATE_EPOCH=time
    )  # without an option: an sdist, and a wheel of it
    (wheel,), (wheel_of_sdist,) = (out / "copy").glob("*.whl"), (out / "both").glob("*.whl")
    (sdist,), (sdist_of_copy,) = (out / "both").glob("*.tar.gz"), (out / "copy").glob("*.tar.gz")
    return Built(wheel, wheel_of_sdist, sdist, sdist_of_copy)


def install(requirement: tuple[str, ...], home: Path) -> Path:
    """Installs pubcheck into a new environment beside this one's packages, which spares the dependencies' download."""
    venv.create(home, symlinks=True)
    (purelib,) = home.glob("lib/python*/site-packages")
    # The packages of this environment without those that are pubcheck: a directory of links to the others.
    own = Path(pytest.__file__).parent.parent
    borrowed = home / "borrowed"
    borrowed.mkdir()
    for entry in own.iterdir():
        if not entry.name.startswith(("pubcheck", "_pubcheck", "pip", "__editable__")):
            (borrowed / entry.name).symlink_to(entry)
    (purelib / "borrowed.pth").write_text(f"{borrowed}\n")
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python")
    run(*pip, "install", "-q", "--no-compile", "--no-deps", "--no-build-isolation", *requirement, cwd=home)
    return home / "bin" / "pubcheck"


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_an_installation_has_the_command_and_every_page(kind: str, project: Path, built: Built, tmp_path: Path) -> None:
    requirement = ("--editable", str(project)) if kind == "editable" else (str(built.wheel),)
    command = install(requirement, tmp_path / "env")
    assert run(command, "--version", cwd=tmp_path) == f"pubcheck {__version__}\n"
    assert run(command.parent / "python", "-c", PRINT_TEXTS, cwd=tmp_path) == run(
        sys.executable, "-c", PRINT_TEXTS, cwd=PROJECT
    )
    assert run(command, "rule", "PUB301", cwd=tmp_path) == rulebook.page("PUB301")
    listed = run(command, "rules", cwd=tmp_path)
    assert len(listed.splitlines()) == len(rulebook.RULES)
    assert run(PROJECT / ".ci" / "smoke", command, cwd=tmp_path) == "pubcheck works\n"
    run(command.parent / "python", "-c", "from pubcheck.stream.whole import COMPILED; assert COMPILED", cwd=tmp_path)


def test_builds_of_the_same_files_are_equal(built: Built) -> None:
    assert built.sdist.read_bytes() == built.sdist_of_copy.read_bytes()
    assert built.wheel.read_bytes() == built.wheel_of_sdist.read_bytes()


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


READERS_IN_C = f"pubcheck/stream/_readers{sysconfig.get_config_var('EXT_SUFFIX')}"


def test_a_wheel_for_every_platform_has_the_other_files(built: Built, project: Path, tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path)
    assert "is built without its readers in C" in run(*build, cwd=project, PUBCHECK_PURE="1")
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"pubcheck-{__version__}-py3-none-any.whl"
    assert "none-any" not in built.wheel.name
    assert names_in(built.wheel) - names_in(wheel) == {READERS_IN_C}


def test_a_wheel_is_built_without_a_compiler(project: Path, tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path)
    assert "cannot be compiled" in run(*build, cwd=project, CC="no-compiler")
    assert [wheel.name for wheel in tmp_path.glob("*.whl")] == [f"pubcheck-{__version__}-py3-none-any.whl"]


def test_the_wheel_has_what_it_needs_and_no_tests(built: Built) -> None:
    names = names_in(built.wheel)
    assert {
        "pubcheck/py.typed",
        "pubcheck/html/explain.css",
        "pubcheck/html/explain.js",
        "pubcheck/html/templates/page.html",
        "pubcheck/html/templates/explain.html",
        "pubcheck/html/templates/audit.html",
        "pubcheck/report/schema.json",
        "pubcheck/texts.bz2",
        "pubcheck/postgres/builtins/extensions.json.xz",
        READERS_IN_C,
    } <= names
    assert not any(name.endswith((".c", ".h")) for name in names)
    assert all(name.startswith(("pubcheck/", f"pubcheck-{__version__}.dist-info/")) for name in names)
    assert built.wheel.stat().st_size < 2_000_000


def test_pre_commit_runs_the_hook(project: Path, tmp_path: Path) -> None:
    """As a user meets it: pre-commit clones the project, builds it with its dependencies and lints what is staged."""
    hooks = tmp_path / "hooks"
    shutil.copytree(project, hooks, ignore=shutil.ignore_patterns("dist", "__pycache__"))
    sample = tmp_path / "sample"
    sample.mkdir()
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    for repository in (hooks, sample):
        run("git", "init", "-q", cwd=repository)
    run("git", "add", ".", cwd=hooks)
    run("git", *identity, "commit", "-qm", "pubcheck", cwd=hooks)
    revision = run("git", "rev-parse", "HEAD", cwd=hooks).strip()
    (sample / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: pubcheck\n"
    )
    shutil.copy(PROJECT / "corpus" / "samples" / "orders.sql", sample / "bad.sql")
    (sample / "notes.txt").write_text("CREATE PUBLICATION")
    run("git", "add", ".", cwd=sample)
    pre_commit = (sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never")
    told = run(*pre_commit, cwd=sample, status=1, PRE_COMMIT_HOME=str(tmp_path / "cache"), PIP_NO_COMPILE="1")
    assert "error[PUB301]" in told
    assert " --> bad.sql:8:" in told
    (sample / "bad.sql").write_text(
        "CREATE TABLE orders (id bigint PRIMARY KEY);\nCREATE PUBLICATION all_of_it FOR TABLE orders;\n"
    )
    run("git", "add", ".", cwd=sample)
    assert "Passed" in run(*pre_commit, cwd=sample, PRE_COMMIT_HOME=str(tmp_path / "cache"))
