"""The administration in templates."""
