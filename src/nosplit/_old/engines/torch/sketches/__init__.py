"""Sketches of tensors: the same cells as everywhere, summed on their device."""
