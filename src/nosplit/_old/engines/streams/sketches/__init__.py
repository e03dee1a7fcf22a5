"""Streams of two samples as sketches: blocks of pairs that are swapped as a whole."""
