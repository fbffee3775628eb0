"""Which files together build one database: the conventions of the tools that people use, a module each.

``registry`` asks them all; it is loaded only if there is a tree to group.
"""
