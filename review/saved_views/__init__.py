"""Saved views of the queue: a person's own, and those that are shared with colleagues."""
