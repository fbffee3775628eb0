"""Filters as logic, compared with brute force, with an SMT solver and with servers."""
