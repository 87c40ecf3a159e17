"""What was asked of models, kept for years, and what the database refuses to change."""
