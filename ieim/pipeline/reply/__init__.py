"""What a citizen is told, as data: replies, cards, guidance, placeholders."""
