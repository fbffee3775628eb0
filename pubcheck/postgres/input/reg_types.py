"""Input of the reg* types: objects of the catalog by name (utils/adt/regproc.c). Values are oids.

A missing name is refused only if no unknown statement can have created the object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pubcheck.postgres import older_grammars
from pubcheck.postgres.catalog import PG_CATALOG, SUPERUSER
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import SPACE, InputContext, after_blanks, input_error
from pubcheck.postgres.input.numbers import read_oid
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import tokens
from pubcheck.postgres.versions import Major

T = TypeVar("T")
_NAME_BYTES = 63
"""NAMEDATALEN, without the byte that ends a name."""
_DIGITS = re.compile("[0-9]+")
_PART = re.compile(r'"((?:[^"]|"")*+)"|([^". \t\n\v\f\r][^. \t\n\v\f\r]*)')


def _or_oid(none: str = "-") -> Callable[[Callable[[InputContext, str], T]], Callable[..., T | int]]:
    """Let a function that reads a name read an oid too, or ``none`` for 0 (parseNumericOid, parseDashOrOid)."""

    def decorated(look_up: Callable[[InputContext, str], T]) -> Callable[..., T | int]:
        def read(context: InputContext, text: str, typmod: int = -1) -> T | int:
            if text == none:
                return 0
            return read_oid(context, text) if _DIGITS.fullmatch(text) else look_up(context, text)

        return read

    return decorated


def _names(text: str) -> list[str]:
    """stringToQualifiedNameList: names by dots, folded and cut as identifiers are. Raises ServerError 42602."""
    pos, names = after_blanks(text, 0), list[str]()
    while match := _PART.match(text, pos):
        part = match[1].replace('""', '"') if match[1] is not None else _fold(match[2])
        names.append(part.encode(errors="surrogatepass")[:_NAME_BYTES].decode(errors="ignore"))
        pos = after_blanks(text, match.end())
        if pos == len(text):
            return names
        if text[pos] != ".":
            break
        pos = after_blanks(text, pos + 1)
    raise input_error("42602", "invalid name syntax")


def _fold(name: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in name)


def _as_literal(error: ServerError) -> ServerError:
    return input_error(error.sqlstate, error.message, error.detail, error.hint)


def _missing(context: InputContext, sqlstate: str, message: str, reason: str) -> Exception:
    if context.cache.complete_names:
        return input_error(sqlstate, message)
    return Unknowable(reason)


def _check_schema(context: InputContext, names: list[str], relation: bool = False) -> None:
    """LookupExplicitNamespace before 16; from then on a missing schema only means that nothing is in it."""
    if len(names) > 3:
        kind = "relation" if relation else "qualified"
        raise input_error("42601", f"improper {kind} name (too many dotted names): {'.'.join(names)}")
    catalog = context.cache.session.catalog
    if len(names) == 3 and names[0] != catalog.database:
        if not catalog.database_known:
            raise Unknowable("the database's name")
        full = f'"{".".join(names)}"' if relation else ".".join(names)
        raise input_error("0A000", f"cross-database references are not implemented: {full}")
    if len(names) > 1 and not context.major.schemas_looked_up_softly and names[-2] not in catalog.namespace_names:
        raise _missing(context, "3F000", f'schema "{names[-2]}" does not exist', f'the schema "{names[-2]}"')


def _schema_exists(context: InputContext, names: list[str]) -> bool:
    return len(names) == 1 or names[-2] in context.cache.session.catalog.namespace_names


@_or_oid()
def read_regclass(context: InputContext, text: str) -> int:
    names = _names(text)
    _check_schema(context, names, relation=True)
    node = {"relname": names[-1]}
    if len(names) > 1:
        node["schemaname"] = names[-2]
    row = context.cache.session.find_relation(node)
    if row is None:
        name = ".".join(names)
        raise _missing(context, "42P01", f'relation "{name}" does not exist', f'the relation "{name}"')
    return int(row.oid)


_TYPE_PREFIX = "SELECT CAST(NULL AS "


def _type_node(major: Major, text: str) -> dict[str, Any]:
    """The TypeName that a text is parsed to (RAW_PARSE_TYPE_NAME). Raises ServerError, Unknowable."""
    closed = _closed(text)
    try:
        older_grammars.check(major, text.encode(errors="surrogatepass"))
        # Without the closing parenthesis the error has no context.
        parse(_TYPE_PREFIX + text[:closed])
    except SyntaxRefused as refusal:
        if refusal.message != "syntax error at end of input":
            raise input_error(refusal.sqlstate, refusal.message) from None
    except ServerError as error:
        raise _as_literal(error) from None
    except TooDeep:
        raise Unknowable(f"which type {text} is") from None
    try:
        statement = parse(f"{_TYPE_PREFIX}{text[:closed]}\n)")
    except (SyntaxRefused, TooDeep):
        statement = None
    if statement is None or closed is not None:
        raise input_error("42601", "syntax error at " + ("end of input" if closed is None else 'or near ")"'))
    node: dict[str, Any] = statement[1]["targetList"][0]["ResTarget"]["val"]["TypeCast"]["typeName"]
    return node


def _closed(text: str) -> int | None:
    """Return the offset of a closing parenthesis without an opening one."""
    depth = 0
    for _, token, offset in tokens(text.encode(errors="surrogatepass")):
        depth += (token == b"(") - (token == b")")
        if token in (b'"', b"'"):
            return None  # a quote that is not closed takes the rest
        if depth < 0:
            return len(text.encode(errors="surrogatepass")[:offset].decode(errors="surrogatepass"))
    return None


def _type(context: InputContext, text: str) -> int:
    """parseTypeString."""
    if not text.strip(SPACE):
        raise input_error("42601", f'invalid type name "{text}"')
    from pubcheck.postgres.input.typmods import typmod_of

    node = _type_node(context.major, text)
    if "setof" in node:
        raise input_error("42601", f'invalid type name "{text}"')
    session = context.cache.session
    parts = [part["String"]["sval"] for part in node["names"]]
    _check_schema(context, parts)
    if not _schema_exists(context, parts):
        raise _missing(context, "3F000", f'schema "{parts[-2]}" does not exist', f'the schema "{parts[-2]}"')
    try:
        oid = session.type_oid(node)
        if not oid:
            raise Unknowable(f'the type "{".".join(parts)}"')
        typmod_of(context.cache, oid, node.get("typmods", []), None)
    except ServerError as error:
        raise _as_literal(error) from None
    return int(oid)


read_regtype = _or_oid()(_type)


def _functions(context: InputContext, names: list[str]) -> list[Any]:
    """Functions of a name, without those that one of an earlier schema hides."""
    _check_schema(context, names)
    by_arguments: dict[tuple[int, ...], Any] = {}
    if _schema_exists(context, names):
        for _, row in sorted(_looked_up(context.cache.procs, names), key=lambda placed: placed[0]):
            by_arguments.setdefault(row.arguments, row)
    return list(by_arguments.values())


def _operators(context: InputContext, names: list[str]) -> list[Any]:
    _check_schema(context, names)
    by_operands: dict[tuple[int, int], Any] = {}
    if _schema_exists(context, names):
        operators = context.cache.operators
        placed = [*_looked_up(operators, names, True), *_looked_up(operators, names, False)]
        for _, row in sorted(placed, key=lambda pair: pair[0]):
            by_operands.setdefault((row.left, row.right), row)
    return list(by_operands.values())


def _looked_up(look_up: Any, *arguments: Any) -> list[tuple[int, Any]]:
    try:
        return list(look_up(*arguments))
    except ServerError as error:
        raise _as_literal(error) from None


@_or_oid()
def read_regproc(context: InputContext, text: str) -> int:
    functions = _functions(context, _names(text))
    if not functions:
        raise _missing(context, "42883", f'function "{text}" does not exist', f'the function "{text}"')
    if len(functions) > 1:
        raise input_error("42725", f'more than one function named "{text}"')
    return int(functions[0].oid)


@_or_oid("0")
def read_regoper(context: InputContext, text: str) -> int:
    operators = _operators(context, _names(text))
    if not operators:
        raise _missing(context, "42883", f"operator does not exist: {text}", f"the operator {text}")
    if len(operators) > 1:
        raise input_error("42725", f"more than one operator named {text}")
    return int(operators[0].oid)


_BEFORE_PARENTHESIS = re.compile(r'((?:[^"(]|"[^"]*")*+)\(')


def _name_and_types(context: InputContext, text: str, none: bool) -> tuple[list[str], list[int]]:
    """parseNameAndArgTypes: the name and the oids of the types in parentheses; 0 for NONE."""
    match = _BEFORE_PARENTHESIS.match(text)
    if match is None:
        raise input_error("22P02", "expected a left parenthesis")
    names = _names(match[1])
    body = text[match.end() :].rstrip(SPACE)
    if not body.endswith(")"):
        raise input_error("22P02", "expected a right parenthesis")
    types: list[int] = []
    for part in _parts(body[:-1]):
        word = part.strip(SPACE)
        types.append(0 if none and word.lower() == "none" else _type(context, word))
    return names, types


def _parts(text: str) -> Iterator[str]:
    """Split type names at commas outside of quotes and parentheses; an invalid name is reported in its turn."""
    if not text.strip(SPACE):
        return
    start, quoted, depth = 0, False, 0
    for pos, character in enumerate(f"{text},"):
        if character == '"':
            quoted = not quoted
        elif character == "," and (pos == len(text) or (not quoted and depth == 0)):
            if quoted or depth:
                raise input_error("22P02", "improper type name")
            if pos == len(text) and start and not text[start:].strip(SPACE):
                raise input_error("22P02", "expected a type name")
            yield text[start:pos]
            start = pos + 1
        elif not quoted:
            depth += (character in "([") - (character in ")]")


@_or_oid()
def read_regprocedure(context: InputContext, text: str) -> int:
    names, types = _name_and_types(context, text, none=False)
    for row in _functions(context, names):
        if row.arguments == tuple(types):
            return int(row.oid)
    raise _missing(context, "42883", f'function "{text}" does not exist', f'the function "{text}"')


@_or_oid("0")
def read_regoperator(context: InputContext, text: str) -> int:
    names, types = _name_and_types(context, text, none=True)
    if len(types) == 1:
        hint = "Use NONE to denote the missing argument of a unary operator."
        raise input_error("42P02", "missing argument", None, hint)
    if len(types) != 2:
        raise input_error("54023", "too many arguments", None, "Provide two argument types for operator.")
    for row in _operators(context, names):
        if (row.left, row.right) == tuple(types):
            return int(row.oid)
    raise _missing(context, "42883", f"operator does not exist: {text}", f"the operator {text}")


def _single_name(text: str) -> str:
    names = _names(text)
    if len(names) != 1:
        raise input_error("42602", "invalid name syntax")
    return names[0]


@_or_oid()
def read_regnamespace(context: InputContext, text: str) -> int:
    name = _single_name(text)
    oid = context.cache.session.catalog.namespace_names.get(name)
    if oid is None:
        raise _missing(context, "3F000", f'schema "{name}" does not exist', f'the schema "{name}"')
    return int(oid)


@_or_oid()
def read_regrole(context: InputContext, text: str) -> int:
    return _role(context, _single_name(text))


_DATABASES = {"template1": 1, "template0": 4, "postgres": 5}
"""Those that initdb creates."""


@_or_oid()
def read_regdatabase(context: InputContext, text: str) -> int:
    """Raises Unknowable for a database that initdb does not create: it may exist."""
    oid = _DATABASES.get(_single_name(text))
    if oid is None:
        raise Unknowable("which databases the server has")
    return oid


def _role(context: InputContext, name: str) -> int:
    """get_role_oid."""
    oid = context.cache.session.catalog.role_names.get(name) or context.cache.builtin.role(name)
    if not oid:
        raise _missing(context, "42704", f'role "{name}" does not exist', f'the role "{name}"')
    return int(oid)


_ACL_NAME = re.compile(r'(?:"(?:[^"]|"")*+(?:"|\Z)|[A-Za-z0-9_\x80-\U0010ffff])*+')
_ACL_QUOTED = re.compile(r'"((?:[^"]|"")*+)(?:"|\Z)')


def read_aclitem(context: InputContext, text: str, typmod: int = -1) -> tuple[int, str, int]:
    """aclitemin (acl.c): grantee (0: PUBLIC), the rights as written, grantor."""
    name, pos = _acl_name(text, 0)
    if text[pos : pos + 1] != "=":
        if name not in ("group", "user"):
            hint = 'ACL key word must be "group" or "user".'
            raise input_error("22P02", f'unrecognized key word: "{name}"', None, hint)
        name, pos = _acl_name(text, pos)
        if not name:
            hint = 'A name must follow the "group" or "user" key word.'
            raise input_error("22P02", "missing name", None, hint)
        if text[pos : pos + 1] != "=":
            raise input_error("22P02", 'missing "=" sign')
    start = pos = pos + 1
    letters = "arwdDxtXUCTcsA" + ("m" if context.major.maintain_privilege else "")
    while (letter := text[pos : pos + 1]) == "*" or (letter.isascii() and letter.isalpha()):
        if letter not in letters and letter != "*":
            raise input_error("22P02", f'invalid mode character: must be one of "{letters}"')
        pos += 1
    rights, grantee, grantor = text[start:pos], _role(context, name) if name else 0, SUPERUSER
    if text[pos : pos + 1] == "/":
        name, pos = _acl_name(text, pos + 1)
        if not name:
            raise input_error("22P02", 'a name must follow the "/" sign')
        grantor = _role(context, name)
    if text[pos:].strip(SPACE):
        raise input_error("22P02", "extra garbage at the end of the ACL specification")
    return grantee, rights, grantor


def _acl_name(text: str, pos: int) -> tuple[str, int]:
    """getid: return a name, quoted or not or in part, and the end of the blanks after it."""
    pos = after_blanks(text, pos)
    match = _ACL_NAME.match(text, pos)
    assert match is not None
    name = _ACL_QUOTED.sub(lambda quoted: quoted[1].replace('""', '"'), match[0])
    if len(name.encode(errors="surrogatepass")) > _NAME_BYTES:
        raise input_error("42622", "identifier too long", f"Identifier must be less than {_NAME_BYTES + 1} characters.")
    return name, after_blanks(text, match.end())


_LANGUAGES = frozenset(
    ("arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french", "german", "greek",
     "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese",
     "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish")
)  # fmt: skip
"""Languages that initdb makes a text search configuration and a dictionary for (snowball_create.sql)."""


def languages(major: Major) -> frozenset[str]:
    """The languages that a major has text search configurations for."""
    return _LANGUAGES | major.text_search_languages


def _text_search(context: InputContext, text: str, kind: str, suffix: str) -> int | str:
    """Return an object of a text search kind: its oid if the unit created it, its name if initdb did."""
    names = _names(text)
    _check_schema(context, names)
    cache, name = context.cache, names[-1]
    catalog = cache.session.catalog
    path = cache.session.path if len(names) == 1 else (catalog.namespace_names.get(names[-2], 0),)
    for namespace in path:
        oid = catalog.other_names.get((kind, namespace, name))
        if oid is not None:
            return int(oid)
        if namespace == PG_CATALOG:
            language = name.removesuffix(suffix)
            if name == "simple" or (name == language + suffix and language in languages(context.major)):
                return name
    full = ".".join(names)
    raise _missing(context, "42704", f'{kind} "{full}" does not exist', f'the {kind} "{full}"')


@_or_oid()
def read_regconfig(context: InputContext, text: str) -> int | str:
    return _text_search(context, text, "text search configuration", "")


@_or_oid()
def read_regdictionary(context: InputContext, text: str) -> int | str:
    return _text_search(context, text, "text search dictionary", "_stem")


@_or_oid()
def read_regcollation(context: InputContext, text: str) -> int:
    names = _names(text)
    _check_schema(context, names)
    cache = context.cache
    if _schema_exists(context, names):
        try:
            row = cache.collation_named(names, None, exists=True)
        except ServerError as error:
            if cache.complete_names:
                raise _as_literal(error) from None
        else:
            if row.oid not in cache.catalog.collations and cache.builtin.collation_named(row.name) is not row:
                raise Unknowable(f'the collation "{row.name}", which depends on the build and the machine')
            return int(row.oid)
    full = ".".join(names)
    message = f'collation "{full}" for encoding "UTF8" does not exist'
    raise _missing(context, "42704", message, f'the collation "{full}"')
