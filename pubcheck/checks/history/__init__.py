"""Rules over the whole history of a unit: what an earlier statement set up, and a later one undoes or runs into."""
