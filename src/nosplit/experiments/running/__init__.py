"""How studies are run: cut into chunks, done by processes, kept in a journal."""
