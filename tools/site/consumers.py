"""A page for each consumer of publications, from its profile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pubcheck.consumers import NAMES
from pubcheck.consumers.profiles import Claim, Consumer, Contradiction, Side, Strength, contradictions, load
from tools.site.pages import Generated, anchor, escape, fence, table

_HEADINGS: dict[Strength, str] = {"must": "What it demands", "should": "What it recommends", "effect": "What it does"}


def pages(root: Path) -> Iterator[Generated]:
    """Yield the list of the consumers, a page for each, and the page of their contradictions."""
    yield Generated("consumers/list.md", _list(), "All consumers")
    yield Generated("consumers/contradictions.md", _contradictions(), "Contradictions")
    for key in NAMES:
        consumer = load(key)
        yield Generated(f"consumers/{key}.md", _page(key, consumer), consumer.name)


def _list() -> str:
    rows = []
    for key in NAMES:
        consumer = load(key)
        checked = sum(bool(claim.demands) for claim in consumer.claims)
        rows.append(
            (
                f"[{escape(consumer.name)}]({key}.md)",
                f"`{key}`",
                escape(consumer.category),
                f"{checked} of {len(consumer.claims)}",
                escape(consumer.reads),
            )
        )
    head = (
        f"# All consumers\n\npubcheck knows {len(NAMES)} consumers. [Consumers](../consumers.md) explains how a "
        "publication is checked against one. A claim is checked if files or catalogs can answer it.\n\n"
    )
    heads = ("Consumer", "Name in the configuration", "Category", "Claims checked", "Reads")
    return f'{head}<div class="consumers" markdown>\n\n{table(heads, rows)}\n</div>\n'


def _page(key: str, consumer: Consumer) -> str:
    parts = [
        f"# {escape(consumer.name)}\n",
        f"- Product: {escape(consumer.product)}\n"
        f"- Category: {escape(consumer.category)}\n"
        f"- Output plugin: {escape(consumer.plugin)}\n"
        f"- Reads: {escape(consumer.reads)}\n",
        fence("sh", f"pubcheck lint --consumer {key} db/"),
    ]
    if consumer.publication_names:
        names = ", ".join(f"`{name}`" for name in consumer.publication_names)
        parts.append(f"A publication with this name is assumed to be for {escape(consumer.name)}: {names}.\n")
    if consumer.modes:
        rows = [(f"`{key}:{mode.id}`", escape(mode.says), "yes" if mode.default else "") for mode in consumer.modes]
        parts += ["## Modes\n", "Some claims depend on a setting, a version or a destination.\n"]
        parts.append(table(("Mode", "Meaning", "Default"), rows))
    for strength, heading in _HEADINGS.items():
        claims = [claim for claim in consumer.claims if claim.strength == strength]
        if claims:
            parts += [f"## {heading}\n", *map(_claim, claims)]
    own = {claim.id for claim in consumer.claims}
    clashes = [
        contradiction
        for contradiction in contradictions()
        if own & {*contradiction.first.claims, *contradiction.second.claims}
    ]
    if clashes:
        parts += ["## Contradictions\n"]
        parts.append(
            "".join(
                f"- [{escape(contradiction.title)}](contradictions.md#{anchor(contradiction.title)})\n"
                for contradiction in clashes
            )
        )
    return "\n".join(parts)


def _claim(claim: Claim) -> str:
    facts = [claim.evidence + (", inferred from the code" if claim.inferred else "")]
    if claim.modes:
        facts.append("only in " + ", ".join(f"`{mode}`" for mode in claim.modes))
    if claim.versions:
        facts.append(escape(claim.versions))
    if claim.since or claim.until:
        facts.append(f"PostgreSQL {claim.since or ''}-{claim.until or ''}")
    if not claim.demands:
        facts.append("not checked: files and catalogs do not show it")
    lines = [f"### {claim.id}\n", f"{escape(claim.says)}\n"]
    if claim.breaks:
        lines.append(f"Otherwise {escape(claim.breaks)}.\n")
    if claim.help:
        lines.append(f"Advice: {escape(claim.help)}.\n")
    if claim.message:
        lines.append(f"It prints: <code>{escape(claim.message)}</code>\n")
    sources = ", ".join(f"[{escape(_name(source.address))}]({source.address})" for source in claim.sources)
    lines.append(f"Evidence: {'; '.join(facts)}. {'Sources' if len(claim.sources) > 1 else 'Source'}: {sources}.\n")
    return "\n".join(lines)


def _name(address: str) -> str:
    """Return a source's address as a reader recognises it: repository and file, without the commit."""
    path = address.removeprefix("https://").removeprefix("http://")
    if path.startswith("github.com/") and "/blob/" in path:
        repository, _, rest = path.removeprefix("github.com/").partition("/blob/")
        return f"{repository} {rest.partition('/')[2]}".partition("#")[0]
    return path.rstrip("/")


def _contradictions() -> str:
    parts = [
        "# Contradictions\n",
        "Two consumers that cannot share a publication, or a table. pubcheck reports them as PUB917 and PUB921.\n",
    ]
    for contradiction in contradictions():
        shared = "Both work, and one of them loses something. " if contradiction.soft else ""
        solution = contradiction.solution.format(first="the first", second="the second")
        parts += [
            f"## {escape(contradiction.title)}\n",
            f"- {_side(contradiction.first)}\n- {_second(contradiction)}\n",
            f"{shared}{escape(contradiction.consequence)}\n",
            f"Solution ({contradiction.id}): {escape(solution)}.\n",
        ]
    return "\n".join(parts)


def _second(contradiction: Contradiction) -> str:
    if contradiction.against == "column lists":
        return f"Any publication that {escape(contradiction.second.needs)}"
    return _side(contradiction.second)


def _side(side: Side) -> str:
    keys = dict.fromkeys(claim.rpartition("-")[0] for claim in side.claims)
    names = ", ".join(f"[{escape(NAMES[key])}]({key}.md)" for key in keys)
    return f"{escape(side.needs[:1].upper() + side.needs[1:])}: {names}"
