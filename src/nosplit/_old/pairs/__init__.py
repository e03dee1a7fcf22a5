"""Pairs of units, random draws, the one loop over pairs, and moments. Knows no kernel."""
