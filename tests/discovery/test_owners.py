"""CODEOWNERS, as the documentation of GitHub describes it."""

from __future__ import annotations

import pytest

from pubcheck.discovery.walk import Owners, owners_in

# The example of https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features, shortened.
EXAMPLE = b"""# a comment
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/scripts/ @doctocat @octocat
/apps/github
**/logs @logs-owner
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("a.sql", ("@global-owner1", "@global-owner2")),
        ("x/a.js", ("@js-owner",)),
        ("build/logs/x/a.sql", ("@logs-owner",)),
        ("docs/a.md", ("docs@example.com",)),
        ("docs/build/a.md", ("@global-owner1", "@global-owner2")),
        ("x/apps/a.sql", ("@octocat",)),
        ("apps/github/a.sql", ()),
        ("scripts/a.sql", ("@doctocat", "@octocat")),
    ],
)
def test_the_last_line_that_matches_names_the_owners(path: str, owners: tuple[str, ...]) -> None:
    assert Owners(EXAMPLE).of(path) == owners


def test_the_uppermost_file_counts_and_github_s_folder_first() -> None:
    files = {"r/CODEOWNERS": b"* @root", "r/.github/CODEOWNERS": b"/db/ @github", "r/vendor/CODEOWNERS": b"* @vendor"}
    owners = owners_in(files)
    assert owners is not None
    assert (owners.of("r/db/a.sql"), owners.of("r/a.sql")) == (("@github",), ())
    assert owners_in({"r/vendor/x.sql": b""}) is None
