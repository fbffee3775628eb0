"""The publications of each table and the rows they publish, as a document: `document` defines it, `build` creates
it."""
