"""The other end of ``lint_process``: asks a process, and replaces it when it dies or does not answer in time."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from pubcheck.spark.lint_process import OUT_OF_MEMORY, TOO_LITTLE_MEMORY, Answer, Limits, Request
from pubcheck.spark.unit_row import Quarantined

_START = 60.0
"""Seconds that a process may take to start."""
_TRACE = 4000
"""Characters of a dead process's stderr that are kept: the fault handler's traceback is its end."""
_PARSER_WITHOUT_MEMORY = "Terminating process due to FATAL error"
"""The last message of libpg_query if it has no memory to raise its error (elog.c and mcxt.c)."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Answer[list[Any]]).decode


class ChildProcess:
    """A process that answers one question after another. ``linter`` is pickled; it is the same for all units."""

    def __init__(self, linter: bytes, limits: Limits) -> None:
        self.linter, self.limits = linter, limits
        self._process: subprocess.Popen[bytes] | None = None
        self._was_killed = False

    @property
    def pid(self) -> int | None:
        """The process there is now."""
        return self._process.pid if self._process is not None else None

    def ask(self, request: Request) -> Answer[list[Any]]:
        """Return the answer to a request, with the fields of each row in order. If the process dies of the request, or
        takes too long, the answer is a failure. One that was killed from outside gets a second try."""
        self._was_killed = False
        answer = self._answer_to(request)
        return self._answer_to(request) if self._was_killed else answer

    def _answer_to(self, request: Request) -> Answer[list[Any]]:
        message = _encode(request)
        if self._process is None or self._process.poll() is not None or not self._send(message):
            # None yet, or one that died at rest, which no unit is to blame for.
            self._start()
            if not self._send(message):
                return self._died()
        patience = self.limits.patience(request)
        if not self._answered.poll(patience * 1000):
            self.close()
            return _failed("time-out", f"not finished after {patience:g} seconds (--unit-timeout)")
        try:
            answer = _decode(self._replies.recv_bytes())
        except (EOFError, OSError):
            return self._died()
        if answer.failure is not None and answer.failure.reason == "memory":
            self.close()  # what is left of its memory may be in pieces
        return answer

    def _send(self, message: bytes) -> bool:
        try:
            self._requests.send_bytes(message)
        except OSError:
            self.close()
            return False
        return True

    def _start(self) -> None:
        self.close()
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        arguments = (theirs_in, theirs_out, self.limits.seconds, self.limits.memory)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pubcheck.spark.lint_process", *map(str, arguments)],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            # What this process can import, that one can: a cluster may have handed it a path of its own.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._requests, self._replies = Connection(ours_out, readable=False), Connection(ours_in, writable=False)
        self._answered = select.poll()  # what Connection.poll sets up for each call, which a small unit notices
        self._answered.register(ours_in, select.POLLIN)
        try:
            self._requests.send_bytes(self.linter)
            if self._replies.poll(_START):
                self._replies.recv_bytes()
                return
        except (EOFError, OSError):
            pass
        output = self._last_words()
        self.close()
        raise RuntimeError(f"the process that lints does not start: {output or 'it printed nothing'}")

    def _died(self) -> Answer[list[Any]]:
        process = self._process
        assert process is not None
        try:
            status = process.wait(5)
        except subprocess.TimeoutExpired:  # it closed its end and lives on
            process.kill()
            status = process.wait()
        trace = self._last_words()
        self.close()
        self._was_killed = status == -signal.SIGKILL
        if status == OUT_OF_MEMORY or (trace is not None and trace.endswith(_PARSER_WITHOUT_MEMORY)):
            return _failed("memory", TOO_LITTLE_MEMORY)
        if status < 0:
            name = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
            return _failed("crashed", f"the process that linted it died of {name}", trace)
        return _failed("crashed", f"the process that linted it ended with status {status}", trace)

    def _last_words(self) -> str | None:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _TRACE))
        return self._errors.read().decode(errors="replace").strip() or None

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            self._requests.close()
            self._replies.close()
            self._errors.close()


def _failed(reason: str, detail: str, trace: str | None = None) -> Answer[list[Any]]:
    return Answer(failure=Quarantined(reason, detail, trace))
