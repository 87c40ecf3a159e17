"""Auditors: whether the record is whole, what it says of a conversation, and who read what."""
