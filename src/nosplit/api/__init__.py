"""Public functions: validate, plan, run, describe."""
