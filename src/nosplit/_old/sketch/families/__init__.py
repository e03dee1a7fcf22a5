"""Features and sums of goodness of fit and of independence."""
