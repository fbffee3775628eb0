"""PL/pgSQL as far as it concerns publications: DO blocks and function bodies are run over the catalog in memory.

``parse`` reads a body through libpg_query's own PL/pgSQL parser and finds its SQL in the text. ``compile_errors`` and
``variables`` say what the server's compiler refuses, and where. ``interpret`` runs the body: a ``machine`` with its
``variables`` and its ``uncertainty`` is passed to the functions of ``control``, ``exceptions``, ``assignment``,
``execution`` and ``calls``. ``evaluate``, ``functions`` and ``queries`` evaluate conditions over the ``catalogs``.
``query_check``, with ``variable_binding``, and ``command_failures`` say what fails or may fail. Only ``routines``,
which keeps the bodies of functions, is loaded before a unit has a DO block or calls a function that may change
something.
"""
