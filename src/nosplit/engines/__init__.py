"""Where rows do not fit in memory: the same moments, from files, streams and clusters."""
