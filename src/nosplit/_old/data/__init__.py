"""Arrays, tables and files → rows of numbers."""
