"""A JSON object for each message, on a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from pubcheck.stream import messages as wire
from pubcheck.stream.lsn import format_lsn, format_time
from pubcheck.stream.render.events import Event, Events, relation_name, text_of

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def render(event: Event, events: Events) -> Iterator[str]:
    """Yield the object of a message. Its keys are the same for all messages of a kind."""
    message = event.message
    lsn = event.frame.lsn
    document: dict[str, Any] = {
        "kind": kind_name(message),
        "lsn": None if lsn is None else format_lsn(lsn),
        "xid": event.xid,
    }
    if isinstance(message, wire.Insert | wire.Update | wire.Delete):
        document |= _change(message, event)
    elif isinstance(message, wire.Truncate):
        relations = (event.relations.get(oid) for oid in message.relations)
        document["relations"] = [relation and relation_name(relation) for relation in relations]
        document["relation_oids"] = message.relations
        document |= {"cascade": message.cascade, "restart_identity": message.restart_identity}
    else:
        document |= _fields(message, events)
    own = getattr(message, "xid", None)
    if own is not None and own != event.xid:
        document["subxid"] = own
    yield json_line(document)


def kind_name(message: wire.AnyMessage) -> str:
    """Return the name of a message's format, such as stream_commit."""
    return _WORD.sub("_", type(message).__name__).lower()


def _fields(message: Any, events: Events) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in message.__struct_fields__:
        value = getattr(message, field)
        if field == "xid" or value is None:
            continue
        if field.endswith("lsn"):
            value = format_lsn(value)
        elif field.endswith("time"):
            value = format_time(value)
        elif field == "content":
            value = value.hex()
        elif isinstance(message, wire.Relation) and field == "columns":
            value = [
                {
                    "name": column.name,
                    "type": events.type_name(column.type_oid, column.type_modifier),
                    "type_oid": column.type_oid,
                    "type_modifier": column.type_modifier,
                    "key": column.key,
                }
                for column in message.columns
            ]
        fields[field] = value
    if isinstance(message, wire.Message):
        fields["text"] = _text_of(message.content)
    return fields


def _text_of(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _change(message: wire.Insert | wire.Update | wire.Delete, event: Event) -> dict[str, Any]:
    """Rows are objects by column name or, for an unknown relation, by position. Columns whose values are not sent are
    left out and listed, as are those whose values are hex."""
    relation = event.relations.get(message.relation)
    lists: dict[str, list[str]] = {"unchanged": [], "binary": [], "not_utf8": []}
    document: dict[str, Any] = {
        "relation": None if relation is None else relation_name(relation),
        "relation_oid": message.relation,
    }
    if not isinstance(message, wire.Insert):
        document["old_kind"] = {"K": "key", "O": "full", None: None}[message.old_kind]
        old = message.old
        if old is not None and message.old_kind == "K":
            document["old"] = _object(old, relation, lists, key_only=True)
        else:
            document["old"] = None if old is None else _object(old, relation, lists)
    if not isinstance(message, wire.Delete):
        document["new"] = _object(message.new, relation, lists)
    document["unchanged"] = lists["unchanged"]
    document |= {name: columns for name, columns in lists.items() if columns and name != "unchanged"}
    return document


def _object(
    row: wire.Row, relation: wire.Relation | None, lists: dict[str, list[str]], *, key_only: bool = False
) -> dict[str, str | None]:
    columns = relation.columns if relation is not None and len(relation.columns) == len(row) else None
    document: dict[str, str | None] = {}
    for index, value in enumerate(row):
        name = str(index + 1) if columns is None else columns[index].name
        text: str | None
        if value is None:
            if key_only and not (columns is not None and columns[index].key):
                continue
            text = None
        elif value is wire.UNCHANGED_TOAST:
            lists["unchanged"].append(name)
            continue
        elif isinstance(value, bytes):
            text = None if columns is None else text_of(value, columns[index].type_oid)
            if text is None:
                text = value.hex()
                lists["binary"].append(name)
        elif value.isascii() or _is_utf8(value):
            text = value
        else:
            text = value.encode("utf-8", "surrogateescape").hex()
            lists["not_utf8"].append(name)
        document[name] = text
    return document


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_line(document: object) -> str:
    """Return a line of JSON. Bytes of names that are not UTF-8 are replaced by backslash escapes."""
    try:
        return msgspec.json.encode(document).decode() + "\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_escaped(document)).decode() + "\n"


def _escaped(document: Any) -> Any:
    if isinstance(document, str):
        return document.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(document, dict):
        return {_escaped(key): _escaped(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_escaped(value) for value in document]
    return document
