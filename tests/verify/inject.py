"""Faults put into recorded streams: how many of them are found, by kind.

    python -m tests.verify.inject 2000 [FOLDER]

Every fault changes what the stream says, and the stream without it has no finding.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.example_rows import example_rows
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.script import Step
from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    Column,
    Commit,
    Decoder,
    Delete,
    Insert,
    Message,
    Relation,
    RollbackPrepared,
    StreamStart,
    StreamStop,
    Truncate,
    Update,
    encode,
)
from pubcheck.stream.framing.rows import Frame
from pubcheck.verify import Verifier
from pubcheck.verify.against_script import Simulation, simulate, verify_script
from pubcheck.verify.publisher import Route
from tests.support import recorded_streams
from tests.support.recorded_streams import FOLDER
from tests.verify.recorded import Stream, streams

LOCALE = "C.UTF-8"
Change = Insert | Update | Delete


class Cannot(Exception):
    """A fault of this kind does not fit into this stream."""


class Editor:
    """A stream's messages, to be changed."""

    def __init__(self, stream: Stream, choice: random.Random) -> None:
        self.stream, self.choice = stream, choice
        decoder = Decoder(stream.options.streaming)
        self.messages: list[tuple[Frame, AnyMessage | bytes]] = [
            (frame, decoder.decode(frame.data)) for frame in stream.frames
        ]
        self.relations: dict[int, Relation] = {}
        for _, message in self.messages:
            if isinstance(message, Relation):
                self.relations.setdefault(message.oid, message)

    def places(self, *kinds: type, where: Callable[[Any], bool] = lambda message: True) -> list[int]:
        return [
            number for number, (_, message) in enumerate(self.messages) if isinstance(message, kinds) and where(message)
        ]

    def place(self, *kinds: type, where: Callable[[Any], bool] = lambda message: True) -> int:
        places = self.places(*kinds, where=where)
        if not places:
            raise Cannot
        return self.choice.choice(places)

    def at(self, number: int) -> Any:
        return self.messages[number][1]

    def put(self, number: int, message: AnyMessage | bytes) -> None:
        self.messages[number] = (self.messages[number][0], message)

    def change(self, number: int, **fields: Any) -> None:
        self.put(number, replace(self.at(number), **fields))

    def insert(self, number: int, message: AnyMessage) -> None:
        frame = self.messages[min(number, len(self.messages) - 1)][0]
        self.messages.insert(number, (frame, message))

    def swap(self, first: int, second: int) -> None:
        messages = self.messages
        messages[first], messages[second] = messages[second], messages[first]

    def routes(self, relation: int) -> list[Route]:
        """The ways in which a relation is published, if its description never changes."""
        described = self.relations.get(relation)
        if described is None:
            raise Cannot
        routes = self.stream.publisher.routes(described.namespace, described.name)
        if len(self.stream.publisher.states) > 1 or not routes:
            raise Cannot
        return routes

    def frames(self) -> Iterable[Frame]:
        for frame, message in self.messages:
            yield frame._replace(data=message if isinstance(message, bytes) else encode(message))


def _rows(editor: Editor, *kinds: type) -> tuple[int, Any, Relation]:
    number = editor.place(*kinds)
    message = editor.at(number)
    if message.relation not in editor.relations:
        raise Cannot
    return number, message, editor.relations[message.relation]


def _with(row: Sequence[Any], position: int, value: Any) -> tuple[Any, ...]:
    return (*row[:position], value, *row[position + 1 :])


# --- Order ---------------------------------------------------------------------------------------------------------


def begin_dropped(editor: Editor) -> None:
    del editor.messages[editor.place(Begin)]


def begin_doubled(editor: Editor) -> None:
    number = editor.place(Begin)
    editor.insert(number, editor.at(number))


def commit_dropped(editor: Editor) -> None:
    del editor.messages[editor.place(Commit)]


def commit_doubled(editor: Editor) -> None:
    number = editor.place(Commit)
    editor.insert(number, editor.at(number))


def _transactions(editor: Editor) -> list[tuple[int, int]]:
    begins = editor.places(Begin)
    spans = []
    for begin in begins:
        commit = next((place for place in editor.places(Commit) if place > begin), None)
        if commit is not None:
            spans.append((begin, commit + 1))
    return spans


def transaction_doubled(editor: Editor) -> None:
    spans = _transactions(editor)
    if not spans:
        raise Cannot
    begin, end = editor.choice.choice(spans)
    editor.messages[end:end] = editor.messages[begin:end]


def transactions_exchanged(editor: Editor) -> None:
    spans = _transactions(editor)
    if len(spans) < 2:
        raise Cannot
    index = editor.choice.randrange(len(spans) - 1)
    (begin, end), (following, last) = spans[index], spans[index + 1]
    if end != following:
        raise Cannot
    editor.messages[begin:last] = editor.messages[following:last] + editor.messages[begin:end]


def change_outside(editor: Editor) -> None:
    number = editor.place(Commit)
    if number == 0 or not isinstance(editor.at(number - 1), Change):
        raise Cannot
    editor.swap(number - 1, number)


def only_change_dropped(editor: Editor) -> None:
    number = editor.place(Insert, Update, Delete, Truncate)
    if not isinstance(editor.at(number - 1), Begin | Relation) or number + 1 >= len(editor.messages):
        raise Cannot
    if not isinstance(editor.at(number + 1), Commit):
        raise Cannot
    del editor.messages[number]


def wrong_commit_position(editor: Editor) -> None:
    number = editor.place(Commit, Begin)
    name = "commit_lsn" if isinstance(editor.at(number), Commit) else "final_lsn"
    editor.change(number, **{name: getattr(editor.at(number), name) + editor.choice.choice((-8, 8, 1 << 30))})


def stream_stop_dropped(editor: Editor) -> None:
    del editor.messages[editor.place(StreamStop)]


def stream_start_dropped(editor: Editor) -> None:
    del editor.messages[editor.place(StreamStart)]


def first_block_dropped(editor: Editor) -> None:
    number = editor.place(StreamStart, where=lambda message: message.first_segment)
    while not isinstance(editor.at(number), StreamStop):
        del editor.messages[number]
    del editor.messages[number]


def byte_lost(editor: Editor) -> None:
    number = editor.choice.randrange(len(editor.messages))
    data = encode(editor.at(number))
    editor.put(number, data[:-1] if len(data) > 1 else b"")


# --- Relations -----------------------------------------------------------------------------------------------------


def relation_dropped(editor: Editor) -> None:
    number = editor.place(Relation)
    relation = editor.at(number)
    if editor.places(Relation, where=lambda message: message.oid == relation.oid)[0] != number or relation.xid:
        raise Cannot
    if not editor.places(Insert, Update, Delete, where=lambda message: message.relation == relation.oid):
        raise Cannot
    del editor.messages[number]


def _relation(editor: Editor, least: int = 1) -> tuple[int, Relation]:
    number = editor.place(Relation, where=lambda message: len(message.columns) >= least)
    relation: Relation = editor.at(number)
    if len(editor.stream.publisher.states) > 1:
        raise Cannot
    return number, relation


def wrong_identity(editor: Editor) -> None:
    number, relation = _relation(editor)
    editor.change(number, replica_identity=editor.choice.choice("dnfi".replace(relation.replica_identity, "")))


def column_more(editor: Editor) -> None:
    number, relation = _relation(editor)
    place = editor.choice.randrange(len(relation.columns) + 1)
    columns = relation.columns
    editor.change(number, columns=(*columns[:place], Column("another", 23), *columns[place:]))


def column_less(editor: Editor) -> None:
    number, relation = _relation(editor)
    place = editor.choice.randrange(len(relation.columns))
    editor.change(number, columns=relation.columns[:place] + relation.columns[place + 1 :])


def columns_exchanged(editor: Editor) -> None:
    number, relation = _relation(editor, 2)
    columns = list(relation.columns)
    first, second = editor.choice.sample(range(len(columns)), 2)
    columns[first], columns[second] = columns[second], columns[first]
    editor.change(number, columns=tuple(columns))


def _column_changed(editor: Editor, **fields: Callable[[Column], Any]) -> None:
    number, relation = _relation(editor)
    place = editor.choice.randrange(len(relation.columns))
    column = relation.columns[place]
    column = replace(column, **{name: value(column) for name, value in fields.items()})
    editor.change(number, columns=_with(relation.columns, place, column))


def wrong_column_name(editor: Editor) -> None:
    _column_changed(editor, name=lambda column: column.name + "x")


def wrong_key(editor: Editor) -> None:
    _column_changed(editor, key=lambda column: not column.key)


def wrong_type(editor: Editor) -> None:
    _column_changed(editor, type_oid=lambda column: 20 if column.type_oid != 20 else 25)


def wrong_type_modifier(editor: Editor) -> None:
    _column_changed(editor, type_modifier=lambda column: column.type_modifier + 7)


def wrong_relation_name(editor: Editor) -> None:
    number, relation = _relation(editor)
    editor.change(number, name=relation.name + "x")


# --- Rows ----------------------------------------------------------------------------------------------------------


def value_more(editor: Editor) -> None:
    number, message, _ = _rows(editor, Insert, Update)
    editor.change(number, new=(*message.new, "1"))


def value_less(editor: Editor) -> None:
    number, message, _ = _rows(editor, Insert, Update)
    if not message.new:
        raise Cannot
    editor.change(number, new=message.new[:-1])


def wrong_old_kind(editor: Editor) -> None:
    number = editor.place(Update, Delete, where=lambda message: message.old is not None)
    editor.change(number, old_kind="K" if editor.at(number).old_kind == "O" else "O")


def _plain_route(editor: Editor, relation: int) -> Route:
    """The route of a table that is published as itself."""
    routes = editor.routes(relation)
    if len(routes) != 1 or routes[0].published is None or routes[0].target.oid != routes[0].table.oid:
        raise Cannot
    return routes[0]


def needless_old_key(editor: Editor) -> None:
    number, message, relation = _rows(editor, Update)
    _plain_route(editor, message.relation)
    key = [column.key for column in relation.columns]
    if message.old is not None or relation.replica_identity not in "di" or not any(key):
        raise Cannot
    old = tuple(value if is_key else None for value, is_key in zip(message.new, key, strict=True))
    editor.change(number, old=old, old_kind="K")


def old_row_missing(editor: Editor) -> None:
    number, message, relation = _rows(editor, Update)
    _plain_route(editor, message.relation)
    if message.old is None or relation.replica_identity != "f":
        raise Cannot
    editor.change(number, old=None, old_kind=None)


_CHECKED = frozenset((16, 20, 21, 23, 700, 701, 1082, 1184, 1700, 2950))
"""Types of which "wrong" is not a value."""


def bad_value(editor: Editor) -> None:
    number, message, relation = _rows(editor, Insert, Update)
    _plain_route(editor, message.relation)
    places = [
        place
        for place, value in enumerate(message.new)
        if isinstance(value, str) and relation.columns[place].type_oid in _CHECKED
    ]
    if not places:
        raise Cannot
    editor.change(number, new=_with(message.new, editor.choice.choice(places), "wrong"))


def null_in_key(editor: Editor) -> None:
    number, message, _ = _rows(editor, Insert, Update)
    places = [place for place, column in enumerate(_plain_route(editor, message.relation).columns) if column.not_null]
    if not places:
        raise Cannot
    editor.change(number, new=_with(message.new, editor.choice.choice(places), None))


def needless_unchanged(editor: Editor) -> None:
    number, message, relation = _rows(editor, Insert, Update)
    _plain_route(editor, message.relation)
    places = [place for place, column in enumerate(relation.columns) if column.type_oid in (16, 20, 21, 23, 1184, 2950)]
    if not places:
        raise Cannot
    editor.change(number, new=_with(message.new, editor.choice.choice(places), UNCHANGED_TOAST))


def _failing(editor: Editor, route: Route, row: Sequence[Any], operation: str) -> tuple[Any, ...]:
    """A row that no filter of an operation lets pass; all else as in ``row``."""
    assert route.published is not None
    filters = route.published.filters(operation)  # type: ignore[arg-type]
    if not filters or len(filters) > 1:
        raise Cannot
    condition = filters[0][1]
    if not isinstance(condition.expr, Expr):
        raise Cannot
    session = route.state.session
    inputs = InputContext(route.state.catalog.major.number, session.syscache)
    examples = example_rows(condition.expr, route.target.live(), Context(inputs, LOCALE)).false
    if not examples:
        raise Cannot
    values = tuple(row)
    for number, text in editor.choice.choice(examples).values:
        if number not in route.numbers:
            raise Cannot
        values = _with(values, route.numbers.index(number), text)
    return values


def row_outside_filter(editor: Editor) -> None:
    number, message, _ = _rows(editor, Insert)
    route = _plain_route(editor, message.relation)
    assert route.published is not None
    updates = route.published.update
    if updates is not None and updates != route.published.insert:
        raise Cannot  # an UPDATE could have become this INSERT
    editor.change(number, new=_failing(editor, route, message.new, "insert"))


def update_that_is_a_delete(editor: Editor) -> None:
    number, message, _ = _rows(editor, Update)
    route = _plain_route(editor, message.relation)
    editor.change(number, new=_failing(editor, route, message.new, "update"))


def update_that_is_an_insert(editor: Editor) -> None:
    number, message, relation = _rows(editor, Update)
    route = _plain_route(editor, message.relation)
    if message.old is None or relation.replica_identity != "f":
        raise Cannot
    editor.change(number, old=_failing(editor, route, message.old, "update"))


def unpublished_operation(editor: Editor) -> None:
    number, message, relation = _rows(editor, Insert, Update, Delete)
    published = _plain_route(editor, message.relation).published
    assert published is not None
    row = getattr(message, "new", None) or message.old
    kind: Any = "O" if relation.replica_identity == "f" else "K"
    # A row filter turns UPDATEs into the others.
    updates = bool(published.update)
    operations: dict[AnyMessage, bool] = {
        Insert(message.relation, row, message.xid): published.insert is None and not updates,
        Update(message.relation, row, None, None, message.xid): published.update is None,
        Delete(message.relation, row, kind, message.xid): published.delete is None and not updates,
        Truncate((message.relation,), False, False, message.xid): not published.truncate,
    }
    wrong = [other for other, is_unpublished in operations.items() if is_unpublished]
    if not wrong:
        raise Cannot
    editor.put(number, editor.choice.choice(wrong))


def partition_instead_of_root(editor: Editor) -> None:
    number = editor.place(Insert, Update, Delete)
    message = editor.at(number)
    before = editor.at(number - 1)
    if not isinstance(before, Relation) or before.oid == message.relation:
        raise Cannot
    editor.change(number, relation=before.oid)


# --- Options -------------------------------------------------------------------------------------------------------


def message_not_requested(editor: Editor) -> None:
    if editor.stream.options.messages is not None:
        raise Cannot
    number = editor.place(Commit)
    editor.insert(number + 1, Message(False, 1, "prefix", b"text"))


def binary_not_requested(editor: Editor) -> None:
    if editor.stream.options.binary is not None:
        raise Cannot
    number, message, _ = _rows(editor, Insert, Update)
    if not message.new:
        raise Cannot
    editor.change(number, new=_with(message.new, 0, b"\0\0\0\1"))


def block_not_requested(editor: Editor) -> None:
    if editor.stream.options.proto_version != 1:
        raise Cannot
    number = editor.place(Begin)
    editor.insert(number, StreamStop())
    editor.insert(number, StreamStart(editor.at(number + 1).xid, True))


# --- Found with the script ------------------------------------------------------------------------------------------


def _inner_change(editor: Editor) -> int:
    """A change that the stream alone does not show to be missing."""
    places = editor.places(Insert, Update, Delete, Truncate)
    places = [place for place in places if not isinstance(editor.at(place - 1), Relation)]
    places = [place for place in places if editor.at(place).xid is None]
    if not places:
        raise Cannot
    return editor.choice.choice(places)


def change_dropped(editor: Editor) -> None:
    del editor.messages[_inner_change(editor)]


def change_doubled(editor: Editor) -> None:
    number = _inner_change(editor)
    editor.insert(number + 1, editor.at(number))


def changes_exchanged(editor: Editor) -> None:
    number = _inner_change(editor)
    if not isinstance(editor.at(number - 1), Change) or editor.at(number) == editor.at(number - 1):
        raise Cannot
    editor.swap(number - 1, number)


def transaction_dropped(editor: Editor) -> None:
    spans = _transactions(editor)
    if not spans:
        raise Cannot
    begin, end = editor.choice.choice(spans)
    if not any(isinstance(editor.at(place), Insert | Update | Delete | Truncate) for place in range(begin, end)):
        raise Cannot
    del editor.messages[begin:end]


def value_changed(editor: Editor) -> None:
    number, message, relation = _rows(editor, Insert)
    places = [place for place, column in enumerate(relation.columns) if column.type_oid == 23 and message.new[place]]
    if not places or any(isinstance(value, bytes) for value in message.new):
        raise Cannot
    place = editor.choice.choice(places)
    editor.change(number, new=_with(message.new, place, str(int(message.new[place]) ^ 1)))


def operation_changed(editor: Editor) -> None:
    number, message, relation = _rows(editor, Insert)
    kind: Any = "O" if relation.replica_identity == "f" else "K"
    key = [column.key for column in relation.columns]
    old = tuple(value if is_key else None for value, is_key in zip(message.new, key, strict=True))
    editor.put(number, Delete(message.relation, old, kind, message.xid))


FAULTS: tuple[Callable[[Editor], None], ...] = (
    begin_dropped,
    begin_doubled,
    commit_dropped,
    commit_doubled,
    transaction_doubled,
    transactions_exchanged,
    change_outside,
    only_change_dropped,
    wrong_commit_position,
    stream_stop_dropped,
    stream_start_dropped,
    first_block_dropped,
    byte_lost,
    relation_dropped,
    wrong_identity,
    column_more,
    column_less,
    columns_exchanged,
    wrong_column_name,
    wrong_key,
    wrong_type,
    wrong_type_modifier,
    wrong_relation_name,
    value_more,
    value_less,
    wrong_old_kind,
    needless_old_key,
    old_row_missing,
    bad_value,
    null_in_key,
    needless_unchanged,
    row_outside_filter,
    update_that_is_a_delete,
    update_that_is_an_insert,
    unpublished_operation,
    partition_instead_of_root,
    message_not_requested,
    binary_not_requested,
    block_not_requested,
)


WITH_SCRIPT = (
    change_dropped,
    change_doubled,
    changes_exchanged,
    transaction_dropped,
    value_changed,
    operation_changed,
)
"""Faults that need the script to be found."""


def simulated(stream: Stream) -> Simulation | None:
    """The script of a stream, run on a simulated server; None if it cannot be followed."""
    setup, script = map(_numbered, (stream.recording.setup, stream.recording.steps))
    capture = stream.capture
    options = {name: value for name, value in capture.options.items() if name != "publication_names"}
    if capture.two_phase_slot:
        options["two_phase"] = "on"
    try:
        return simulate(stream.publisher.major, setup, script, stream.publications, options, capture.settings)
    except NotFollowed:
        return None


def _numbered(steps: Iterable[recorded_streams.Step]) -> list[Step]:
    return [Step(step.sql, step.session, line, step.data) for line, step in enumerate(steps, 1)]


def findings(
    stream: Stream, frames: Iterable[Frame], simulation: Simulation | None = None
) -> list[tuple[str, int, str]]:
    """Return the findings about a stream: rule, number of the message, text."""
    # An option that is not named has its default.
    options = stream.options
    options = replace(options, messages=bool(options.messages), binary=bool(options.binary))
    if simulation is None:
        verifier = Verifier(stream.publisher, options, LOCALE)
        problems = list(verifier.check_many(frames))
        problems += verifier.end()
    else:
        verifier = Verifier(simulation.publisher, options, LOCALE)
        problems = list(verify_script(verifier, simulation, frames))
    return [(finding.rule, finding.number, finding.message) for finding in problems]


class Result:
    """What an injection run shows."""

    def __init__(self) -> None:
        self.injected: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.missed: list[tuple[str, str]] = []
        self.not_clean: dict[str, list[tuple[str, int, str]]] = {}
        self.not_simulated: dict[str, list[tuple[str, int, str]]] = {}
        """Streams that differ from what their script gives on a simulated server."""


class _Clean:
    """The streams that have no finding, without and with their script."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._known: dict[tuple[int, bool], tuple[bool, Simulation | None]] = {}

    def of(self, stream: Stream, *, with_script: bool) -> tuple[bool, Simulation | None]:
        """Return whether a stream has no finding, and its script as it was run."""
        key = id(stream), with_script
        if key not in self._known:
            simulation = simulated(stream) if with_script else None
            about = [] if with_script and simulation is None else findings(stream, stream.frames, simulation)
            is_clean = not about and (simulation is not None or not with_script)
            if any(rule != "PUB859" for rule, _, _ in about):
                clean = self._result.not_simulated if with_script else self._result.not_clean
                clean[stream.title] = about
            self._known[key] = is_clean, simulation
        return self._known[key]


def inject(chosen: Sequence[Stream], number: int, seed: int) -> Result:
    """Put ``number`` faults into streams, the kinds in turn."""
    choice = random.Random(seed)
    result = Result()
    clean = _Clean(result)
    kinds = [*FAULTS, *WITH_SCRIPT]
    attempts = 0
    while sum(result.injected.values()) < number:
        fault = kinds[attempts % len(kinds)]
        attempts += 1
        for _ in range(60):
            stream = choice.choice(chosen)
            is_clean, simulation = clean.of(stream, with_script=fault in WITH_SCRIPT)
            if not is_clean:
                continue
            editor = Editor(stream, choice)
            if fault in WITH_SCRIPT and editor.places(RollbackPrepared):
                continue  # the fault could be in what was rolled back, and so change nothing
            try:
                fault(editor)
            except (Cannot, IndexError):
                continue
            frames = list(editor.frames())
            if [frame.data for frame in frames] == [frame.data for frame in stream.frames]:
                continue
            result.injected[fault.__name__] += 1
            if findings(stream, frames, simulation):
                result.found[fault.__name__] += 1
            else:
                result.missed.append((fault.__name__, stream.title))
            break
    return result


def samples(folder: Path, pattern: str) -> list[Stream]:
    """The streams that faults are put into: whole ones, and not so long that each fault takes seconds."""
    return [
        stream
        for stream in streams(folder, pattern)
        if stream.complete and len(stream.frames) < 300 and not stream.recording.name.startswith("stray/")
    ]


def main(number: int, folder: Path) -> int:
    result = inject(samples(folder, "pgoutput-*.jsonl.gz"), number, seed=1)
    for name in (fault.__name__ for fault in (*FAULTS, *WITH_SCRIPT)):
        injected = result.injected[name]
        share = f"{result.found[name] / injected:.1%}" if injected else "no stream that it fits into"
        print(f"{name:28} {injected:6,} {share:>7}")
    total = sum(result.injected.values())
    print(f"{'all':28} {total:6,} {sum(result.found.values()) / total:.2%}")
    for kind, title in result.missed[:20]:
        print(f"missed: {kind} in {title}")
    for title, about in result.not_clean.items():
        print(f"not clean: {title}: {about[0]}")
    if result.not_simulated:
        print(f"left out, as their scripts are simulated otherwise: {', '.join(result.not_simulated)}")
    kinds_found = all(
        result.found[name] * 100 >= result.injected[name] * 99 and result.injected[name]
        for name in (fault.__name__ for fault in (*FAULTS, *WITH_SCRIPT))
    )
    return 0 if kinds_found and not result.not_clean else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER))
