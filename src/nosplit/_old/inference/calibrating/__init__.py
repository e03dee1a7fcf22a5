"""P-values: among draws, by simulation or by the bootstrap."""
