"""The Model Context Protocol: the current release as tools of other assistants."""
