"""Samples as rows of numbers: tables, encodings, labels of rows."""
