"""A PostgreSQL server in memory: it runs a schema and a script, and its slots give what logical decoding would send.

``executor`` runs statements over rows and appends to the log; ``decoding`` reads the log as a server's slot does and
drives an output plugin.
"""
