"""Pairs of tensors, all of them or some, and what else is seen of rows on their device."""
