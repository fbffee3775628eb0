"""Input functions, held to what servers answer."""
