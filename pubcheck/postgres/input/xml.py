"""Input of xml (utils/adt/xml.c): with xmloption content, as a server has it by default, or document.

The server parses with libxml2, this with expat: both follow XML 1.0, so that they agree on what is well-formed; the
server's DETAIL is libxml2's own and is not given. Texts that the two are known to treat differently are unknown.
"""

from __future__ import annotations

import re

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.common import input_error
from pubcheck.postgres.input.dispatch import InputContext

_BLANK = "[ \t\r\n]"
_DECLARATION = re.compile(
    rf"<\?xml{_BLANK}+version{_BLANK}*={_BLANK}*(?:\"1\.0\"|'1\.0')"
    rf"(?P<encoding>{_BLANK}+encoding{_BLANK}*={_BLANK}*(?:\"[A-Za-z][\w.-]*\"|'[A-Za-z][\w.-]*'))?"
    rf"(?:{_BLANK}+standalone{_BLANK}*={_BLANK}*(?:\"(?:yes|no)\"|'(?:yes|no)'))?{_BLANK}*\?>"
)
_DECLARED = re.compile(rf"<\?xml{_BLANK}")
_NO_DECLARATION = re.compile(r"<\?xml(?![\w.:-])")
_DOUBTFUL = re.compile(r"<!DOCTYPE|<!ENTITY|\]\]>|[\ufffe\uffff\ud800-\udfff]")
_TAG = re.compile(r"<[^>]*+>")
_DOUBTFUL_IN_TAG = re.compile(r"<[/]?:|:[\s/>=]|\w:[\w.-]+:")
_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_DEEP = 200
"""Elements within elements that every libxml2 takes (it stops at 256)."""


def read_xml(context: InputContext, text: str, typmod: int = -1) -> str:
    """xml_in. The value is the text."""
    kind = str(context.setting("xmloption") or "content").lower()
    sqlstate = "2200N" if kind == "content" else "2200M"
    body = text
    if _DECLARED.match(text):
        declaration = _DECLARATION.match(text)
        # libxml2 decides whether it knows the encoding of a document; of content the server drops the declaration.
        if declaration is None or (declaration["encoding"] and kind != "content"):
            raise Unknowable("whether the server takes an XML declaration")
        body = text[declaration.end() :]
    elif kind == "content" and _NO_DECLARATION.match(text):
        raise input_error("2200N", "invalid XML content: invalid XML declaration", "Space required.")
    outside = _CDATA.sub("", body)
    if _DOUBTFUL.search(outside) or any(_DOUBTFUL_IN_TAG.search(tag) for tag in _TAG.findall(outside)):
        raise Unknowable("how libxml2 takes an XML text")
    if not _well_formed(body, kind == "document"):
        raise input_error(sqlstate, f"invalid XML {kind}")
    return text


def _well_formed(content: str, document: bool) -> bool:
    from xml.parsers import expat

    root = "content"
    while root in content:
        root += "_"
    parser = expat.ParserCreate("utf-8")
    depth = deepest = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth, deepest
        depth += 1
        deepest = max(deepest, depth)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse((content if document else f"<{root}>{content}</{root}>").encode(), True)
    except expat.ExpatError:
        well_formed = False
    else:
        well_formed = True
    if deepest > _DEEP:
        raise Unknowable("how deeply libxml2 lets elements nest")
    return well_formed
