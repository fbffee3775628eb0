"""The page of a rule on a terminal. Rich renders the Markdown; loading it takes about 80 ms."""

from __future__ import annotations

from io import StringIO
from typing import ClassVar

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

_THEME = Theme({f"markdown.h{level}": "bold" for level in (1, 2, 3)} | {"markdown.code": "cyan"})
_MOST_COLUMNS = 120


class _Heading(Heading):
    """A heading at the left; Rich centers the first one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    """Indented code without a background and without line breaks of its own: marks point at the line above.

    A server's answer is under the majors that its fence names.
    """

    majors = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Code:
        language, _, majors = token.info.partition(" ")
        block = cls(language or "text", "ansi_dark")
        block.majors = majors.strip()
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.majors:
            yield Text(f"    PostgreSQL {self.majors}:", "dim")
        code = Syntax("", self.lexer_name, theme=self.theme, background_color="default").highlight(str(self.text))
        for line in code.split():
            yield Text("    ", no_wrap=True, overflow="ignore").append_text(line) if line else Text()


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
    }


def render(markdown: str) -> str:
    """Return the page with the colours of a terminal, as wide as that is, up to a width that can be read."""
    console = Console(file=StringIO(), force_terminal=True, theme=_THEME, emoji=False)
    width = min(console.width, _MOST_COLUMNS)
    with console.capture() as capture:
        console.print(_Page(markdown), width=width, crop=False)
    return "\n".join(line.rstrip() for line in capture.get().split("\n"))
