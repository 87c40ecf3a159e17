"""Webhooks: programs that opened a session by REST are told that there is something to read."""
