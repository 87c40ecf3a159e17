"""Whose an item is, and who sees it."""
