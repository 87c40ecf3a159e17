"""One file a stage: its input, the rules that a schema cannot hold, its slice of state."""
