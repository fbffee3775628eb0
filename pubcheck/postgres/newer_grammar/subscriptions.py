"""CREATE and ALTER SUBSCRIPTION ... SERVER, and ALTER SUBSCRIPTION ... REFRESH SEQUENCES."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import move_locations

_NAME = 2
"""The number of the token that is the subscription's name."""


def read_create_subscription(reader: Reader) -> tuple[str, Node] | None:
    """Return the CreateSubscriptionStmt with a server, None for any other statement."""
    reader.next = _NAME + 1
    if not reader.accept(b"server"):
        return None
    server = _server(reader)
    if not reader.sees(b"publication"):
        reader.refuse()
    head = _head(reader) + b" CONNECTION '' "
    rest = reader.offset
    statement = parse((head + reader.data[rest:]).decode(errors="surrogatepass"))
    assert statement is not None
    move_locations(statement[1], rest - len(head))
    del statement[1]["conninfo_location"]
    return "CreateSubscriptionStmt", {**statement[1], "servername": server}


def read_alter_subscription(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterSubscriptionStmt of a form that is new, None for any other statement."""
    reader.next = _NAME + 1
    if reader.accept(b"refresh", b"sequences"):
        fields = {"kind": "ALTER_SUBSCRIPTION_REFRESH_SEQUENCES"}
    elif reader.accept(b"server"):
        fields = {"kind": "ALTER_SUBSCRIPTION_SERVER", "servername": _server(reader)}
    else:
        return None
    if not reader.at_end:
        reader.refuse()
    statement = parse((_head(reader) + b" ENABLE").decode(errors="surrogatepass"))
    assert statement is not None
    return "AlterSubscriptionStmt", {"subname": statement[1]["subname"], **fields}


def _server(reader: Reader) -> str:
    start = reader.offset
    reader.name()
    _, last, offset = reader.tokens[reader.next - 1]
    _, node = reader.parsed(b"DROP SERVER ", start, offset + len(last))
    server: str = node["objects"][0]["String"]["sval"]
    return server


def _head(reader: Reader) -> bytes:
    _, name, offset = reader.tokens[_NAME]
    return reader.data[: offset + len(name)]
