"""The gate: the checks that every answer of a model must pass."""
