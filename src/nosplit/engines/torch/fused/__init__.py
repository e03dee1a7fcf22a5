"""Kernels that do in one pass over the rows what PyTorch does in many; they need Triton."""
