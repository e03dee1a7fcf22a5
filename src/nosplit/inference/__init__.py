"""From statistics to an answer: plans, p-values, effect sizes, results and their printing."""
