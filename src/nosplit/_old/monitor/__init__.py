"""Watching streams: bets on the next pair, whose wealth is evidence at any time."""
