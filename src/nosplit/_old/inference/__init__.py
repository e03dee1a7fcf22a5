"""Plan → run → calibrate → caveats → result. Knows no data."""
