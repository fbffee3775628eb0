"""The documentation site, and the snippets in `docs/`."""
