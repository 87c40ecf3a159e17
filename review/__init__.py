"""Caseworkers: what waits for a person, and what the person decides."""
