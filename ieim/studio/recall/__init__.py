"""Recall: which answers were made from a service, and telling their readers of a mistake."""
