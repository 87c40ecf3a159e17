"""The language of a citizen's page: which there are, how it is chosen, and the switch."""
