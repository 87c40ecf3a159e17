"""The administration by REST, for whoever shows its assistant somewhere else."""
