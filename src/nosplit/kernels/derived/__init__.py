"""Derivatives of kernels for other rooms: waves, flattened spectra, Stein kernels, products."""
