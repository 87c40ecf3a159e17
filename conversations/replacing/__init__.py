"""Something else: a citizen's question asked again, without the talk that it was taken to go on."""
