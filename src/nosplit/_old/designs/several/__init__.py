"""Several samples: the overall test, comparisons, and p-values adjusted for all of them."""
