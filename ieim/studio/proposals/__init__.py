"""From the draft to a release: proposed by one person, published by another."""
