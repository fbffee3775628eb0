"""Suggest the existing name that was probably meant by a name that is missing from a unit.

The bound is one slip in one word of the name: a letter too many, too few, exchanged with its neighbour or replaced.
That is what most misspellings are (Damerau 1964), and names that are alike on purpose mostly differ by more
(``internal_events``, ``external_events``), in a short word (``orders_de``, ``orders_dk``), in a number
(``events_2024``, ``events_2025``) or in the first letter (``uploads``, ``loads``). A letter may be replaced only in a
word of six or more, because short words are one letter apart from others (``roles``, ``rules``). Names that differ only
in a plural, capitals or underscores are read as the same name. So is the same name in another schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, NAMESPACE, PUBLICATION, RELATION, TEMPORARY, Catalog
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.session.statement_context import Platform

Missing = tuple[str, int, str]
"""A missing object: its kind, the OID of its schema (0 without one) and its name."""
Suggestion = tuple[str, Place | None]
"""A name that may be meant, as a person writes it, and where it is created."""
_Words = tuple[str, ...]
_Candidate = TypeVar("_Candidate")

MOST = 3
"""The number of names that a finding offers. A name with more similar ones probably belongs to a series."""

_BETWEEN_WORDS = re.compile(r"[_\W]+|(?<=[a-z0-9])(?=[A-Z])")


def suggestions(
    catalog: Catalog, missing: Iterable[Missing], platform: Platform | None
) -> dict[Missing, list[Suggestion]]:
    """Return the names near each missing name, the nearest first. Takes time in proportion to both numbers."""
    by_kind: dict[str, set[Missing]] = {}
    for key in missing:
        by_kind.setdefault(key[0], set()).add(key)
    suggestions: dict[Missing, list[Suggestion]] = {}
    if PUBLICATION in by_kind:
        known: dict[str, Place | None] = dict.fromkeys(platform.publication_names if platform is not None else ())
        known.update((row.name, row.place) for row in catalog.publications.values() if row.seen)
        names = _near({key: key[2] for key in by_kind[PUBLICATION]}, ((name, name) for name in known))
        suggestions.update((key, [(name, known[name]) for name in near]) for key, near in names.items())
    if NAMESPACE in by_kind:
        schemas = {key: key[2] for key in by_kind[NAMESPACE]}
        suggestions.update(
            (key, [(name, None) for name in near]) for key, near in _near(schemas, _schemas(catalog)).items()
        )
    if RELATION in by_kind:
        suggestions.update(_relations(catalog, by_kind[RELATION]))
    return {key: near for key, near in suggestions.items() if 0 < len(near) <= MOST}


def _schemas(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The schemas that the unit creates."""
    for row in catalog.namespaces.values():
        if row.seen and row.oid >= FIRST_NORMAL_OID:
            yield row.name, row.name


def _relations(catalog: Catalog, missing: set[Missing]) -> dict[Missing, list[Suggestion]]:
    """Tables of the same schema with a near name, or of another one with the same name."""
    tables = [
        row
        for row in catalog.relations.values()
        if row.seen and row.place is not None and row.kind in "rp" and row.namespace != TEMPORARY
    ]
    namespaces = catalog.namespaces
    suggestions: dict[Missing, list[Suggestion]] = {}
    for namespace in {name[1] for name in missing}:
        tables_of_schema = {name: name[2] for name in missing if name[1] == namespace}
        near = _near(tables_of_schema, ((row.name, row) for row in tables if row.namespace == namespace))
        for name, rows in near.items():
            suggestions[name] = [(f"{namespaces[namespace].name}.{row.name}", row.place) for row in rows]
    # A schema may be gone since, with the transaction that created it.
    schemas = {name: namespaces[name[1]] for name in missing if name not in suggestions and name[1] in namespaces}
    misspelt = {name: row.name for name, row in schemas.items() if not row.seen}
    near_schemas = _near(misspelt, _schemas(catalog))
    elsewhere: dict[str, list[Missing]] = {}
    for name, row in schemas.items():
        # In a schema that the unit never creates there may well be another table of that name.
        if row.seen or name in near_schemas:
            elsewhere.setdefault("".join(_words(name[2])), []).append(name)
    for table in tables if elsewhere else ():
        for name in elsewhere.get("".join(_words(table.name)), ()):
            if name[1:] == (table.namespace, table.name):
                continue
            schema = namespaces[table.namespace].name
            if schemas[name].seen or schema in near_schemas[name]:
                suggestions.setdefault(name, []).append((f"{schema}.{table.name}", table.place))
    return suggestions


def _words(name: str) -> _Words:
    return tuple(word.lower() for word in _BETWEEN_WORDS.split(name) if word)


def _near(missing: Mapping[Missing, str], known: Iterable[tuple[str, _Candidate]]) -> dict[Missing, list[_Candidate]]:
    """Return the existing objects for missing names: first those whose name reads the same, then those with one slip.

    Two words that are one slip apart share a spelling if each may leave out a letter. The objects are found by these
    spellings, so that not every pair of names is compared.
    """
    same_words: dict[str, list[Missing]] = {}
    index: dict[tuple[_Words, int, str], list[tuple[Missing, str]]] = {}
    heads: set[tuple[int, str]] = set()
    for key, name in missing.items():
        words = _words(name)
        same_words.setdefault("".join(words), []).append(key)
        heads.add((len(words), name[:1].lower()))
        for place, rest, word in _parts(words):
            for spelling in _spellings(word):
                index.setdefault((rest, place, spelling), []).append((key, word))
    alike: dict[Missing, list[_Candidate]] = {}
    slipped: dict[Missing, list[_Candidate]] = {}
    for name, value in known:
        words = _words(name)
        for key in same_words.get("".join(words), ()):
            if missing[key] == name:
                continue  # created later: no misspelling
            alike.setdefault(key, []).append(value)
        if (len(words), name[:1].lower()) not in heads:
            continue
        met: set[Missing] = set()
        for place, rest, word in _parts(words):
            for spelling in _spellings(word):
                for key, near_word in index.get((rest, place, spelling), ()):
                    if key not in met and word != near_word and is_slip(word, near_word):
                        met.add(key)
                        slipped.setdefault(key, []).append(value)
    return {**slipped, **alike}


def _parts(words: _Words) -> Iterator[tuple[int, _Words, str]]:
    """Each word that may hold a slip, with its place among the others and these. Numbers hold none."""
    for place, word in enumerate(words):
        if len(word) > 2 and word.isalpha():
            yield place, words[:place] + words[place + 1 :], word


def _spellings(word: str) -> set[str]:
    """A word, and what is left of it without one of its letters, or without the ending of a plural."""
    spellings = {word, *(word[:index] + word[index + 1 :] for index in range(len(word)))}
    return spellings | {word[:-2]} if word.endswith("es") else spellings


def is_slip(first: str, second: str) -> bool:
    """Return whether two different words are one slip apart, or one is the plural of the other."""
    shorter, longer = sorted((first, second), key=len)
    if longer in (f"{shorter}s", f"{shorter}es"):
        return True
    if len(longer) < 5 or len(longer) - len(shorter) > 1 or first[0] != second[0]:
        return False
    index = next(
        (index for index, (left, right) in enumerate(zip(shorter, longer, strict=False)) if left != right), len(shorter)
    )
    if len(shorter) < len(longer):
        return shorter[index:] == longer[index + 1 :]
    if shorter[index + 2 :] == longer[index + 2 :] and shorter[index : index + 2] == longer[index : index + 2][::-1]:
        return True
    return len(longer) > 5 and shorter[index + 1 :] == longer[index + 1 :]


_VERBS = ("create", "alter", "drop")


def misspelt_keyword(words: Sequence[str]) -> tuple[int, str] | None:
    """Return which of a statement's words is misspelt, and its correction; None for neither or both."""
    if len(words) < 2:
        return None
    verb, kind = words[:2]
    if verb in _VERBS and kind != "publication" and is_slip(kind, "publication"):
        return 1, "publication"
    if kind == "publication" and verb not in _VERBS:
        return next(((0, right) for right in _VERBS if is_slip(verb, right)), None)
    return None
