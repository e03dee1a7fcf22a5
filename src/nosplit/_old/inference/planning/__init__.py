"""Plans: what "auto" picks, and what it will cost."""
