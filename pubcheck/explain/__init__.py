"""What each publication sends of each table, as a document: `document` says what stands in it, `build` makes it."""
