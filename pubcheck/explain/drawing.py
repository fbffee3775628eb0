"""Draw the tables, partitions, filters and publications of `pubcheck explain --format html` as inline SVG.

Tables are on the left, publications on the right. A ribbon leads from the name under which changes arrive, through the
filter if there is one, to the publication. Tables that all publications treat alike are drawn as one card. Beyond a
certain number of tables and publications, so is the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape as quoted

from msgspec import Struct

from pubcheck.explain.document import Answer, Publication, UnitExplained
from pubcheck.report import count
from pubcheck.source import escape

MOST_ALONE = 8
MOST_PUBLICATIONS = 16
MOST_CARDS = 30
MOST_LEAVES = 12
"""Up to how many publications, cards and leaves of a tree each is drawn by itself; up to how many publications even
those that look alike."""
MANY_CARDS = 5
"""With more cards than this, a publication of all tables has one ribbon from a bar next to the cards."""

WIDTH = 1120
_CARD_X, _CARD_WIDTH = 12, 300
_PILL_X, _PILL_WIDTH, _PILL_HEIGHT = 462, 240, 26
_BOX_X, _BOX_WIDTH, _BOX_HEIGHT = 848, 260, 58
_ROW, _HEAD, _GAP, _TOP = 26, 34, 14, 44
_REST = "listed below"
_CARD_LETTERS, _PILL_LETTERS, _BOX_LETTERS = 34, 27, 28
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
    remark: str = ""
    refused: str = ""
    rows: list[Row] = []
    y: float = 0.0

    @property
    def height(self) -> float:
        return _HEAD + _ROW * len(self.rows) + (6 if self.rows else 0)


class Box(Struct):
    """A publication, or the rest of them."""

    label: str
    title: str
    anchor: str
    operations: tuple[str, ...] | None
    remark: str
    y: float = 0.0


class Edge(Struct):
    """The changes that one publication publishes under one name: through the filter ``sql``, or all of them."""

    box: int
    card: int
    row: int | None
    sql: str | None
    y: float = 0.0
    pill: float = 0.0
    end: float = 0.0


def hue(number: int) -> int:
    """Return the hue of the ``number``-th publication. Neighbours differ much."""
    return (212 + number * 137) % 360


def anchor(unit: int, publication: int) -> str:
    """Return the id of a publication's section."""
    return f"u{unit}-p{publication}"


def draw(unit: UnitExplained, number: int) -> str:
    """Return the SVG of the ``number``-th unit of the page, "" if there is nothing to draw."""
    if not unit.publications:
        return ""
    picture = _Picture(unit, number)
    return "\n".join(picture.svg())


class _Picture:
    def __init__(self, unit: UnitExplained, number: int) -> None:
        self.unit, self.number = unit, number
        self.boxes: list[Box] = []
        self.box_of: dict[int, int] = {}
        self.cards: list[Card] = []
        self.place: dict[str, tuple[int, int | None]] = {}
        """The card and row of each table, by its name."""
        self.edges: list[Edge] = []
        self.bars: list[int] = []
        """Boxes to which a bar next to all cards leads."""
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
            label = _short(row.name, _BOX_LETTERS - len(more)) + more
            self.box_of.update(dict.fromkeys(group, len(self.boxes)))
            self.boxes.append(Box(label, title, anchor(self.number, group[0]), row.operations, _remark(row)))
        rest = [index for index in range(len(rows)) if index not in self.box_of]
        if rest:
            tables = {name for index in rest for answer in rows[index].answers for name in answer.tables}
            label, remark = f"{len(rest):,} more publications", f"{len(tables):,} tables, see below"
            title = ", ".join(rows[index].name for index in rest[:40])
            self.box_of.update(dict.fromkeys(rest, len(self.boxes)))
            self.boxes.append(Box(label, title, anchor(self.number, rest[0]), None, remark))

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
            rows.append(Row(_short(_relative(name, root), _CARD_LETTERS - 4 - len(state)), name, state))
        if len(leaves) > len(shown):
            rest = leaves[len(shown) :]
            rows.append(Row(f"{len(rest):,} more partitions", ", ".join(rest[:40])))
        return Card(_short(root, _CARD_LETTERS - 12), root, "partitioned", rows=rows)

    def _connect(self) -> None:
        seen: set[object] = set()
        for index, publication in enumerate(self.unit.publications):
            for answer in publication.answers:
                for card, row in self._starts(answer):
                    sql = answer.filter.sql if answer.filter else None
                    rest = self.boxes[self.box_of[index]].operations is None or self.cards[card].remark == _REST
                    if rest and sql is not None:
                        sql = "filters, see below"
                    key = (self.box_of[index], card, row, sql)
                    if key not in seen:
                        seen.add(key)
                        self.edges.append(Edge(self.box_of[index], card, row, sql))

    def _gather(self) -> None:
        """Draw one edge in place of one per card for a publication that publishes all cards whole."""
        if len(self.cards) <= MANY_CARDS:
            return
        for index in range(len(self.boxes)):
            mine = [edge for edge in self.edges if edge.box == index]
            if len({edge.card for edge in mine}) == len(self.cards) and not any(edge.sql for edge in mine):
                self.edges = [edge for edge in self.edges if edge.box != index]
                self.bars.append(index)

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
                row.y = y + _HEAD + _ROW * number + _ROW / 2
            y += card.height + _GAP
        left = y
        for edge in self.edges:
            card = self.cards[edge.card]
            edge.y = card.y + _HEAD / 2 if edge.row is None else card.rows[edge.row].y
        for index, box in enumerate(self.boxes):
            starts = [edge.y for edge in self.edges if edge.box == index]
            if index in self.bars:
                starts = [left - _BOX_HEIGHT]
            box.y = (sum(starts) / len(starts) if starts else left) - _BOX_HEIGHT / 2
        ordered = sorted(self.boxes, key=lambda box: box.y)
        _spread([(box, _BOX_HEIGHT + 18) for box in ordered], max(left, len(ordered) * (_BOX_HEIGHT + 18.0)))
        for index, box in enumerate(self.boxes):
            mine = sorted((edge for edge in self.edges if edge.box == index), key=lambda edge: edge.y)
            for number, edge in enumerate(mine):
                edge.end = box.y + _BOX_HEIGHT * (number + 1) / (len(mine) + 1)
        self._fan_out()
        pills = sorted((edge for edge in self.edges if edge.sql), key=lambda edge: edge.y * 0.45 + edge.end * 0.55)
        for edge in pills:
            edge.pill = edge.y * 0.45 + edge.end * 0.55
        _spread_pills(pills)

    def _fan_out(self) -> None:
        """Ribbons of one name leave side by side, in the order of where they go."""
        starts: dict[tuple[int, int | None], list[Edge]] = {}
        for edge in self.edges:
            starts.setdefault((edge.card, edge.row), []).append(edge)
        for (_, row), edges in starts.items():
            room = _HEAD - 8.0 if row is None else _ROW - 6.0
            step = min(10.0, room / len(edges))
            edges.sort(key=lambda edge: edge.end)
            for number, edge in enumerate(edges):
                edge.y += step * (number - (len(edges) - 1) / 2)

    def _order_cards(self) -> None:
        """Cards near the publications that send them: by the mean of their boxes, so that fewer ribbons cross."""
        boxes: dict[int, list[int]] = {}
        for edge in self.edges:
            boxes.setdefault(edge.card, []).append(edge.box)
        means = {index: sum(box_numbers) / len(box_numbers) for index, box_numbers in boxes.items()}
        order = sorted(range(len(self.cards)), key=lambda index: (means.get(index, len(self.boxes)), index))
        new = {old: index for index, old in enumerate(order)}
        self.cards = [self.cards[old] for old in order]
        for edge in self.edges:
            edge.card = new[edge.card]

    # The drawing.

    def svg(self) -> Iterator[str]:
        bottoms = [card.y + card.height for card in self.cards]
        bottoms += [box.y + _BOX_HEIGHT for box in self.boxes]
        bottoms += [edge.pill + _PILL_HEIGHT / 2 for edge in self.edges]
        height = max(bottoms) + 16
        number = self.number
        yield (
            f'<svg class="drawing" viewBox="0 0 {WIDTH} {height:.0f}" role="group"'
            f' aria-labelledby="t{number} d{number}">'
        )
        yield f'<title id="t{number}">Tables, filters and publications</title>'
        yield (
            f'<desc id="d{number}">Tables on the left, publications on the right, joined by lines; a filter is on'
            " its line. The sections below say the same in words.</desc>"
        )
        captions = ((_CARD_X, "Tables"), (_PILL_X, "Row filters"), (_BOX_X, "Publications"))
        for x, text in captions:
            yield f'<text class="caption" x="{x}" y="24">{text}</text>'
        yield '<g class="ribbons" aria-hidden="true">'
        for edge in self.edges:
            yield self._ribbon(edge)
        for number, place in enumerate(self.bars):
            yield self._bar(number, place)
        yield "</g>"
        for card in self.cards:
            yield from _draw_card(card)
        for edge in self.edges:
            if edge.sql is not None:
                yield _draw_pill(edge)
        for place, box in enumerate(self.boxes):
            yield from _draw_box(box, place)
        yield "</svg>"

    def _ribbon(self, edge: Edge) -> str:
        start, end = _CARD_X + _CARD_WIDTH, _BOX_X
        begin = f'class="ribbon" data-box="{edge.box}" style="--h:{hue(edge.box)}"'
        if edge.sql is None:
            return f'<path {begin} d="{_curve(start, edge.y, end, edge.end)}" stroke-width="9"/>'
        before = _curve(start, edge.y, _PILL_X, edge.pill)
        after = _curve(_PILL_X + _PILL_WIDTH, edge.pill, end, edge.end)
        return f'<path {begin} d="{before}" stroke-width="9"/><path {begin} d="{after}" stroke-width="3"/>'

    def _bar(self, number: int, box_number: int) -> str:
        """A bar along all cards and the ribbon from it."""
        x = _CARD_X + _CARD_WIDTH + 8 + 9 * number
        top = self.cards[0].y + 4
        bottom = self.cards[-1].y + self.cards[-1].height - 4
        begin = f'class="ribbon" data-box="{box_number}" style="--h:{hue(box_number)}"'
        start = bottom - 14 - 10 * number
        curve = _curve(x, start, _BOX_X, self.boxes[box_number].y + _BOX_HEIGHT / 2)
        bar = f'<path {begin} d="M{x} {top:.1f}V{bottom:.1f}" stroke-width="6"/>'
        return f'{bar}<path {begin} d="{curve}" stroke-width="9"/>'


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    bend = (x2 - x1) * 0.5
    return f"M{x1:.0f} {y1:.1f}C{x1 + bend:.0f} {y1:.1f} {x2 - bend:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"


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


def _spread_pills(edges: Sequence[Edge]) -> None:
    """Moves pills apart about where they would like to be: by clusters, each around the mean of its wishes."""
    step = _PILL_HEIGHT + 8.0
    clusters: list[tuple[float, int]] = []  # where the first of a cluster would like to be, and how many it has
    for edge in edges:
        wish, size = edge.pill, 1
        while clusters and clusters[-1][0] + step * clusters[-1][1] > wish:
            before, number = clusters.pop()
            wish = (before * number + (wish - step * number) * size) / (number + size)
            size += number
        clusters.append((wish, size))
    index, lowest = 0, _TOP + _PILL_HEIGHT / 2
    for wish, size in clusters:
        first = max(wish, lowest)
        for place in range(size):
            edges[index].pill = first + step * place
            index += 1
        lowest = first + step * size


def _draw_card(card: Card) -> Iterator[str]:
    state = " refused" if card.refused else ""
    yield f'<g class="card{state}"><title>{_card_text(card)}</title>'
    yield f'<rect x="{_CARD_X}" y="{card.y:.1f}" width="{_CARD_WIDTH}" height="{card.height:.1f}" rx="7"/>'
    middle = card.y + _HEAD / 2 + 4.5
    yield f'<text class="name" x="{_CARD_X + 12}" y="{middle:.1f}">{_text(card.label)}</text>'
    right = f"✕ {card.refused}" if card.refused else card.remark
    if right:
        style = "bad" if card.refused else "remark"
        yield f'<text class="{style}" x="{_CARD_X + _CARD_WIDTH - 12}" y="{middle:.1f}">{_text(right)}</text>'
    if card.rows:
        x = _CARD_X + 18
        yield f'<path class="stem" d="M{x} {card.y + _HEAD - 5:.1f}V{card.rows[-1].y:.1f}"/>'
    for row in card.rows:
        lost = " lost" if row.state == "never published" else ""
        x = _CARD_X + 18
        yield f'<path class="stem" d="M{x} {row.y:.1f}h10"/>'
        yield f'<text class="leaf{lost}" x="{x + 16}" y="{row.y + 4:.1f}">{_text(row.label)}</text>'
        if row.state:
            text = row.state if lost else f"✕ {row.state}"
            style = "remark" if lost else "bad"
            yield f'<text class="{style}" x="{_CARD_X + _CARD_WIDTH - 12}" y="{row.y + 4:.1f}">{_text(text)}</text>'
    yield "</g>"


def _card_text(card: Card) -> str:
    text = card.title
    if card.refused:
        text += f": the publisher refuses {card.refused}"
    return _text(text)


def _draw_pill(edge: Edge) -> str:
    assert edge.sql is not None
    y = edge.pill - _PILL_HEIGHT / 2
    return (
        f'<g class="pill" data-box="{edge.box}" style="--h:{hue(edge.box)}"><title>{_text(edge.sql)}</title>'
        f'<rect x="{_PILL_X}" y="{y:.1f}" width="{_PILL_WIDTH}" height="{_PILL_HEIGHT}" rx="{_PILL_HEIGHT / 2:.0f}"/>'
        f'<path class="funnel" d="M{_PILL_X + 11} {edge.pill - 5:.1f}h12l-4.6 5.6v5l-2.8-1.6v-3.4z"/>'
        f'<text x="{_PILL_X + 30}" y="{edge.pill + 4:.1f}">{_text(_short(edge.sql, _PILL_LETTERS))}</text></g>'
    )


def _draw_box(box: Box, number: int) -> Iterator[str]:
    y = box.y
    operations = ", ".join(box.operations or ()).upper() or "see below"
    label = _text(f"Publication {box.label}, {box.remark}; publishes {operations}")
    yield f'<a class="box" href="#{box.anchor}" data-box="{number}" style="--h:{hue(number)}" aria-label="{label}">'
    yield f"<title>{_text(box.title)}</title>"
    yield f'<rect x="{_BOX_X}" y="{y:.1f}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="9"/>'
    yield f'<rect class="edge" x="{_BOX_X}" y="{y + 10:.1f}" width="4" height="{_BOX_HEIGHT - 20}" rx="2"/>'
    yield f'<text class="name" x="{_BOX_X + 16}" y="{y + 24:.1f}">{_text(_short(box.label, _BOX_LETTERS))}</text>'
    yield f'<text class="sub" x="{_BOX_X + 16}" y="{y + 44:.1f}">{_text(_short(box.remark, _BOX_LETTERS - 4))}</text>'
    if box.operations is not None:
        for column, operation in enumerate(("insert", "update", "delete", "truncate")):
            on = "on" if operation in box.operations else "off"
            x = _BOX_X + _BOX_WIDTH - 84 + column * 19
            yield (
                f'<g class="op {on}"><title>{operation.upper()}{"" if on == "on" else " is not published"}</title>'
                f'<rect x="{x}" y="{y + 32:.1f}" width="16" height="16" rx="4"/>'
                f'<text x="{x + 8}" y="{y + 44:.1f}">{operation[0].upper()}</text></g>'
            )
    yield "</a>"


def _group(names: list[str], refused: dict[str, str]) -> Card:
    verbs = refused.get(names[0], "")
    if len(names) == 1:
        return Card(_short(names[0], _CARD_LETTERS - len(verbs)), names[0], refused=verbs)
    label = f"{_short(names[0], _CARD_LETTERS - 16)} and {len(names) - 1:,} more"
    return Card(label, ", ".join(names[:40]), refused=verbs)


def _left_out(names: list[str], publications: Sequence[str]) -> Card:
    """Return the card of tables that only EXCEPT of these publications names."""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    remark = _short(f"not in {', '.join(publications)}", _CARD_LETTERS // 2)
    return Card(_short(names[0], _CARD_LETTERS - len(more) - len(remark)) + more, ", ".join(names[:40]), remark)


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


def _remark(publication: Publication) -> str:
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


def _text(text: str) -> str:
    """Text of unknown origin, as a part of the page."""
    return quoted(escape(text))


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(letters - 1, 1)].rstrip() + "…"
