"""The queue: its page, filters, search and order."""
