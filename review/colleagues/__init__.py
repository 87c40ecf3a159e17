"""What colleagues tell one another about an item: notes, mentions, and who has it open."""
