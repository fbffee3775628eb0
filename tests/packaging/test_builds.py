"""An installation is whole: from a wheel, a wheel of the sdist, an editable install, and by pre-commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from pubcheck import __version__, rulebook

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parent.parent.parent
SHIPPED = ("pubcheck", "rules", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".pre-commit-hooks.yaml")


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
            shutil.copytree(PROJECT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(PROJECT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel of the project and a wheel of its sdist."""
    out = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--no-isolation", project, "--outdir")
    run(*build, out / "direct", "--wheel", cwd=out)
    run(*build, out / "both", cwd=out)  # without an option: an sdist, and a wheel of it
    (direct,), (from_sdist,) = (out / "direct").glob("*.whl"), (out / "both").glob("*.whl")
    return {"wheel": direct, "wheel of the sdist": from_sdist}


def install(what: tuple[str, ...], home: Path) -> Path:
    """Installs pubcheck into a new environment beside this one's packages, which spares the dependencies' download."""
    venv.create(home, with_pip=True, symlinks=True)
    (purelib,) = home.glob("lib/python*/site-packages")
    # The packages of this environment without those that are pubcheck: a directory of links to the others.
    own = Path(pytest.__file__).parent.parent
    borrowed = home / "borrowed"
    borrowed.mkdir()
    for entry in own.iterdir():
        if not entry.name.startswith(("pubcheck", "_pubcheck", "pip", "__editable__")):
            (borrowed / entry.name).symlink_to(entry)
    (purelib / "borrowed.pth").write_text(f"{borrowed}\n")
    run(home / "bin" / "pip", "install", "-q", "--no-deps", "--no-build-isolation", *what, cwd=home)
    return home / "bin" / "pubcheck"


@pytest.mark.parametrize("kind", ["wheel", "wheel of the sdist", "editable"])
def test_an_installation_has_the_command_and_every_page(
    kind: str, project: Path, built: dict[str, Path], tmp_path: Path
) -> None:
    what = ("--editable", str(project)) if kind == "editable" else (str(built[kind]),)
    command = install(what, tmp_path / "env")
    assert run(command, "--version", cwd=tmp_path) == f"pubcheck {__version__}\n"
    for code in rulebook.RULES:
        assert run(command, "rule", code, cwd=tmp_path) == rulebook.page(code)
    listed = run(command, "rules", cwd=tmp_path)
    assert len(listed.splitlines()) == len(rulebook.RULES)


def test_both_wheels_hold_the_same(built: dict[str, Path]) -> None:
    def names(wheel: Path) -> set[str]:
        with zipfile.ZipFile(wheel) as archive:
            return {name for name in archive.namelist() if not name.endswith("/RECORD")}

    direct = names(built["wheel"])
    assert direct == names(built["wheel of the sdist"])
    assert {
        "pubcheck/py.typed",
        "pubcheck/html/explain.css",
        "pubcheck/html/explain.js",
        "pubcheck/html/templates/page.html",
        "pubcheck/html/templates/explain.html",
        "pubcheck/html/templates/audit.html",
        "pubcheck/explain/explain.schema.json",
        "pubcheck/report/schema.json",
        "pubcheck/rules/PUB301-filter-column-outside-replica-identity.md",
    } <= direct
    assert all(name.startswith(("pubcheck/", f"pubcheck-{__version__}.dist-info/")) for name in direct)


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
    told = run(*pre_commit, cwd=sample, status=1, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert "error[PUB301]" in told
    assert " --> bad.sql:8:" in told
    (sample / "bad.sql").write_text(
        "CREATE TABLE orders (id bigint PRIMARY KEY);\nCREATE PUBLICATION all_of_it FOR TABLE orders;\n"
    )
    run("git", "add", ".", cwd=sample)
    assert "Passed" in run(*pre_commit, cwd=sample, PRE_COMMIT_HOME=str(tmp_path / "cache"))
