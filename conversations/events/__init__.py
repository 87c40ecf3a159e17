"""A session's numbered events, and the hints that wake who waits for them."""
