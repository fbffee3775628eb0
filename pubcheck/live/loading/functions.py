"""Functions and procedures."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import NORMAL, PROC, TYPE
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.ddl.functions import create_function
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse


def function(loading: Loading, row: records.Function) -> None:
    refs = loading.refs
    namespace = loading.enter(PROC, row)
    arguments = tuple(map(refs.type, row.arguments))
    loading.catalog.add(
        Proc(
            row.oid,
            row.name,
            namespace,
            refs.role(row.owner),
            row.type,
            arguments,
            refs.type(row.returns),
            volatility=row.volatility,
            variadic=refs.type(row.variadic),
            defaults=row.defaults,
            returns_set=row.returns_set,
            strict=row.strict,
            modes=row.modes or ("i",) * len(arguments) * bool(row.argument_names),
            argument_names=row.argument_names,
            parameters=tuple(map(refs.type, row.parameters)),
            definer=row.definer,
            inlined=row.language == "sql",
        )
    )
    for oid in {*arguments, refs.type(row.returns)}:
        loading.catalog.depend((PROC, row.oid, 0), (TYPE, oid, 0), NORMAL)
    loading.depend_on((PROC, row.oid, 0), row.uses)


def read_definitions(loading: Loading) -> None:
    """Read the bodies of the functions whose calls may change something.

    The effect of a body that calls another function is known once that one was read, so they are read again until
    nothing new is known.
    """
    procs, before = loading.catalog.procs, dict[int, str]()
    while True:
        effects = dict[int, str]()
        for row in loading.objects():
            if isinstance(row, records.Function) and row.definition:
                _read_definition(loading, row)
                effects[row.oid] = procs[row.oid].effect
        if effects == before:
            return
        before = effects


def _read_definition(loading: Loading, row: records.Function) -> None:
    """Read the body of a function whose calls may change something, as its CREATE OR REPLACE FUNCTION does."""
    session, catalog = loading.session, loading.catalog
    known = catalog.procs[row.oid]
    session.begin_statement(loading.source, loading.number, row.definition)
    mark = catalog.journal.mark()
    try:
        statement = parse(row.definition)
        if statement is not None:
            create_function(session, statement[1])
    except (ServerError, SyntaxRefused, TooDeep):
        # What it does is not known.
        catalog.journal.undo(mark)
        catalog.procs.put(row.oid, replace(known, effect="t"))
