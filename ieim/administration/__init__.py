"""The administration's own: its name, colours, contacts, hours, texts, examples and languages."""
