"""Rewrite refused statements so that the server accepts them, if it is clear what is meant.

A fix is safe if the refused statement can only mean one thing and the fix says exactly that. A guess at a misspelt name
is not safe, nor is a fix with an effect that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches

from msgspec import Struct

from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.replication.publication_lookup import replica_identity
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import column_list, folded, identifier, name_end, tokens


class Token(Struct, frozen=True):
    kind: str
    word: str
    start: int
    end: int
    name: str


def tokens_of(text: bytes) -> list[Token]:
    """Return the tokens of a statement, without the semicolons at its end."""
    listed = []
    for kind, token, offset in tokens(text):
        name = folded(token) if kind == "name" else ""
        listed.append(Token(kind, token.decode(errors="replace").lower(), offset, offset + len(token), name))
    while listed and listed[-1].word == ";":
        listed.pop()
    return listed


class Item(Struct, frozen=True):
    """The tokens between two commas. ``before`` is the offset of the comma before them, or their own start."""

    before: int
    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


class RefusedStatement:
    """A refused statement: its tokens, what the server says, and the state that it met."""

    def __init__(self, session: Session, error: ServerError, text: bytes) -> None:
        self.session, self.error, self.text = session, error, text
        self.tokens = tokens_of(text)
        self.culprit = error.culprit or 0

    def word(self, index: int) -> str:
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""

    def closing(self, opening: int) -> int:
        """The number of the token that closes the parenthesis at a number."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            depth += (self.word(index) == "(") - (self.word(index) == ")")
            if depth == 0:
                return index
        return len(self.tokens) - 1

    def items(self, first: int, last: int) -> list[Item]:
        """Return the items between commas, from the token number ``first`` up to ``last``."""
        items: list[Item] = []
        part: list[Token] = []
        before, depth = self.tokens[first].start if first < len(self.tokens) else 0, 0
        for token in [*self.tokens[first:last], Token("other", ",", 0, 0, "")]:
            depth += (token.word == "(") - (token.word == ")")
            if token.word == "," and depth <= 0:
                if not part:
                    return []
                items.append(Item(before, tuple(part)))
                before, part = token.start, []
            else:
                part.append(token)
        return items

    def group_around(self, byte: int) -> list[Item]:
        """The items of the innermost parentheses around a byte offset."""
        opening: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.start >= byte:
                break
            if token.word == "(":
                opening.append(number)
            elif token.word == ")" and opening:
                opening.pop()
        return self.items(opening[-1] + 1, self.closing(opening[-1])) if opening else []

    def options(self) -> list[Item]:
        """The options of WITH (...), or of SET (...)."""
        for number, token in enumerate(self.tokens):
            if token.word in ("with", "set") and self.word(number + 1) == "(":
                return self.items(number + 2, self.closing(number + 1))
        return []

    def option(self) -> tuple[str, tuple[Token, ...]] | None:
        """Return the name and the value of the refused option."""
        for item in self.options():
            if item.start <= self.culprit < item.end:
                return item.tokens[0].name, item.tokens[2:]
        return None

    def name_at_fault(self) -> list[Token]:
        """Return the parts of the refused (qualified) name."""
        end = name_end(self.text, self.culprit)
        return [token for token in self.tokens if self.culprit <= token.start < end and token.kind == "name"]

    def objects(self) -> list[Item]:
        """The tables and schemas that ALTER PUBLICATION adds or drops."""
        for number, token in enumerate(self.tokens[:5]):
            if token.word in ("add", "drop", "set"):
                return self.items(number + 1, len(self.tokens))
        return []


Change = tuple[int, int, str]
"""Replace the text from one byte offset to another."""


class StatementFix(Struct, frozen=True):
    """``changes`` to a statement's text, in byte offsets; ``whole``: it goes, and its terminator with it."""

    title: str
    changes: tuple[Change, ...]
    safe: bool = True
    whole: bool = False


# --- The fix of each rule -----------------------------------------------------------------------------------------


def _duplicate_column(refused: RefusedStatement) -> StatementFix | None:
    seen: set[str] = set()
    changes = []
    for item in refused.group_around(refused.culprit):
        name = item.tokens[0].name
        if name in seen and len(item.tokens) == 1:
            changes.append((item.before, item.end, ""))
        seen.add(name)
    return StatementFix("List each column once", tuple(changes)) if changes else None


def _without_column(title: str, *, safe: bool) -> Callable[[RefusedStatement], StatementFix | None]:
    """Leave the refused column out of the list if another column is left."""

    def mend(refused: RefusedStatement) -> StatementFix | None:
        items = refused.group_around(refused.culprit)
        for number, item in enumerate(items):
            if item.start <= refused.culprit < item.end and len(items) > 1:
                start, end = (item.before, item.end) if number else (item.start, items[1].start)
                return StatementFix(title, ((start, end, ""),), safe)
        return None

    return mend


def _option_twice(refused: RefusedStatement) -> StatementFix | None:
    seen: dict[str, list[str]] = {}
    for item in refused.options():
        name, value = item.tokens[0].name, [token.word for token in item.tokens[2:]]
        if seen.setdefault(name, value) != value:
            return None  # which of the two is meant is not known
    names: set[str] = set()
    changes = []
    for item in refused.options():
        if item.tokens[0].name in names:
            changes.append((item.before, item.end, ""))
        names.add(item.tokens[0].name)
    return StatementFix("Keep the option once", tuple(changes)) if changes else None


def _drop_by_name(refused: RefusedStatement) -> StatementFix | None:
    """DROP TABLE t (a) and DROP TABLE t WHERE (a) as DROP TABLE t."""
    changes = []
    for item in refused.objects():
        plain = next((index for index, token in enumerate(item.tokens) if token.word in ("(", "where")), 0)
        if plain:
            changes.append((item.tokens[plain - 1].end, item.end, ""))
    return StatementFix("Drop the table by its name alone", tuple(changes)) if changes else None


def _without_object(refused: RefusedStatement) -> StatementFix | None:
    """The statement without the table or schema that is a member already, or is none."""
    items = refused.objects()
    number = next((index for index, item in enumerate(items) if item.start <= refused.culprit < item.end), None)
    if number is None:
        return None
    adds = refused.error.key in ("table-already-member", "schema-already-member")
    member = "existing members" if adds else "objects that are not members"
    if len(items) == 1:
        return StatementFix("Remove the statement", ((0, len(refused.text), ""),), safe=False, whole=True)
    item = items[number]
    name = next((token for token in item.tokens if token.start >= refused.culprit), item.tokens[-1])
    following = items[number + 1] if number + 1 < len(items) else None
    if following is None or (item.start == name.start and number):
        start, end = item.before, item.end
    elif following.tokens[0].word in ("table", "tables"):
        start, end = item.start, following.start
    else:
        start, end = name.start, following.start  # what follows is of the same kind
    return StatementFix(f"Leave out {member}", ((start, end, ""),), not adds or _adds_nothing(refused, item))


def _adds_nothing(refused: RefusedStatement, item: Item) -> bool:
    """Return whether a table that is added is a member in just the way that it would be made one."""
    catalog = refused.session.catalog
    named = [token for token in item.tokens if token.kind == "name" and token.word not in ("table", "only")]
    if any(token.word in ("(", "where", "*") for token in item.tokens) or not 1 <= len(named) <= 2:
        return False
    row = _relation(refused, [token.name for token in named])
    publication = catalog.publication_names.get(refused.error.publication or "")
    if row is None or publication is None:
        return False
    member = catalog.members.get((publication, row.oid))
    entry = catalog.publication_rels.get(member) if member is not None else None
    return entry is not None and entry.filter is None and entry.columns is None


def _relation(refused: RefusedStatement, names: Sequence[str]) -> Relation | None:
    target = {"relname": names[-1], **({"schemaname": names[0]} if len(names) > 1 else {})}
    try:
        return refused.session.find_relation(target)
    except ServerError:
        return None


_OPERATIONS = ("insert", "update", "delete", "truncate")


def _publish_words(value: Sequence[Token]) -> list[str]:
    """The words of a value of `publish` that is one text in plain quotes."""
    if len(value) != 1 or value[0].kind != "text" or not value[0].word.startswith("'"):
        return []
    words = value[0].word.strip("'").replace(",", " ").split()
    return words if all(word.isalpha() for word in words) else []


def _publish_list(refused: RefusedStatement) -> StatementFix | None:
    option = refused.option()
    words = _publish_words(option[1]) if option else []
    if not words or not set(words) <= set(_OPERATIONS):
        return None
    value = option[1][0] if option else None
    assert value is not None
    return StatementFix("Separate the operations by commas", ((value.start, value.end, _listed(words)),))


def _listed(words: Iterable[str]) -> str:
    return f"'{', '.join(dict.fromkeys(words))}'"


def _publish_value(refused: RefusedStatement) -> StatementFix | None:
    option = refused.option()
    words = _publish_words(option[1]) if option else []
    operations: list[str] = []
    for word in words:
        near = [word] if word in _OPERATIONS else get_close_matches(word, _OPERATIONS, 1, 0.7)
        operations += _OPERATIONS if word == "all" else near
        if not near and word != "all":
            return None
    if not operations or option is None:
        return None
    text = _listed(operations)
    return StatementFix(f"Write {text}", ((option[1][0].start, option[1][0].end, text),), safe=False)


def _boolean(words: Mapping[bool, str]) -> Callable[[RefusedStatement], StatementFix | None]:
    """A yes or no as the option takes it."""

    def mend(refused: RefusedStatement) -> StatementFix | None:
        option = refused.option()
        if option is None or len(option[1]) > 1:
            return None
        if not option[1]:
            name = next(item for item in refused.options() if item.start <= refused.culprit < item.end)
            return StatementFix(f"Say {words[True]}", ((name.end, name.end, f" = {words[True]}"),))
        word = option[1][0].word.strip("'")
        if word not in _YES and word not in _NO:
            return None
        text = words[word in _YES]
        return StatementFix(f"Write {text}", ((option[1][0].start, option[1][0].end, text),))

    return mend


_YES = ("true", "on", "1", "yes", "y", "t")
_NO = ("false", "off", "0", "no", "n", "f")


def _option_unknown(refused: RefusedStatement) -> StatementFix | None:
    options = refused.options()
    # publish = insert, update: each operation after the first is read as an option.
    for number, item in enumerate(options):
        words = [token.word for token in item.tokens]
        if words[:2] != ["publish", "="] or len(words) != 3 or words[2] not in _OPERATIONS:
            continue
        last = number
        while last + 1 < len(options) and [*map(_word, options[last + 1].tokens)] in [
            [operation] for operation in _OPERATIONS
        ]:
            last += 1
        if last > number:
            listed = [words[2], *(options[index].tokens[0].word for index in range(number + 1, last + 1))]
            change = (item.tokens[2].start, options[last].end, _listed(listed))
            return StatementFix("Write the operations as one string", (change,))
    known = ["publish", "publish_via_partition_root"]
    known += ["publish_generated_columns"] if refused.session.catalog.major.publish_generated_columns else []
    for item in options:
        name = item.tokens[0]
        if item.start <= refused.culprit < item.end and name.name not in known:
            near = get_close_matches(name.name, known, 1, 0.8)
            if near and not any(option_item.tokens[0].name == near[0] for option_item in options):
                return StatementFix(f"Write {near[0]}", ((name.start, name.end, near[0]),), safe=False)
    return None


def _word(token: Token) -> str:
    return token.word


def _unknown_column(refused: RefusedStatement) -> StatementFix | None:
    listed = {item.tokens[0].name for item in refused.group_around(refused.culprit)}
    return _other_column(refused, listed)


def _unknown_filter_column(refused: RefusedStatement) -> StatementFix | None:
    return _other_column(refused, set())


def _other_column(refused: RefusedStatement, listed: AbstractSet[str]) -> StatementFix | None:
    """Replace the unknown column by a similar one that is not in the list yet."""
    parts = refused.name_at_fault()
    row = _relation(refused, (refused.error.relation or "").split(".", 1)) if refused.error.relation else None
    if not parts or row is None or not row.seen or refused.error.sqlstate != "42703":
        return None
    names = [column.name for column in row.live() if column.name not in listed]
    return _spelled(parts[-1].name, names, (parts[-1].start, parts[-1].end))


def _without_qualifier(refused: RefusedStatement) -> StatementFix | None:
    """`parent.column` as `column`, which each child table has under that name."""
    parts = refused.name_at_fault()
    if len(parts) < 2:
        return None
    return StatementFix("Write the column without its table", ((parts[0].start, parts[-1].start, ""),))


def _spelled(name: str, names: Sequence[str], place: tuple[int, int]) -> StatementFix | None:
    """The name that is meant: safe where but one of them differs in nothing but upper and lower case."""
    alike = [candidate for candidate in names if candidate.lower() == name.lower()]
    near = alike if len(alike) == 1 else get_close_matches(name, names, 2, 0.8)
    if len(near) != 1 or near[0] == name:
        return None
    text = identifier(near[0])
    return StatementFix(f"Write {text}", ((*place, text),), safe=len(alike) == 1)


def _missing_relation(refused: RefusedStatement) -> StatementFix | None:
    catalog, parts = refused.session.catalog, refused.name_at_fault()
    if not parts or len(parts) > 2 or refused.error.sqlstate != "42P01":
        return None
    if len(parts) == 2:
        spaces = [catalog.namespace_names.get(parts[0].name)]
    else:
        spaces = list(refused.session.path)
    names = [name for space, name in catalog.relation_names if space in spaces]
    kinds = [name for name in names if _is_table(refused, spaces, name)] if len(names) <= _MANY else []
    return _spelled(parts[-1].name, kinds, (parts[-1].start, parts[-1].end))


_MANY = 5000
"""Names among which a misspelt one is still looked for."""


def _is_table(refused: RefusedStatement, spaces: Sequence[int | None], name: str) -> bool:
    catalog = refused.session.catalog
    oids = (catalog.relation_names.get((space, name)) for space in spaces if space is not None)
    rows = [catalog.relations[oid] for oid in oids if oid is not None]
    return any(row.kind in "rp" and row.seen for row in rows)


def _missing_publication(refused: RefusedStatement) -> StatementFix | None:
    name = refused.error.publication
    token = next((token for token in refused.tokens[2:] if token.kind == "name" and token.name == name), None)
    if name is None or token is None:
        return None
    return _spelled(name, list(refused.session.catalog.publication_names), (token.start, token.end))


def _via_root(refused: RefusedStatement) -> StatementFix | None:
    """The rows of partitions as those of the root, which a filter or column list on the root needs."""
    option = "publish_via_partition_root"
    title = f"Set {option}"
    if refused.word(0) == "alter" and len(refused.tokens) > 2:
        name = refused.text[refused.tokens[2].start : refused.tokens[2].end].decode(errors="replace")
        return StatementFix(title, ((0, 0, f"ALTER PUBLICATION {name} SET ({option} = true);\n"),), safe=False)
    if refused.word(0) != "create":
        return None
    options = refused.options()
    for item in options:
        if item.tokens[0].name == option:
            return StatementFix(title, ((item.start, item.end, f"{option} = true"),), safe=False)
    end = options[-1].end if options else refused.tokens[-1].end
    return StatementFix(
        title, ((end, end, f", {option} = true" if options else f" WITH ({option} = true)"),), safe=False
    )


STATEMENT_FIXES: Mapping[str, Callable[[RefusedStatement], StatementFix | None]] = {
    "PUB106": _missing_publication,
    "PUB107": _missing_relation,
    "PUB120": _option_unknown,
    "PUB121": _option_twice,
    "PUB122": _publish_list,
    "PUB123": _publish_value,
    "PUB125": _boolean({True: "true", False: "false"}),
    "PUB126": _boolean({True: "stored", False: "none"}),
    "PUB130": _without_object,
    "PUB131": _without_object,
    "PUB132": _drop_by_name,
    "PUB201": _unknown_filter_column,
    "PUB202": _without_qualifier,
    "PUB401": _unknown_column,
    "PUB402": _without_column("Leave out the system column", safe=False),
    "PUB403": _duplicate_column,
    "PUB404": _without_column("Leave out the generated column", safe=False),
    "PUB501": _via_root,
    "PUB502": _via_root,
}
"""The functions that rewrite a refused statement, by the code of the rule that reports it."""


def statement_fix(code: str, session: Session, error: ServerError, text: bytes) -> StatementFix | None:
    """Return the fix for a refused statement, or None. ``code`` is the code of the rule that reports it."""
    make = STATEMENT_FIXES.get(code)
    return make(RefusedStatement(session, error, text)) if make is not None else None


# --- Statements that are accepted and refuse writes ---------------------------------------------------------------


def widened(
    catalog: Catalog, refusal: Refusal, text: bytes, columns_at_statement: Iterable[Column]
) -> StatementFix | None:
    """The column list that leaves out columns of the replica identity, with them; ``text`` is its statement.

    ``columns_at_statement`` are the table's columns as that statement met them: it can list no others.
    """
    entry, row = refusal.entry, catalog.relations[refusal.relation]
    identity = replica_identity(catalog, row)
    if entry is None or entry.columns is None or identity.full or not identity.columns:
        return None
    source = catalog.relations[entry.relation]
    listed = {source.columns[number - 1].name for number in entry.columns}
    held = [row.columns[number - 1] for number in sorted(identity.columns)]
    lacking = [column for column in held if column.name not in listed]
    written = column_list(text, entry.place.start)
    listable = {column.name for column in columns_at_statement if not column.dropped and not column.generated}
    if not lacking or not written or not listable.issuperset(column.name for column in lacking):
        return None
    names = ", ".join(identifier(column.name) for column in lacking)
    end = sum(written[-1])
    return StatementFix(f"List {names} too", ((end, end, f", {names}"),), safe=False)
