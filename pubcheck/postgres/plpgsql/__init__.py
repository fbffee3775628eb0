"""PL/pgSQL as far as it concerns publications: DO blocks and function bodies, run over the catalog in memory.

``program`` reads a body through libpg_query's own PL/pgSQL parser and finds its SQL in the text; ``compiling`` and
``declarations`` say what the server's compiler refuses, and where. ``interpret`` runs it: a ``machine`` with its
``memory`` and its ``doubt`` is handed to the functions of ``control``, ``loops``, ``exceptions``, ``assignment``,
``execution`` and ``calls``. ``evaluate``, ``functions`` and ``queries`` work out what its conditions say of the
``catalogs``; ``trial``, with ``bound`` and ``folding``, and ``commands`` say what fails, or may.

Of all this only ``routines``, which keeps the bodies of functions, is loaded before a unit has a DO block or calls a
function that may change something.
"""
