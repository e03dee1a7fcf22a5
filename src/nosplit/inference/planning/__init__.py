"""What "auto" picks, and what it will cost."""
