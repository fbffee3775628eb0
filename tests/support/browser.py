"""A headless browser for tests: Chromium as the npm package `@sparticuz/chromium` carries it, with its own libraries.

It is installed once into the cache of `tests.support.servers` and never into the project. PUBCHECK_BROWSER names
another Chromium to use instead. A browser that cannot be had is an error that says what to do; no test is skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from playwright.sync_api import Browser, sync_playwright

from tests.support.servers import cache_directory, npm_install

PACKAGE, VERSION = "@sparticuz/chromium", "147.0.0"

_UNPACK = """
const fs = require("fs"), zlib = require("zlib"), [bin, to] = process.argv.slice(1);
fs.writeFileSync(to + "/chromium", zlib.brotliDecompressSync(fs.readFileSync(bin + "/chromium.br")), { mode: 0o755 });
for (const name of ["al2023", "fonts"])
  fs.writeFileSync(to + "/" + name + ".tar", zlib.brotliDecompressSync(fs.readFileSync(bin + "/" + name + ".tar.br")));
"""


class BrowserUnavailable(RuntimeError):
    """The browser could not be installed; the message says what was tried and what to do."""


class Installed(Struct, frozen=True):
    """An executable and what its environment must have."""

    executable: Path
    environment: Mapping[str, str]


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """The running browser, headless."""
    installed = find()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=installed.executable,
            # Root, as in a container, has no sandbox; the pages are our own.
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            env={**os.environ, **installed.environment},
        )
        try:
            yield running
        finally:
            running.close()


def find() -> Installed:
    """The browser, installed on first use. Safe with concurrent runs and after interrupted ones."""
    if configured := os.environ.get("PUBCHECK_BROWSER"):
        return Installed(Path(configured), {})
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise BrowserUnavailable(
            f"no browser is known for {platform.system()} {platform.machine()}: set PUBCHECK_BROWSER to a Chromium"
        )
    cache = cache_directory()
    home = cache / f"chromium-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "chromium.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            for interrupted in cache.glob("chromium.part-*"):
                shutil.rmtree(interrupted, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix="chromium.part-") as scratch:
                npm_install(Path(scratch), f"{PACKAGE}@{VERSION}")
                made = Path(scratch) / "browser"
                made.mkdir()
                _unpack(Path(scratch) / "node_modules" / PACKAGE / "bin", made)
                _write_fonts_conf(made, home)
                os.rename(made, home)
    return Installed(
        home / "chromium", {"LD_LIBRARY_PATH": str(home / "lib"), "FONTCONFIG_FILE": str(home / "fonts.conf")}
    )


def _unpack(packed: Path, to: Path) -> None:
    """What the package's own code does when it is asked for the executable: files are brotli, some of them tar too."""
    done = subprocess.run(["node", "-e", _UNPACK, packed, to], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise BrowserUnavailable(f"{PACKAGE}@{VERSION} could not be unpacked: {done.stderr.strip()}")
    for name in ("al2023", "fonts"):
        archive = to / f"{name}.tar"
        shutil.unpack_archive(archive, to)
        archive.unlink()


def _write_fonts_conf(to: Path, home: Path) -> None:
    """A machine without fonts shows no text: the package's own are used besides; ``home`` is where they will be."""
    places = f"<dir>{home / 'fonts'}</dir><dir>/usr/share/fonts</dir><cachedir>{home / 'cache'}</cachedir>"
    (to / "fonts.conf").write_text(f'<?xml version="1.0"?>\n<fontconfig>{places}</fontconfig>\n')


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const share = (c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => .2126 * share(r) + .7152 * share(g) + .0722 * share(b);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll("main *, header *")) {
    const words = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!words || node.closest("svg") || !node.getClientRects().length) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) poor.push(`${node.tagName}.${node.className}: ${node.textContent.slice(0, 30)}`);
  }
  return { background: getComputedStyle(document.body).backgroundColor, poor };
}"""
"""JavaScript: the background of a page, and the texts whose contrast is below what can be read (WCAG AA)."""
