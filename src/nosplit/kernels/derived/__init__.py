"""What other rooms make of kernels: waves, flattened spectra, Stein kernels, products."""
