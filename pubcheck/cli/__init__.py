"""The command line: one module a command, each imported only when it is called."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress


def _load_msgspec() -> None:
    """Import msgspec without two imports that take a twentieth of a short run: its own modules for other formats, which
    are loaded on first use, and typing_extensions, all of whose names that it needs are in typing.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    from pubcheck.postgres.lazy_dispatch import lazy_module

    absent = {f"msgspec.{name}": lazy_module(f"msgspec.{name}") for name in ("inspect", "msgpack", "toml", "yaml")}
    sys.modules.update(absent)
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # its import raises ImportError
    try:
        import msgspec  # noqa: F401
    finally:
        for name in ("typing_extensions", *absent):
            del sys.modules[name]


def main() -> None:
    """The console script: runs the command line and ends the process with its exit status."""
    # A run makes hundreds of thousands of rows that stay and hardly any cycle. The collector would look at them again
    # and again, for a tenth of the time of a large schema.
    gc.set_threshold(500_000)
    # A stream that was closed (`>&-`) leads nowhere, as for a program in Rust: what is found still decides. Opened in
    # this order each gets its own number again, which would else be that of the next file.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open to the end
    _load_msgspec()
    from pubcheck.cli.app import run

    status = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody takes what is left
            stream.flush()
    if "pyspark" in sys.modules:
        # The process may be one of Databricks', which runs a job in its own and fails when that dies; and on Windows
        # what PySpark has registered with atexit ends Java.
        sys.exit(status)
    # All memory goes with the process; to take apart first what it holds is a twentieth of a short run.
    os._exit(status)
