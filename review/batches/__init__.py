"""Alike items as one row, and one decision on many items: batches."""
