"""DO blocks."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.procedural import run_block
from pubcheck.simulate.not_followed import NotFollowed


def do(session: Backend, node: Node) -> Result:
    arguments = {item["DefElem"]["defname"]: item["DefElem"]["arg"] for item in node["args"]}
    language = arguments.get("language", {}).get("String", {}).get("sval", "plpgsql")
    if language != "plpgsql":
        raise NotFollowed(f"a DO block in {language}")
    run_block(session, arguments["as"]["String"]["sval"])
    return NOTHING
