"""Outages of the model: recorded, shown to staff, and reported to operators by e-mail."""
