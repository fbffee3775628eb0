"""The snippets and the extension for editors."""
