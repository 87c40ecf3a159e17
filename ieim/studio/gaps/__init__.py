"""The gap desk: questions that ended badly, and what editors make of them."""
