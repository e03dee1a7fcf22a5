"""Tables as numbers: reading columns, and the encoding that is fitted on pooled rows."""
