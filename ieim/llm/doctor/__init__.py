"""Asking the configured model server what it takes, what it costs and how long it takes."""
