"""What each publication publishes of each table, as a document: `document` defines it, `build` creates it."""
