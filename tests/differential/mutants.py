"""`python -m tests.differential.mutants FIRST LAST [--major N]... [--ports FILE]`

Blocks of the corpus with a word too many, too few or in another place, on servers and through pubcheck: whatever is
certain of them must be the server's answer, to its position.
"""

from __future__ import annotations

import re
import sys
from random import Random

from pubcheck.postgres.tokens import tokens
from tests.differential.embedded import invented
from tests.support.cases import load
from tests.support.servers import asked, seeds_parser

SETUP = [
    "CREATE TABLE a (id int PRIMARY KEY, x int, y text)",
    "CREATE TABLE b (id int, x int)",
    "CREATE PUBLICATION p FOR TABLE a",
    "CREATE PUBLICATION q",
]
_BODY = re.compile(r"(\$\w*\$)(.*)\1", re.DOTALL)


def blocks() -> list[str]:
    """The DO blocks of the corpus that a server accepts, in dollar quotes."""
    cases = (case for case in load("plpgsql*") if case.answers[18].ok and case.statement.startswith("DO"))
    return [case.statement for case in cases if case.statement.isascii() and _BODY.search(case.statement)]


def mutant(block: str, random: Random) -> str:
    """The block with one change: semicolons are what is forgotten most."""
    match = _BODY.search(block)
    assert match is not None
    body = match[2]
    words = [(start, token.decode()) for _, token, start in tokens(body.encode())]
    semicolons = [number for number, (_, word) in enumerate(words[:-1]) if word == ";"]
    number = random.choice(semicolons if semicolons and random.random() < 0.4 else range(len(words) - 1))
    start, word = words[number]
    after, following = words[number + 1]
    change = "" if number in semicolons else random.choice(("", f"{word} {word}", f"{following} {word}"))
    end = after + len(following) if change.startswith(f"{following} ") and following != word else start + len(word)
    return block[: match.start(2)] + body[:start] + change + body[end:] + block[match.end(2) :]


def script(texts: list[str], seed: int) -> list[str]:
    """A script with a mutant of one of the blocks."""
    random = Random(seed)
    return [*SETUP, mutant(random.choice(texts), random)]


def main() -> int:
    options = seeds_parser("tests.differential.mutants", __doc__).parse_args()
    texts, total = blocks(), 0
    with asked(options) as servers:
        for seed in range(options.first, options.last):
            statements = script(texts, seed)
            for major in servers:
                for difference in invented(servers[major], statements):
                    total += 1
                    print(f"[{seed}/{major}] {difference.about}")
                    print(f"    server   {difference.server}\n    pubcheck {difference.pubcheck}")
    print(f"{options.last - options.first:,} blocks, {total} differences")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
