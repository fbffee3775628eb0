"""Findings about a running server: one module a subject. They need its facts, so files alone have none of them."""
