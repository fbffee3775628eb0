"""Findings about who reads a publication: its consumers, as the files in ``pubcheck/consumers`` describe them.

``readers`` says which consumer reads which publication, ``demand_rules`` turns their claims into findings, and each
other module checks some kinds of demands.
"""
