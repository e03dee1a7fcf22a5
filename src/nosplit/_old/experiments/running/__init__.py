"""Run studies: cut into chunks, done by processes, kept in a journal."""
