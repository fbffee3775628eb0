"""Expressions of a wanted type out of columns, literals, functions, operators and casts, to a wanted depth."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.differential.filters.catalog import Cast, Catalog, Operator, Proc
from tests.differential.filters.literals import literal_text, plain_text
from tests.differential.filters.schemas import COMMON, Column, Table, World
from tests.differential.filters.trees import Tree, joined, sql
from tests.support.generating import Choices, quoted

FIRST_NORMAL_OID = 16384
_NUMBERS = {"smallint", "integer", "bigint", "numeric", "real", "double precision", "oid"}
TYPMODS = {
    "character varying": ("varchar(3)", "character varying(20)", "varchar(0)", "varchar(10485761)", "varchar(1,2)",
        "varchar('a')"),
    "bpchar": ("char(3)", "character(1)", "char", "nchar(2)", "char(0)"),
    "numeric": ("numeric(5,2)", "numeric(3)", "decimal(1000,0)", "numeric(2000)", "numeric(3,-2)", "numeric(2,5)",
        "numeric(1,2,3)"),
    "bit": ("bit(4)", "bit", "bit(0)"),
    "bit varying": ("varbit(8)", "bit varying(1)"),
    "timestamp without time zone": ("timestamp(3)", "timestamp(0)", "timestamp(9)"),
    "timestamp with time zone": ("timestamptz(2)", "timestamp(0) with time zone", "timestamptz(7)"),
    "time without time zone": ("time(3)", "time(9)"),
    "time with time zone": ("timetz(0)",),
    "interval": ("interval day to second", "interval(3)", "interval hour", "interval second(2)",
        "interval year to month"),
    "double precision": ("float", "float(20)", "float(53)", "float(60)", "float8"),
    "integer": ("int", "int4", "pg_catalog.int4", "int(3)"),
    "text": ("pg_catalog.text", "text(3)"),
}  # fmt: skip
_GENERATED = {"s": "stored generated column", "v": "virtual generated column"}
_WRITTEN = {
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "time without time zone": "time",
    "time with time zone": "timetz",
    "character varying": "varchar",
    "integer": "int",
    "boolean": "bool",
    "double precision": "float8",
    "bit varying": "varbit",
}


class Maker(Choices):
    """Makes expressions over one table. ``clean``: of what the server accepts, as far as it can be told here."""

    def __init__(self, random: Random, catalog: Catalog, world: World, table: Table) -> None:
        super().__init__(random)
        self.catalog, self.world, self.table = catalog, world, table
        self.major = catalog.major
        self.clean = True
        self.constructs: Callable[[Maker, str, int], Tree | None] = lambda maker, type_, depth: None
        """Makes something other than a call or a cast of a type; set by the module of constructs."""

    # Choices.

    def noise(self, share: float) -> bool:
        return not self.clean and self.random.random() < share

    def any_type(self) -> str:
        if self.chance(0.35):
            return self.random.choice(self.table.columns).type
        if self.clean or self.chance(0.7):
            return self.random.choice(COMMON)
        return self.random.choice([name for name, type_ in self.world.types.items() if type_.kind != "p"])

    # Columns.

    def column(self, type_: str) -> Tree | None:
        columns = self.table.of_type(type_)
        if self.clean:
            columns = [column for column in columns if not column.user_collation]
        return self.reference(self.random.choice(columns)) if columns else None

    def any_column(self) -> Tree:
        return self.reference(self.random.choice(self.table.columns))

    def reference(self, column: Column) -> Tree:
        """A column in one of the forms that name it."""
        type_ = self.world.types.get(column.type)
        if column.generated:
            return sql(column.name, type=column.type, tag=_GENERATED[column.generated])
        kind = {"e": " of an enum", "d": " of a domain", "c": " of a row type",
            "r": " of a range"}.get(type_.kind if type_ else "", "")  # fmt: skip
        tag = f"column{kind}" if kind else ""
        how = self.random.random()
        if how < 0.86:
            return sql(column.name, type=column.type, tag=tag)
        if how < 0.91:
            return sql(f"{self.table.name}.{column.name}", type=column.type, tag="qualified column")
        if how < 0.94:
            return sql(
                f"{self.table.schema}.{self.table.name}.{column.name}", type=column.type, tag="schema-qualified column"
            )
        if how < 0.97 and not column.name.startswith('"'):
            text = self.pick(f'"{column.name}"', column.name.upper())
            return sql(text, type=column.type, tag="quoted column")
        if how < 0.985:
            return sql(f"({self.table.name}).{column.name}", type=column.type, tag="field of the whole row")
        return sql(f"{column.name}({self.table.name})", type=column.type, tag="column written as a function")

    # Literals.

    def literal(self, type_: str, exact: bool) -> Tree:
        """A constant meant for a type; ``exact``: certainly of it, where its text is."""
        if type_ in _NUMBERS and self.chance(0.45):
            text = self.number(type_)
            if not exact or type_ == "integer":
                return sql(text, type=type_, tag="number")
            return sql(f"{text}::{self.type_name(type_)}", type=type_, tag="number cast")
        if type_ == "boolean" and self.chance(0.5):
            return sql(self.pick("true", "false"), type=type_)
        if type_ in ("bit", "bit varying") and not exact and self.chance(0.3):
            return sql(self.pick("B'0101'", "X'1F'", "B''", "b'1'"), type=type_, tag="bit string constant")
        plain = plain_text(self.random, self.world.types, type_)
        if plain is None or (not self.clean and self.chance(0.6)):
            plain = literal_text(self.random, self.world.types, type_, 0.2)
        tag = f"literal of {self.kind(type_)}"
        text = self.written(plain)
        if not exact and self.chance(0.7):
            return sql(text, type=type_, tag=tag)
        name = self.type_name(type_)
        how = self.random.random()
        if how < 0.6 or "[" in name:
            return sql(f"{text}::{name}", type=type_, tag=tag)
        if how < 0.75:
            return sql(f"CAST({text} AS {name})", type=type_, tag=tag)
        return sql(f"{name} {text}", type=type_, tag=tag)

    def kind(self, type_: str) -> str:
        """What a literal's type is called in the totals: built-in ones by name, arrays and made ones by kind."""
        known = self.world.types.get(type_)
        if known is None or known.element:
            return "an array"
        if type_ in self.catalog.types:
            return "a pseudo-type" if known.kind == "p" else type_
        return {"e": "an enum", "d": "a domain", "c": "a row type", "r": "a made range"}.get(known.kind, "a made type")

    def written(self, text: str) -> str:
        """A text as a string constant in one of the forms there are."""
        how = self.random.random()
        if how < 0.93 or not text.isascii():
            return quoted(text)
        if how < 0.95:
            return "E" + quoted(text.replace("\\", "\\\\"))
        if how < 0.97 and "$$" not in text and not text.endswith("$"):
            return f"$${text}$$"
        if how < 0.98 and "\\" not in text:
            return "U&" + quoted(text)
        return quoted(text)

    def number(self, type_: str) -> str:
        if type_ in ("smallint", "integer", "oid") or self.chance(0.5):
            return self.pick("0", "1", "2", "5", "42", "100")
        if type_ == "bigint":
            return self.pick("3000000000", "1", "9223372036854775807")
        return self.pick("1.5", "0.25", "1e3", "12345678901234567890", ".5", "2.", "1e-5", "9223372036854775808")

    def type_name(self, type_: str) -> str:
        """A type's name in one of its spellings."""
        if not self.clean and type_ in TYPMODS and self.chance(0.15):
            return self.random.choice(TYPMODS[type_])
        if type_ in _WRITTEN and self.chance(0.5):
            return _WRITTEN[type_]
        if type_.endswith("[]") and type_[:-2] in _WRITTEN and self.chance(0.5):
            return _WRITTEN[type_[:-2]] + self.pick("[]", "[]", "[3]", "[][]", " ARRAY")
        return type_

    # Anything of a type.

    def expr(self, want: str, depth: int, exact: bool = False) -> Tree:
        """An expression meant to be of a type; ``exact`` leaves out what only becomes of it (literals of no type)."""
        if want in _PSEUDO:
            return self.pseudo(want, depth, exact)
        if not exact and self.noise(0.06):
            want = self.any_type()
        if depth > 0:
            how = self.random.random()
            made: Tree | None = None
            if how < 0.24:
                made = self.function(want, depth)
            elif how < 0.42:
                made = self.operation(want, depth)
            elif how < 0.52:
                made = self.cast_to(want, depth)
            elif how < 0.62:
                made = self.constructs(self, want, depth)
            if made is not None:
                return made
        return self.leaf(want, exact)

    def leaf(self, want: str, exact: bool = False) -> Tree:
        if self.chance(0.7):
            column = self.column(want)
            if column is not None:
                return column
        if not exact and self.chance(0.04):
            return sql("NULL", type=want, tag="NULL")
        if self.noise(0.03):
            return self.any_column()
        return self.literal(want, exact)

    def pseudo(self, want: str, depth: int, exact: bool) -> Tree:
        if want == "record":
            if self.chance(0.15):
                return sql(self.table.name, type=want, tag="whole row")
            items = [self.expr(self.any_type(), depth - 1, exact=True) for _ in range(self.random.choice((1, 2, 2, 3)))]
            return Tree(joined(", ", items, "ROW(", ")"), want, "ROW")
        if want == "cstring":
            return sql(f"{quoted(plain_text(self.random, self.world.types, 'text') or 'a')}::cstring", type=want)
        if want == '"any"':
            return self.expr(self.any_type(), depth, exact)
        if want in POLYMORPHIC and self.chance(0.9):
            return self.expr(self.binding([want])[want], depth, exact)
        return sql(f"NULL::{want}", type=want, tag="NULL of a pseudo-type")

    # Functions.

    def function(self, want: str, depth: int) -> Tree | None:
        index = self.world.made if not self.clean and self.chance(0.3) else self.catalog.index
        candidates = index.functions.get(want, [])
        if self.clean:
            candidates = [proc for proc in candidates if proc.volatility == "i" and "cstring" not in proc.arguments]
        generic = index.functions.get("anyarray" if want.endswith("[]") else "anyelement", ())
        if generic and (not candidates or self.chance(0.08)):
            proc = self.random.choice(list(generic))
            bound = self.binding(list(proc.arguments))
            bound["anyelement"] = want
            bound["anyarray"] = want if want.endswith("[]") else f"{want}[]"
            if want.endswith("[]") and proc.result == "anyarray":
                bound["anyelement"] = bound["anynonarray"] = want[:-2]
            return self.call(proc, depth, bound)
        return self.call(self.random.choice(candidates), depth) if candidates else None

    def call(self, proc: Proc, depth: int, bound: dict[str, str] | None = None, exact: bool | None = None) -> Tree:
        """A call of a function with arguments that fit it, as a rule; ``exact``: with arguments of its very types."""
        if exact is None:
            exact = self.clean and self.chance(0.5)
        bound = bound if bound is not None else self.binding(list(proc.arguments))
        types = [bound.get(type_, type_) for type_ in proc.arguments]
        tag = "function" if proc.oid < FIRST_NORMAL_OID else "user function"
        last = ""
        if proc.variadic:
            element = bound.get(proc.variadic, proc.variadic)
            if self.chance(0.3):
                tag, last = "VARIADIC array", "VARIADIC "
                types[-1] = types[-1] if types[-1] != '"any"' else "text[]"
            else:
                tag = "variadic function"
                types[-1:] = [element] * self.random.choice((0, 1, 1, 2, 3) if not exact else (1, 2))
        if proc.defaults and not proc.variadic and self.chance(0.4):
            tag = "default arguments"
            del types[len(types) - self.random.randint(1, proc.defaults) :]
        if self.noise(0.04):
            types = types[:-1] if self.chance(0.5) else [*types, self.any_type()]
        arguments = [self.argument(type_, depth - 1, exact) for type_ in types]
        if last and arguments:
            arguments[-1] = sql(last + "{}", arguments[-1])
        elif not self.clean and proc.inputs and all(proc.inputs) and self.chance(0.25):
            tag = "named arguments"
            first = self.random.randint(0, len(arguments))
            arrow = self.pick(" => ", " := ")
            for number in range(first, min(len(arguments), len(proc.inputs))):
                name = proc.inputs[number] if not self.chance(0.05) else self.pick("nosuch", proc.inputs[0])
                arguments[number] = sql(f"{name}{arrow}{{}}", arguments[number])
        name = self.called(proc)
        return Tree(joined(", ", arguments, f"{name}(", ")"), bound.get(proc.result, proc.result), tag, (proc.oid,))

    def called(self, proc: Proc) -> str:
        how = self.random.random()
        if proc.schema not in ("pg_catalog", "public") or how < 0.06:
            return f"{proc.schema}.{proc.name}" if how < 0.85 else proc.name
        return proc.name.upper() if how > 0.98 and not proc.name.startswith('"') else proc.name

    def argument(self, type_: str, depth: int, exact: bool) -> Tree:
        if not exact and self.noise(0.08):
            return self.expr(self.any_type(), depth)
        return self.expr(type_, depth, exact)

    def binding(self, types: list[str]) -> dict[str, str]:
        """What the polymorphic types of one call stand for."""
        wanted = [type_ for type_ in types if type_ in POLYMORPHIC]
        if not wanted:
            return {}
        ranges = any("range" in type_ for type_ in wanted)
        enums = self.world.kinds("e") if "anyenum" in wanted else []
        if ranges:
            element = self.random.choice(list(RANGES))
        elif enums:
            element = self.random.choice(enums)
        else:
            element = self.any_type()
            while element.endswith("[]") or element not in self.world.types or not self.world.types[element].array:
                element = self.random.choice(COMMON)
        bound = {}
        for prefix in ("any", "anycompatible"):
            chosen = element
            bound[f"{prefix}element" if prefix == "any" else prefix] = chosen
            bound[f"{prefix}nonarray"] = chosen
            bound[f"{prefix}array"] = self.world.types[chosen].array
            range_ = RANGES.get(chosen, "int4range")
            bound[f"{prefix}range"] = range_
            bound[f"{prefix}multirange"] = range_.replace("range", "multirange")
        bound["anyenum"] = element
        return bound

    # Operators.

    def operation(self, want: str, depth: int) -> Tree | None:
        index = self.world.made if not self.clean and self.chance(0.25) else self.catalog.index
        candidates = index.operators.get(want, [])
        if self.clean:
            candidates = [operator for operator in candidates if operator.volatility == "i"]
        return self.apply(self.random.choice(candidates), depth) if candidates else None

    def apply(self, operator: Operator, depth: int, left: Tree | None = None, exact: bool | None = None) -> Tree:
        """An operator between operands that fit it; a literal of no type on one side only, as a rule."""
        sides = [side for side in (operator.left, operator.right) if side]
        bound = self.binding(sides)
        exact = self.clean and self.chance(0.4) if exact is None else exact
        written = operator.name
        tag = "operator" if operator.left else "prefix operator"
        if operator.oid >= FIRST_NORMAL_OID:
            tag = "user operator"
        if operator.schema not in ("pg_catalog", "public") or self.chance(0.04):
            written, tag = f"OPERATOR({operator.schema}.{operator.name})", "OPERATOR()"
        right = self.argument(bound.get(operator.right, operator.right), depth - 1, exact)
        result = bound.get(operator.result, operator.result)
        if not operator.left:
            return sql(f"({written} {{}})", right, type=result, tag=tag, uses=(operator.oid,))
        if left is None:
            left = self.argument(bound.get(operator.left, operator.left), depth - 1, exact or self.chance(0.8))
        return sql(f"({{}} {written} {{}})", left, right, type=result, tag=tag, uses=(operator.oid,))

    # Casts.

    def cast_to(self, want: str, depth: int) -> Tree | None:
        index = self.world.made if not self.clean and self.chance(0.2) else self.catalog.index
        known = index.casts.get(want, [])
        if self.clean:
            known = [cast for cast in known if cast.volatility == "i" and cast.method != "i"]
            return self.cast(self.random.choice(known), depth) if known else None
        source = self.random.choice(known).source if known and self.chance(0.6) else self.any_type()
        return self.cast(Cast(source, want, "e", "i"), depth)

    def cast(self, cast: Cast, depth: int) -> Tree:
        operand = self.expr(cast.source, depth - 1, exact=self.chance(0.9))
        target = self.type_name(cast.target)
        how = self.random.random()
        if how < 0.65:
            return sql(f"({{}})::{target}", operand, type=cast.target, tag="cast")
        if how < 0.9 or not cast.target.isalpha():
            return sql(f"CAST({{}} AS {target})", operand, type=cast.target, tag="cast")
        return sql(
            f"{_WRITTEN.get(cast.target, cast.target)}({{}})",
            operand,
            type=cast.target,
            tag="cast written as a function",
        )

    # Conditions.

    def condition(self, depth: int) -> Tree:
        """A boolean expression."""
        how = self.random.random()
        if how < 0.12:
            items = [self.condition(depth - 1) for _ in range(self.random.choice((2, 2, 3)))] if depth > 0 else []
            if items:
                return Tree(joined(self.pick(" AND ", " OR "), items, "(", ")"), "boolean", "AND, OR")
        if how < 0.16:
            return sql("(NOT {})", self.expr("boolean", depth - 1), type="boolean", tag="NOT")
        if how < 0.3:
            return self.expr("boolean", depth)
        return self.about(self.expr(self.any_type(), depth - 1, exact=True), depth - 1)

    def about(self, tree: Tree, depth: int) -> Tree:
        """A boolean expression about the value of another one."""
        if tree.type == "boolean" and self.chance(0.8):
            return tree
        tests = self.catalog.index.tests.get(tree.type, [])
        if self.clean:
            tests = [operator for operator in tests if operator.volatility == "i"]
        elif self.chance(0.2) and self.world.made.tests.get(tree.type):
            tests = self.world.made.tests[tree.type]
        how = self.random.random()
        if tests and how < 0.65:
            return self.apply(self.random.choice(tests), depth, left=tree)
        equal = any(operator.name == "=" for operator in tests)
        if equal and how < 0.8:
            other = self.expr(tree.type, depth)
            form = self.pick(
                "({} IS DISTINCT FROM {})", "({} = {})", "({} <> {})", "({} IN ({}))", "({} IS NOT DISTINCT FROM {})"
            )
            return sql(form, tree, other, type="boolean", tag="IS DISTINCT" if "DISTINCT" in form else "")
        return sql(self.pick("({} IS NOT NULL)", "({} IS NULL)", "({} NOTNULL)"), tree, type="boolean", tag="IS NULL")


POLYMORPHIC = {
    "anyelement", "anyarray", "anynonarray", "anyenum", "anyrange", "anymultirange", "anycompatible",
        "anycompatiblearray",
    "anycompatiblenonarray", "anycompatiblerange", "anycompatiblemultirange",
}  # fmt: skip
_PSEUDO = POLYMORPHIC | {"record", "cstring", '"any"', "void", "record[]", "pg_ddl_command"}
RANGES = {
    "integer": "int4range", "bigint": "int8range", "numeric": "numrange", "date": "daterange",
    "timestamp without time zone": "tsrange", "timestamp with time zone": "tstzrange",
}  # fmt: skip
