"""The public functions: validate, compute, return a result."""
