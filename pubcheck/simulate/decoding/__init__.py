"""Logical decoding: the log is read as a server's slot reads it, and an output plugin is called.

``decoder`` takes records apart, ``reorder_buffer`` puts changes into transactions, ``callbacks`` calls the plugin as
logical.c does, and ``slot`` is the user's view of all that.
"""
