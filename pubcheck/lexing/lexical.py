"""The lexical rules of PostgreSQL's ``src/backend/parser/scan.l`` and psql's ``src/fe_utils/psqlscan.l``.

The keywords, and patterns, of which every one costs time linear in the length of its text.
"""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile

# PostgreSQL's whitespace: no more than these, so that a no-break space is a letter (scan.l: space, ident_start).
BLANKS = " \t\n\r\f\v"

# Character classes of scan.l. They are negations over ASCII because everything above it is a letter to scan.l, and
# because a class with a range beyond 0xff is slow to compile.
_START = r"[^\x00-@\[-^`{-\x7f]"  # ident_start, dolq_start
CONT = r"[^\x00-#%-/:-@\[-^`{-\x7f]"  # ident_cont
_WORD_CHAR = r"[^\x00-/:-@\[-^`{-\x7f]"  # dolq_cont, psqlscan.l's variable_char
_WORD = rf"{_START}{CONT}*+"
GAP = r"(?:[ \t\n\r\f\v]++|--[^\n\r]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+"
_ORDINARY = r"""[^'"$;\\()/:\-]++"""
_QUOTED_NAME = r'"[^"]*+"'

# A colon that begins no variable: a typecast, an assignment, or one before neither name, quote nor {?.
_COLON = r""":(?:[:=]|(?![^\x00-!#-&(-/:-@\[-^`|-\x7f]))"""
_OPERATORS = rf"-(?!-)|/(?!\*)|{_COLON}"


def _literal(conforming: bool) -> str:
    """Return a literal without escapes: no backslash if it would escape, and no E'' (the text before it shows it)."""
    return r"(?<![eE])'[^']*+'" if conforming else r"(?<![eE])'[^'\\]*+'"


def whole(conforming: bool, dollars: bool, returns: bool, depth: int) -> re.Pattern[str]:
    """Return an ordinary statement in one match: group 1 is it, 2 its first word.

    ``dollars``: the text has dollar signs. Their patterns are a third of the time that compiling takes. ``returns``: it
    has carriage returns. Without them the comments, half of a dump, take a quarter of the time. ``depth`` is how deep
    its parentheses may be nested; compiling takes a third of a millisecond more for each level.
    No group is within a possessive repeat: re then raises SystemError (CPython issue 101955, Python 3.11).
    """
    quotes = f"{_literal(conforming)}|{_QUOTED_NAME}"
    comment = r"--[^\n\r]*+" if returns else "--.*+"
    ordinary = rf"{_ORDINARY}|{quotes}|{comment}|{_OPERATORS}"
    nested = ""
    for _ in range(depth):
        nested = rf"|\((?:{ordinary}{nested})*+\)"
    tags = ("", "_", "function", "body", "BODY") if dollars else ()
    quoted = "".join(rf"|(?<!{CONT})\${tag}\$(?:[^$]++|\$(?!{tag}\$))*+\${tag}\$" for tag in tags)
    token = rf"{ordinary}{nested}{quoted}"
    return re.compile(rf"(?:[ \t\n\r\f\v;]++|{comment})*+(({_WORD})(?:{token})*+);")


def run(conforming: bool, routine: bool) -> re.Pattern[str]:
    """Text without tokens that need a decision. In a routine BEGIN, CASE and END are such tokens."""
    words = rf"[\x00-!#%&*+,.0-9<-@\[\]^`{{-\x7f]++|(?!(?ai:begin|case|end)(?!{CONT})){_WORD}" if routine else _ORDINARY
    return re.compile(rf"(?:{words}|{_literal(conforming)}|{_QUOTED_NAME}|{_OPERATORS})*+")


SKIPPED = lazy_compile(r"(?:[ \t\n\r\f\v;]++|--[^\n\r]*+)*+")
LINE_REST = lazy_compile(r"[^\n\r]*+")
FIRST_WORD = lazy_compile(rf"(?:[( \t\n\r\f\v]++)?+({_WORD})")
_CONTINUED = r"(?:[ \t\f\v]++|--[^\n\r]*+)*+[\n\r](?:[ \t\n\r\f\v]++|--[^\n\r]*+[\n\r])*+"  # scan.l: quotecontinue
UNESCAPED = lazy_compile(r"'[^']*+'")
_ESCAPED_BODY = r"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
ESCAPED = lazy_compile(_ESCAPED_BODY, re.DOTALL)
ESCAPED_CONTINUED = lazy_compile(rf"{_ESCAPED_BODY}(?:{_CONTINUED}{_ESCAPED_BODY})*+", re.DOTALL)
ESCAPE = lazy_compile(r"\\.", re.DOTALL)
E_PREFIX = lazy_compile(rf"(?<!{CONT})[eE]'")
B_OR_X_PREFIX = lazy_compile(rf"(?<!{CONT})[bBxX]'")
U_PREFIX = lazy_compile(rf"(?<!{CONT})[uU]&'")
DOLLAR_QUOTE = lazy_compile(rf"\$(?:{_START}{_WORD_CHAR}*+)?+\$")
DOLLAR_QUOTES = lazy_compile(rf"\$(?=((?:{_START}{_WORD_CHAR}*+)?+\$))")
NAME_REST = lazy_compile(rf"{CONT}*+")
NAME_START = lazy_compile(_START)
COMMENT_MARK = lazy_compile(r"/\*|\*/")
VARIABLE = lazy_compile(rf""":(?:{_WORD_CHAR}++|'{_WORD_CHAR}++'|"{_WORD_CHAR}++"|\{{\?{_WORD_CHAR}++\}})""")

# psqlscan.l counts CREATE, OR, REPLACE, FUNCTION and PROCEDURE as a statement's first words. It takes any BEGIN for a
# body; only BEGIN ATOMIC is one (gram.y: opt_routine_body), and so a routine named "begin" does no harm here.
ROUTINE = lazy_compile(
    rf"(?ai:create){GAP}(?:(?ai:or){GAP}(?ai:replace){GAP})?+(?ai:function|procedure)(?!{CONT})",
)
ATOMIC = lazy_compile(rf"{GAP}(?ai:atomic)(?!{CONT})")
_COPIED_NAME = rf'(?:"[^"]*+"|:?"?{_WORD}"?)'

# Patterns kept as text are needed by few files and compiled (and kept by re) when they are.
_COPY_STDIN = (
    rf"(?ai:copy)(?!{CONT}){GAP}(?:(?ai:binary)(?!{CONT}){GAP})?+{_COPIED_NAME}(?:{GAP}\.{GAP}{_COPIED_NAME})*+"
    rf'{GAP}(?:\((?:[^()"]++|"[^"]*+")*+\){GAP})?+(?ai:from){GAP}(?ai:stdin)(?!{CONT})'
)

# psql's meta-commands. Those that send the query buffer end the statement before them; those that read a whole line
# take quotes and backslashes as they come (psql's command.c: exec_command, OT_WHOLE_LINE). Before it quits in a script
# psql sends what it has (mainloop.c). \gdesc describes the result of a statement without running it.
SENDING = frozenset(("g", "gx", "gset", "gexec", "crosstabview", "watch", "sendpipeline", "q", "quit"))
REPEATING = frozenset(("g", "gx", "gset", "gexec", "crosstabview", "watch"))
"""Commands that repeat the last query if there is none before them."""
PREPARING = frozenset(("parse",))
RESETTING = frozenset(("r", "reset", "gdesc"))
CONDITIONS = frozenset(("if", "elif", "else", "endif"))
WHOLE_LINE = frozenset(("copy", "h", "help", "ef", "ev", "sf", "sf+", "sv", "sv+"))
COMMAND_NAME = lazy_compile(r"\\([^ \t\n\r\f\v\\]*+)")
COMMAND_REST = lazy_compile(r"""(?:[^\\\n\r'"`]++|'(?:[^'\\\n\r]++|\\[^\n\r])*+'|"[^"\n\r]*+"|`[^`\n\r]*+`|['"`])*+""")

# Where a statement can be taken up again after one that could not be parsed: a line that begins with one of these.
RESTART = lazy_compile(rf"[\n\r][ \t\f\v]*+((?ai:create|alter|drop|do)(?!{CONT}))")


def is_copy_stdin(sql: str) -> bool:
    return re.match(_COPY_STDIN, sql) is not None


# Keywords of PostgreSQL's grammar that are not plain names (src/include/parser/kwlist.h).

_RESERVED = """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
    column concurrently constraint create cross current_catalog current_date current_role current_schema
    current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for
    foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral
    leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps
    placing primary references returning right select session_user similar some symmetric system_user table
    tablesample then to trailing true union unique user using variadic verbose when where window with
"""
_COLUMN_NAMES = """
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int
    integer interval least national nchar none normalize nullif numeric out overlay position precision real row
    setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
"""
LATER = {
    16: "json_array json_arrayagg json_object json_objectagg system_user",
    17: "json json_exists json_query json_scalar json_serialize json_table json_value merge_action",
}

RESERVED = frozenset(_RESERVED.split())
"""Words that name no table, column or role unless they are quoted (RESERVED_KEYWORD and TYPE_FUNC_NAME_KEYWORD of
PostgreSQL 18)."""
QUOTED_SINCE = {
    **dict.fromkeys((*RESERVED, *_COLUMN_NAMES.split()), 15),
    **{word: major for major, words in LATER.items() for word in words.split()},
}
"""The words that quote_identifier quotes, RESERVED and COL_NAME_KEYWORD, with the first major that does (15 for any
earlier one)."""
