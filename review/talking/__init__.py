"""Caseworkers in a citizen's conversation."""
