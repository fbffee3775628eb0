"""A running server as input: its catalogs, and what only a server knows."""
