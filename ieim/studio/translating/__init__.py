"""The list of translations: what is missing or stale, by language, and how far each one is."""
