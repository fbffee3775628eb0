"""Output of the reg* types and of aclitem (utils/adt/regproc.c, acl.c)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from pubcheck.postgres.catalog import INFORMATION_SCHEMA
from pubcheck.postgres.output.dispatch import OutputContext, Sender, Writer
from pubcheck.postgres.output.names import Names, information_schema_oid, initdb_text_search


def _shown(name: Callable[[Names, int], str | None], none: str = "-") -> Callable[[OutputContext, int], Writer]:
    """0 is ``none``, an object that does not exist its oid."""

    def maker(context: OutputContext, type_oid: int) -> Writer:
        names = Names(context)

        def out(value: int) -> str:
            return (name(names, value) or str(value)) if value else none

        return out

    return maker


def _quoted_role(names: Names, oid: int) -> str | None:
    name = names.role(oid)
    return None if name is None else names.quoted(name)


regclass_out, regtype_out = _shown(Names.relation), _shown(Names.type)
regproc_out, regprocedure_out = _shown(Names.function), _shown(Names.function_with_arguments)
regoper_out, regoperator_out = _shown(Names.operator, "0"), _shown(Names.operator_with_operands, "0")
regnamespace_out, regrole_out, regcollation_out = _shown(Names.namespace), _shown(_quoted_role), _shown(Names.collation)


def _text_search(kind: str) -> Callable[[OutputContext, int], Writer]:
    def maker(context: OutputContext, type_oid: int) -> Writer:
        names = Names(context)
        return lambda value: (names.text_search(kind, value) or str(value)) if value else "-"

    return maker


regconfig_out = _text_search("text search configuration")
_REGDICTIONARY = 3769
regdictionary_out = _text_search("text search dictionary")


def reg_send(context: OutputContext, type_oid: int) -> Sender:
    oids = {
        name: oid
        for oid, name in initdb_text_search(context.major.number, dictionaries=type_oid == _REGDICTIONARY).items()
    }

    def send(value: int | str) -> bytes:
        if isinstance(value, str):
            value = oids[value]
        elif value == INFORMATION_SCHEMA:
            value = information_schema_oid(context.major.number)
        return struct.pack(">I", value)

    return send


regclass_send = regtype_send = regproc_send = regprocedure_send = regoper_send = regoperator_send = reg_send
regnamespace_send = regrole_send = regcollation_send = regconfig_send = regdictionary_send = reg_send

# aclitem.

_RIGHTS = "arwdDxtXUCTcsAm"
_SAFE = re.compile("[A-Za-z0-9_]+")
_RIGHT = re.compile(r"([A-Za-z])(\*?)")


def aclitem_out(context: OutputContext, type_oid: int) -> Writer:
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
