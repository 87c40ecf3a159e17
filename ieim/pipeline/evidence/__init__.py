"""Where quotes stand in the citizen's own text (DESIGN §5)."""
