"""Random rows and random row filters over them, answered by a server of each major and by pubcheck's evaluator."""
