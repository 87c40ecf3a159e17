"""What a turn reads: published releases, their search, and notices."""
