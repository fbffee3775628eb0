"""Find the Supabase project of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache


def project_above(folder: str, is_project: Callable[[str], bool], top: str = "") -> str | None:
    """Return the nearest project's folder `supabase` at or above a folder, up to ``top``; "/" joins paths."""
    directory = folder
    while True:
        above, _, name = directory.rpartition("/")
        project = (
            directory
            if name == "supabase"
            else f"{directory}/supabase"
            if directory.strip("/")
            else f"{directory}supabase"
        )
        if is_project(project):
            return project
        if directory in (top, above):
            return None
        directory = above


def project_on_disk(folder: str, top: str) -> str | None:
    """Return the nearest project above a folder of this machine, as ``project_above`` has it."""
    return project_above(folder.replace(os.sep, "/"), _is_project, top.replace(os.sep, "/"))


@cache
def _is_project(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in ("config.toml", "migrations"))
