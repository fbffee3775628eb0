"""Arrange the tables, partitions, filters and publications of a unit for a drawing.

Tables are on the left, publications on the right. A ribbon leads from the name under which changes arrive to the
publication. Between them it runs in a lane that no other publication uses: through the filter if there is one, and past
all filters otherwise. Tables that all publications treat alike are drawn as one card. Beyond a certain number of tables
and publications, so is the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from pubcheck.explain.document import Answer, Publication, UnitExplained
from pubcheck.report import count

MOST_ALONE = 8
MOST_PUBLICATIONS = 16
MOST_CARDS = 30
MOST_LEAVES = 12
"""Up to how many publications, cards and leaves of a tree each is drawn by itself; up to how many publications even
those that look alike."""
MANY_CARDS = 5
"""With more cards than this, a publication of all tables has one ribbon from a bar next to the cards."""

CARD_X, CARD_WIDTH = 12, 300
PILL_X, PILL_WIDTH, PILL_HEIGHT = 462, 240, 26
BOX_X, BOX_WIDTH, BOX_HEIGHT = 848, 260, 58
_LANE_HEIGHT = 18.0
_ROW, HEAD, _GAP, _TOP = 26, 34, 14, 44
_REST = "listed below"
_CARD_LETTERS, PILL_LETTERS, BOX_LETTERS = 34, 27, 28
"""Characters that fit into a line of each."""


class Row(Struct):
    """A line of a card: a leaf of a partition tree."""

    label: str
    title: str
    state: str = ""
    y: float = 0.0


class Card(Struct):
    """A table, tables that are alike, or a partition tree with its leaves in ``rows``."""

    label: str
    title: str
    note: str = ""
    refused: str = ""
    rows: list[Row] = []
    y: float = 0.0

    @property
    def height(self) -> float:
        return HEAD + _ROW * len(self.rows) + (6 if self.rows else 0)


class Box(Struct):
    """A publication, or the rest of them."""

    label: str
    title: str
    anchor: str
    operations: tuple[str, ...] | None
    note: str
    y: float = 0.0


class Lane(Struct):
    """The changes that reach one publication through the filter ``sql``, or without one."""

    box: int
    sql: str | None
    y: float = 0.0
    end: float = 0.0

    @property
    def height(self) -> float:
        return _LANE_HEIGHT if self.sql is None else PILL_HEIGHT + 8.0


class Edge(Struct):
    """The changes under one name that run in a lane."""

    lane: int
    card: int
    row: int | None
    y: float = 0.0


def anchor(unit: int, publication: int) -> str:
    """Return the id of a publication's section."""
    return f"u{unit}-p{publication}"


class Picture:
    """The cards, lanes and boxes of a unit, and their places."""

    def __init__(self, unit: UnitExplained, number: int) -> None:
        self.unit, self.number = unit, number
        self.boxes: list[Box] = []
        self.box_of: dict[int, int] = {}
        self.cards: list[Card] = []
        self.place: dict[str, tuple[int, int | None]] = {}
        """The card and row of each table, by its name."""
        self.lanes: list[Lane] = []
        self.edges: list[Edge] = []
        self.bars: list[int] = []
        """Lanes into which a bar next to all cards leads."""
        self._choose_publications()
        self._make_cards()
        self._connect()
        self._gather()
        self._arrange()

    # What is drawn.

    def _choose_publications(self) -> None:
        rows = self.unit.publications
        alike: dict[object, list[int]] = {}
        for index, row in enumerate(rows):
            alike.setdefault(_looks(row) if len(rows) > MOST_ALONE else index, []).append(index)
        groups = list(alike.values())
        ranked = sorted(groups, key=lambda group: (-_interest(rows[group[0]]), group))
        chosen = ranked if len(ranked) <= MOST_PUBLICATIONS else ranked[: MOST_PUBLICATIONS - 1]
        for group in sorted(chosen):
            row = rows[group[0]]
            more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
            title = ", ".join(rows[index].name for index in group[:40])
            label = shortened(row.name, BOX_LETTERS - len(more)) + more
            self.box_of.update(dict.fromkeys(group, len(self.boxes)))
            self.boxes.append(Box(label, title, anchor(self.number, group[0]), row.operations, _note(row)))
        rest = [index for index in range(len(rows)) if index not in self.box_of]
        if rest:
            tables = {name for index in rest for answer in rows[index].answers for name in answer.tables}
            label, note = f"{len(rest):,} more publications", f"{len(tables):,} tables, see below"
            title = ", ".join(rows[index].name for index in rest[:40])
            self.box_of.update(dict.fromkeys(rest, len(self.boxes)))
            self.boxes.append(Box(label, title, anchor(self.number, rest[0]), None, note))

    def _make_cards(self) -> None:
        tables = {table.name: table for table in self.unit.tables}
        sent: dict[str, list[object]] = {}
        refused: dict[str, str] = {}
        for index, publication in enumerate(self.unit.publications):
            for answer in publication.answers:
                box = self.box_of[index]
                how = (box, answer.filter.sql if answer.filter and self.boxes[box].operations is not None else None)
                verbs = ", ".join(dict.fromkeys(refusal.operation.upper() for refusal in answer.refused))
                for name in answer.tables:
                    sent.setdefault(name, []).append(how)
                    if verbs:
                        refused[name] = verbs
        excluded: dict[str, list[str]] = {}
        for publication in self.unit.publications:
            for name in publication.excluded:
                excluded.setdefault(name, []).append(publication.name)
        cards_of_excluded: dict[tuple[str, ...], list[str]] = {}
        trees: dict[str, list[str]] = {}
        groups: dict[object, list[str]] = {}
        for table in self.unit.tables:
            root = table.name
            while (above := tables[root].partition_of) is not None and above in tables:
                root = above
            if table.kind == "partitioned" or root != table.name:
                leaves = trees.setdefault(root, [])
                if table.kind != "partitioned":
                    leaves.append(table.name)
            elif table.name in excluded and table.name not in sent:
                cards_of_excluded.setdefault(tuple(excluded[table.name]), []).append(table.name)
            elif table.name in sent:
                key = (tuple(dict.fromkeys(sent[table.name])), table.name in refused)
                groups.setdefault(key, []).append(table.name)
        cards = [(self._tree(root, leaves, sent, refused), [root, *leaves]) for root, leaves in trees.items()]
        cards += [(_group(names, refused), names) for names in groups.values()]
        cards += [(_left_out(names, of), names) for of, names in cards_of_excluded.items()]
        if len(cards) > MOST_CARDS:
            ranked = sorted(
                range(len(cards)), key=lambda index: (not cards[index][0].rows, -len(cards[index][1]), index)
            )
            chosen = set(ranked[: MOST_CARDS - 1])
            rest = [name for index, (_, names) in enumerate(cards) if index not in chosen for name in names]
            cards = [refusal for index, refusal in enumerate(cards) if index in chosen]
            cards.append((Card(f"{len(rest):,} more tables", ", ".join(rest[:40]), _REST), rest))
        for index, (card, names) in enumerate(cards):
            self.cards.append(card)
            row_of = {row.title: number for number, row in enumerate(card.rows)}
            for name in names:
                more = len(card.rows) - 1 if card.rows and name != card.title else None
                self.place[name] = (index, row_of.get(name, more))

    def _tree(self, root: str, leaves: list[str], sent: dict[str, list[object]], refused: dict[str, str]) -> Card:
        shown = leaves if len(leaves) <= MOST_LEAVES else leaves[: MOST_LEAVES - 1]
        rows = []
        for name in shown:
            state = "never published" if name not in sent else refused.get(name, "")
            rows.append(Row(shortened(_relative(name, root), _CARD_LETTERS - 4 - len(state)), name, state))
        if len(leaves) > len(shown):
            rest = leaves[len(shown) :]
            rows.append(Row(f"{len(rest):,} more partitions", ", ".join(rest[:40])))
        return Card(shortened(root, _CARD_LETTERS - 12), root, "partitioned", rows=rows)

    def _connect(self) -> None:
        lanes: dict[tuple[int, str | None], int] = {}
        edges: dict[tuple[int, int, int | None], None] = {}
        for index, publication in enumerate(self.unit.publications):
            for answer in publication.answers:
                for card, row in self._starts(answer):
                    sql = answer.filter.sql if answer.filter else None
                    rest = self.boxes[self.box_of[index]].operations is None or self.cards[card].note == _REST
                    if rest and sql is not None:
                        sql = "filters, see below"
                    lane = lanes.setdefault((self.box_of[index], sql), len(lanes))
                    edges[lane, card, row] = None
        self.lanes = [Lane(*key) for key in lanes]
        self.edges = [Edge(*key) for key in edges]

    def _gather(self) -> None:
        """Draw one edge in place of one per card for a publication that publishes all cards whole."""
        if len(self.cards) <= MANY_CARDS:
            return
        for index, lane in enumerate(self.lanes):
            alone = sum(other.box == lane.box for other in self.lanes) == 1
            if alone and lane.sql is None and len({edge.card for edge in self._edges_of(index)}) == len(self.cards):
                self.edges = [edge for edge in self.edges if edge.lane != index]
                self.bars.append(index)

    def _edges_of(self, lane: int) -> list[Edge]:
        return [edge for edge in self.edges if edge.lane == lane]

    def _starts(self, answer: Answer) -> Iterable[tuple[int, int | None]]:
        """Return the positions of the names under which an answer's changes arrive, each once."""
        if answer.arrives_as is not None and answer.arrives_as in self.place:
            return [self.place[answer.arrives_as]]
        return dict.fromkeys(self.place[name] for name in answer.tables)

    # Where it is drawn.

    def _arrange(self) -> None:
        self._order_cards()
        y = float(_TOP)
        for card in self.cards:
            card.y = y
            for number, row in enumerate(card.rows):
                row.y = y + HEAD + _ROW * number + _ROW / 2
            y += card.height + _GAP
        left = y
        for edge in self.edges:
            card = self.cards[edge.card]
            edge.y = card.y + HEAD / 2 if edge.row is None else card.rows[edge.row].y
        starts = {index: [edge.y for edge in self._edges_of(index)] for index in range(len(self.lanes))}
        starts.update({index: [left - BOX_HEIGHT] for index in self.bars})
        of_box: dict[int, list[int]] = {}
        for index in sorted(starts, key=lambda index: _mean(starts[index])):
            of_box.setdefault(self.lanes[index].box, []).append(index)
        for number, box in enumerate(self.boxes):
            heights = [height for index in of_box.get(number, ()) for height in starts[index]]
            box.y = _mean(heights or [left]) - BOX_HEIGHT / 2
        ordered = sorted(self.boxes, key=lambda box: box.y)
        _spread([(box, BOX_HEIGHT + 18) for box in ordered], max(left, len(ordered) * (BOX_HEIGHT + 18.0)))
        for number, indexes in of_box.items():
            for place, index in enumerate(indexes, 1):
                lane = self.lanes[index]
                lane.end = self.boxes[number].y + BOX_HEIGHT * place / (len(indexes) + 1)
                lane.y = _mean(starts[index]) * 0.45 + lane.end * 0.55
        self._fan_out()
        _spread_lanes(sorted(self.lanes, key=lambda lane: lane.y))

    def _fan_out(self) -> None:
        """Ribbons of one name leave side by side, in the order of where they go."""
        starts: dict[tuple[int, int | None], list[Edge]] = {}
        for edge in self.edges:
            starts.setdefault((edge.card, edge.row), []).append(edge)
        for (_, row), edges in starts.items():
            room = HEAD - 8.0 if row is None else _ROW - 6.0
            step = min(10.0, room / len(edges))
            edges.sort(key=lambda edge: self.lanes[edge.lane].y)
            for number, edge in enumerate(edges):
                edge.y += step * (number - (len(edges) - 1) / 2)

    def _order_cards(self) -> None:
        """Cards near the publications that send them: by the mean of their boxes, so that fewer ribbons cross."""
        boxes: dict[int, list[int]] = {}
        for edge in self.edges:
            boxes.setdefault(edge.card, []).append(self.lanes[edge.lane].box)
        means = {index: sum(box_numbers) / len(box_numbers) for index, box_numbers in boxes.items()}
        order = sorted(range(len(self.cards)), key=lambda index: (means.get(index, len(self.boxes)), index))
        new = {old: index for index, old in enumerate(order)}
        self.cards = [self.cards[old] for old in order]
        for edge in self.edges:
            edge.card = new[edge.card]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _spread(items: Sequence[tuple[Box, float]], bottom: float) -> None:
    """Moves boxes down, then up, so that none overlap."""
    y = float(_TOP)
    for box, height in items:
        box.y = max(box.y, y)
        y = box.y + height
    y = max(bottom, _TOP + sum(height for _, height in items))
    for box, height in reversed(items):
        box.y = min(box.y, y - height)
        y = box.y


def _spread_lanes(lanes: Sequence[Lane]) -> None:
    """Moves lanes apart about where they would like to be: by clusters, each around the mean of its wishes."""
    clusters: list[tuple[float, list[Lane], float]] = []  # where a cluster would like to begin, its lanes, its height
    for lane in lanes:
        wish, members, height = lane.y - lane.height / 2, [lane], lane.height
        while clusters and clusters[-1][0] + clusters[-1][2] > wish:
            before, earlier, room = clusters.pop()
            wish = (before * len(earlier) + (wish - room) * len(members)) / (len(earlier) + len(members))
            members, height = earlier + members, room + height
        clusters.append((wish, members, height))
    y = float(_TOP)
    for wish, members, _ in clusters:
        y = max(wish, y)
        for lane in members:
            lane.y = y + lane.height / 2
            y += lane.height


def _group(names: list[str], refused: dict[str, str]) -> Card:
    verbs = refused.get(names[0], "")
    if len(names) == 1:
        return Card(shortened(names[0], _CARD_LETTERS - len(verbs)), names[0], refused=verbs)
    label = f"{shortened(names[0], _CARD_LETTERS - 16)} and {len(names) - 1:,} more"
    return Card(label, ", ".join(names[:40]), refused=verbs)


def _left_out(names: list[str], publications: Sequence[str]) -> Card:
    """Return the card of tables that only EXCEPT of these publications names."""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    note = shortened(f"not in {', '.join(publications)}", _CARD_LETTERS // 2)
    return Card(shortened(names[0], _CARD_LETTERS - len(more) - len(note)) + more, ", ".join(names[:40]), note)


def _looks(publication: Publication) -> object:
    """Return the key of publications that are drawn as one."""
    answers = tuple(
        (answer.tables, answer.filter and answer.filter.sql, answer.columns) for answer in publication.answers
    )
    scope = publication.kind, publication.schemas, publication.sequences, publication.excluded
    return scope, publication.operations, publication.via_root, answers


def _interest(publication: Publication) -> int:
    """Return how interesting a publication is, to choose which ones are drawn."""
    score = {"all tables": 40, "schemas": 30, "tables and schemas": 30}.get(publication.kind, 0)
    for answer in publication.answers[:20]:
        score += 4 * (answer.filter is not None) + 8 * bool(answer.refused) + 2 * (answer.columns is not None)
        score += 2 * (answer.arrives_as is not None) + len(answer.notes)
    return score + 5 * len(publication.notes)


def _note(publication: Publication) -> str:
    if publication.kind == "all tables":
        kind = f"all tables but {len(publication.excluded)}" if publication.excluded else "all tables"
    elif publication.kind == "all sequences":
        kind = "all sequences"
    elif publication.schemas:
        kind = f"schema {', '.join(publication.schemas)}"
    else:
        kind = count(publication.tables, "table")
    return f"{kind}, via root" if publication.via_root else kind


def _relative(name: str, root: str) -> str:
    """A partition's name, without the schema where that is its root's."""
    schema, _, bare = name.partition(".")
    return bare if root.startswith(f"{schema}.") else name


def shortened(text: str, letters: int) -> str:
    """Return a text that has at most so many characters."""
    return text if len(text) <= letters else text[: max(letters - 1, 1)].rstrip() + "…"
