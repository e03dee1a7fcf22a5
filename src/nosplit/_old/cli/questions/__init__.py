"""The commands that answer a question about data, one file each."""
