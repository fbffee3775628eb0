"""Values of random expressions, compared with servers by their texts."""
