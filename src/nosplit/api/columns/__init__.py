"""Which columns differ: the door, and how columns are looked at."""
