"""The heart: permutations, quadratic forms, and statistics under every permutation."""
