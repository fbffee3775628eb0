"""Names that are missing from a unit, and which of those that it creates was probably meant.

The bound is one slip in one word of the name: a letter too many, too few, exchanged with its neighbour or replaced.
That is what most misspellings are (Damerau 1964), and names that are alike on purpose mostly differ by more
(``internal_events``, ``external_events``), in a short word (``orders_de``, ``orders_dk``), in a number
(``events_2024``, ``events_2025``) or in the first letter (``uploads``, ``loads``). A letter may be replaced only in a
word of six or more, because short words are one letter apart from others (``roles``, ``rules``). A plural, capitals and
underscores are no slips: these are read as the same name. So is the same name in another schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, NAMESPACE, PUBLICATION, RELATION, TEMPORARY, Catalog
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.session.platform import Platform

Missing = tuple[str, int, str]
"""What is missing: its kind, the OID of its schema (0 without one) and its name."""
Meant = tuple[str, Place | None]
"""A name that may be meant, as a person writes it, and where it is created."""
_Words = tuple[str, ...]
_Known = TypeVar("_Known")

MOST = 3
"""How many names a finding offers. Where more are as near, the name is rather one of a series."""

_BETWEEN_WORDS = re.compile(r"[_\W]+|(?<=[a-z0-9])(?=[A-Z])")


def meant(catalog: Catalog, missing: Iterable[Missing], platform: Platform | None) -> dict[Missing, list[Meant]]:
    """The names that are near to those that are missing, nearest first. Takes time in proportion to both numbers."""
    by_kind: dict[str, set[Missing]] = {}
    for each in missing:
        by_kind.setdefault(each[0], set()).add(each)
    found: dict[Missing, list[Meant]] = {}
    if PUBLICATION in by_kind:
        known: dict[str, Place | None] = dict.fromkeys(platform.publication_names if platform is not None else ())
        known.update((row.name, row.place) for row in catalog.publications.values() if row.seen)
        names = _near({each: each[2] for each in by_kind[PUBLICATION]}, ((name, name) for name in known))
        found.update((each, [(name, known[name]) for name in near]) for each, near in names.items())
    if NAMESPACE in by_kind:
        schemas = {each: each[2] for each in by_kind[NAMESPACE]}
        found.update(
            (each, [(name, None) for name in near]) for each, near in _near(schemas, _schemas(catalog)).items()
        )
    if RELATION in by_kind:
        found.update(_relations(catalog, by_kind[RELATION]))
    return {each: near for each, near in found.items() if 0 < len(near) <= MOST}


def _schemas(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The schemas that the unit creates."""
    for row in catalog.namespaces.values():
        if row.seen and row.oid >= FIRST_NORMAL_OID:
            yield row.name, row.name


def _relations(catalog: Catalog, missing: set[Missing]) -> dict[Missing, list[Meant]]:
    """Tables of the same schema with a near name, or of another one with the same name."""
    tables = [
        row
        for row in catalog.relations.values()
        if row.seen and row.place is not None and row.kind in "rp" and row.namespace != TEMPORARY
    ]
    namespaces = catalog.namespaces
    found: dict[Missing, list[Meant]] = {}
    for namespace in {each[1] for each in missing}:
        wanted = {each: each[2] for each in missing if each[1] == namespace}
        near = _near(wanted, ((row.name, row) for row in tables if row.namespace == namespace))
        for each, rows in near.items():
            found[each] = [(f"{namespaces[namespace].name}.{row.name}", row.place) for row in rows]
    # A schema may be gone since, with the transaction that created it.
    schemas = {each: namespaces[each[1]] for each in missing if each not in found and each[1] in namespaces}
    misspelt = {each: row.name for each, row in schemas.items() if not row.seen}
    near_schemas = _near(misspelt, _schemas(catalog))
    elsewhere: dict[str, list[Missing]] = {}
    for each, row in schemas.items():
        # In a schema that the unit never creates there may well be another table of that name.
        if row.seen or each in near_schemas:
            elsewhere.setdefault("".join(_words(each[2])), []).append(each)
    for table in tables if elsewhere else ():
        for each in elsewhere.get("".join(_words(table.name)), ()):
            schema = namespaces[table.namespace].name
            if schemas[each].seen or schema in near_schemas[each]:
                found.setdefault(each, []).append((f"{schema}.{table.name}", table.place))
    return found


def _words(name: str) -> _Words:
    return tuple(word.lower() for word in _BETWEEN_WORDS.split(name) if word)


def _near(missing: Mapping[Missing, str], known: Iterable[tuple[str, _Known]]) -> dict[Missing, list[_Known]]:
    """For names that are missing, what is known under near names: those that read the same, then those with a slip.

    Two words that are one slip apart have a spelling in common when each may leave out a letter. By these the names
    are found, instead of comparing each with each.
    """
    same: dict[str, list[Missing]] = {}
    index: dict[tuple[_Words, int, str], list[tuple[Missing, str]]] = {}
    heads: set[tuple[int, str]] = set()
    for each, name in missing.items():
        words = _words(name)
        same.setdefault("".join(words), []).append(each)
        heads.add((len(words), name[:1].lower()))
        for place, rest, word in _parts(words):
            for spelling in _spellings(word):
                index.setdefault((rest, place, spelling), []).append((each, word))
    alike: dict[Missing, list[_Known]] = {}
    slipped: dict[Missing, list[_Known]] = {}
    for name, value in known:
        words = _words(name)
        for each in same.get("".join(words), ()):
            alike.setdefault(each, []).append(value)
        if (len(words), name[:1].lower()) not in heads:
            continue
        met: set[Missing] = set()
        for place, rest, word in _parts(words):
            for spelling in _spellings(word):
                for each, other in index.get((rest, place, spelling), ()):
                    if each not in met and word != other and _is_slip(word, other):
                        met.add(each)
                        slipped.setdefault(each, []).append(value)
    return {**slipped, **alike}


def _parts(words: _Words) -> Iterator[tuple[int, _Words, str]]:
    """Each word that may hold a slip, with its place among the others and these. Numbers hold none."""
    for place, word in enumerate(words):
        if len(word) > 2 and word.isalpha():
            yield place, words[:place] + words[place + 1 :], word


def _spellings(word: str) -> set[str]:
    """A word, and what is left of it without one of its letters, or without the ending of a plural."""
    found = {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
    return found | {word[:-2]} if word.endswith("es") else found


def _is_slip(first: str, second: str) -> bool:
    """Whether two different words are one slip apart, or one is the plural of the other."""
    shorter, longer = sorted((first, second), key=len)
    if longer in (f"{shorter}s", f"{shorter}es"):
        return True
    if len(longer) < 5 or len(longer) - len(shorter) > 1 or first[0] != second[0]:
        return False
    at = next((at for at, (one, other) in enumerate(zip(shorter, longer, strict=False)) if one != other), len(shorter))
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    if shorter[at + 2 :] == longer[at + 2 :] and shorter[at : at + 2] == longer[at : at + 2][::-1]:
        return True
    return len(longer) > 5 and shorter[at + 1 :] == longer[at + 1 :]
