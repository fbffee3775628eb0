"""The language server: what pubcheck knows of the SQL files that are open in an editor."""
