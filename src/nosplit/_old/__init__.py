"""The rooms that the new house has not replaced yet."""
