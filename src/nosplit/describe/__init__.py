"""What differs, for people: explanations, plots and reports."""
