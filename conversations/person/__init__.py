"""A person: citizens ask for one, and caseworkers take a conversation over."""
