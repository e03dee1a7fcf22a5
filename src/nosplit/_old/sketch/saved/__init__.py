"""Sketches that are kept: profiles of a reference, their tiers and their files."""
