"""Waiting for a person: why, who can be called meanwhile, and what may help already."""
