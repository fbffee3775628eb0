"""Accessibility of a page in the test browser, as axe-core judges it.

axe-core is an npm package, installed once into the cache of `tests.support.servers` and never into the project.
"""

from __future__ import annotations

import fcntl
import functools
import os
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from tests.support.servers import cache_directory, npm_install

PACKAGE, VERSION = "axe-core", "4.14.1"

_RUN = """async () => {
  const result = await axe.run(document, { resultTypes: ["violations"] });
  return result.violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id} (${help}): ${node.target.join(" ")}`));
}"""


def serious_violations(page: Page) -> list[str]:
    """Return the violations of the open page that axe-core rates serious or critical: rule, reason and element."""
    page.evaluate(_source())
    violations: list[str] = page.evaluate(_RUN)
    return violations


@functools.cache
def _source() -> str:
    """Return axe-core's script, installed on first use. Concurrent runs and interrupted ones are safe."""
    cache = cache_directory()
    script = cache / f"axe-{VERSION}.js"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "axe.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not script.exists():
            with tempfile.TemporaryDirectory(dir=cache, prefix="axe.part-") as scratch:
                npm_install(Path(scratch), f"{PACKAGE}@{VERSION}")
                os.rename(Path(scratch) / "node_modules" / PACKAGE / "axe.min.js", script)
    return script.read_text()
