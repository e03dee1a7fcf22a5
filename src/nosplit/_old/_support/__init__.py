"""The basement: checks, lazy imports, and compiled loops. Knows nothing of tests."""
