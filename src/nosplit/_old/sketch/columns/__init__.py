"""Statistics of single columns and of pairs of them, from cells, under every draw."""
