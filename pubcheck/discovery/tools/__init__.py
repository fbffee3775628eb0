"""The conventions by which files form units: a function for each migration tool.

``registry`` asks them all; it is loaded only if there is a tree to group.
"""
