"""Texts for caseworkers: saved replies, similar cases, and translations of messages."""
