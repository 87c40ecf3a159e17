"""Whether an answer was useful, in the citizen's own verdict."""
