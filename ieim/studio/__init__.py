"""Editors: the draft, its checks and proposals, trying it out, and telling of mistakes."""
