"""What single columns and pairs of them show of cells, whatever is drawn."""
