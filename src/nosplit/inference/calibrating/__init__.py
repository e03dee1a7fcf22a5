"""How p-values are found: among draws, by simulation or by the bootstrap."""
