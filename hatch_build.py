"""The step of the build that writes each folder of texts as one file of the wheel (see `pubcheck/bundled_texts.py`)."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = {"rules": "rules/*.md", "consumers": "pubcheck/consumers/*.toml"}
"""The files of each bundle."""


class TextBundles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp())
        if version == "editable":
            return  # reads the files of the checkout
        for name, pattern in FOLDERS.items():
            paths = sorted(Path(self.root).glob(pattern))
            texts = {path.name: path.read_text("utf-8") for path in paths}
            bundle = self._folder / f"{name}.json"
            bundle.write_text(json.dumps(texts, ensure_ascii=False, indent=0), "utf-8", newline="\n")
            build_data["force_include"][str(bundle)] = f"pubcheck/{bundle.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)
