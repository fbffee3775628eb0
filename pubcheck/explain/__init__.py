"""What each publication sends of each table, as a document: `document` says what is in it, `build` makes it."""
