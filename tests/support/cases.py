"""The corpus of cases in its readable form: `corpus/cases/<family>.toml`, read and written.

What the fields mean stands in `corpus/README.md`. Reading is strict: an unknown or missing field is an error with the
file's name. Writing gives the same text for the same cases, so that a newly recorded answer is a small difference.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.versions import MAJORS

CASES = Path(__file__).parents[2] / "corpus" / "cases"

DDL_PHASES = frozenset({"create", "alter", "parse", "ddl"})
"""The corpus' words for what pubcheck calls the phase `ddl`."""

Row = str
"""A row of a query's result as a JSON array: the one notation here that keeps NULL, numbers and texts apart."""


class After(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The answer to one of a case's `then` statements."""

    ok: bool
    sqlstate: str | None = None
    message: str | None = None
    detail: str | None = None
    hint: str | None = None
    rows: tuple[Row, ...] | None = None


class Recorded(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a server answered to a case's statement; `position` as libpq gives it (1-based, characters).

    `at` is "decoding" where the DML was accepted and reading the slot failed, "setup" where a statement of the setup
    was refused. `placed` is False where nobody wrote down whether the answer had a position, and which.
    """

    ok: bool
    sqlstate: str | None = None
    message: str | None = None
    detail: str | None = None
    hint: str | None = None
    position: int | None = None
    context: str | None = None
    at: str | None = None
    notices: tuple[str, ...] = ()
    rows: tuple[Row, ...] | None = None
    changes: tuple[str, ...] | None = None
    synced: bool | None = None
    subscriber_rows: tuple[Row, ...] | None = None
    alter: After | None = None
    then: tuple[After, ...] = ()
    placed: bool = True


class Decode(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """DML that runs while a slot decodes for `publications`; with `relations` the RELATION messages count too."""

    publications: str
    sql: tuple[str, ...]
    relations: bool = False


class Subscriber(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The subscriber's side of a case with a real subscription."""

    setup: tuple[str, ...]
    statement: str
    pub_sql: tuple[str, ...] = ()
    alter: str | None = None
    query: str | None = None
    wait_sync: bool = False
    alter_sync: bool = False
    expect: tuple[Row, ...] | None = None


class Case(Struct, frozen=True, kw_only=True):
    """One case: `setup`, all of which must succeed, then `statement`, which is judged."""

    id: str
    rule: str
    phase: str
    note: str = ""
    setup: tuple[str, ...] = ()
    statement: str
    then: tuple[str, ...] = ()
    decode: Decode | None = None
    sub: Subscriber | None = None
    postgres: tuple[int, ...] = MAJORS
    answers: Mapping[int, Recorded]


class _Answer(Recorded, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    postgres: tuple[int, ...]
    unplaced: tuple[int, ...] = ()


class _Case(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A case as it is written: the file is the family, equal answers are one entry, a fixture stands for statements."""

    id: str
    phase: str
    note: str = ""
    postgres: tuple[int, ...] = MAJORS
    fixture: str | None = None
    setup: tuple[str, ...] = ()
    statement: str
    then: tuple[str, ...] = ()
    decode: Decode | None = None
    sub: Subscriber | None = None
    answer: tuple[_Answer, ...] = ()


class _File(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    fixtures: dict[str, tuple[str, ...]] = {}
    case: tuple[_Case, ...] = ()


def load(only: str = "*", directory: Path = CASES) -> list[Case]:
    """The cases whose id, family or `family/id` matches the shell pattern, by family and in the files' order.

    Raises ValueError naming the file when one is not as it should be, or when an id stands twice.
    """
    cases: list[Case] = []
    seen: set[str] = set()
    for path in sorted(directory.glob("*.toml")):
        for case in read(path):
            if case.id in seen:
                raise ValueError(f"{path}: the id {case.id} stands twice")
            seen.add(case.id)
            if any(fnmatchcase(name, only) for name in (case.id, case.rule, f"{case.rule}/{case.id}")):
                cases.append(case)
    return cases


def read(path: Path) -> list[Case]:
    """The cases of one file. A case without answers is one that is still to be recorded."""
    return list(_read(path, path.read_text(encoding="utf-8")))


@cache
def _read(path: Path, text: str) -> tuple[Case, ...]:
    try:
        written = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
        raise ValueError(f"{path}: {problem}") from None
    return tuple(_case(path, written, case) for case in written.case)


def _case(path: Path, file: _File, case: _Case) -> Case:
    if case.fixture is not None and case.fixture not in file.fixtures:
        raise ValueError(f"{path}: {case.id} names the fixture {case.fixture}, which the file does not have")
    answers: dict[int, Recorded] = {}
    for answer in case.answer:
        fields = {name: getattr(answer, name) for name in Recorded.__struct_fields__}
        for major in answer.postgres:
            if major in answers or major not in case.postgres:
                raise ValueError(f"{path}: {case.id} has an answer too many of PostgreSQL {major}")
            recorded = Recorded(**fields)
            unplaced = major in answer.unplaced
            answers[major] = replace(recorded, position=None, placed=False) if unplaced else recorded
    return Case(
        id=case.id,
        rule=path.stem,
        phase=case.phase,
        note=case.note,
        setup=(file.fixtures[case.fixture] if case.fixture else ()) + case.setup,
        statement=case.statement,
        then=case.then,
        decode=case.decode,
        sub=case.sub,
        postgres=case.postgres,
        answers={major: answers[major] for major in sorted(answers)},
    )


def write(cases: Iterable[Case], directory: Path = CASES) -> None:
    """Writes each family's file whole, in the order given. The fixtures that the files have are used and kept."""
    families: dict[str, list[Case]] = {}
    for case in cases:
        families.setdefault(case.rule, []).append(case)
    directory.mkdir(parents=True, exist_ok=True)
    for family, members in families.items():
        path = directory / f"{family}.toml"
        fixtures = tomllib.loads(path.read_text(encoding="utf-8")).get("fixtures", {}) if path.exists() else {}
        path.write_text(render(members, {name: tuple(value) for name, value in fixtures.items()}), encoding="utf-8")


def render(cases: Iterable[Case], fixtures: Mapping[str, tuple[str, ...]]) -> str:
    """The text of one family's file."""
    lines: list[str] = []
    if fixtures:
        lines += ["[fixtures]", *(_pair(name, list(value)) for name, value in fixtures.items()), ""]
    for case in cases:
        fixture = next((n for n, s in fixtures.items() if s and case.setup[: len(s)] == s), None)
        setup = case.setup[len(fixtures[fixture]) :] if fixture else case.setup
        written = _Case(
            id=case.id,
            phase=case.phase,
            note=case.note,
            postgres=case.postgres,
            fixture=fixture,
            setup=setup,
            statement=case.statement,
            then=case.then,
        )
        fields = msgspec.to_builtins(written)
        if case.postgres == MAJORS:
            fields.pop("postgres", None)
        lines += ["", "[[case]]", *_pairs(fields), ""]
        if case.decode:
            lines += ["[case.decode]", *_pairs(msgspec.to_builtins(case.decode)), ""]
        if case.sub:
            lines += ["[case.sub]", *_pairs(msgspec.to_builtins(case.sub)), ""]
        for majors, answer in merged(case.answers):
            fields = msgspec.to_builtins(answer)
            then, alter = fields.pop("then", ()), fields.pop("alter", None)
            fields.pop("placed", None)
            if unplaced := [major for major in majors if not case.answers[major].placed]:
                fields["unplaced"] = unplaced
            lines += ["[[case.answer]]", _pair("postgres", list(majors)), *_pairs(fields), ""]
            if alter:
                lines += ["[case.answer.alter]", *_pairs(alter), ""]
            for after in then:
                lines += ["[[case.answer.then]]", *_pairs(after), ""]
    return "\n".join(lines).strip("\n") + "\n"


def merged(answers: Mapping[int, Recorded]) -> list[tuple[tuple[int, ...], Recorded]]:
    """Equal answers together, each with its majors, by the first of them; without a position where none is known."""
    groups: list[tuple[tuple[int, ...], Recorded]] = []
    for major, answer in sorted(answers.items()):
        for number, (majors, known) in enumerate(groups):
            if answer == known or (not answer.placed and answer == replace(known, position=None, placed=False)):
                groups[number] = ((*majors, major), known)
                break
        else:
            groups.append(((major,), answer))
    return groups


def _pairs(fields: Mapping[str, Any]) -> list[str]:
    return [_pair(name, value) for name, value in fields.items()]


def _pair(name: str, value: Any) -> str:
    texts = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if texts and (len(value) > 1 or any(len(item) > 80 for item in value)):
        return "\n".join([f"{name} = [", *(f"  {_literal(item)}," for item in value), "]"])
    return f"{name} = {_literal(value)}"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    return "[" + ", ".join(_literal(item) for item in value) + "]"


def _string(text: str) -> str:
    """The TOML string that reads best and means exactly ``text``."""
    plain = all(char >= " " and char != "\x7f" for char in text)
    if plain and '"' not in text and "\\" not in text:
        return f'"{text}"'
    if plain and "'" not in text:
        return f"'{text}'"
    if plain and "'''" not in text and not text.endswith("'") and not text.startswith("'"):
        return f"'''{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
