"""Sketches: a large sample becomes a small one, of cells that each sum the features of many rows."""
