"""Samples as tensors, and the computation where they are: on a GPU, or on PyTorch's processor."""
