"""Which files together build one database: the habits of the tools that people use, a module each.

``habits`` asks them all; it is loaded where there is a tree to be asked about.
"""
