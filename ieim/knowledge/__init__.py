"""What a turn reads: published releases, their search, and the notices beside them."""
