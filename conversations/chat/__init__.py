"""The citizen's page and its two sockets: what is taken from them, and what they show."""
