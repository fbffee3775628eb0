"""Text in XML 1.0, for the formats that are XML."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'


def allowed(text: str) -> str:
    """Return a text with what XML 1.0 cannot hold, escaped or not, written as in Python."""
    return _FORBIDDEN.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def attributes(**values: object) -> str:
    """Attributes of an element, each with a blank before it; a line end stays one."""
    return "".join(f" {name}={quoteattr(allowed(str(value)))}" for name, value in values.items())
