"""Write a publication that satisfies a consumer, for the tables of a schema, and check it before anybody sees it."""
