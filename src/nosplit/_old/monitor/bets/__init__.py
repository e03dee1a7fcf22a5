"""Bets on pairs: what is bet on, what is learned, and the wealth that it makes."""
