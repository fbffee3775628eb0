"""The possible effects of SQL when only its text, or part of it, is known."""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names

HEALING = lazy_compile(
    r"replica\s+identity|primary\s+key|drop\s+publication|alter\s+publication\b.*\b(set|drop)\b|unique\s+index",
    re.IGNORECASE | re.DOTALL,
)
"""The statements that can end the refusal of a write. SQL that is not followed must not contain them if refusals are
to stay certain."""
IDENTIFYING = lazy_compile(
    r"\balter\s+table\b[^;]*?[%{}'|<>:$][^;]*?\breplica\s+identity\b(?!\s+(?:default|nothing)\b)", re.IGNORECASE
)
"""ALTER TABLE of a table whose name is put together, by which it gets a replica identity that it did not have."""
_TAKING = lazy_compile(
    r"\bdrop\b|alter\s+publication\b(?:(?!\badd\b).)*?(?:\b(?:set|rename)\b|\Z)", re.IGNORECASE | re.DOTALL
)


def taking(text: str) -> bool:
    """Return whether SQL that is not followed may take a publication away, or members from one."""
    return "publication" in text.lower() and _TAKING.search(text) is not None


_WORDING = lazy_compile(
    r"(?:'|\$\w*\$)[^']*?\b"
    r"(?:alter|analy[sz]e|call|comment|copy|create|delete|drop|grant|insert|lock|notify|refresh|reindex|revoke|select|set"
    r"|truncate|update|vacuum|reassign|security|cluster|merge|reset)\b",
    re.IGNORECASE,
)
_ELSEWHERE = lazy_compile(
    r"\s*(?:analy[sz]e|cluster|comment|copy|grant|lock|notify|reassign|refresh|reindex|reset|revoke|security\s+label"
    r"|truncate|vacuum)\b",
    re.IGNORECASE,
)
"""Commands that never change publications or replica identities."""


def wording(text: str) -> str | None:
    """Return the known part of the SQL that this text builds; None if not even the kind of statement is known."""
    return text if _WORDING.search(text) is not None else None


def concerns_nothing_published(node: Node | None) -> bool:
    """Return whether an expression gives a command that begins with literal words of one of ``_ELSEWHERE``."""
    while node is not None and "A_Expr" in node and names(node["A_Expr"]["name"]) == ["||"]:
        node = node["A_Expr"].get("lexpr")
    if node is not None and "FuncCall" in node and names(node["FuncCall"]["funcname"])[-1] in ("format", "concat"):
        node = node["FuncCall"].get("args", [None])[0]
    text = (node or {}).get("A_Const", {}).get("sval", {}).get("sval")
    return text is not None and _ELSEWHERE.match(text) is not None
