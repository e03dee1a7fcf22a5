"""Accumulators as files: plain values, written whole or not at all, read with suspicion."""
