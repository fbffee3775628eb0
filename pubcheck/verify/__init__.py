"""Whether a captured stream conforms to a schema and its publications."""
