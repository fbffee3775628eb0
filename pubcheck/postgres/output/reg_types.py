"""Output of the reg* types and of aclitem (utils/adt/regproc.c, acl.c)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import INFORMATION_SCHEMA
from pubcheck.postgres.output.dispatch import OutputContext, Sender, TypeOutput, Writer
from pubcheck.postgres.output.names import Names, information_schema_oid, initdb_text_search


def _sender(context: OutputContext, type_oid: int) -> Sender:
    dictionaries = type_oid == oids.REGDICTIONARY
    oids_by_name = {
        name: oid for oid, name in initdb_text_search(context.major.number, dictionaries=dictionaries).items()
    }

    def send(value: int | str) -> bytes:
        if isinstance(value, str):
            value = oids_by_name[value]
        elif value == INFORMATION_SCHEMA:
            value = information_schema_oid(context.major.number)
        return struct.pack(">I", value)

    return send


def _output(name: Callable[[Names, Any], str | None], none: str = "-") -> TypeOutput:
    """0 is ``none``, an object that does not exist its oid."""

    def maker(context: OutputContext, type_oid: int) -> Writer:
        names = Names(context)
        return lambda value: (name(names, value) or str(value)) if value else none

    return TypeOutput(maker, _sender)


def _quoted_role(names: Names, oid: int) -> str | None:
    name = names.role(oid)
    return None if name is None else names.quoted(name)


REGCLASS, REGTYPE = _output(Names.relation), _output(Names.type)
REGPROC, REGPROCEDURE = _output(Names.function), _output(Names.function_with_arguments)
REGOPER, REGOPERATOR = _output(Names.operator, "0"), _output(Names.operator_with_operands, "0")
REGNAMESPACE, REGROLE, REGCOLLATION = _output(Names.namespace), _output(_quoted_role), _output(Names.collation)
REGCONFIG = _output(lambda names, value: names.text_search("text search configuration", value))
REGDICTIONARY = _output(lambda names, value: names.text_search("text search dictionary", value))

# aclitem.

_RIGHTS = "arwdDxtXUCTcsAm"
_SAFE = re.compile("[A-Za-z0-9_]+")
_RIGHT = re.compile(r"([A-Za-z])(\*?)")


def _aclitem(context: OutputContext, type_oid: int) -> Writer:
    """aclitemout: the rights in the order of their bits."""
    names = Names(context)

    def role(oid: int) -> str:
        """putid."""
        name = names.role(oid) or str(oid)
        return name if _SAFE.fullmatch(name) else '"' + name.replace('"', '""') + '"'

    def out(value: tuple[int, str, int]) -> str:
        grantee, written, grantor = value
        options: dict[str, str] = {}
        for letter, option in _RIGHT.findall(written):
            options[letter] = option or options.get(letter, "")
        rights = "".join(letter + options[letter] for letter in _RIGHTS if letter in options)
        return f"{role(grantee) if grantee else ''}={rights}/{role(grantor)}"

    return out


ACLITEM = TypeOutput(_aclitem)
