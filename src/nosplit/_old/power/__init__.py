"""Planning: how many rows a test needs, and whether it keeps its level."""
