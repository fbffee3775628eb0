"""The publications of each table and the rows they publish: `document` defines the form, `build` creates it."""
