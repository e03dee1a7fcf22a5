"""The places where rows lie: the same sums of cells from memory, files, streams and clusters."""
