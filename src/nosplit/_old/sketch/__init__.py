"""Sketches: a large sample becomes a small one, of cells that sum the features of many rows."""
