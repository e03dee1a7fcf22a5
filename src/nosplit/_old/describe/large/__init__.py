"""Large samples, described by sums over all of their rows."""
