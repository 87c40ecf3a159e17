"""What the administration says of itself: name, colours, contacts, hours, texts and languages."""
