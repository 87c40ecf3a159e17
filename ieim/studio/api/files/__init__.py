"""The draft as files over REST."""
