"""The documentation site: written pages of `docs/` and pages generated from rules, profiles, commands and schemas."""
