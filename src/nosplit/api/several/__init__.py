"""More than two samples at a time."""
