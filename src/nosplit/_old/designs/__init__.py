"""Designs: how rows are dealt to units, and which units change places under the null hypothesis."""
