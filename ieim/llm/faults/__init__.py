"""Faults of a model server, to be switched on: what each one does, and what has to come of it."""
