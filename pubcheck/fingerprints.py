"""The fingerprint of a finding has no line numbers, so that it outlasts changes of other parts of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from pubcheck.findings import Entry

_IDENTITY = ("rule", "object", "publications", "operation", "message")


def fingerprints(findings: Iterable[Mapping[str, Any] | Entry], scope: str = "", top: str = "") -> Iterator[str]:
    """Return a fingerprint of 32 hexadecimal digits for each finding, in their order: what it is, where, and which one
    of several alike. The findings are entries, or the same fields as the audit's rows have them, of one unit at least;
    ``scope`` tells apart what is alike otherwise, such as a repository; ``top`` is what paths may begin with that is
    not to count.
    """
    alike: dict[str, int] = {}
    for finding in findings:
        fields = finding if isinstance(finding, Mapping) else msgspec.structs.asdict(finding)
        server = fields["server"]
        if server is not None and not isinstance(server, Mapping):
            server = msgspec.structs.asdict(server)
        server = server or {}
        identity = [list(value) if isinstance(value, tuple) else value for value in (fields[key] for key in _IDENTITY)]
        path = fields["path"].removeprefix(top)
        identity_text = repr([scope, path, *identity, server.get("sqlstate"), server.get("message")])
        number = alike[identity_text] = alike.get(identity_text, -1) + 1
        yield hashlib.sha256(f"{number}{identity_text}".encode(errors="surrogatepass")).hexdigest()[:32]
