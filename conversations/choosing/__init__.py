"""Asking the citizen back: what they are offered, and what their choice makes of the turn."""
