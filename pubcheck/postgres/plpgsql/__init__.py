"""PL/pgSQL as far as it concerns publications: DO blocks and function bodies are run over the catalog in memory.

``parse`` reads a body through libpg_query's own PL/pgSQL parser and finds its SQL in the text. ``compile_errors`` and
``variables`` say what the server's compiler refuses, and where. ``interpret`` runs the body: a ``machine`` with the
variables of its ``frames`` is passed to the functions of ``control_flow``, ``exceptions``, ``execution`` and ``calls``.
``evaluate``, ``functions`` and ``queries`` evaluate conditions over the ``catalogs``. ``query_check``, with
``variable_binding``, says what fails or may fail. None of it is loaded before a unit has a DO block or calls a function
that may change something.
"""
