"""Prisma: the models of `schema.prisma` as the tables that `prisma db push` creates of them.

The tables of implicit many-to-many relations are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from pubcheck.extract.frameworks.operations import Operations, Place, Sql
from pubcheck.postgres.tokens import in_quotes, quote_literal
from pubcheck.words import words

_TYPES = {
    "BigInt": "bigint",
    "Boolean": "boolean",
    "Bytes": "bytea",
    "DateTime": "timestamp(3) without time zone",
    "Decimal": "decimal(65, 30)",
    "Float": "double precision",
    "Int": "integer",
    "Json": "jsonb",
    "String": "text",
}
_NATIVE = {
    name: name
    for name in words("""
    bigint bit boolean bytea char citext date decimal inet integer json jsonb money oid real smallint text time
    timestamp timestamptz timetz uuid varbit varchar xml
""")
} | {
    "doubleprecision": "double precision",
}
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_ASIDE = re.compile(rf"({_STRING})|//[^\n]*")
_BLOCK = re.compile(r"^[ \t]*(?P<kind>model|enum|datasource)[ \t]+(?P<name>\w+)[ \t]*\{(?P<body>[^}]*)\}", re.M)
_FIELD = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z]\w*)[ \t]+(?P<type>\w+(?:\([^)\n]*\))?)(?P<mark>\?|\[\])?(?P<rest>[^\n]*)$", re.M
)
_ATTRIBUTE = re.compile(r"^[ \t]*@@(?P<name>\w+)(?:\((?P<arguments>[^\n]*)\))?[ \t]*$", re.M)
_PROVIDER = re.compile(r'\bprovider\s*=\s*"(?:postgresql|postgres)"')
_MAPPED = re.compile(rf"@map\(\s*(?:name\s*:\s*)?({_STRING})")
_WITHOUT_KEYS = re.compile(r'\brelationMode\s*=\s*"prisma"')
_ACTIONS = {
    "Cascade": "CASCADE",
    "NoAction": "NO ACTION",
    "Restrict": "RESTRICT",
    "SetDefault": "SET DEFAULT",
    "SetNull": "SET NULL",
}
_LONGEST = 63
"""Bytes of a name; Prisma shortens longer ones in its own way."""
_NAMED = re.compile(rf"\bmap\s*:\s*({_STRING})")
_NATIVE_TYPE = re.compile(r"@\w+\.(?P<name>\w+)(?:\((?P<size>[\d,\s]+)\))?")


class _Field(Struct):
    name: str
    place: Place
    column: str
    definition: str
    key: bool
    unique: str | None


def prisma(text: str) -> Operations | None:
    """Return the tables of a schema; None if it is not for PostgreSQL."""
    plain = _ASIDE.sub(lambda aside: aside[1] or " " * len(aside[0]), text)
    # A block that does not end would be looked for from each of its lines.
    blocks = list(_BLOCK.finditer(plain, 0, plain.rfind("}") + 1))
    if not any(block["kind"] == "datasource" and _PROVIDER.search(block["body"]) for block in blocks):
        return None
    operations = Operations()
    models = [block["name"] for block in blocks if block["kind"] == "model"]
    enums = {block["name"]: _enum(block) for block in blocks if block["kind"] == "enum"}
    for block in blocks:
        if block["kind"] == "enum":
            labels = [label[1] for label in re.finditer(r"^[ \t]*([A-Za-z]\w*)", block["body"], re.M)]
            mapped = {
                label[1]: _sql_name(label[2])
                for label in re.finditer(rf"^[ \t]*(\w+)[ \t]+@map\(({_STRING})", block["body"], re.M)
            }
            listed = ", ".join(quote_literal(mapped.get(label, label)) for label in labels)
            sql = Sql(block.span()).add("CREATE TYPE ").name(enums[block["name"]], block.span("name"))
            operations.calls.append(sql.add(f" AS ENUM ({listed})").call())
    tables = {block["name"]: _Table(block, set(models), enums) for block in blocks if block["kind"] == "model"}
    for table in tables.values():
        table.create(operations)
    for table in tables.values() if not _WITHOUT_KEYS.search(plain) else ():
        table.refer(operations, tables)
    return operations


def _sql_name(written: str) -> str:
    return re.sub(r"\\(.)", r"\1", written[1:-1])


def _enum(block: re.Match[str]) -> str:
    mapped = re.search(rf"@@map\(\s*({_STRING})", block["body"])
    return _sql_name(mapped[1]) if mapped else block["name"]


class _Table:
    """The table of a model."""

    def __init__(self, block: re.Match[str], models: set[str], enums: dict[str, str]) -> None:
        self.block = block
        body, offset = block["body"], block.start("body")
        self.attributes = [(match["name"], match["arguments"] or "") for match in _ATTRIBUTE.finditer(body)]
        attributes = dict(self.attributes)
        mapped = re.search(_STRING, attributes.get("map", ""))
        schema = re.search(_STRING, attributes.get("schema", ""))
        self.name = _sql_name(mapped[0]) if mapped else block["name"]
        self.target = f"{in_quotes(_sql_name(schema[0]))}.{in_quotes(self.name)}" if schema else in_quotes(self.name)
        written = list(_FIELD.finditer(body))
        fields = [_field(match, offset, enums) for match in written if match["type"] not in models]
        self.fields = [field for field in fields if field is not None]
        self.columns = {field.name: field.column for field in self.fields}

    def create(self, operations: Operations) -> None:
        sql = Sql(self.block.span()).add("CREATE TABLE ").add(self.target, self.block.span("name")).add(" (")
        for number, field in enumerate(self.fields):
            sql.add(", " if number else "").add(in_quotes(field.column), field.place).add(field.definition)
        id_arguments = dict(self.attributes).get("id", "")
        keys = [field.column for field in self.fields if field.key] or self._listed(id_arguments)
        if keys:
            name = _constraint(id_arguments, f"{self.name}_pkey")
            sql.add(f", CONSTRAINT {in_quotes(name)} PRIMARY KEY ({', '.join(map(in_quotes, keys))})")
        operations.calls.append(sql.add(")").call())
        unique = [(field.unique, [field.column]) for field in self.fields if field.unique is not None]
        unique += [(_constraint(text, ""), self._listed(text)) for name, text in self.attributes if name == "unique"]
        for name, listed in unique:
            name = name or f"{self.name}_{'_'.join(listed)}_key"
            if listed and len(name) <= _LONGEST:
                words = f"CREATE UNIQUE INDEX {in_quotes(name)} ON {self.target} ({', '.join(map(in_quotes, listed))})"
                operations.calls.append(Sql(self.block.span()).add(words).call())

    def refer(self, operations: Operations, tables: Mapping[str, _Table]) -> None:
        """Add the foreign keys."""
        for field in _FIELD.finditer(self.block["body"]):
            target_table = tables.get(field["type"])
            relation = re.search(r"@relation\(([^\n]*)\)", field["rest"])
            if target_table is None or relation is None:
                continue
            own, far = (re.search(rf"\b{key}\s*:\s*\[[^\]]*\]", relation[1]) for key in ("fields", "references"))
            columns = self._listed(own[0]) if own else []
            far_columns = target_table._listed(far[0]) if far else []
            if not columns or len(columns) != len(far_columns):
                continue
            action = re.search(r"\bonDelete\s*:\s*(\w+)", relation[1])
            word = action[1] if action else "SetNull" if field["mark"] == "?" else "Restrict"
            name = _constraint(relation[1], f"{self.name}_{'_'.join(columns)}_fkey")
            words = f"ALTER TABLE {self.target} ADD CONSTRAINT {in_quotes(name)} FOREIGN KEY"
            targets = ", ".join(map(in_quotes, far_columns))
            words += f" ({', '.join(map(in_quotes, columns))}) REFERENCES {target_table.target} ({targets})"
            if word in _ACTIONS and len(name) <= _LONGEST:
                operations.calls.append(Sql(self.block.span()).add(f"{words} ON DELETE {_ACTIONS[word]}").call())

    def _listed(self, arguments: str) -> list[str]:
        """Return the columns of the fields that an attribute lists; none if one of them is not a column."""
        listed = re.search(r"\[([^\]]*)\]", arguments)
        names = re.findall(r"[A-Za-z]\w*", re.sub(r"\([^)]*\)", "", listed[1])) if listed else []
        known = all(name in self.columns for name in names)
        return [self.columns[name] for name in names] if known else []


def _field(match: re.Match[str], offset: int, enums: dict[str, str]) -> _Field | None:
    rest, type = match["rest"], match["type"]
    if "@ignore" in rest and type not in _TYPES:
        return None
    mapped = _MAPPED.search(rest)
    native = _NATIVE_TYPE.search(rest)
    if native is not None:
        name = native["name"].lower()
        sql = _NATIVE.get(name, in_quotes(native["name"])) + (f"({native['size']})" if native["size"] else "")
    elif type in enums:
        sql = in_quotes(enums[type])
    else:
        unsupported = re.search(_STRING, type)
        sql = _sql_name(unsupported[0]) if unsupported else _TYPES.get(type, in_quotes(type))
    sql += "[]" if match["mark"] == "[]" else "" if match["mark"] == "?" else " NOT NULL"
    unique = re.search(r"@unique\b(\([^)\n]*\))?", rest)
    start, end = match.span("name")
    return _Field(
        match["name"],
        (offset + start, offset + end),
        _sql_name(mapped[1]) if mapped else match["name"],
        f" {sql}",
        re.search(r"(?<!@)@id\b", rest) is not None,
        _constraint(unique[1] or "", "") if unique else None,
    )


def _constraint(arguments: str, otherwise: str) -> str:
    named = _NAMED.search(arguments)
    return _sql_name(named[1]) if named else otherwise
