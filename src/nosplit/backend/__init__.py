"""Primitives that run on a processor or a device."""
