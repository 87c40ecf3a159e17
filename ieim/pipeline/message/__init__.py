"""A citizen's message before a model reads it: screen, language, risk."""
