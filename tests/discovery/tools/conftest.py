"""What all tests of units share: an empty folder to grow a tree in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.discovery.tools.trees import Grow, write


@pytest.fixture
def grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grow:
    """Writes empty files below an empty folder, which is entered."""
    monkeypatch.chdir(tmp_path)

    def grown(*paths: str) -> None:
        for path in paths:
            write(path, "")

    return grown
