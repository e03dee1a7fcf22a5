"""Descriptions of a difference, for people: explanations, plots and reports."""
