"""The language server, driven by a client of the protocol."""
