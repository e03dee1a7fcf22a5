"""The ways from two samples to a result, one after another until one serves."""
