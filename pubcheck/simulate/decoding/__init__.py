"""Logical decoding: the log is read as a server's slot reads it, and an output plugin is called.

``slot`` takes records apart and is the user's view, ``reorder_buffer`` puts changes into transactions, and
``replay`` calls the plugin as logical.c does.
"""
